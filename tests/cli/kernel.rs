//! What only the real kernel can answer: it does for tests with one thread; below the root it is
//! unsupported, by name and line.

use crate::fixtures::shared;
use lockred_protocol::codes::{AssumptionKind, Verdict};
use lockred_tests::outcome::TestFinished;
use lockred_tests::tool::{Output, run};

/// Checks a fixture's tests whose names contain one of these.
fn check(fixture: &str, filter: &str, status: i32) -> (Output, Vec<TestFinished>) {
    let arguments = ["check", "--message-format", "json", "--keep-going", filter];
    let output = run(&shared(fixture), &arguments).expect(status);
    let tests = output.tests();
    assert!(!tests.is_empty(), "{output}");
    assert!(tests.iter().all(|test| !test.error), "{output}");
    (output, tests)
}

/// Whether every test is unsupported, for the call that is reported for it, at a line of this file.
fn expect_unsupported(output: &Output, tests: &[TestFinished], file: &str, calls: &[(&str, &str)]) {
    for (name, call) in calls {
        let test = tests.iter().find(|test| test.name.rsplit("::").next() == Some(name));
        let test = test.unwrap_or_else(|| panic!("no test {name} in\n{output}"));
        assert_eq!(test.verdict, Verdict::Unsupported, "{name} in\n{output}");
        let reported = output.stderr.split("unsupported ").find(|part| part.contains(name));
        let reported = reported.unwrap_or_else(|| panic!("{name} is not reported in\n{output}"));
        assert!(reported.contains(call), "{name}: no `{call}` in\n{reported}");
        assert!(reported.contains(file), "{name}: no `{file}` in\n{reported}");
    }
}

/// Whether a test has passed, and rests on an assumption.
fn expect_assumption(output: &Output, tests: &[TestFinished], name: &str, kind: AssumptionKind) {
    let test = tests.iter().find(|test| test.name.rsplit("::").next() == Some(name));
    let test = test.unwrap_or_else(|| panic!("no test {name} in\n{output}"));
    assert_eq!(test.verdict, Verdict::Passed, "{name} in\n{output}");
    let assumed = test.assumptions.iter().any(|assumption| assumption.code == kind.code());
    assert!(assumed, "{name} assumes nothing of the kind in\n{output}");
}

#[test]
fn the_real_kernel_answers_a_test_with_one_thread() {
    let (output, tests) = check("kernel", "alone::", 0);
    assert_eq!(tests.len(), 23, "{output}");
    for test in &tests {
        assert_eq!(test.verdict, Verdict::Verified, "{} in\n{output}", test.name);
    }
    let again = check("kernel", "alone::directories_for_temporary_files", 0).1;
    assert_eq!(again[0].verdict, Verdict::Verified, "{output}");
}

#[test]
fn waiting_agrees_with_virtual_time() {
    let (output, tests) = check("kernel", "clock::", 4);
    let calls = [("a_pipe_that_nobody_writes_to", "read on a pipe without a timeout")];
    expect_unsupported(&output, &tests, "src/clock.rs", &calls);
    for test in tests.iter().filter(|test| test.name != "clock::a_pipe_that_nobody_writes_to") {
        assert_eq!(test.verdict, Verdict::Verified, "{} in\n{output}", test.name);
    }
}

#[test]
fn below_the_root_the_kernel_is_unsupported_by_name_and_line() {
    let (output, tests) = check("kernel", "below::", 1);
    let calls = [
        ("starts_a_process", "posix_spawn"),
        ("locks_a_file", "flock"),
        ("locks_a_part_of_a_file", "fcntl"),
        ("reads_a_pipe_of_before", "read on a pipe"),
        ("writes_to_an_eventfd_of_before", "write on an eventfd"),
        ("waits_for_events_of_before", "epoll_wait"),
        ("forks", "fork"),
        ("calls_through_an_address", "pipe"),
    ];
    expect_unsupported(&output, &tests, "src/below.rs", &calls);
    let verdict = |name: &str| {
        let named = |test: &&TestFinished| test.name == format!("below::{name}");
        tests.iter().find(named).unwrap_or_else(|| panic!("no {name} in\n{output}")).verdict
    };
    assert_eq!(verdict("closes_what_was_opened_before"), Verdict::Verified, "{output}");
    assert_eq!(verdict("reads_directories_in_two_threads"), Verdict::Verified, "{output}");
    assert_eq!(verdict("reads_one_directory_stream_in_two_threads"), Verdict::Failed, "{output}");
    expect_assumption(&output, &tests, "asks_for_times_by_number", AssumptionKind::VirtualTime);
    for name in ["reads_the_link_of_its_process", "asks_what_a_file_of_the_system_is"] {
        expect_assumption(&output, &tests, name, AssumptionKind::SystemFiles);
    }
}

#[test]
fn threads_beside_a_child_process_are_unsupported() {
    let (output, tests) = check("kernel", "children::", 4);
    let reported = "threads or choices while a child process still runs";
    let calls = [
        ("a_program_runs_beside_a_thread", reported),
        ("a_forked_child_counts_beside_a_thread", reported),
    ];
    expect_unsupported(&output, &tests, "src/children.rs", &calls);
    for name in ["children::a_child_was_waited_for", "children::a_child_has_ended"] {
        let test = tests.iter().find(|test| test.name == name);
        assert_eq!(test.map(|test| test.verdict), Some(Verdict::Verified), "{name} in\n{output}");
    }
}

