//! Options of `cargo lockred check`: which tests, which search, which output.

use super::findings::FindingOptions;
use super::format::{Format, FormatName};
use super::search::Search;
use super::selection::Selection;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Parser, ValueEnum};
use lockred_protocol::session::{Environment, Limits, Random, Share, Strategy, Time};
use std::collections::BTreeSet;

/// Options of `check`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cargo lockred check                          every test of the package
  cargo lockred check transfer                 the tests whose names contain `transfer`
  cargo lockred check --test api -- a::b       the tests of tests/api.rs whose names contain `a::b`
  cargo lockred check --bin server             the program `server` itself, as one test
  cargo lockred check --max-seconds 5          at most five seconds a test
  cargo lockred check --search bounded=2       interleavings with at most two preemptions only
  cargo lockred check --search sample          random interleavings instead of every one
  cargo lockred check --resume                 continue an interrupted or killed check
  cargo lockred check --require verified       fail unless every interleaving of every test was covered
  cargo lockred check --deny warnings          fail for warnings, too
  cargo lockred check --baseline known.toml    fail only for findings that are not in the file
  cargo lockred check --message-format sarif=lockred.sarif --message-format junit=lockred.xml")]
pub struct CheckOptions {
    #[command(flatten)]
    pub filter: FilterOptions,
    #[command(flatten)]
    pub search: SearchOptions,
    /// Resume an interrupted or killed check that had the same options
    ///
    /// Finished tests keep their verdicts, and the test under way continues. After a change of the
    /// program or of the options everything is checked again.
    #[arg(long, help_heading = "Search")]
    pub resume: bool,
    /// The warnings of the audit are reported, with what came of them (`audit --confirm`).
    #[arg(skip)]
    pub audit: bool,
    /// The locking discipline is looked at in every test (`cargo lockred discipline`).
    #[arg(skip)]
    pub observes: bool,
    #[command(flatten)]
    pub findings: FindingOptions,
    #[command(flatten)]
    pub output: ReportOptions,
    #[command(flatten)]
    pub selection: Selection,
}

impl CheckOptions {
    /// To check and to look at the discipline, with nothing else asked for.
    pub fn observing(filter: FilterOptions, search: SearchOptions, selection: Selection) -> Self {
        let output = ReportOptions { require: None, message_format: Vec::new() };
        let findings = FindingOptions::default();
        let (resume, audit, observes) = (false, false, true);
        Self { filter, search, resume, audit, observes, findings, output, selection }
    }

    /// To check, and to report what came of the warnings of the audit.
    pub fn confirming(
        filter: FilterOptions,
        search: SearchOptions,
        findings: FindingOptions,
        message_format: Vec<Format>,
        selection: Selection,
    ) -> Self {
        let output = ReportOptions { require: None, message_format };
        let (resume, audit, observes) = (false, true, false);
        Self { filter, search, resume, audit, observes, findings, output, selection }
    }
}

/// Which tests of the selected targets, as in `cargo test`.
#[derive(Args, Debug, Default, Clone)]
pub struct FilterOptions {
    /// Check only tests whose names contain one of these strings
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// Match filters against whole names
    #[arg(long, help_heading = "Test selection")]
    pub exact: bool,
    /// Skip tests whose names contain this string
    #[arg(long, value_name = "FILTER", help_heading = "Test selection")]
    pub skip: Vec<String>,
    /// Check only the tests that are marked `#[ignore]`
    #[arg(long, help_heading = "Test selection", conflicts_with = "include_ignored")]
    pub ignored: bool,
    /// Check the tests that are marked `#[ignore]` as well
    #[arg(long, help_heading = "Test selection")]
    pub include_ignored: bool,
}

