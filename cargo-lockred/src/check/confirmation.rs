//! What the tests come to of what was found before any run.

use crate::lock_order::Line;
use crate::report::Report;
use lockred_protocol::message::Role;
use serde::Serialize;
use std::collections::BTreeSet;

/// What they come to.
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

/// All of it, as it is reported.
#[derive(Default)]
pub struct Reported {
    pub human: String,
    /// As lines.
    pub json: String,
    /// How many fail the check.
    pub failing: usize,
}

/// The lines of source that play one of these parts in a report, on whatever frame.
pub fn lines(report: &Report, roles: &[Role]) -> BTreeSet<Line> {
    let plays = |role: Option<Role>| role.is_some_and(|role| roles.contains(&role));
    let places = report.places.iter().filter(|place| plays(place.role));
    let frames = places.flat_map(|place| &place.frames);
    frames.map(|frame| (frame.file.clone(), frame.line)).collect()
}
