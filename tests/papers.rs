//! The programs of the papers (`tests/paper`), checked and compared with the directives beside
//! them, and with what is known of them.

use lockred_tests::compare::{differences, table};
use lockred_tests::outcome::{TestFinished, tests};
use lockred_tests::program::{self, Program};
use lockred_tests::tool;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("paper")
}

/// The programs of the modules for which this holds.
fn programs(in_module: impl Fn(&str) -> bool) -> Vec<Program> {
    let programs = program::load(&root()).unwrap_or_else(|errors| panic!("{}", errors.join("\n")));
    let wanted = |program: &Program| in_module(program.name.split("::").next().unwrap_or_default());
    programs.into_iter().filter(wanted).collect()
}

fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Checks these programs, and gives the records of their tests.
fn check(programs: &[Program], options: &[&str]) -> Vec<TestFinished> {
    let mut command = tool::lockred(
        &root(),
        ["check", "--message-format", "json", "--locked", "--no-lock-order"],
    );
    command.args(["--max-seconds", "20"]).args(options);
    // Executions are counted, which are those of one search.
    if !options.iter().any(|option| option.starts_with("--search")) {
        command.args(["--search", "exhaustive=alone"]);
    }
    command.arg("--target-dir");
    command.arg(temporary("papers")).arg("--exact");
    let output = tool::finish(command.args(programs.iter().map(|program| &program.name)));
    let lines = output.lines();
    assert!(!lines.is_empty(), "nothing was checked\n{output}");
    tests(&lines).into_iter().cloned().collect()
}

/// Checks these programs and compares.
fn compare(programs: &[Program], options: &[&str]) {
    let found = check(programs, options);
    let differences = differences(programs, &found.iter().collect::<Vec<_>>());
    assert!(differences.is_empty(), "with {options:?}:\n{}", table(&differences));
}

/// The programs that have another verdict with an option, with that.
fn with(programs: &[Program], option: &str) -> Vec<Program> {
    let programs: Vec<Program> = programs.iter().filter_map(|p| p.with(option)).collect();
    assert!(!programs.is_empty(), "no program says what it is {option}");
    programs
}

fn is_small(module: &str) -> bool {
    !["endless", "heavy"].contains(&module)
}

#[test]
fn right_programs_pass_under_plain_cargo_test() {
    let mut command = tool::clean(tool::cargo(), &root());
    command.env("RUSTFLAGS", "-Dwarnings").env("CARGO_TARGET_DIR", temporary("papers-plain"));
    command.args(["test", "--locked", "--lib", "--", "--exact"]);
    let right = programs(|_| true).into_iter().filter(|program| program.passes_plainly());
    let output = tool::finish(command.args(right.map(|program| program.name)));
    let _ = output.expect(0);
}

#[test]
fn every_program_gets_its_verdict() {
    compare(&programs(is_small), &[]);
}

#[test]
fn the_search_over_states_ends_on_programs_that_run_for_ever() {
    let stateful = "--search=states";
    let mut programs = with(&programs(is_small), stateful);
    programs.extend(self::programs(|module| module == "endless"));
    compare(&programs, &[stateful]);
}

#[test]
fn the_sizes_of_the_papers() {
    let heavy = programs(|module| module == "heavy");
    for option in ["--search=states", "--search=sample"] {
        compare(&with(&heavy, option), &[option]);
    }
}

/// Flanagan and Qadeer, section 2: "the body of each method is a transaction".
#[test]
fn a_call_of_the_counter_is_one_transaction() {
    let calls = programs(|module| module == "counter").into_iter();
    let found = check(&calls.filter(|p| p.name.ends_with("_calls")).collect::<Vec<_>>(), &[]);
    for method in ["incr", "decr", "read"] {
        let transactions = |calls: u32| {
            let name = format!("counter::{method}_{calls}_calls");
            let test = found.iter().find(|test| test.name == name);
            test.unwrap_or_else(|| panic!("{name} is missing")).transactions
        };
        assert_eq!(transactions(20) - transactions(10), 10, "{method}");
    }
}