/// How to search, and until when.
#[derive(Args, Clone, PartialEq, Debug)]
#[command(next_help_heading = "Search")]
pub struct SearchOptions {
    /// How to choose interleavings: exhaustive, bounded[=N], sample[=uniform|pct|pos] or states
    ///
    /// exhaustive: every interleaving, up to equivalence. Critical sections that do not depend on
    /// each other are not reordered. Where that does not end soon, the other searches take turns
    /// with it; exhaustive=alone leaves them out.
    ///
    /// bounded=N: only interleavings with at most N preemptions (2 by default), those with fewer
    /// first. A preemption is a switch away from a thread that could have continued; switches away
    /// from threads that wait or have ended are free. Most bugs take one or two, and there are far
    /// fewer such interleavings, so use this for tests that do not end otherwise. A test is at most
    /// `passed`, unless the bound turns out to leave nothing out.
    ///
    /// sample: random interleavings; never complete. uniform: random walks. pct: random priorities
    /// of threads with few changes, for rare bugs of few ordering constraints. pos: random
    /// priorities of operations, which spread over the orders of dependent ones.
    ///
    /// states: every state of the program once, which ends on programs that run for ever. It sees
    /// fewer data races (`cargo lockred explain data-races`).
    #[arg(long, value_name = "SEARCH", default_value = "exhaustive", value_parser = Search::parse)]
    pub search: Search,
    /// Seed of `--search sample`, and of the randomness that the program gets from the system
    #[arg(long, hide_short_help = true, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Stop a test after this many executions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_executions: Option<u64>,
    /// Stop a test after this many seconds
    #[arg(long, default_value = "60", value_name = "S", value_parser = seconds)]
    pub max_seconds: f64,
    /// Stop a test after this many operations in all
    ///
    /// Operations are scheduling points. Without --max-seconds beside it, time is not limited, so
    /// that a check comes to the same whenever it is run.
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_operations_total: Option<u64>,
    /// Cut an execution after this many operations
    #[arg(long, hide_short_help = true, default_value_t = 100_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_operations: u64,
    /// Keep searching a test after its first bug
    #[arg(long)]
    pub keep_going: bool,
    /// Let waits return, and `compare_exchange_weak` fail, spuriously
    ///
    /// Explores spurious results wherever the documentation of std allows them: Condvar::wait and
    /// wait_timeout, thread::park and park_timeout, the futex calls of other libraries, and
    /// compare_exchange_weak outside of std. try_lock is not one of them: std's locks fail only if
    /// they are locked. It happens at most twice in a row: for a loop that waits for its condition
    /// this covers all further iterations; for other code it is reported as the assumption
    /// `bounded-spurious`. What a test does before it creates a thread, waits or chooses is not
    /// part of the search.
    #[arg(long, hide_short_help = true)]
    pub spurious: bool,
    /// Reuse freed memory at once, to find ABA problems
    ///
    /// A thread gets the memory that it freed last, so that a compare-exchange can mistake a new
    /// block for the old one. Without this option, freed memory stays unused for a while, which
    /// finds uses of it. Over-aligned blocks are never reused.
    #[arg(long, hide_short_help = true)]
    pub reuse: bool,
    /// Warn of memory that is leaked at the end of a test
    ///
    /// A leak is a block that the test or its threads have allocated since it first created a
    /// thread, and that no static, live thread-local variable or other live block points to. The
    /// search is slower.
    #[arg(long)]
    pub leaks: bool,
    /// Fix the randomness that the system provides, or explore it
    ///
    /// This is what getrandom returns: seeds of HashMap, of the crate rand, …
    #[arg(long, hide_short_help = true, value_enum, default_value_t = RandomName::Fixed, value_name = "HOW")]
    pub random: RandomName,
    /// Let sleeps and timeouts end at any time, or in their order once no thread can run
    ///
    /// Nothing guarantees that a sleep is long enough for what another thread does meanwhile. A
    /// test that fails only where one is not gets a warning (`timing`, LR0107). With `ordered`,
    /// such schedules are not explored, which is an assumption (`time-ordered`).
    #[arg(long, hide_short_help = true, value_enum, default_value_t = TimeName::Any, value_name = "WHEN")]
    pub time: TimeName,
    /// Compare every restore from a copy of the state with running the steps again (a test of
    /// lockred itself; slow)
    #[arg(long, hide = true)]
    pub verify_restores: bool,
    /// Copy all memory at the root (a test of lockred itself; slow where that is large)
    #[arg(long, hide = true)]
    pub without_images: bool,
    /// Report in records how much of the time going back to the root took (for benches)
    #[arg(long, hide = true)]
    pub time_restores: bool,
    /// Names of the options that were typed; others are as they are by default.
    #[arg(skip)]
    pub typed: BTreeSet<String>,
}