#[test]
fn numbers_of_processes_are_the_kernels_where_they_show() {
    let (output, tests) = check("kernel", "numbers::", 4);
    let calls = [("a_child_signals_its_parent", "SIGUSR1 from outside")];
    expect_unsupported(&output, &tests, "src/numbers.rs", &calls);
    expect_assumption(&output, &tests, "calls_take_it_in_threads", AssumptionKind::NativeCode);
    let others = ["numbers::a_child_signals_its_parent", "numbers::calls_take_it_in_threads"];
    for test in tests.iter().filter(|test| !others.contains(&test.name.as_str())) {
        assert_eq!(test.verdict, Verdict::Verified, "{} in\n{output}", test.name);
    }
}

#[test]
fn a_process_that_is_started_again_has_left_nothing() {
    for _ in 0..2 {
        let (output, tests) = check("kernel", "numbers::names_a_directory", 0);
        assert_eq!(tests[0].verdict, Verdict::Verified, "{output}");
    }
}

#[test]
fn signals_that_the_kernel_sends_reach_handlers_or_are_unsupported() {
    let (output, tests) = check("kernel", "handlers::", 1);
    let calls = [
        ("a_child_ends", "posix_spawnp with a handler of SIGCHLD"),
        ("a_forked_child_ends", "fork with a handler of SIGCHLD"),
        ("a_child_that_runs_may_end", "a handler of SIGCHLD while child processes run"),
        ("sends_to_nobody", "send with a handler of SIGPIPE"),
    ];
    expect_unsupported(&output, &tests, "src/handlers.rs", &calls);
    let verdict = |name: &str| {
        let named = |test: &&TestFinished| test.name == format!("handlers::{name}");
        tests.iter().find(named).unwrap_or_else(|| panic!("no {name} in\n{output}")).verdict
    };
    for right in [
        "a_handler_after_the_child_has_ended",
        "writes_to_nobody",
        "writes_to_nobody_and_ignores_that",
    ] {
        assert_eq!(verdict(right), Verdict::Verified, "{right} in\n{output}");
    }
    assert_eq!(verdict("dies_of_writing_to_nobody"), Verdict::Failed, "{output}");
}

#[test]
fn signals_from_outside_are_unsupported_and_a_childs_are_the_kernels() {
    let (output, tests) = check("kernel", "outside::", 1);
    let calls = [
        ("a_handler_of_usr1", "SIGUSR1 from outside"),
        ("a_handler_of_usr2", "SIGUSR2 from outside"),
        ("a_blocked_signal", "SIGTERM from outside"),
        ("a_file_gets_too_long", "SIGXFSZ from outside"),
        ("input_arrives", "SIGIO from outside"),
    ];
    expect_unsupported(&output, &tests, "src/outside.rs", &calls);
    for test in tests.iter().filter(|test| calls.iter().all(|(name, _)| !test.name.ends_with(name)))
    {
        let dies = ["a_signal_that_nobody_handles", "a_handler_that_was_there_once"];
        let dies = dies.iter().any(|name| test.name.ends_with(name));
        let expected = if dies { Verdict::Failed } else { Verdict::Verified };
        assert_eq!(test.verdict, expected, "{} in\n{output}", test.name);
    }
}

#[test]
fn system_calls_in_assembly_are_those_of_libc() {
    let (output, tests) = check("kernel", "assembly::", 1);
    let calls = [
        ("waits_in_the_kernel", "read on an eventfd"),
        ("locks_a_file_by_number", "fcntl"),
        ("the_number_is_not_known", "inline assembly (syscall)"),
        ("the_number_is_not_known_in_capitals", "inline assembly (syscall)"),
        ("in_capitals", "flock"),
        ("the_old_way", "inline assembly (int 0x80)"),
        ("a_naked_function", "naked_process"),
    ];
    expect_unsupported(&output, &tests, "src/assembly.rs", &calls);
    let test = |name: &str| {
        let named = |test: &&TestFinished| test.name == format!("assembly::{name}");
        tests.iter().find(named).unwrap_or_else(|| panic!("no {name} in\n{output}"))
    };
    assert_eq!(test("asks_the_kernel_alone").verdict, Verdict::Verified, "{output}");
    assert_eq!(test("reads_the_virtual_clock").verdict, Verdict::Verified, "{output}");
    assert_eq!(test("a_race_on_a_buffer_is_seen").verdict, Verdict::Failed, "{output}");
    let makes = test("makes_a_file_while_another_thread_looks");
    assert_eq!(makes.verdict, Verdict::Passed, "{output}");
    let code = AssumptionKind::FileChange.code();
    assert!(makes.assumptions.iter().any(|assumption| assumption.code == code), "{output}");
}

#[test]
fn crates_that_ask_the_kernel_are_checked() {
    let (output, tests) = check("kernel_crates", "_", 4);
    let calls = [
        ("tokio_has_workers", "epoll_wait"),
        ("rustix_waits_for_an_event_of_another_thread", "read on an eventfd"),
    ];
    expect_unsupported(&output, &tests, "", &calls);
    for test in tests.iter().filter(|test| calls.iter().all(|(name, _)| test.name != *name)) {
        assert_eq!(test.verdict, Verdict::Verified, "{} in\n{output}", test.name);
    }
}
