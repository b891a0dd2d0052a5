//! The warning of a field that is accessed under a lock at most places, and without at one.

use super::facts::{Facts, Place};
use super::protection::Exceptions;
use crate::report::{self, Report, Severity, render};
use lockred_protocol::codes::WarningKind;
use lockred_protocol::message::Role;

/// What is known beyond the warning, which is reported of tests without a bug.
pub const NO_RACE: &str = "no interleaving that was run has a data race there: something else orders it, which may be meant";

/// The warnings of one test, each with the name of its field.
pub fn all(facts: &Facts) -> Vec<(&String, Report)> {
    let fields = facts.fields.iter();
    fields.filter_map(|(name, field)| Some((name, warning(name, &field.exceptions()?)))).collect()
}

fn warning(name: &str, found: &Exceptions<'_>) -> Report {
    let writes = found.under.iter().all(|place| place.writes);
    let done = if writes { "written" } else { "accessed" };
    let places: Vec<String> =
        found.without.iter().filter_map(|place| place.frame()).map(render::location).collect();
    let [under, all] = found.numbers;
    let title = format!(
        "locking discipline: `{name}` is {done} under `{}` at {under} of {all} places; not at {}",
        found.lock,
        places.join(", ")
    );
    let without = found.without.iter().map(|place| {
        let does = does(place);
        shown(place, format!("{does} `{name}` here without `{}`", found.lock))
    });
    let under = found.under.iter().map(|place| {
        let does = does(place);
        shown(place, format!("{does} `{name}` here, under `{}`", found.lock))
    });
    Report {
        severity: Severity::Warning,
        code: Some(WarningKind::LockingDiscipline.code()),
        title,
        places: without.chain(under).collect(),
        notes: vec![NO_RACE.into()],
    }
}

/// What a place does, as its label begins.
pub const fn does(place: &Place) -> &'static str {
    match (place.writes, place.atomic) {
        (true, false) => "writes",
        (false, false) => "reads",
        (true, true) => "atomically writes",
        (false, true) => "atomically reads",
    }
}

/// A place as reports have it.
pub fn shown(place: &Place, label: String) -> report::Place {
    let role = match (place.writes, place.atomic) {
        (true, false) => Role::Write,
        (false, false) => Role::Read,
        (true, true) => Role::AtomicWrite,
        (false, true) => Role::AtomicRead,
    };
    let (thread, frames) = ("a thread".to_owned(), place.frames.clone());
    report::Place { role: Some(role), thread, label, frames, order: None }
}