/// How a test is searched that says so itself.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnOptions {
    /// As it says it: names of options, perhaps with `=` and a value. Those of the command line are
    /// left out.
    pub words: Vec<String>,
    /// What comes of that and of the command line.
    pub search: SearchOptions,
}

/// A command line of search options alone.
#[derive(Parser, Debug)]
#[command(no_binary_name = true)]
struct Alone {
    #[command(flatten)]
    search: SearchOptions,
}

/// What `--random` takes.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum RandomName {
    /// One stream for each thread, the same in every execution
    Fixed,
    /// Each request is answered in four ways: two streams, all bits 0, all bits 1. This is a
    /// sample, not all values
    Explore,
}

/// What `--time` takes.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeName {
    /// At any time, as nothing promises more
    Any,
    /// Only once all threads sleep, wait longer, or spin in vain
    Ordered,
}

/// What is asked of the verdicts, and how they are printed.
#[derive(Args, Debug)]
#[command(next_help_heading = "Verdicts")]
pub struct ReportOptions {
    /// Exit with status 5 unless every test reaches this verdict
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub require: Option<Require>,
    /// Machine-readable output, in addition to the report on stderr: human, json, sarif, junit,
    /// github, or FORMAT=FILE
    ///
    /// json: a JSON object a line, one a test and one at the end. sarif: a SARIF 2.1.0 log, with
    /// the interleaving of each bug as a code flow, one thread flow a thread. junit: a JUnit report
    /// as nextest writes it. github: workflow commands, which GitHub Actions shows as annotations.
    /// human: nothing more.
    ///
    /// Without a file they go to stdout, where there can be one of them. The option can be
    /// repeated: `--message-format json --message-format sarif=lockred.sarif`. A file is whole at
    /// any time, also while the check runs, and when it is interrupted or fails. In GitHub Actions,
    /// where no format is named, it is github.
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = Format::parse)]
    pub message_format: Vec<Format>,
}

impl ReportOptions {
    /// Whether the interleavings of bugs are reported step by step.
    pub fn needs_thread_flows(&self) -> bool {
        self.message_format.iter().any(|format| format.name == FormatName::Sarif)
    }
}

/// What `--require` takes.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Require {
    /// Every interleaving covered, no assumption
    Verified,
}

impl SearchOptions {
    /// Learns which options were typed on the command line that these are of.
    pub fn learn_typed(&mut self, matches: &ArgMatches) {
        let typed =
            |id: &&clap::Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        self.typed = matches.ids().filter(typed).map(|id| id.as_str().replace('_', "-")).collect();
    }

    /// With the options of a test, where the command line does not name them.
    ///
    /// # Errors
    /// When they are none.
    pub fn with(&self, words: &[String]) -> Result<OwnOptions, String> {
        let name = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
        let own = Alone::try_parse_from(words.iter().map(|word| format!("--{word}")));
        let own = own.map_err(|error| error.to_string())?.search;
        let words = words.iter().filter(|word| !self.typed.contains(&name(word)));
        let words: Vec<String> = words.cloned().collect();
        let mut search = self.clone();
        for word in &words {
            match name(word).as_str() {
                "search" => search.search = own.search,
                "seed" => search.seed = own.seed,
                "max-executions" => search.max_executions = own.max_executions,
                "max-seconds" => search.max_seconds = own.max_seconds,
                "max-operations-total" => search.max_operations_total = own.max_operations_total,
                "max-operations" => search.max_operations = own.max_operations,
                "keep-going" => search.keep_going = own.keep_going,
                "spurious" => search.spurious = own.spurious,
                "reuse" => search.reuse = own.reuse,
                "leaks" => search.leaks = own.leaks,
                "random" => search.random = own.random,
                "time" => search.time = own.time,
                other => return Err(format!("`{other}` is no option of a single test")),
            }
        }
        search.typed.extend(words.iter().map(|word| name(word)));
        Ok(OwnOptions { words, search })
    }

