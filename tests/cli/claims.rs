//! What the plan claims is compared with what happens, and errors of the analysis are found by
//! that; the plan is printed.

use crate::fixtures::shared;
use lockred_tests::tool::{Output, run};

/// Checks one program of the fixture in the checked mode, by an analysis with this error.
fn check(program: &str, flaw: Option<&str>) -> Output {
    let flaw: Vec<&str> = flaw.into_iter().flat_map(|flaw| ["--static-flaw", flaw]).collect();
    run(&shared("claims"), &[&["check", "--check-static", program][..], &flaw].concat())
}

/// An error is found where it matters, and reported with the claim.
fn finds(program: &str, flaw: &str, reported: &[&str]) {
    let _ = check(program, None).expect(0);
    let output = check(program, Some(flaw)).expect(4);
    let _ =
        output.says(&["the analysis is wrong", "that no other thread touches it"]).says(reported);
}

/// What is reported of a variable of the fixture's.
const VARIABLE: &[&str] = &["(rule `stack`)", "claims::tests::", "src/lib.rs:"];

#[test]
fn that_what_is_stored_gets_away_is_missed() {
    finds("its_address_is_stored", "stores-keep-nothing", VARIABLE);
}

#[test]
fn that_functions_keep_what_they_are_passed_is_missed() {
    finds("a_function_keeps_its_address", "parameters-keep-nothing", VARIABLE);
}

#[test]
fn that_what_has_no_alias_may_be_another_threads_is_missed() {
    // What std passes to a new thread comes first.
    finds("it_is_lent_without_an_alias", "noalias-is-private", &["(rule `parameter`)"]);
}

#[test]
fn that_what_a_thread_is_started_with_is_shared_is_missed() {
    finds("it_is_lent_without_an_alias", "threads-share-nothing", &["(rule `own-"]);
}

#[test]
fn that_a_lock_is_given_back_is_missed() {
    let program = "it_is_used_without_its_lock";
    let _ = check(program, None).expect(0);
    let output = check(program, Some("locks-stay-held")).expect(4);
    let _ =
        output.says(&["the analysis is wrong", "holds a lock", "claims::tests::", "src/lib.rs:"]);
}

#[test]
fn that_calls_come_back_with_locks_is_missed() {
    let program = "one_lock_is_acquired_under_another";
    let _ = check(program, None).expect(0);
    let output = check(program, Some("calls-keep-no-lock")).expect(4);
    let _ = output.says(&["the analysis is wrong", "no two locks", "Mutex"]);
}

/// What is reported of memory that was taken for what nobody knows of.
const FIRST: &[&str] = &["that nobody else has touched it", "(rule `unpublished`)", "src/lib.rs:"];

/// An error is found, and reported so.
fn is_found(program: &str, flaw: &str, reported: &[&str]) {
    let _ = check(program, None).expect(0);
    let _ = check(program, Some(flaw)).expect(4).says(&["the analysis is wrong"]).says(reported);
}

#[test]
fn that_memory_is_published_is_missed() {
    is_found("its_address_is_stored", "nothing-is-published", FIRST);
}

#[test]
fn that_there_are_threads_is_missed() {
    // What std passes to a new thread comes first.
    is_found("its_address_is_stored", "threads-are-not-created", &FIRST[..2]);
}

#[test]
fn that_an_access_has_no_lock_is_missed() {
    let reported = ["that all do so under one lock", "(rule `locked`)", "src/lib.rs:"];
    is_found("it_is_used_without_its_lock", "bare-accesses-do-not-count", &reported);
}

#[test]
fn that_a_caller_has_no_lock_is_missed() {
    let reported = ["that all do so under one lock", "src/lib.rs:"];
    is_found("its_lock_is_held_by_one_caller", "bare-callers-do-not-count", &reported);
}

#[test]
fn that_others_go_on_to_use_what_is_dropped_is_missed() {
    let reported = ["or the last reference to it was dropped", "(rule `owned`)"];
    is_found("something_is_dropped_that_others_go_on_to_use", "drops-are-last", &reported);
}

#[test]
fn a_wrong_count_of_references_refutes_no_claim() {
    let _ =
        check("the_last_reference_is_not_the_last_one", None).expect(1).says(&["use after free"]);
}

