//! The tests of an executable, and which of them are wanted.

use crate::build::artifact::Built;
use crate::cli::check::{FilterOptions, OwnOptions};
use crate::error::Result;
use crate::session::{self, Launch};
use std::collections::HashSet;

/// One test to check.
#[derive(Clone, PartialEq, Debug)]
pub struct Test {
    /// As libtest names it, or the target's name.
    pub name: String,
    /// Arguments that make the executable run it.
    pub arguments: Vec<String>,
    /// Whether libtest runs it.
    pub libtest: bool,
    /// How it is searched, where it says so itself.
    pub own: Option<OwnOptions>,
}

/// The tests of one executable.
#[derive(Clone, PartialEq, Debug)]
pub struct Tests {
    /// Those that are wanted, in its own order.
    pub wanted: Vec<Test>,
    /// The names of all that libtest runs, wanted or not.
    pub all: HashSet<String>,
}

/// The tests of an executable. Without `libtest` it is one test by itself.
///
/// # Errors
/// When a libtest executable cannot list its tests.
pub fn tests(built: &Built, libtest: bool, filter: &FilterOptions) -> Result<Tests> {
    if !libtest {
        // One test of its own; it is never an ignored one.
        let wanted = !filter.ignored && filter.wants(&built.target);
        let test =
            Test { name: built.target.clone(), arguments: Vec::new(), libtest: false, own: None };
        let wanted = wanted.then_some(test).into_iter().collect();
        return Ok(Tests { wanted, all: HashSet::new() });
    }
    let all = list(built, &[])?;
    let ignored: HashSet<String> = list(built, &["--ignored"])?.into_iter().collect();
    let wanted = all.iter().filter(|name| {
        let counts = match ignored.contains(*name) {
            true => filter.ignored || filter.include_ignored,
            false => !filter.ignored,
        };
        counts && filter.wants(name)
    });
    let test = |name: &String| {
        let name = name.clone();
        let mut arguments =
            vec![name.clone(), "--exact".into(), "--nocapture".into(), "--test-threads=1".into()];
        if ignored.contains(&name) {
            arguments.push("--include-ignored".into());
        }
        Test { name, arguments, libtest: true, own: None }
    };
    let wanted = wanted.map(test).collect();
    Ok(Tests { wanted, all: all.into_iter().collect() })
}

/// The names that `--list` prints.
fn list(built: &Built, options: &[&str]) -> Result<Vec<String>> {
    let mut arguments: Vec<String> = ["--list", "--format", "terse"].map(Into::into).into();
    arguments.extend(options.iter().map(|option| (*option).to_owned()));
    let launch = Launch {
        executable: built.executable.clone(),
        arguments,
        directory: built.directory.clone(),
        environment: built.environment.clone(),
    };
    Ok(parse(&session::plain_output(&launch)?))
}

/// The tests of `--list --format terse`; benchmarks are left out.
fn parse(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

impl FilterOptions {
    /// Whether the filters want a test of this name.
    fn wants(&self, name: &str) -> bool {
        let matches = |filter: &String| match self.exact {
            true => name == filter,
            false => name.contains(filter.as_str()),
        };
        (self.filters.is_empty() || self.filters.iter().any(matches))
            && !self.skip.iter().any(matches)
    }

    /// Whether every test is wanted that is not ignored.
    pub fn is_empty(&self) -> bool {
        self.filters.is_empty() && self.skip.is_empty() && !self.ignored
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn benchmarks_and_other_lines_are_no_tests() {
        let text = "a::b: test\nc: bench\nd::e f: test\n\n2 tests, 1 benchmark\n";
        assert_eq!(parse(text), ["a::b", "d::e f"]);
    }

    #[test]
    fn filters_are_substrings_unless_exact() {
        let filter = |filters: &[&str], skip: &[&str], exact| FilterOptions {
            filters: filters.iter().map(|f| (*f).into()).collect(),
            skip: skip.iter().map(|f| (*f).into()).collect(),
            exact,
            ..FilterOptions::default()
        };
        assert!(filter(&[], &[], false).wants("a::b"));
        assert!(filter(&["x", "::b"], &[], false).wants("a::b"));
        assert!(!filter(&["::b"], &["a"], false).wants("a::b"));
        assert!(!filter(&["::b"], &[], true).wants("a::b"));
        assert!(filter(&["a::b"], &["a"], true).wants("a::b"));
    }
}
