//! The crates of a set, each with its own tests, or with the driver that stands for them.

use super::list::{List, Published};
use super::{Findings, Site, document, driver, expectations, machine, source, table};
use crate::crates::check::Checked;
use std::path::Path;

/// Checks each crate that was asked for.
pub fn run(site: &Site, list: &List) -> Result<Findings, String> {
    let wanted = list.of(site.options.set).filter(|it| site.options.selects(&it.name));
    let mut rows = Vec::new();
    for published in wanted {
        eprintln!("crates: {}", published.title());
        let checked = check(site, published);
        rows.push((published, checked));
    }
    let wrong = rows.iter().flat_map(|(published, checked)| {
        let reported = match checked {
            Ok(checked) => wrong(published, checked),
            Err(reason) => vec![reason.clone()],
        };
        reported.into_iter().map(|reported| format!("{}: {reported}", published.title()))
    });
    let wrong = wrong.collect();
    let all: Vec<&Published> = list.of(site.options.set).collect();
    let before = document::section(&site.document(), site.options.set.heading());
    let text = table::of_crates(&all, &rows, &machine::date()?, &before);
    Ok(Findings { text, wrong })
}

fn check(site: &Site, published: &Published) -> Result<Checked, String> {
    let label = format!("{}-{}", published.name, published.version);
    let (label, package) = match &published.driver {
        None => {
            let package = source::copy(&site.scratch, published)?;
            (label, package)
        }
        Some(dependencies) => {
            let file = Path::new("drivers").join(format!("{}.rs", published.name));
            let label = format!("{label}-ours");
            let package = driver::package(site, "drivers", &label, dependencies, &file)?;
            (label, package)
        }
    };
    let seconds = published.seconds.unwrap_or(site.options.seconds);
    site.check(&package, &label, seconds, &published.options)
}

fn wrong(published: &Published, checked: &Checked) -> Vec<String> {
    if let Some(broken) = &checked.broken {
        return vec![broken.clone()];
    }
    if checked.records.is_empty() {
        return vec!["it has no test".into()];
    }
    expectations::wrong(&checked.records, &published.expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crates::list::Set;
    use crate::crates::record::Record;

    #[test]
    fn a_check_without_tests_is_not_right() {
        let published = Published {
            name: "spin".into(),
            version: "1.0.0".into(),
            set: Set::First,
            options: Vec::new(),
            without: Vec::new(),
            seconds: None,
            driver: None,
            note: None,
            expected: Vec::new(),
        };
        let checked = |records, broken| Checked { records, seconds: 1.0, broken };
        let passed = Record { verdict: "passed".into(), ..Record::default() };
        assert_eq!(wrong(&published, &checked(vec![passed], None)), [""; 0]);
        assert_eq!(wrong(&published, &checked(Vec::new(), None)), ["it has no test"]);
        let broken = checked(Vec::new(), Some("dead".into()));
        assert_eq!(wrong(&published, &broken), ["dead"]);
    }
}