#[test]
fn what_library_code_accesses_under_a_lock_is_known_to_be_protected() {
    let check = ["check", "--check-static", "a_lock_protects_a_vector", "--message-format", "json"];
    let output = run(&shared("claims"), &check).expect(0);
    let test = output.stdout.lines().next().unwrap();
    let proved = &serde_json::from_str::<serde_json::Value>(test).unwrap()["proved"];
    let [protected, known] = ["protected", "known"].map(|count| proved[count].as_u64().unwrap());
    assert!(known * 3 > protected, "{known} of {protected}");
}

#[test]
fn the_plan_reports_what_protects_memory_and_who_operates_on_it() {
    let fixture = shared("claims");
    let output =
        run(&fixture, &["audit", "--accesses", "--protection", "--message-format", "json"])
            .expect(0);
    let lines = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<serde_json::Value> = lines.collect();
    let of = |reason: &str| -> Vec<&serde_json::Value> {
        lines.iter().filter(|line| line["reason"] == reason).collect()
    };
    let [whole] = of("protection")[..] else { panic!("{lines:?}") };
    assert_eq!(whole["known"], true);
    // The lock, its flag, and the data after them.
    let program = "one_lock_protects_what_is_beside_it";
    let fields: Vec<_> = of("field")
        .into_iter()
        .filter(|field| field["object"].as_str().unwrap().ends_with(program))
        .collect();
    let bytes = |class: &str| -> u64 {
        let is = |field: &&&serde_json::Value| {
            field["class"] == class && field["locks"] == serde_json::json!(["the lock at 0"])
        };
        let fields = fields.iter().filter(is);
        fields.map(|f| f["end"].as_u64().unwrap() - f["start"].as_u64().unwrap()).sum()
    };
    assert_eq!((bytes("locked"), bytes("unwritten")), (8, 8), "{fields:?}");
    let operates = |name: &str| -> bool {
        let is = |thread: &&serde_json::Value| thread["name"].as_str().unwrap().contains(name);
        let threads: Vec<_> = of("thread").into_iter().filter(is).collect();
        assert!(!threads.is_empty(), "{name}: {lines:?}");
        let objects = threads.iter().flat_map(|t| t["objects"].as_array().unwrap());
        objects.into_iter().any(|object| object.as_str().unwrap().ends_with(program))
    };
    assert!(operates(program));
    // No thread may operate on everything.
    let all = whole["objects"].as_u64().unwrap();
    let counts = of("thread").into_iter().map(|t| t["objects"].as_array().unwrap().len() as u64);
    assert!(counts.max().unwrap() < all, "{all}");
    let human = run(&fixture, &["audit", "--accesses", "--protection"]).expect(0).stdout;
    for text in ["what protects memory", "locked     the lock at 0", "src/lib.rs:"] {
        assert!(human.contains(text), "{human}");
    }
    let plain = run(&fixture, &["audit", "--accesses"]).expect(0).stdout;
    assert!(!plain.contains("what protects memory"), "{plain}");
}

#[test]
fn the_plan_reports_the_order_of_locks_and_cycles_in_it() {
    let fixture = shared("claims");
    let output =
        run(&fixture, &["audit", "--accesses", "--lock-order", "--message-format", "json"])
            .expect(0);
    let lines = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<serde_json::Value> = lines.collect();
    let of = |reason: &str| -> Vec<&serde_json::Value> {
        lines.iter().filter(|line| line["reason"] == reason).collect()
    };
    let [order] = of("lock-order")[..] else { panic!("{lines:?}") };
    assert_eq!(order["known"], true);
    let has = |held: &str, wanted: &str| {
        let is = |end: &serde_json::Value, name: &str| {
            let locks = end["locks"].as_array().unwrap();
            locks.len() == 1 && locks[0].as_str().unwrap().ends_with(name)
        };
        of("nesting").iter().any(|n| is(&n["held"], held) && is(&n["wanted"], wanted))
    };
    assert!(has("OUTER", "INNER") && !has("INNER", "LEFT"), "{lines:?}");
    assert!(has("LEFT", "RIGHT") && has("RIGHT", "LEFT"), "{lines:?}");
    let is_theirs = |cycle: &serde_json::Value| {
        let locks = cycle["locks"].as_array().unwrap();
        let mut names: Vec<_> = locks.iter().map(|lock| lock.as_str().unwrap()).collect();
        names.sort_unstable();
        cycle["kind"] == "cycle" && names[0].ends_with("LEFT") && names[1].ends_with("RIGHT")
    };
    assert!(of("cycle").into_iter().any(is_theirs), "{:?}", of("cycle"));
    let human = run(&fixture, &["audit", "--accesses", "--lock-order"]).expect(0).stdout;
    for text in ["the order of locks", "cycle: threads may wait for each other", "src/lib.rs:"] {
        assert!(human.contains(text), "{human}");
    }
    let plain = run(&fixture, &["audit", "--accesses"]).expect(0).stdout;
    assert!(!plain.contains("the order of locks"), "{plain}");
}

