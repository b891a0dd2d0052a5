//! Published bugs: each driver with the version that has the bug, and with one that has not.

use super::check::Checked;
use super::list::{Bug, List};
use super::record::Record;
use super::{Findings, Site, driver, source, table};
use std::collections::BTreeMap;
use std::path::Path;

/// The most that a driver gets. Bugs take less; it is for versions without.
const SECONDS: u32 = 20;

/// What came of a driver with one version.
pub type Outcome = Result<Record, String>;

/// What came of a bug.
pub struct Row<'a> {
    pub bug: &'a Bug,
    pub buggy: Outcome,
    pub fixed: Outcome,
}

/// Checks each bug that was asked for.
pub fn run(site: &Site, list: &List) -> Result<Findings, String> {
    let wanted = list.bugs.iter().filter(|bug| site.options.selects(&bug.name));
    let rows = wanted.map(|bug| {
        eprintln!("crates: {}", bug.name);
        let buggy = check(site, bug, "buggy", &bug.buggy, "driver");
        let fixed = match &bug.fixed {
            Some(fixed) => check(site, bug, "fixed", fixed, "driver"),
            None => check(site, bug, "buggy", &bug.buggy, "repaired"),
        };
        Row { bug, buggy, fixed }
    });
    let rows: Vec<Row> = rows.collect();
    let wrong = rows.iter().flat_map(wrong).collect();
    Ok(Findings { text: table::of_bugs(&rows), wrong })
}

/// Checks a test of the driver with these dependencies.
fn check(site: &Site, bug: &Bug, which: &str, dependencies: &toml::Table, test: &str) -> Outcome {
    let label = format!("{}-{which}", bug.name);
    let file = Path::new("bugs").join(format!("{}.rs", bug.name));
    let package = driver::package(site, "bugs", &label, dependencies, &file)?;
    if which == "buggy" && !bug.yanked.is_empty() {
        lock(site, &package, &bug.yanked)?;
    }
    let mut options = bug.options.clone();
    options.extend(["--test", "driver", "--exact", test].map(String::from));
    let Checked { records, broken, .. } =
        site.check(&package, &format!("{label}-{test}"), SECONDS, &options)?;
    match (broken, records.into_iter().next()) {
        (None, Some(record)) => Ok(record),
        (broken, _) => Err(broken.unwrap_or_else(|| "no record".into())),
    }
}

/// Writes a lock file with the yanked versions, which cargo completes.
fn lock(site: &Site, package: &Path, yanked: &BTreeMap<String, String>) -> Result<(), String> {
    let file = package.join("Cargo.lock");
    if file.exists() {
        return Ok(());
    }
    // What cargo calls the registry is in its answer about any package of that.
    let (name, version) = ("cfg-if", "1.0.0");
    let asks = site.scratch.join("fetch").join("registry");
    let dependencies = toml::Table::from_iter([(name.to_owned(), format!("={version}").into())]);
    source::write_package(&asks, &source::manifest("registry", &dependencies))?;
    let metadata = source::metadata(&asks)?;
    let registry = source::package(&metadata, name, version)?["source"].as_str();
    let registry = registry.ok_or("cargo metadata names no registry")?;
    source::write(&file, &lock_file(registry, yanked))
}

fn lock_file(registry: &str, yanked: &BTreeMap<String, String>) -> String {
    let package = |(package, checksum): (&String, &String)| {
        let (name, version) = package.split_once(' ').unwrap_or((package, ""));
        format!(
            "\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"{registry}\"\n\
             checksum = \"{checksum}\"\n"
        )
    };
    "version = 3\n".to_owned() + &yanked.iter().map(package).collect::<String>()
}

/// A sentence for each version that did not come out as it should.
fn wrong(row: &Row) -> Vec<String> {
    let Row { bug, buggy, fixed } = row;
    let buggy = match (buggy, &bug.missed) {
        (Err(reason), _) => Some(reason.clone()),
        (Ok(record), None) => match record.shows() {
            Some(shown) if bug.shows.iter().any(|it| it == shown) => None,
            shown => {
                Some(format!("shows {} instead of {}", shown.unwrap_or("nothing"), bug.shows[0]))
            }
        },
        (Ok(record), Some(_)) => {
            record.shows().map(|shown| format!("shows {shown}, and is not missed any more"))
        }
    };
    let fixed = match fixed {
        Err(reason) => Some(reason.clone()),
        Ok(record) => record.shows().map(|shown| format!("shows {shown}: {}", record.reported())),
    };
    let buggy = buggy.map(|reported| format!("{}, buggy: {reported}", bug.name));
    let fixed = fixed.map(|reported| format!("{}, fixed: {reported}", bug.name));
    buggy.into_iter().chain(fixed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crates::record::Found;

    fn bug(missed: Option<&str>) -> Bug {
        Bug {
            name: "twice".into(),
            what: String::new(),
            shows: vec!["double-free".into(), "use-after-free".into()],
            buggy: toml::Table::new(),
            fixed: None,
            yanked: BTreeMap::new(),
            options: Vec::new(),
            missed: missed.map(String::from),
        }
    }

    fn showing(kind: &str) -> Outcome {
        let found = Found { kind: kind.into(), message: "told".into(), ..Found::default() };
        Ok(Record { verdict: "failed".into(), bugs: vec![found], ..Record::default() })
    }

    fn clean() -> Outcome {
        Ok(Record { verdict: "passed".into(), ..Record::default() })
    }

    #[test]
    fn the_bug_must_show_in_one_version_and_not_in_the_other() {
        let found = bug(None);
        let reported = |buggy, fixed| wrong(&Row { bug: &found, buggy, fixed });
        assert_eq!(reported(showing("use-after-free"), clean()), [""; 0]);
        assert_eq!(
            reported(clean(), clean()),
            ["twice, buggy: shows nothing instead of double-free"]
        );
        let other = reported(showing("panic"), showing("double-free"));
        let expected = [
            "twice, buggy: shows panic instead of double-free",
            "twice, fixed: shows double-free: told",
        ];
        assert_eq!(other, expected);
        assert_eq!(reported(Err("dead".into()), clean()), ["twice, buggy: dead"]);
    }

    #[test]
    fn a_bug_that_is_missed_must_not_show() {
        let missed = bug(Some("stale values"));
        let reported = |buggy| wrong(&Row { bug: &missed, buggy, fixed: clean() });
        assert_eq!(reported(clean()), [""; 0]);
        assert_eq!(
            reported(showing("panic")),
            ["twice, buggy: shows panic, and is not missed any more"]
        );
    }

    #[test]
    fn a_lock_file_has_the_yanked_versions() {
        let yanked = BTreeMap::from([("a 1.0.0".to_owned(), "1234".to_owned())]);
        let lock: toml::Table = lock_file("registry+x", &yanked).parse().expect("that is TOML");
        let package = &lock["package"][0];
        let field = |name: &str| package[name].as_str();
        assert_eq!((field("name"), field("version")), (Some("a"), Some("1.0.0")));
        assert_eq!((field("source"), field("checksum")), (Some("registry+x"), Some("1234")));
    }
}
