//! How it is reported what the tests show of findings that were made before any run.

use crate::lock_order::Line;
use crate::report::Report;
use lockred_protocol::message::Role;
use std::collections::BTreeSet;

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
