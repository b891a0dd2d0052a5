//! Signals that a program sends itself: handlers run, and what is reported of a signal has its
//! name.

use crate::fixtures::shared;
use lockred_protocol::codes::Verdict;
use lockred_tests::tool::{Output, run};

/// Checks one test of the fixture.
fn check(name: &str) -> Output {
    run(&shared("signals"), &["check", "--locked", "--exact", &format!("tests::{name}")])
}

#[test]
fn a_signal_for_the_process_is_taken_by_the_only_thread_that_can() {
    let arguments = ["check", "--locked", "--message-format", "json", "the_only_thread"];
    let output = run(&shared("signals"), &arguments).expect(0);
    let verdicts: Vec<Verdict> = output.tests().iter().map(|test| test.verdict).collect();
    assert_eq!(verdicts, [Verdict::Verified; 2], "{output}");
}

#[test]
fn a_death_is_reported_with_the_signal_s_name() {
    let _ = check("nobody_handles_a_raise").expect(1).says(&["LR0008", "SIGUSR2 in main"]);
    let _ = check("nobody_handles_a_kill").expect(1).says(&["LR0008", "SIGTERM in main"]);
}

#[test]
fn what_another_thread_could_take_is_refused_by_call_and_line() {
    let call = "kill with SIGUSR1, whose handler another thread could run";
    let _ = check("two_threads_could_take_it").expect(4).says(&["unsupported", call, "src/lib.rs"]);
}

#[test]
fn what_std_handles_is_refused_where_it_is_sent() {
    let call = "SIGSEGV that is sent to std's own handler";
    let _ =
        check("a_signal_of_faults_is_sent").expect(4).says(&["unsupported", call, "src/lib.rs"]);
}
