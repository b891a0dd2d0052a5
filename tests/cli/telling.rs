//! What reports say is what lockred says: programs can neither add lines to them nor fill them.

use crate::fixtures::shared;
use lockred_tests::tool::run;

#[test]
fn a_program_cannot_forge_lines_of_a_report() {
    let output = run(&shared("telling"), &["check", "says_what_is_not_so"]).expect(1);
    let said = output.stderr.split("replay: cargo lockred replay ").nth(1);
    let id = said.unwrap_or_else(|| panic!("{output}")).lines().next().unwrap();
    let replays = [&["replay", id][..], &["replay", id, "--full"], &["replay", id, "--step"]];
    let replays = replays.map(|arguments| run(&shared("telling"), arguments));
    for output in replays.into_iter().chain([output]) {
        let control = |c: char| c.is_control() && c != '\n';
        assert!(!output.stderr.contains(control), "{output:?}");
        let forged = |line: &&str| line.trim_start().starts_with("Summary 1 test in 0.0 s");
        let lines: Vec<&str> = output.stderr.lines().filter(forged).collect();
        assert!(lines.is_empty(), "{lines:?} in\n{output}");
        let _ = output.says(&["␛[31mlies"]);
    }
}

#[test]
fn panics_of_many_threads_at_one_place_are_one_warning() {
    let arguments =
        ["check", "--max-executions", "3", "--message-format", "json", "twenty_threads_panic"];
    let output = run(&shared("telling"), &arguments).expect(0);
    let test = &output.tests()[0];
    let panicked = |w: &&serde_json::Value| w["kind"] == "thread-panicked";
    let warnings: Vec<_> = test.warnings.iter().filter(panicked).collect();
    assert_eq!(warnings.len(), 1, "{output}");
    let message = warnings[0]["message"].as_str().unwrap();
    assert!(message.contains("and 19 more panicked at src/lib.rs:"), "{message}");
}
