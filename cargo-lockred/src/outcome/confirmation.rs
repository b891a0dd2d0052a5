//! What the tests come to of what was found before any run.

use crate::audit::report::Finding;
use serde::Serialize;
use std::collections::BTreeSet;

/// What the tests come to.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// No schedule can show it.
    Static,
    /// No schedule led there, and there may be more of them.
    NotReached,
    /// No schedule of the tests leads there.
    Excluded,
    /// Threads acquire the locks so, in no schedule at once.
    Nested,
    /// A schedule shows it.
    Confirmed,
}

impl Status {
    /// As machines read it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::NotReached => "not-reached",
            Self::Excluded => "excluded",
            Self::Nested => "nested",
            Self::Confirmed => "confirmed",
        }
    }

    /// For people.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Static => {
                "not for schedules: it is about types and tasks, whatever tests do with them"
            }
            Self::NotReached => "not reached: no schedule that was run leads there",
            Self::Excluded => {
                "excluded: every interleaving of the tests that were checked was covered, and none leads there"
            }
            Self::Nested => "seen nested: threads acquire the locks so, but no schedule ends there",
            Self::Confirmed => "confirmed: a schedule leads there",
        }
    }
}

/// A warning of an audit, and what came of it.
pub struct Warned {
    /// The package.
    pub package: String,
    /// The warning.
    pub finding: Finding,
    /// What came of it.
    pub status: Status,
    /// The tests that show it.
    pub tests: BTreeSet<String>,
}
