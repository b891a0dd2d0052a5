//! The list of crates and bugs, as `xtask/crates/list.toml` has it.

use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::path::Path;

/// What is checked together, into one table.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Set {
    #[serde(rename = "1")]
    First,
    #[serde(rename = "2")]
    Second,
    #[serde(rename = "3")]
    Third,
    #[serde(rename = "bugs")]
    Bugs,
}

impl Set {
    /// The set of this name.
    pub fn named(name: &str) -> Result<Set, String> {
        match name {
            "1" => Ok(Set::First),
            "2" => Ok(Set::Second),
            "3" => Ok(Set::Third),
            "bugs" => Ok(Set::Bugs),
            _ => Err(format!("there is no set `{name}`: 1, 2, 3 or bugs")),
        }
    }

    /// Its heading in the document.
    pub fn heading(self) -> &'static str {
        match self {
            Set::First => "First set",
            Set::Second => "Second set",
            Set::Third => "Third set",
            Set::Bugs => "Known bugs",
        }
    }
}

/// The whole list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    #[serde(rename = "crate", default)]
    pub crates: Vec<Published>,
    #[serde(rename = "bug", default)]
    pub bugs: Vec<Bug>,
}

/// A crate, checked with its own tests, or with some of ours. It may be there once with each.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct Published {
    pub name: String,
    pub version: String,
    pub set: Set,
    /// What `cargo lockred check` gets beside: features, targets, tests to skip.
    #[serde(default)]
    pub options: Vec<String>,
    /// Dependencies of its benches alone, which need not be built and in part cannot be.
    #[serde(default)]
    pub without: Vec<String>,
    /// The most that one of its tests gets, where that is not the command line's.
    pub seconds: Option<u32>,
    /// Dependencies, as a manifest has them, of the small tests in
    /// `xtask/crates/drivers/<name>.rs`, which are checked in the place of its own.
    pub driver: Option<toml::Table>,
    /// What a reader of the table should know; with a driver, why there is one.
    pub note: Option<String>,
    /// What its tests do that is not `verified` or `passed`; an entry of several tests is one for
    /// each.
    #[serde(default, deserialize_with = "one_for_each")]
    pub expected: Vec<Expected>,
}

impl Published {
    /// Name and version, and whose tests.
    pub fn title(&self) -> String {
        let ours = if self.driver.is_some() { ", tests of ours" } else { "" };
        format!("{} {}{ours}", self.name, self.version)
    }
}

/// A test that fails or cannot be modelled, for a reason that somebody has looked into.
#[derive(Clone, PartialEq, Debug)]
pub struct Expected {
    /// Its whole name, or, with `*` at the end, how it begins.
    pub test: String,
    /// The kind of its bug; or a part of the message of what is unsupported.
    pub shows: String,
    pub because: Because,
    pub note: String,
    /// Whether it may as well pass: where that depends on how far the search gets.
    pub perhaps: bool,
}

/// Entries, of which each may name several tests that show the same for the same reason.
fn one_for_each<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Expected>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Names {
        One(String),
        Several(Vec<String>),
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Entry {
        test: Names,
        shows: String,
        because: Because,
        note: String,
        #[serde(default)]
        perhaps: bool,
    }
    let each = |entry: Entry| {
        let Entry { test, shows, because, note, perhaps } = entry;
        let names = match test {
            Names::One(name) => vec![name],
            Names::Several(names) => names,
        };
        names.into_iter().map(move |test| {
            let (shows, note) = (shows.clone(), note.clone());
            Expected { test, shows, because, note, perhaps }
        })
    };
    Ok(Vec::<Entry>::deserialize(from)?.into_iter().flat_map(each).collect())
}

/// Whose fault a failure is.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Because {
    /// The crate's.
    RealBug,
    /// The test's: it asks for what no schedule has to give, such as progress within a time.
    Test,
    /// The test is meant to fail so.
    ExpectedPanic,
    /// A call that cannot be modelled.
    NotModelled,
    /// Ours.
    OurFault,
}

impl Because {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Because::RealBug => "real bug",
            Because::Test => "the test's own",
            Because::ExpectedPanic => "expected panic",
            Because::NotModelled => "cannot be modelled",
            Because::OurFault => "our fault",
        }
    }
}

