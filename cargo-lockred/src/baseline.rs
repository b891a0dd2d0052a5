//! The file of known findings: what a check accepts, and which entries nothing stands after any
//! more.
//!
//! It is TOML with an entry a line, sorted, so that differences can be read; who reviews them may
//! put comments between, which stay until the file is written anew.

use crate::error::{Error, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::Path;

/// Version of the file.
const VERSION: u32 = 1;

/// A known finding.
#[derive(Deserialize, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Entry {
    /// The test that it is in.
    #[serde(flatten)]
    pub place: Place,
    /// Its stable code.
    pub code: String,
    /// What it is told apart by.
    pub fingerprint: String,
    /// A line for people.
    #[serde(default)]
    pub message: String,
}

/// A test.
#[derive(Deserialize, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// The package's name.
    pub package: String,
    /// The target's kind and name.
    pub target: String,
    /// The test's name.
    pub test: String,
}

/// The known findings.
#[derive(Clone, Default, Debug)]
pub struct Baseline {
    entries: BTreeSet<Entry>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    findings: Vec<Entry>,
}

impl Place {
    /// A test of a target.
    pub fn new(package: &str, kind: &str, target: &str, test: &str) -> Self {
        let target = format!("{kind} {target}");
        Self { package: package.to_owned(), target, test: test.to_owned() }
    }
}

impl Baseline {
    /// Reads a file. Where it `may_be_missing`, one that is not there is empty.
    ///
    /// # Errors
    /// Wrong usage: it cannot be read, is none, or of another version.
    pub fn read(path: &Path, may_be_missing: bool) -> Result<Self> {
        let shown = path.display();
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == ErrorKind::NotFound && may_be_missing => {
                return Ok(Self::default());
            }
            Err(e) if e.kind() == ErrorKind::NotFound => {
                return Err(Error::usage(format!("there is no baseline {shown}"))
                    .hint("--write-baseline makes one of the findings that there are"));
            }
            Err(e) => return Err(Error::usage(format!("cannot read the baseline {shown}: {e}"))),
        };
        let broken = |e: &dyn std::fmt::Display| {
            Error::usage(format!("the baseline {shown} cannot be understood: {e}"))
        };
        /// The only field that every version has.
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let Versioned { version } = toml::from_str(&text).map_err(|e| broken(&e))?;
        if version != VERSION {
            let known = format!("it has version {version}, this lockred knows version {VERSION}");
            return Err(broken(&known).hint("--write-baseline writes it anew"));
        }
        let file: File = toml::from_str(&text).map_err(|e| broken(&e))?;
        Ok(Self { entries: file.findings.into_iter().collect() })
    }

    /// Whether anything is known of a test.
    pub fn knows_of(&self, place: &Place) -> bool {
        self.entries.iter().any(|entry| entry.place == *place)
    }

    /// Whether a finding in a test is known.
    pub fn has(&self, place: &Place, fingerprint: &str) -> bool {
        self.entries.iter().any(|entry| entry.place == *place && entry.fingerprint == fingerprint)
    }
}

/// What a check found, to be compared with the baseline or to become one.
#[derive(Default, Debug)]
pub struct Found {
    /// Per test, what was found, and whether everything was searched.
    tests: BTreeMap<Place, (Vec<Entry>, bool)>,
}

impl Found {
    /// Notes what was found in a test, and whether everything was searched.
    pub fn add(&mut self, place: Place, found: Vec<Entry>, complete: bool) {
        self.tests.insert(place, (found, complete));
    }

    /// Entries whose test was searched completely without finding them.
    pub fn stale(&self, baseline: &Baseline) -> Vec<Entry> {
        baseline.entries.iter().filter(|entry| self.refutes(entry)).cloned().collect()
    }

    fn refutes(&self, entry: &Entry) -> bool {
        self.tests.get(&entry.place).is_some_and(|(found, complete)| {
            *complete && !found.iter().any(|other| other.fingerprint == entry.fingerprint)
        })
    }