    /// What the runtime does.
    pub const fn strategy(&self) -> Strategy {
        self.search.strategy(self.seed)
    }

    /// What is explored of the environment.
    pub fn environment(&self) -> Environment {
        let random = match self.random {
            RandomName::Fixed => Random::Fixed,
            RandomName::Explore => Random::Explore,
        };
        Environment {
            spurious: self.spurious,
            // Where states recur, so do addresses.
            reuse: self.reuse || self.search == Search::States,
            leaks: self.leaks,
            random,
            time: match self.time {
                TimeName::Any => Time::Any,
                TimeName::Ordered => Time::Ordered,
            },
            // What has to learn them is started again.
            numbers: false,
            verify_restores: self.verify_restores,
            without_images: self.without_images,
        }
    }

    /// Seconds that a test may take, unless only its operations are limited.
    pub fn seconds(&self) -> Option<f64> {
        let only_operations =
            self.max_operations_total.is_some() && !self.typed.contains("max-seconds");
        (!only_operations).then_some(self.max_seconds)
    }

    /// The limits of one test.
    pub fn limits(&self) -> Limits {
        Limits {
            executions: self.max_executions,
            seconds: self.seconds(),
            operations: self.max_operations,
            share: Share { operations: self.max_operations_total, seconds: None },
        }
    }
}

/// A positive number of seconds.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        Ok(_) => Err("it must be more than 0".into()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Lockred;
    use clap::CommandFactory as _;

    fn typed(arguments: &[&str]) -> SearchOptions {
        let command = Lockred::command();
        let all = ["cargo lockred", "check"].iter().chain(arguments);
        let matches = command.get_matches_from(all);
        let (_, matches) = matches.subcommand().unwrap();
        let mut search =
            <SearchOptions as clap::FromArgMatches>::from_arg_matches(matches).unwrap();
        search.learn_typed(matches);
        search
    }

    #[test]
    fn a_test_has_its_own_options_unless_the_command_line_names_them() {
        let words = ["search=dpor", "max-seconds=2.5", "spurious"].map(String::from);
        let own = typed(&[]).with(&words).unwrap();
        assert_eq!(own.words, words);
        let search = own.search;
        assert_eq!((search.strategy(), search.max_seconds), (Strategy::Dpor, 2.5));
        assert!(search.spurious && !search.reuse);
        let own = typed(&["--search", "naive", "--seed=4"]).with(&words).unwrap();
        assert_eq!(own.words, words[1..]);
        assert_eq!((own.search.strategy(), own.search.seed), (Strategy::Naive, 4));
        assert_eq!(own.search.max_seconds, 2.5);
        // As by default, but typed.
        let own = typed(&["--max-seconds", "60"]).with(&words).unwrap();
        assert_eq!(own.search.max_seconds, 60.0);
    }

    #[test]
    fn a_search_is_chosen_by_one_option() {
        let bounded = |preemptions| Strategy::Bounded { preemptions };
        assert_eq!(typed(&[]).strategy(), Strategy::Transactions);
        assert_eq!(typed(&["--search", "bounded=0"]).strategy(), bounded(0));
        let sample = ["--search=sample=pos", "--seed", "7"];
        assert_eq!(typed(&sample).strategy(), Strategy::Pos { seed: 7 });
        let words = ["search=bounded=3".to_owned()];
        let own = |arguments: &[&str]| typed(arguments).with(&words).unwrap();
        assert_eq!(own(&[]).search.strategy(), bounded(3));
        let by_states = own(&["--search", "states"]);
        assert_eq!(by_states.search.strategy(), Strategy::Stateful);
        assert!(by_states.words.is_empty());
    }

    #[test]
    fn what_is_no_option_of_a_test_is_refused() {
        for word in ["verify-restores", "max-seconds=0", "search=x", "typed"] {
            assert!(typed(&[]).with(&[word.to_owned()]).is_err(), "{word}");
        }
    }
}
