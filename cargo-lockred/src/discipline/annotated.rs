//! What the program says itself of its discipline (`#[lockred::guarded_by]`,
//! `#[lockred::unshared]`), compared with what was observed.
//!
//! It is compared by type and field, as everything of the discipline is. A lock that is in no field
//! of the program's own types (after an `Arc`, in a variable) may be the one that is meant, so
//! that nothing is said of who holds one.

use super::exclusive;
use super::facts::{Facts, Field, Lock, Place};
use super::warning::{NO_RACE, does, shown};
use crate::executable::symbols::{Frame, Origin};
use crate::report::bug::with_main;
use crate::report::{self, Report, Severity};
use lockred_protocol::codes::WarningKind;
use lockred_protocol::message::{Broken, BrokenRule, Role};
use lockred_protocol::notes::Note;
use std::path::Path;

/// What is wrong with a program's own word, and the fields that it is about.
pub struct Wrong {
    /// As it is reported.
    pub report: Report,
    /// The fields, as facts call them.
    pub fields: Vec<String>,
}

/// What a note claims.
enum Claim {
    /// This lock is held, as notes call it.
    GuardedBy(String),
    /// No two threads use it at a time.
    Unshared,
    /// Who accesses it satisfies the predicate at this address.
    ExclusiveWhen(u64),
}

/// What was observed otherwise than the notes say.
pub fn wrong(facts: &Facts, notes: &[Note], executable: &Path) -> Vec<Wrong> {
    notes.iter().filter_map(|note| broken(facts, note, executable)).collect()
}

/// A subject's name as memory has it: `krate::Type.field`, or `static NAME`.
pub fn known_as(note: &Note) -> Option<String> {
    let (krate, _) = note.subject.split_once("::")?;
    let (_, name) = note.subject.rsplit_once("::")?;
    Some(if name.contains('.') { format!("{krate}::{name}") } else { format!("static {name}") })
}

/// Whether one of these names is that of something, or of what is in it.
pub fn is_in(names: &[String], of: &str) -> bool {
    names
        .iter()
        .filter_map(|name| name.strip_prefix(of))
        .any(|rest| rest.is_empty() || rest.starts_with('.') || rest.starts_with('['))
}

fn broken(facts: &Facts, note: &Note, executable: &Path) -> Option<Wrong> {
    let claim = match (note.kind.as_str(), note.words.first()) {
        ("guarded_by", Some(lock)) => {
            let (krate, _) = note.subject.split_once("::")?;
            let is_static = lock.starts_with("static ");
            Claim::GuardedBy(if is_static { lock.clone() } else { format!("{krate}::{lock}") })
        }
        ("unshared", None) => Claim::Unshared,
        (exclusive::KIND, Some(_)) => Claim::ExclusiveWhen(exclusive::address(note, executable)?),
        _ => return None,
    };
    let known_as = known_as(note)?;
    let fields: Vec<(&String, &Field)> =
        facts.fields.iter().filter(|(_, field)| is_in(&field.names, &known_as)).collect();
    let counted =
        || fields.iter().flat_map(|(_, field)| &field.places).filter(|place| place.counts);
    let (breaking, keeping): (Vec<&Place>, Vec<&Place>) =
        counted().partition(|place| !claim.is_kept_by(place));
    let invalid = facts.broken.iter().find(|(broken, _)| {
        matches!(claim, Claim::ExclusiveWhen(predicate) if predicate == broken.predicate)
    });
    if breaking.is_empty() && invalid.is_none() {
        return None;
    }
    let (_, name) = note.subject.rsplit_once("::")?;
    if let Some((broken, frames)) = invalid {
        let report = invalid_predicate(name, note, broken, frames);
        return Some(Wrong { report, fields: Vec::new() });
    }
    let (title, without) = match &claim {
        Claim::GuardedBy(_) => {
            let lock = note.words[0].trim_start_matches("static ");
            (
                format!("`{name}` is not always guarded by `{lock}`, as it is said to be"),
                format!(" without `{lock}`"),
            )
        }
        Claim::Unshared => (
            format!("`{name}` is shared between threads, although it is said to be unshared"),
            ", when others may use it".to_owned(),
        ),
        Claim::ExclusiveWhen(_) => (
            format!("`{name}` is accessed by threads that do not satisfy `{}`", note.words[0]),
            ", without satisfying it".to_owned(),
        ),
    };
    let does =
        |place: &Place, end: &str| shown(place, format!("{} `{name}` here{end}", does(place)));
    let breaking = breaking
        .into_iter()
        .map(|place| does(place, &format!("{without}{}", under_another(place))));
    let keeping = keeping.into_iter().map(|place| does(place, ""));
    let report = Report {
        severity: Severity::Warning,
        code: Some(WarningKind::LockingDiscipline.code()),
        title: format!("locking discipline: {title}"),
        places: breaking.chain(keeping).chain([said(note)]).collect(),
        notes: vec![NO_RACE.into()],
    };
    Some(Wrong { report, fields: fields.into_iter().map(|(name, _)| name.clone()).collect() })
}

