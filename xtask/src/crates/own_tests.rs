//! The crates of a set, each with its own tests.

use super::list::{List, Published};
use super::{Findings, Site, expectations, source, table};
use crate::crates::check::Checked;

/// Checks each crate that was asked for.
pub fn run(site: &Site, list: &List) -> Result<Findings, String> {
    let wanted = list.of(site.options.set).filter(|it| site.options.selects(&it.name));
    let mut rows = Vec::new();
    for published in wanted {
        eprintln!("crates: {} {}", published.name, published.version);
        let checked = check(site, published);
        rows.push((published, checked));
    }
    let wrong = rows.iter().flat_map(|(published, checked)| {
        let told = match checked {
            Ok(checked) => wrong(published, checked),
            Err(reason) => vec![reason.clone()],
        };
        told.into_iter().map(|told| format!("{} {}: {told}", published.name, published.version))
    });
    let wrong = wrong.collect();
    Ok(Findings { text: table::of_crates(&rows), wrong })
}

fn check(site: &Site, published: &Published) -> Result<Checked, String> {
    let package = source::copy(&site.scratch, &published.name, &published.version)?;
    let seconds = published.seconds.unwrap_or(site.options.seconds);
    let label = format!("{}-{}", published.name, published.version);
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
            seconds: None,
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
