//! The corpus, checked in one run and compared with the directives beside its programs.

use lockred_tests::compare::{differences, summary, table};
use lockred_tests::outcome::{Line, tests};
use lockred_tests::program::{self, Program};
use lockred_tests::tool;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn programs() -> Vec<Program> {
    program::load(&program::corpus()).unwrap_or_else(|errors| panic!("{}", errors.join("\n")))
}

fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn every_directive_is_well_formed_and_half_of_the_programs_are_right() {
    let programs = programs();
    let right = programs.iter().filter(|p| p.is_correct()).count();
    assert!(programs.len() >= 60, "{} programs", programs.len());
    assert!(2 * right >= programs.len(), "{right} of {} are right", programs.len());
}

#[test]
fn right_programs_pass_under_plain_cargo_test() {
    let mut command = tool::clean(tool::cargo(), &program::corpus());
    command.env("RUSTFLAGS", "-Dwarnings").env("CARGO_TARGET_DIR", temporary("corpus-plain"));
    command.args(["test", "--locked", "--lib", "--", "--exact"]);
    let right = programs().into_iter().filter(|program| program.passes_plainly());
    let output = tool::finish(command.args(right.map(|program| program.name)));
    let _ = output.expect(0);
}

/// Checks the corpus with these arguments.
fn check(arguments: &[&str]) -> tool::Output {
    let mut command = tool::lockred(&program::corpus(), ["check", "--message-format", "json"]);
    command.args(["--locked", "--max-executions", "20000", "--max-seconds", "20"]);
    command.arg("--target-dir").arg(temporary("corpus"));
    tool::finish(command.args(arguments))
}

/// Compares what a check of these programs found with what it should.
fn compare(programs: &[Program], output: &tool::Output) {
    let lines = output.lines();
    let tests = tests(&lines);
    assert!(!tests.is_empty(), "no test was checked\n{output}");
    for test in tests.iter().filter(|test| test.bugs.is_empty() && !test.complete) {
        println!("incomplete: {}: {}", test.name, summary(test));
    }
    let differences = differences(programs, &tests);
    assert!(
        differences.is_empty(),
        "{} of {} programs differ (name, expected, got):\n{}",
        differences.len(),
        tests.len(),
        table(&differences)
    );
    assert!(matches!(lines.last(), Some(Line::Finished(_))), "the summary is missing");
}

#[test]
fn every_program_gets_its_verdict() {
    let programs = programs();
    let output = check(&[]);
    compare(&programs, &output);
    let _ = output.expect(1);
    let options: BTreeSet<&str> =
        programs.iter().flat_map(|p| &p.with).map(|(option, _)| option.as_str()).collect();
    for option in options {
        let programs: Vec<Program> = programs.iter().filter_map(|p| p.with(option)).collect();
        let names = programs.iter().map(|program| program.name.as_str());
        let arguments: Vec<&str> = [option, "--exact"].into_iter().chain(names).collect();
        compare(&programs, &check(&arguments));
    }
}

/// Modules whose programs are checked with their claims in every run of the tests.
const SLICE: &[&str] = &["handles", "locals", "lock_order", "memory", "mutex", "refcounts"];

/// Programs that fill a whole stack, or write everywhere: keeping what is claimed of each byte
/// takes too long there.
const TOO_MUCH: &[&str] = &[
    "process::a_stack_overflows",
    "robust::a_thread_overflows_its_stack_between_calls",
    "robust::overwrites_the_explorer",
];

/// A crate of one module of the corpus. As one program, the corpus is so large that large sets of
/// addresses are taken for unknown.
fn alone(module: &str) -> PathBuf {
    let (whole, part) = (program::corpus(), temporary("corpus-modules").join(module));
    let source = part.join("src");
    std::fs::create_dir_all(&source).unwrap();
    let read = |name: &str| std::fs::read_to_string(whole.join(name)).unwrap();
    let annotations = whole.join("../../runtime/annotations").canonicalize().unwrap();
    let manifest =
        read("Cargo.toml").replace("../../runtime/annotations", annotations.to_str().unwrap());
    std::fs::write(part.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(part.join("Cargo.lock"), read("Cargo.lock")).unwrap();
    let modules = [module, "shared"].map(|name| format!("#[cfg(test)]\nmod {name};\n"));
    std::fs::write(source.join("lib.rs"), modules.concat()).unwrap();
    for file in [module, "shared"].map(|name| format!("src/{name}.rs")) {
        std::fs::write(part.join(&file), read(&file)).unwrap();
    }
    part
}

/// Checks a module of the corpus with its claims. Gives how many accesses points-to has something
/// to say of.
fn check_claims(module: &str, programs: &[Program]) -> u64 {
    let part = alone(module);
    let lockred = |arguments: &[&str]| {
        let mut command = tool::lockred(&part, arguments);
        command.args(["--check-static", "--message-format", "json", "--locked", "--target-dir"]);
        tool::finish(command.arg(temporary("corpus-modules").join("target")))
    };
    let names = programs.iter().map(|program| program.name.as_str());
    let check = ["check", "--max-executions", "20000", "--max-seconds", "20", "--exact"];
    compare(programs, &lockred(&check.into_iter().chain(names).collect::<Vec<_>>()));
    let plan = lockred(&["audit", "--accesses"]).expect(0).stdout;
    let plan: serde_json::Value = serde_json::from_str(plan.lines().last().unwrap()).unwrap();
    let rules = plan["rules"].as_array().unwrap().iter();
    let own = rules.filter(|rule| rule["rule"].as_str().unwrap().starts_with("own-"));
    own.map(|rule| rule["count"].as_u64().unwrap()).sum()
}

#[test]
fn what_the_plan_claims_holds_in_the_corpus() {
    let deep = std::env::var_os("LOCKRED_DEEP").is_some();
    let mut modules: BTreeMap<String, Vec<Program>> = BTreeMap::new();
    for program in programs() {
        let (module, _) = program.name.split_once("::").unwrap();
        if !TOO_MUCH.contains(&program.name.as_str()) {
            modules.entry(module.to_owned()).or_default().push(program);
        }
    }
    for (module, programs) in modules {
        if deep || SLICE.contains(&module.as_str()) {
            let claims = check_claims(&module, &programs);
            println!("{module}: {} programs, {claims} accesses to own memory", programs.len());
            assert!(claims > 0, "{module}");
        }
    }
}