/// The locks that a place holds, for what that may be worth.
fn under_another(place: &Place) -> String {
    // As notes call them: by the innermost type, without the crate.
    let innermost = place.held.iter().filter_map(|held| held.names.last());
    let own = |name: &String| {
        let name = name.trim_start_matches("static ");
        format!("`{}`", name.rsplit("::").next().unwrap_or(name))
    };
    let names: Vec<String> = innermost.map(own).collect();
    if names.is_empty() { String::new() } else { format!(", under {}", names.join(" and ")) }
}

/// The report of a predicate that says nothing.
fn invalid_predicate(name: &str, note: &Note, broken: &Broken, frames: &[Frame]) -> Report {
    let [first, second] = broken.threads.map(|thread| with_main(&format!("thread {thread}")));
    let condition = &note.words[0];
    let (title, label) = match broken.rule {
        BrokenRule::Both => (
            format!("`{condition}` is satisfied by two threads at a time, {first} and {second}"),
            "after this, both satisfy it".to_owned(),
        ),
        BrokenRule::Lost => (
            format!("`{condition}` is satisfied by {first} until {second} makes it false"),
            format!("after this, {first} does not satisfy it any more"),
        ),
    };
    let frames = frames.to_vec();
    let at = report::Place { role: None, thread: String::new(), label, frames, order: None };
    Report {
        severity: Severity::Warning,
        code: Some(WarningKind::LockingDiscipline.code()),
        title: format!("locking discipline: {title}, so it protects `{name}` from nobody"),
        places: vec![at, said(note)],
        notes: Vec::new(),
    }
}

/// Where the program says it.
fn said(note: &Note) -> report::Place {
    let frame = Frame {
        function: String::new(),
        file: note.file.clone(),
        line: note.line,
        column: 0,
        origin: Origin::User,
    };
    let (label, frames) = ("said here".to_owned(), vec![frame]);
    report::Place { role: Some(Role::Said), thread: String::new(), label, frames, order: None }
}

impl Claim {
    fn is_kept_by(&self, place: &Place) -> bool {
        let lock = match self {
            Self::GuardedBy(lock) => lock,
            Self::Unshared => return false,
            Self::ExclusiveWhen(predicate) => return !place.refused.contains(predicate),
        };
        let may_be = |held: &Lock| held.names.is_empty() || is_in(&held.names, lock);
        place.held.iter().any(|held| may_be(held) && !(held.shared && place.writes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::facts::tests::{at, field};
    use super::*;

    fn note(kind: &str, words: &[&str]) -> Note {
        Note {
            kind: kind.into(),
            subject: "krate::a::Pool.free".into(),
            file: "src/a.rs".into(),
            line: 7,
            words: words.iter().map(|word| (*word).to_owned()).collect(),
        }
    }

    fn reported(note: Note, names: &[&str], places: &[Place]) -> Option<(String, usize)> {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let field = Field { names, ..field(places) };
        let facts =
            Facts { fields: [("Shared.pool.free".to_owned(), field)].into(), ..Facts::default() };
        let wrong = wrong(&facts, &[note], Path::new(""));
        wrong.first().map(|wrong| {
            assert_eq!(wrong.fields, ["Shared.pool.free"]);
            (wrong.report.places[0].label.clone(), wrong.report.places.len())
        })
    }

    #[test]
    fn what_is_said_is_compared_with_what_is_done() {
        let names = ["krate::Shared.pool.free", "krate::Pool.free"];
        let guarded = || note("guarded_by", &["Pool.lock"]);
        let under = |lock| at(1, true, &[lock]);
        let without = at(2, false, &[]);
        assert_eq!(reported(guarded(), &names, &[under("krate::Pool.lock")]), None);
        assert_eq!(reported(guarded(), &names, &[under("krate::Pool.lock.word")]), None);
        assert_eq!(
            reported(guarded(), &names, &[under("krate::Pool.lock"), without.clone()]),
            Some(("reads `Pool.free` here without `Pool.lock`".into(), 3))
        );
        let shared = reported(guarded(), &names, &[under("~krate::Pool.lock")]);
        assert_eq!(shared.map(|reported| reported.1), Some(2), "shared is not enough");
        assert!(reported(guarded(), &names, &[under("krate::Pool.locks")]).is_some());
        assert_eq!(
            reported(guarded(), &["krate::Pool.freed"], std::slice::from_ref(&without)),
            None
        );
        assert_eq!(
            reported(guarded(), &["other::Pool.free"], std::slice::from_ref(&without)),
            None
        );
        let fixed = note("guarded_by", &["static LOCK"]);
        assert_eq!(reported(fixed, &names, &[under("static LOCK")]), None);
        assert!(reported(note("unshared", &[]), &names, std::slice::from_ref(&without)).is_some());
        let apart = Place { counts: false, ..without };
        assert_eq!(reported(note("unshared", &[]), &names, &[apart]), None);
    }
}