#[test]
fn what_is_true_of_accesses_is_counted_whether_it_is_known_or_not() {
    let fixture = shared("claims");
    let count = |more: &[&str]| {
        let check =
            ["check", "--check-static", "its_address_is_stored", "--message-format", "json"];
        let output = run(&fixture, &[&check[..], more].concat()).expect(0);
        let test = output.stdout.lines().next().unwrap();
        let proved = &serde_json::from_str::<serde_json::Value>(test).unwrap()["proved"];
        ["ran", "unshared", "proved"].map(|count| proved[count].as_u64().unwrap())
    };
    // What is repeated is not counted, and depends on what is known of what it repeats.
    let all = ["--without-rule", "repeated"];
    let [ran, unshared, proved] = count(&all);
    assert!(ran > unshared && unshared > proved && proved > 0, "{ran} {unshared} {proved}");
    let without = ["own-memory", "own-variables"].map(|rule| ["--without-rule", rule]).concat();
    let [ran_then, unshared_then, proved_then] = count(&[&all[..], &without[..]].concat());
    assert_eq!((ran_then, unshared_then), (ran, unshared));
    assert!(proved_then < proved, "{proved_then} of {proved}");
}

#[test]
fn the_plan_has_reasons_and_rules_can_be_switched_off() {
    let fixture = shared("claims");
    let plan = |arguments: &[&str]| {
        let output = run(
            &fixture,
            &[&["audit", "--accesses", "--message-format", "json"], arguments].concat(),
        )
        .expect(0);
        let lines = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect::<Vec<serde_json::Value>>()
    };
    let count = |lines: &[serde_json::Value], rule: &str| {
        let rules = lines.last().unwrap()["rules"].as_array().unwrap().clone();
        rules.iter().find(|share| share["rule"] == rule).unwrap()["count"].as_u64().unwrap()
    };
    let all = plan(&["tests::add_to_place"]);
    let shared: Vec<_> = all.iter().filter(|line| line["rule"] == "shared").collect();
    assert!(!shared.is_empty() && shared.iter().all(|line| line["decision"] == "track"), "{all:?}");
    let without = plan(&["--without-rule", "repeated"]);
    assert!(count(&all, "repeated") > 0 && count(&without, "repeated") == 0);
    assert_eq!(count(&all, "stack"), count(&without, "stack"));
    let human = run(&fixture, &["audit", "--accesses"]).expect(0).stdout;
    assert!(human.contains("claims::tests::add_to_place") && human.contains("the whole program: "));
    // What the rules rest on that follow addresses through memory.
    let addresses = |lines: &[serde_json::Value]| lines.last().unwrap()["addresses"].clone();
    let followed = addresses(&all);
    assert_eq!(followed["followed"], "whole");
    assert!(followed["objects"].as_u64() > Some(100), "{followed}");
    assert!(followed["anywhere"].as_u64() < followed["accesses"].as_u64(), "{followed}");
    for text in ["where addresses point to: ", "  accesses by addresses that others may have"] {
        assert!(human.contains(text), "{human}");
    }
    let none = ["--without-rule", "own-variables", "--without-rule", "own-memory"];
    let none = plan(&[&none[..], &["--no-lock-order"]].concat());
    assert_eq!(addresses(&none)["followed"], "not-asked");
    let _ = run(&fixture, &["audit", "--accesses", "--without-rule", "luck"])
        .expect(2)
        .says(&["luck", "heap"]);
}