/// A published bug, with a driver that is checked with the version that has it and with one that
/// has not.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bug {
    /// Its driver is `xtask/crates/bugs/<name>.rs`.
    pub name: String,
    /// What goes wrong, in a few words, and where that is reported.
    pub what: String,
    /// The kinds of bugs as which it may show; the first is the usual one.
    pub shows: Vec<String>,
    /// Dependencies that have it, as a manifest has them.
    pub buggy: toml::Table,
    /// Dependencies that have not. Without any, the driver's test `repaired` does right with the
    /// buggy ones.
    pub fixed: Option<toml::Table>,
    /// Checksums of yanked versions, `name version` to checksum: cargo takes these from a lock file
    /// only.
    #[serde(default)]
    pub yanked: BTreeMap<String, String>,
    /// What `cargo lockred check` gets beside.
    #[serde(default)]
    pub options: Vec<String>,
    /// Why it is not found. Then the driver passes.
    pub missed: Option<String>,
}

impl List {
    /// Reads the file.
    pub fn read(path: &Path) -> Result<List, String> {
        let text =
            std::fs::read_to_string(path).map_err(|e| format!("cannot read the list: {e}"))?;
        List::parse(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    fn parse(text: &str) -> Result<List, String> {
        let list: List = toml::from_str(text).map_err(|e| e.to_string())?;
        for set in [Set::First, Set::Second, Set::Third, Set::Bugs] {
            let mut labels = list.labels(set);
            labels.sort_unstable();
            if let Some(twice) = labels.windows(2).find(|two| two[0] == two[1]) {
                return Err(format!("`{}` is there twice", twice[0]));
            }
        }
        Ok(list)
    }

    /// What a set has, as it is named on the command line.
    pub fn names(&self, set: Set) -> Vec<&str> {
        match set {
            Set::Bugs => self.bugs.iter().map(|bug| bug.name.as_str()).collect(),
            _ => self.of(set).map(|published| published.name.as_str()).collect(),
        }
    }

    /// What tells its entries apart.
    fn labels(&self, set: Set) -> Vec<String> {
        match set {
            Set::Bugs => self.bugs.iter().map(|bug| bug.name.clone()).collect(),
            _ => self.of(set).map(Published::title).collect(),
        }
    }

    /// The crates of a set.
    pub fn of(&self, set: Set) -> impl Iterator<Item = &Published> {
        self.crates.iter().filter(move |published| published.set == set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::root;

    #[test]
    fn the_list_is_well_formed_and_its_drivers_are_there() {
        let directory = root().join("xtask").join("crates");
        let list = List::read(&directory.join("list.toml")).expect("the list is well formed");
        for name in list.names(Set::Bugs) {
            let driver = directory.join("bugs").join(format!("{name}.rs"));
            let text = std::fs::read_to_string(&driver).expect("each bug has a driver");
            assert!(text.contains("fn driver()"), "{name}: the test is called `driver`");
        }
        let drivers = std::fs::read_dir(directory.join("bugs")).expect("there are drivers");
        assert_eq!(drivers.count(), list.bugs.len(), "each driver is on the list");
    }

    #[test]
    fn drivers_of_crates_are_there_and_say_why() {
        let directory = root().join("xtask").join("crates");
        let list = List::read(&directory.join("list.toml")).expect("the list is well formed");
        let driven = list.crates.iter().filter(|it| it.driver.is_some());
        let driven = driven.map(|it| {
            assert!(it.note.is_some(), "{}: why are its own tests not checked?", it.name);
            let uses = &it.driver.as_ref().expect("it has one")[&it.name];
            let version = uses.as_str().or_else(|| uses.get("version")?.as_str());
            assert_eq!(version, Some(it.version.as_str()), "{}", it.name);
            format!("{}.rs", it.name)
        });
        let mut driven: Vec<String> = driven.collect();
        let there = std::fs::read_dir(directory.join("drivers")).expect("there are drivers");
        let there = there.map(|file| file.expect("the directory can be read").file_name());
        let mut there: Vec<String> = there.filter_map(|name| name.into_string().ok()).collect();
        driven.sort_unstable();
        there.sort_unstable();
        assert_eq!(driven, there);
    }

    #[test]
    fn mistakes_in_a_list_are_reported() {
        let parsed = |text: &str| List::parse(text).map(|list| list.names(Set::First).len());
        let spin = "[[crate]]\nname = 'spin'\nversion = '0.9.9'\nset = '1'\n";
        assert_eq!(parsed(spin), Ok(1));
        assert_eq!(parsed(&spin.repeat(2)), Err("`spin 0.9.9` is there twice".into()));
        assert_eq!(parsed(&format!("{spin}{spin}driver = {{}}\n")), Ok(2));
        let misspelt = parsed(&format!("{spin}feature = []\n"));
        assert!(misspelt.is_err_and(|reported| reported.contains("unknown field `feature`")));
    }
}
