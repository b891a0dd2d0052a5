//! What code says of itself by the crate `lockred`: options, assumptions, blocks that are atomic,
//! disciplines. What is wrong is reported.

use crate::fixtures::annotated;
use lockred_protocol::codes::Verdict;
use lockred_tests::outcome::TestFinished;
use lockred_tests::tool::run;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The fixture.
fn annotations() -> &'static Path {
    static FIXTURE: OnceLock<PathBuf> = OnceLock::new();
    FIXTURE.get_or_init(|| annotated("annotations", "annotations"))
}

/// The outcome of a test.
fn check(status: i32, arguments: &[&str]) -> TestFinished {
    let arguments = [&["check", "--exact", "--message-format", "json"][..], arguments].concat();
    let mut tests = run(annotations(), &arguments).expect(status).tests();
    assert_eq!(tests.len(), 1, "{tests:?}");
    tests.remove(0)
}

fn ended(test: &TestFinished) -> &str {
    test.others["ended"].as_str().expect("it is a word")
}

#[test]
fn a_test_has_options_of_its_own_and_the_command_line_wins() {
    let test = check(0, &["options::bounded"]);
    assert_eq!((test.search.as_str(), test.executions, ended(&test)), ("naive", 3, "executions"));
    assert_eq!(test.others["options"], serde_json::json!(["search=naive", "max-executions=3"]));
    let test = check(0, &["options::bounded", "--max-executions", "5"]);
    assert_eq!((test.search.as_str(), test.executions), ("naive", 5));
    assert_eq!(test.others["options"], serde_json::json!(["search=naive"]));
    // Which is what it would be anyhow.
    let test = check(0, &["options::bounded", "--search", "exhaustive"]);
    assert_eq!((test.search.as_str(), ended(&test)), ("exhaustive", "executions"));
    let test = check(0, &["options::cut"]);
    assert_eq!((test.search.as_str(), ended(&test)), ("exhaustive", "operations"));
    let test = check(0, &["options::few"]);
    assert_eq!((test.search.as_str(), ended(&test)), ("bounded=1", "preemptions"));
    assert_eq!(test.others["preemptions"], 1);
    let test = check(0, &["options::few", "--search", "exhaustive"]);
    assert_eq!((test.verdict, ended(&test)), (Verdict::Verified, "complete"));
    let test = check(0, &["options::usual"]);
    assert_eq!((test.executions, test.verdict, ended(&test)), (20, Verdict::Verified, "complete"));
    assert_eq!(test.others.get("options"), None);
}

#[test]
fn options_hold_for_the_replay_and_are_reported_when_asked() {
    let test = check(1, &["options::spurious"]);
    let _ = run(annotations(), &["replay", &test.bugs[0].id]).expect(1).says(&["for no reason"]);
    let _ = run(annotations(), &["check", "options::", "--verbose"])
        .expect(1)
        .says(&["its own options: --search=naive --max-executions=3"]);
}

#[test]
fn options_of_what_is_no_test_are_reported_to_be_ignored() {
    let text = std::fs::read_to_string(annotations().join("src/options.rs")).unwrap();
    let line = 1 + text.lines().position(|line| line.starts_with("fn part_of_tests")).unwrap();
    for arguments in [&["check", "options::usual"][..], &["check", "options::usual", "--quiet"]] {
        let output = run(annotations(), arguments).expect(0);
        let warnings: Vec<&str> =
            output.stderr.lines().filter(|line| line.starts_with("warning")).collect();
        let said = format!(
            "`#[lockred::check]` of options::part_of_tests (src/options.rs:{line}) is ignored: it is no test"
        );
        assert_eq!(warnings, [format!("warning: {said}")], "{output}");
    }
}

