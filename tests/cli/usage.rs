//! Wrong usage exits with 2 and says what is wrong; help and version exit with 0.

use crate::fixtures::{empty, shared};
use lockred_tests::tool::run;
use std::collections::BTreeSet;

#[test]
fn wrong_options_are_named() {
    let fixture = shared("sample");
    for (arguments, named) in [
        (&["check", "--frobnicate"][..], "--frobnicate"),
        (&["check", "--search", "clever"], "clever"),
        (&["check", "--random", "dice"], "dice"),
        (&["check", "--max-executions", "many"], "many"),
        (&["check", "--max-seconds", "soon"], "soon"),
        (&["check", "--require", "luck"], "luck"),
        (&["check", "--message-format", "xml"], "xml"),
        (&["check", "--deny", "deadlock"], "deadlock"),
        (&["explain", "luck"], "luck"),
        (&["audit", "--max-seconds", "5"], "--confirm"),
        (&["audit", "--exact"], "--confirm"),
        (&["audit", "--accesses", "--search", "sample"], "--accesses"),
        (&["audit", "--accesses", "--confirm"], "--confirm"),
        (&["audit", "--accesses", "--deny", "LR0201"], "--deny"),
        (&["audit", "--accesses", "--message-format", "sarif"], "human or json"),
        (&["audit", "transfer"], "takes no filter"),
        (&["prove"], "prove"),
        (&["replay", "--step"], "<ID>"),
        (&["replay", "3f2a", "--message-format", "json"], "--message-format"),
    ] {
        let output = run(&fixture, arguments).expect(2).says(&[named]);
        assert_eq!(output.stdout, "", "{arguments:?} printed on standard output");
    }
}

#[test]
fn old_names_are_answered_with_the_new_ones() {
    for (arguments, said) in [
        (
            &["check", "--strategy", "random"][..],
            "error: --strategy is now --search; --strategy random is --search sample\n",
        ),
        (
            &["discipline", "--strategy=stateful"],
            "error: --strategy is now --search; --strategy stateful is --search states\n",
        ),
        (
            &["check", "--preemptions", "3"],
            "error: --preemptions is now --search bounded=N; --preemptions 3 is --search bounded=3\n",
        ),
        (&["list"], "error: list is now cargo lockred replay, without an id\n"),
        (&["plan", "--lib"], "error: plan is now cargo lockred audit --accesses\n"),
        (&["check", "--audit"], "error: --audit is now cargo lockred audit --confirm\n"),
        (&["check", "--strict"], "error: --strict is now --deny thread-stuck\n"),
        (&["audit", "--strict"], "error: --strict is now --deny thread-stuck\n"),
    ] {
        let output = run(&shared("sample"), arguments).expect(2);
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", said), "{arguments:?}");
    }
}

#[test]
fn without_a_command_help_is_shown() {
    let _ = run(&shared("sample"), &[]).expect(2).says(&["check", "replay", "setup"]);
}

#[test]
fn help_names_commands_and_options() {
    let fixture = shared("sample");
    let output = run(&fixture, &["--help"]).expect(0);
    assert!(
        ["check", "replay", "audit", "discipline", "explain", "setup"]
            .iter()
            .all(|name| output.stdout.contains(name))
    );
    let output = run(&fixture, &["check", "--help"]).expect(0);
    let search = ["--max-executions", "--max-seconds", "--keep-going", "--spurious", "--random"];
    let options =
        [&search[..], &["--reuse", "--leaks", "--message-format", "--bin", "--baseline", "--deny"]]
            .concat();
    assert!(options.iter().all(|name| output.stdout.contains(name)), "{output}");
}

/// The options that a help text lists, without those that every command has.
fn options(arguments: &[&str]) -> BTreeSet<String> {
    let help = run(&shared("sample"), arguments).expect(0).stdout;
    let lines = help.lines().map(str::trim_start);
    let words = lines.filter_map(|line| line.split([' ', ',', '[']).find(|w| w.starts_with("--")));
    words.map(str::to_owned).collect()
}

#[test]
fn options_of_developers_are_not_in_the_help_and_those_of_confirm_in_the_long_one() {
    for command in ["check", "audit", "discipline"] {
        let all = options(&[command, "--help"]);
        assert!(all.contains("--distrust") && all.contains("--search"), "{command}: {all:?}");
        for hidden in ["--without-rule", "--protection", "--check-static", "--verify-restores"] {
            assert!(!all.contains(hidden), "{command}: {hidden}");
        }
    }
    let (short, long) = (options(&["audit", "-h"]), options(&["audit", "--help"]));
    for option in ["--search", "--max-seconds", "--exact", "--leaks"] {
        assert!(long.contains(option) && !short.contains(option), "{option}");
    }
    assert!(["--confirm", "--accesses", "--deny"].iter().all(|name| short.contains(*name)));
}

#[test]
fn the_version_is_the_package_s() {
    let output = run(&shared("sample"), &["--version"]).expect(0);
    assert!(output.stdout.contains(env!("CARGO_PKG_VERSION")), "{output}");
}

#[test]
fn a_directory_without_a_package_is_reported() {
    let directory = empty("no-package");
    let _ = run(&directory, &["check"]).expect(2).says(&["Cargo.toml"]);
    std::fs::remove_dir(directory).unwrap();
}

#[test]
fn an_unknown_package_is_reported() {
    let _ = run(&shared("sample"), &["check", "-p", "nowhere"]).expect(2).says(&["nowhere"]);
}
