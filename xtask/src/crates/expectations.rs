//! What came out, compared with what the list says of each test.

use super::list::Expected;
use super::record::Record;

/// A test that did not pass, and what the list says of that.
pub struct Accounted<'a> {
    pub record: &'a Record,
    pub expected: Option<&'a Expected>,
}

/// Each test that did not pass, with its entry.
pub fn accounts<'a>(records: &'a [Record], expected: &'a [Expected]) -> Vec<Accounted<'a>> {
    let account = |record: &'a Record| {
        let shown = record.shows()?;
        let fits = |entry: &&Expected| {
            names(entry, &record.name)
                && if record.bugs.is_empty() {
                    shown.contains(&entry.shows)
                } else {
                    shown == entry.shows
                }
        };
        Some(Accounted { record, expected: expected.iter().find(fits) })
    };
    records.iter().filter_map(account).collect()
}

/// A sentence for each test that is not accounted for, and for each entry that nothing has shown.
pub fn wrong(records: &[Record], expected: &[Expected]) -> Vec<String> {
    let accounts = accounts(records, expected);
    let unknown = accounts.iter().filter(|account| account.expected.is_none());
    let unknown = unknown.map(|account| {
        let Record { name, verdict, .. } = account.record;
        format!("`{name}` {verdict}: {}", account.record.reported())
    });
    let used = |entry: &&Expected| accounts.iter().any(|account| account.expected == Some(*entry));
    let unused = expected.iter().filter(|entry| !entry.perhaps && !used(entry));
    let unused =
        unused.map(|entry| format!("`{}` does not show `{}` any more", entry.test, entry.shows));
    unknown.chain(unused).collect()
}

/// Whether an entry is about a test.
fn names(entry: &Expected, test: &str) -> bool {
    match entry.test.strip_suffix('*') {
        Some(beginning) => test.starts_with(beginning),
        None => entry.test == test,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crates::list::Because;
    use crate::crates::record::Found;

    fn failed(name: &str, kind: &str) -> Record {
        let bug = Found { kind: kind.into(), message: format!("a {kind}"), ..Found::default() };
        Record { name: name.into(), verdict: "failed".into(), bugs: vec![bug], ..Record::default() }
    }

    fn unsupported(name: &str, message: &str) -> Record {
        let verdict = "unsupported".into();
        Record { name: name.into(), verdict, message: message.into(), ..Record::default() }
    }

    fn entry(test: &str, shows: &str, perhaps: bool) -> Expected {
        let (test, shows) = (test.into(), shows.into());
        Expected { test, shows, because: Because::Test, note: String::new(), perhaps }
    }

    #[test]
    fn each_failure_needs_an_entry_of_its_kind_and_each_entry_a_failure() {
        let records =
            [failed("a", "panic"), failed("b", "deadlock"), unsupported("c", "`fork` is")];
        let all =
            [entry("a", "panic", false), entry("b*", "deadlock", false), entry("c", "fork", false)];
        assert_eq!(wrong(&records, &all), [""; 0]);
        assert_eq!(wrong(&records, &all[1..]), ["`a` failed: a panic"]);
        let other = [entry("a", "data-race", false), all[1].clone(), all[2].clone()];
        let reported = ["`a` failed: a panic", "`a` does not show `data-race` any more"];
        assert_eq!(wrong(&records, &other), reported);
    }

    #[test]
    fn an_entry_may_be_of_what_shows_perhaps_but_not_of_other_tests() {
        assert_eq!(wrong(&[], &[entry("a", "panic", true)]), [""; 0]);
        let records = [failed("ab", "panic")];
        assert_eq!(wrong(&records, &[entry("a", "panic", true)]), ["`ab` failed: a panic"]);
        assert_eq!(wrong(&records, &[entry("a*", "panic", true)]), [""; 0]);
    }
}