#[test]
fn an_ordinary_build_runs_as_if_there_were_nothing() {
    let output = std::process::Command::new("cargo")
        .args(["test", "--offline", "--quiet"])
        .current_dir(annotations())
        .env("CARGO_TARGET_DIR", annotations().join("target/ordinary"))
        .output()
        .expect("there is a cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What a test assumes by `lockred::assume!`.
fn assumed(test: &TestFinished) -> Vec<&str> {
    let messages = test.assumptions.iter().map(|reported| reported.message.as_str());
    messages.filter(|message| message.starts_with(LEFT_OUT)).collect()
}

const LEFT_OUT: &str =
    "executions in which a condition of `lockred::assume!` is false were left out";

#[test]
fn executions_are_left_out_in_which_what_is_assumed_is_false() {
    for how in ["exhaustive", "dpor", "states"] {
        let search = |name: &str, status| check(status, &[name, "--search", how]);
        let test = search("assumed::of_chosen_values", 0);
        let reported = format!("{LEFT_OUT}: `from <= to && to > 0` (src/assumed.rs:13:5)");
        assert_eq!(
            (test.verdict, assumed(&test)),
            (Verdict::Passed, vec![reported.as_str()]),
            "{how}"
        );
        assert!(test.complete, "{how}: {test:?}");
        assert_eq!(search("assumed::of_nothing", 1).bugs.len(), 1, "{how}");
        let test = search("assumed::of_what_another_thread_does", 1);
        assert!(test.bugs[0].message.contains("what was assumed"), "{how}: {test:?}");
        let test = search("assumed::under_a_lock", 0);
        assert_eq!((test.verdict, assumed(&test).len()), (Verdict::Passed, 1), "{how}");
        let test = search("assumed::always_true", 0);
        assert_eq!((test.complete, assumed(&test).len()), (true, 0), "{how}");
    }
}

#[test]
fn a_test_of_which_nothing_is_left_says_so() {
    let test = check(0, &["assumed::never_true"]);
    let reported = format!("{LEFT_OUT}: no execution is left, so nothing was checked");
    assert!(assumed(&test).contains(&reported.as_str()), "{test:?}");
    assert_eq!(assumed(&test).len(), 2, "{test:?}");
}

/// What a test warns of, in words.
fn warnings(test: &TestFinished) -> Vec<&str> {
    test.warnings.iter().map(|warning| warning["message"].as_str().unwrap()).collect()
}

#[test]
fn blocks_that_are_atomic_are_fine() {
    for how in ["exhaustive", "dpor"] {
        for name in [
            "one_critical_section",
            "two_independent_ones",
            "an_update",
            "two_updates_of_what_nobody_else_touches",
            "threads_of_its_own",
        ] {
            let name = format!("blocks::{name}");
            let test = check(0, &[&name, "--search", how]);
            assert_eq!(warnings(&test), [""; 0], "{how}: {name}");
            assert_eq!(test.verdict, Verdict::Verified, "{how}: {name}");
        }
    }
}

#[test]
fn blocks_that_are_not_are_reported_with_what_comes_in_between() {
    for (test, block, lines) in [
        ("two_critical_sections", "Account::doubled", &[33, 34, 33, 34][..]),
        ("a_load_and_a_store", "Account::count_up", &[46, 47, 46, 47]),
        ("a_load_and_an_exchange", "Account::count_if", &[53, 55, 55]),
        ("a_message_in_between", "a_message_in_between::pair", &[131, 131, 132]),
        ("a_method_of_several_types", "Numbered<_>::next", &[173, 174, 173, 174]),
    ] {
        // Channels are known as a whole to the default search only.
        let others = (!block.ends_with("pair")).then_some("dpor");
        for how in ["exhaustive"].into_iter().chain(others) {
            let name = format!("blocks::{test}");
            let test = check(0, &[&name, "--search", how]);
            let [warning] = &test.warnings[..] else { panic!("{how}: {test:?}") };
            assert_eq!(warning["code"], "LR0103", "{how}: {name}");
            let said = format!("atomicity: `annotations::blocks::{block}` is not atomic: thread ");
            assert!(warnings(&test)[0].starts_with(&said), "{how}: {warning}");
            let sites = warning["sites"].as_array().unwrap();
            let reported: Vec<u64> =
                sites.iter().map(|site| site["line"].as_u64().unwrap()).collect();
            assert_eq!(reported, lines, "{how}: {warning}");
        }
    }
    let _ = check(1, &["blocks::a_load_and_a_store", "--deny", "atomicity"]);
    let test = check(0, &["blocks::a_method_of_a_trait"]);
    let name = "<annotations::blocks::Account as annotations::blocks::Steps>::step";
    let [warning] = &test.warnings[..] else { panic!("{test:?}") };
    assert!(warnings(&test)[0].starts_with(&format!("atomicity: `{name}` is not atomic: ")));
    assert_eq!(warning["sites"][0]["function"], name, "blocks are called as frames are");
}

#[test]
fn fields_that_are_used_as_they_say_are_fine() {
    let test = check(0, &["fields::guarded_as_they_say"]);
    assert_eq!((warnings(&test), test.verdict), (vec![], Verdict::Verified));
}

#[test]
fn a_discipline_that_is_not_kept_is_reported_with_the_access() {
    for (test, said, line) in [
        (
            "guarded_by_another_lock",
            "`Pool.used` is not always guarded by `Pool.other`, as it is said to be",
            18,
        ),
        (
            "guarded_by_nothing_at_one_place",
            "`Pool.free` is not always guarded by `Pool.lock`, as it is said to be",
            15,
        ),
        (
            "shared_after_all",
            "`Pool.own` is shared between threads, although it is said to be unshared",
            22,
        ),
        ("statics", "`WRONG` is not always guarded by `LOCK`, as it is said to be", 139),
    ] {
        let test = check(0, &[&format!("fields::{test}")]);
        assert_eq!(warnings(&test), [format!("locking discipline: {said}")]);
        let warning = &test.warnings[0];
        assert_eq!(warning["code"], "LR0102");
        let sites = warning["sites"].as_array().unwrap();
        assert_eq!(sites[0]["function"], "annotations::fields::add", "{warning}");
        let last = sites.last().unwrap();
        assert_eq!((&last["file"], &last["line"]), (&"src/fields.rs".into(), &line.into()));
    }
}

#[test]
fn predicates_that_hold_and_protect_are_fine() {
    assert_eq!(warnings(&check(0, &["predicates::by_the_owner"])), [""; 0]);
}

#[test]
fn who_does_not_satisfy_a_predicate_is_reported_and_so_is_one_that_protects_from_nobody() {
    let owner = "self.owner.load(Ordering::Relaxed)";
    let lost = "`self.last.load(Ordering::Relaxed) == lockred::me() + 1` is satisfied by";
    for (test, said, line, count) in [
        (
            "for_somebody_else",
            format!("`Owned.value` is accessed by threads that do not satisfy `{owner} == "),
            13,
            3,
        ),
        ("by_all_at_a_time", format!("`{owner} > 0` is satisfied by two threads"), 16, 2),
        ("by_who_came_last", lost.to_owned(), 19, 2),
    ] {
        let test = check(0, &[&format!("predicates::{test}")]);
        let [warning] = &test.warnings[..] else { panic!("{test:?}") };
        let message = warnings(&test)[0].replace(' ', "");
        let said = format!("locking discipline: {said}").replace(' ', "");
        assert!(message.starts_with(&said), "{warning}");
        let sites = warning["sites"].as_array().unwrap();
        assert!(sites.len() >= count, "{warning}");
        assert_eq!(sites.last().unwrap()["line"], line, "{warning}");
    }
}
