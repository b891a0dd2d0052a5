//! Findings for people and machines: one value with everything that is known, and what renders it.

pub mod bug;
pub mod identity;
pub mod panic;
pub mod render;
pub mod span;
pub mod table;
pub mod thread_flows;
pub mod timing;
pub mod warning;

use crate::executable::symbols::{Frame, Origin};
use lockred_protocol::message::{Role, Stronger};

/// A finding, ready to be rendered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// How bad it is.
    pub severity: Severity,
    /// Its stable code, if it has one.
    pub code: Option<&'static str>,
    /// One line.
    pub title: String,
    /// The places that show it, the most telling first.
    pub places: Vec<Place>,
    /// Further sentences.
    pub notes: Vec<String>,
}

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// A bug.
    Error,
    /// Anything else.
    Warning,
}

/// One place of a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// What it shows; `None` where a call cannot be modelled.
    pub role: Option<Role>,
    /// Who was there, as people call it.
    pub thread: String,
    /// What happened there.
    pub label: String,
    /// The stack, innermost frame first.
    pub frames: Vec<Frame>,
    /// The memory order that would have to be stronger there, if it shows that.
    pub order: Option<Stronger>,
}

impl Place {
    /// The frame to point at: the innermost one in the user's own code, else in a dependency, else
    /// the innermost.
    pub fn frame(&self) -> Option<&Frame> {
        let of = |origin| self.frames.iter().find(|f| f.origin == origin && f.line > 0);
        of(Origin::User).or_else(|| of(Origin::Dependency)).or_else(|| self.frames.first())
    }

    /// Whether the report is mainly about this place, rather than about how it came to it.
    pub fn is_primary(&self) -> bool {
        use Role::{Allocated, NotifiedNobody, NotifiedOther, Said, Sleeps, Slow, WeakOrder};
        let leads_to_it = |role| {
            matches!(
                role,
                Allocated | NotifiedNobody | NotifiedOther | Said | Sleeps | Slow | WeakOrder
            )
        };
        !self.role.is_some_and(|role: Role| role.is_lock() || leads_to_it(role))
    }
}

#[cfg(test)]
mod tests;
