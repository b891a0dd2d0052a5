//! `lockred.discipline`: the discipline that a workspace has agreed on, a line a field, sorted.
//!
//! There is nothing in it that changes while the discipline does not: no lines, no counts, no
//! tests.

use super::facts::{Facts, Field, Place};
use super::protection::Protection;
use super::warning::{does, shown};
use crate::error::{Error, Result};
use crate::report::{Report, Severity};
use lockred_protocol::codes::WarningKind;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The name of the file, at the root of the workspace.
pub const FILE: &str = "lockred.discipline";

const HEAD: &str = "\
# What protects the fields that threads share, as `cargo lockred discipline --pin` has seen it.
# `cargo lockred discipline --check` fails when one of them is not protected in this way any more.
";

/// The text for what was observed.
pub fn text(facts: &Facts) -> String {
    let mut text = HEAD.to_owned();
    for (name, protection) in facts.shared() {
        let _ = writeln!(text, "{name}: {protection}");
    }
    text
}

/// Reads a file.
///
/// # Errors
/// When it cannot be read, or a line is none of these.
pub fn read(path: &Path) -> Result<BTreeMap<String, Protection>> {
    let text = std::fs::read_to_string(path).map_err(|e| {
        Error::usage(format!("cannot read {}: {e}", path.display()))
            .hint("`cargo lockred discipline --pin` writes it")
    })?;
    parse(&text).map_err(|line| {
        Error::usage(format!("{}:{line}: expected `Type.field: protection`", path.display()))
    })
}

/// The fields of a file; the number of the first line that is none.
fn parse(text: &str) -> std::result::Result<BTreeMap<String, Protection>, usize> {
    let mut fields = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, protection) = line.rsplit_once(": ").ok_or(index + 1)?;
        let protection = Protection::parse(protection).ok_or(index + 1)?;
        fields.insert(name.to_owned(), protection);
    }
    Ok(fields)
}

/// What has become of a pinned discipline.
#[derive(Default, Debug)]
pub struct Comparison {
    /// Fields that are not protected as they were, with the accesses that do it.
    pub lost: Vec<Report>,
    /// Fields that no test shares between threads any more.
    pub gone: Vec<String>,
    /// Fields that are not pinned.
    pub new: Vec<String>,
}

/// Compares what is pinned with what was observed.
pub fn compare(pinned: &BTreeMap<String, Protection>, facts: &Facts) -> Comparison {
    let mut comparison = Comparison::default();
    for (name, was) in pinned {
        let Some(field) = facts.fields.get(name) else {
            comparison.gone.push(name.clone());
            continue;
        };
        match field.protection() {
            Some(now) if !was.is_kept_by(&now) => {
                comparison.lost.push(lost(name, was, &now, field));
            }
            Some(_) => {}
            None => comparison.gone.push(name.clone()),
        }
    }
    let new = facts.shared().map(|(name, _)| name).filter(|name| !pinned.contains_key(*name));
    comparison.new = new.map(str::to_owned).collect();
    comparison
}

/// The report of a field that has lost its protection: the accesses that do without it first.
fn lost(name: &str, was: &Protection, now: &Protection, field: &Field) -> Report {
    let breaks = |place: &&Place| match was {
        Protection::Locked(locks) => !locks.iter().all(|lock| place.is_under(lock)),
        Protection::ReadOnly => place.writes,
        Protection::Atomic => !place.atomic,
        Protection::Otherwise => false,
    };
    let without = match was {
        Protection::Locked(locks) => {
            let locks: Vec<String> = locks.iter().map(|lock| format!("`{lock}`")).collect();
            format!(" without {}", locks.join(", "))
        }
        Protection::ReadOnly => ", when others can reach it".to_owned(),
        Protection::Atomic | Protection::Otherwise => String::new(),
    };
    let (breaking, keeping): (Vec<&Place>, Vec<&Place>) =
        field.places.iter().filter(|place| place.counts).partition(breaks);
    let breaking = breaking
        .into_iter()
        .map(|place| shown(place, format!("{} `{name}` here{without}", does(place))));
    let keeping =
        keeping.into_iter().map(|place| shown(place, format!("{} `{name}` here", does(place))));
    Report {
        severity: Severity::Error,
        code: Some(WarningKind::LockingDiscipline.code()),
        title: format!(
            "`{name}` has lost its protection: it was pinned as {was}, and has {now} now"
        ),
        places: breaking.chain(keeping).collect(),
        notes: vec!["if that is meant, `cargo lockred discipline --pin` accepts it".into()],
    }
}

#[cfg(test)]
mod tests {
    use super::super::facts::tests::{at, field};
    use super::*;

    fn facts(fields: &[(&str, &[Place])]) -> Facts {
        let fields = fields.iter().map(|(name, places)| ((*name).to_owned(), field(places)));
        Facts { fields: fields.collect(), ..Facts::default() }
    }

    #[test]
    fn what_is_written_is_read_and_is_no_loss() {
        let facts = facts(&[
            ("Q.len", &[at(1, true, &["Q.lock"]), at(2, true, &["Q.lock", "Q.other"])]),
            ("Q.limit", &[at(3, false, &[])]),
            ("A", &[Place { atomic: true, ..at(4, true, &[]) }]),
            ("*Q.free", &[at(5, true, &[])]),
        ]);
        let text = text(&facts);
        assert!(text.ends_with(
            "*Q.free: no lock\nA: atomic\nQ.len: locked(Q.lock)\nQ.limit: read-only after initialisation\n"
        ));
        let comparison = compare(&parse(&text).unwrap(), &facts);
        assert!(comparison.lost.is_empty() && comparison.gone.is_empty());
        assert!(comparison.new.is_empty());
        assert_eq!(parse("# x\n\nQ.len is fine\n"), Err(3));
        assert_eq!(parse("Q.len: locked()\n"), Err(1));
    }

    #[test]
    fn each_loss_names_the_access() {
        let pinned =
            parse("L: locked(M)\nR: read-only after initialisation\nA: atomic\nG: atomic\n");
        let atomic = Place { atomic: true, ..at(7, true, &[]) };
        let now = facts(&[
            ("L", &[at(1, true, &["M"]), at(2, false, &[])]),
            ("R", &[at(3, false, &[]), at(4, true, &[])]),
            ("A", &[atomic, at(5, false, &[])]),
            ("N", &[at(6, true, &["M"])]),
        ]);
        let comparison = compare(&pinned.unwrap(), &now);
        let first =
            |report: &Report| (report.places[0].frames[0].line, report.places[0].label.clone());
        let reported: Vec<_> = comparison.lost.iter().map(first).collect();
        assert_eq!(
            reported,
            [
                (5, "reads `A` here".to_owned()),
                (2, "reads `L` here without `M`".to_owned()),
                (4, "writes `R` here, when others can reach it".to_owned()),
            ]
        );
        assert_eq!((comparison.gone, comparison.new), (vec!["G".into()], vec!["N".into()]));
    }
}