    /// The baseline that accepts everything that was found, and what nothing was found out about.
    pub fn baseline(&self, old: &Baseline) -> Baseline {
        let found = self.tests.values().flat_map(|(found, _)| found);
        let known: BTreeSet<(&Place, &str)> =
            found.clone().map(|entry| (&entry.place, entry.fingerprint.as_str())).collect();
        let kept = old.entries.iter().filter(|entry| {
            !self.refutes(entry) && !known.contains(&(&entry.place, entry.fingerprint.as_str()))
        });
        Baseline { entries: kept.chain(found).cloned().collect() }
    }
}

impl Baseline {
    /// The file.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "# Findings that `cargo lockred check --baseline` accepts; `--write-baseline` writes this file.\n",
        );
        let _ = writeln!(text, "version = {VERSION}\nfindings = [");
        let quoted = |value: &str| toml::Value::String(value.to_owned()).to_string();
        for entry in &self.entries {
            let Place { package, target, test } = &entry.place;
            let _ = writeln!(
                text,
                "    {{ package = {}, target = {}, test = {}, code = {}, fingerprint = {}, message = {} }},",
                quoted(package),
                quoted(target),
                quoted(test),
                quoted(&entry.code),
                quoted(&entry.fingerprint),
                quoted(&entry.message),
            );
        }
        text.push_str("]\n");
        text
    }

    /// How many findings it has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(test: &str) -> Place {
        Place::new("p", "lib", "p", test)
    }

    fn entry(test: &str, fingerprint: &str, message: &str) -> Entry {
        Entry {
            place: place(test),
            code: "LR0002".into(),
            fingerprint: fingerprint.into(),
            message: message.into(),
        }
    }

    fn baseline(entries: &[Entry]) -> Baseline {
        Baseline { entries: entries.iter().cloned().collect() }
    }

    fn found(tests: &[(&str, &[Entry], bool)]) -> Found {
        let tests =
            tests.iter().map(|(test, found, complete)| (place(test), (found.to_vec(), *complete)));
        Found { tests: tests.collect() }
    }

    #[test]
    fn what_was_written_is_read_back_sorted_and_a_line_an_entry() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("known.toml");
        let written = baseline(&[entry("b", "2", "says \"x\"\t\\ \u{e4}"), entry("a", "1", "")]);
        std::fs::write(&path, written.text()).unwrap();
        let read = Baseline::read(&path, false).unwrap();
        assert_eq!(read.entries, written.entries);
        let lines: Vec<String> = written.text().lines().map(Into::into).collect();
        assert_eq!(lines.len(), 6);
        assert!(
            lines[3].contains("test = \"a\"") && lines[4].contains("test = \"b\""),
            "{lines:?}"
        );
    }

    #[test]
    fn files_that_are_none_are_reported() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("known.toml");
        assert!(
            Baseline::read(&path, false).unwrap_err().hint.unwrap().contains("--write-baseline")
        );
        assert_eq!(Baseline::read(&path, true).unwrap().len(), 0);
        for (text, reported) in [
            ("", "version"),
            ("version = 2", "version 2"),
            ("version = 1\nfindings = [{ code = 1 }]", "cannot be understood"),
            ("version = 1\nfindings = [", "cannot be understood"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Baseline::read(&path, true).unwrap_err();
            assert!(error.message.contains(reported), "{}", error.message);
        }
    }

    #[test]
    fn only_a_complete_search_makes_an_entry_stale() {
        let known = baseline(&[entry("a", "1", ""), entry("b", "2", ""), entry("c", "3", "")]);
        let found = found(&[("a", &[], true), ("b", &[], false)]);
        assert_eq!(found.stale(&known), [entry("a", "1", "")]);
        assert_eq!(
            found.baseline(&known).entries,
            baseline(&[entry("b", "2", ""), entry("c", "3", "")]).entries
        );
    }

    #[test]
    fn a_finding_is_reported_anew_with_the_words_of_today() {
        let known = baseline(&[entry("a", "1", "old"), entry("a", "2", "")]);
        let found = found(&[("a", &[entry("a", "1", "new"), entry("a", "3", "")], true)]);
        let new = found.baseline(&known);
        assert_eq!(new.entries, baseline(&[entry("a", "1", "new"), entry("a", "3", "")]).entries);
        assert!(
            new.has(&place("a"), "1") && !new.has(&place("b"), "1") && new.knows_of(&place("a"))
        );
    }
}
