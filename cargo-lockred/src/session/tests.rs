//! Sessions with shell scripts in place of instrumented programs.

use super::*;
use lockred_protocol::message::{Exploration, Stop};
use lockred_protocol::session::{Limits, Share, Strategy, Task};

fn request() -> Request {
    let limits =
        Limits { executions: None, seconds: Some(60.0), operations: 1, share: Share::default() };
    let task = Task::Explore { strategy: Strategy::Dpor, limits, keep_going: false };
    Request { libtest: true, ..Request::of(task) }
}

/// Runs a shell script as the process; `$LOCKRED_SESSION` is its session, `$RESPONSE` a complete
/// exploration.
fn run_script(script: &str) -> Ending {
    let response = Message::Explored(Exploration {
        stop: Stop::Complete,
        counts: Counts { executions: 2, ..Counts::default() },
        seconds: 0.1,
        restoring: 0.0,
        preemptions: None,
        share: None,
        proved: None,
        threads: 2,
        findings: Vec::new(),
        warnings: Vec::new(),
        assumptions: Vec::new(),
    });
    let launch = Launch {
        executable: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        directory: "/".into(),
        environment: vec![("RESPONSE".into(), serde_json::to_string(&response).unwrap().into())],
    };
    run(&launch, &request(), Patience::of_budget(Some(60.0)), &mut |_| ()).unwrap()
}

fn failure(script: &str) -> Failure {
    match run_script(script) {
        Ending::Failed(failure) => failure,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_response_is_read() {
    let script = "grep -q '\"version\":2' $LOCKRED_SESSION/request.json || exit 9
        echo \"$RESPONSE\" >> $LOCKRED_SESSION/messages.jsonl";
    let Ending::Explored(response) = run_script(script) else { panic!() };
    assert_eq!(response.counts.executions, 2);
}

#[test]
fn a_process_that_needs_the_kernels_numbers_is_started_again_once() {
    let script = "grep -q '\"numbers\":true' $LOCKRED_SESSION/request.json || exit 71
        echo \"$RESPONSE\" >> $LOCKRED_SESSION/messages.jsonl";
    let Ending::Explored(response) = run_script(script) else { panic!() };
    assert_eq!(response.counts.executions, 2);
    assert!(failure("exit 71").message.contains("status 71"));
}

#[test]
fn an_error_inside_the_process_is_ours() {
    let script =
        r#"echo '{"error":{"message":"no arena"}}' >> $LOCKRED_SESSION/messages.jsonl; exit 70"#;
    assert!(failure(script).message.ends_with("no arena"));
}

#[test]
fn a_silent_end_is_reported_with_what_was_printed() {
    assert_eq!(
        failure("echo a last word >&2; exit 3").message,
        "the process ended with status 3 without a response; it printed:\na last word"
    );
    assert_eq!(failure("exit 0").message, "the process ended without a response");
}

#[test]
fn a_death_leaves_its_schedule() {
    // Two choices (thread 3, thread 0) at the schedule log's place, their number at word 7.
    let script = r"
        printf '\006\000\000\000\000\000\000\000' | dd of=$LOCKRED_SESSION/status bs=1 seek=4096 conv=notrunc 2>/dev/null
        printf '\002' | dd of=$LOCKRED_SESSION/status bs=1 seek=56 conv=notrunc 2>/dev/null
        kill -SEGV $$";
    let Ending::Died(death) = run_script(script) else { panic!() };
    assert_eq!(death.to_string(), "the process died by SIGSEGV");
    assert_eq!(death.last, None, "it could note nothing");
    let choice = lockred_protocol::schedule::Choice::Thread;
    assert_eq!(death.schedule_log.0, [choice(3), choice(0)]);
}

#[test]
fn nonsense_in_place_of_a_response_is_reported() {
    let reported = failure("echo nonsense > $LOCKRED_SESSION/messages.jsonl").message;
    assert!(reported.contains("no message") && reported.ends_with("nonsense"), "{reported}");
}

#[test]
fn an_executable_that_is_missing_is_named() {
    let launch = Launch {
        executable: "/nowhere/program".into(),
        arguments: Vec::new(),
        directory: "/".into(),
        environment: Vec::new(),
    };
    let patience = Patience::of_budget(None);
    let error = run(&launch, &request(), patience, &mut |_| ()).unwrap_err();
    assert!(error.message.contains("/nowhere/program"), "{}", error.message);
}
