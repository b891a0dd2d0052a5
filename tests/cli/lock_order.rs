//! The order of locks of small programs, before any run: nestings that must be known, and such that
//! must not; and every one that happens is known.

use crate::fixtures::{empty, shared};
use lockred_tests::tool::run;
use serde_json::Value;
use std::collections::BTreeSet;

/// A module of the fixture: what is held and acquired, by the last part of the locks' names, and
/// cycles.
struct Program {
    name: &'static str,
    has: &'static [&'static str],
    /// None of these: nothing else that is known of these locks is wrong.
    has_not: &'static [&'static str],
    cycle: Option<&'static str>,
}

const fn program(
    name: &'static str,
    has: &'static [&'static str],
    has_not: &'static [&'static str],
    cycle: Option<&'static str>,
) -> Program {
    Program { name, has, has_not, cycle }
}

const PROGRAMS: &[Program] = &[
    program("orders::opposite", &["A B", "B A"], &[], Some("cycle")),
    program("orders::by_a_flag", &["A B", "B A"], &[], Some("cycle")),
    program("orders::same", &["A B"], &["B A", "B B", "A A"], None),
    program("orders::gated", &["A B", "B A", "GATE A", "GATE B"], &["A GATE"], Some("gated")),
    program("orders::alone", &["A B", "B A"], &["A A", "B B"], Some("one-thread")),
    program("orders::shared_helper", &["A B", "B A"], &[], Some("cycle")),
    program("orders::three", &["A B", "B GATE", "GATE A"], &["B A"], Some("cycle")),
    program("orders::attempt", &["B A"], &["A B"], None),
    // A mutex that is poisoned is held where the attempt has failed.
    program("orders::after_an_attempt", &["A B", "A GATE"], &["B A", "B GATE"], None),
    program("guards::dropped_early", &[], &["A B"], None),
    program("guards::temporary", &["A B"], &["B A"], None),
    program("guards::moved", &["A B"], &["B C"], None),
    program("guards::in_an_option", &["A B", "C A"], &["B C", "B A"], Some("one-thread")),
    program("guards::returned", &["A B", "B C"], &["A C", "B A"], None),
    program("guards::in_a_struct", &["A B", "A C"], &["B C"], None),
    program("guards::through_calls", &["A B"], &["A C", "B C"], None),
    program("guards::by_pointer", &["A B"], &["B A"], None),
    program("guards::caught", &[], &["A B"], None),
    program("guards::in_an_error", &["C B"], &["A B"], None),
    program("guards::if_there_is_one", &["C B"], &["A B"], None),
    program("orders::twice", &["A A"], &[], Some("same-kind")),
    program("guards::while_it_lasts", &["A B"], &["A A", "A C", "B C", "B A"], None),
    program("locks::readers", &["A B", "B A"], &[], None),
    program("locks::a_reader_twice", &["A B"], &["B A"], None),
    program("locks::a_writer", &["A B", "B A"], &[], Some("cycle")),
    program(
        "locks::waiting",
        &["OUTER READY", "OUTER BEHIND", "READY BEHIND"],
        &["READY READY", "READY OUTER", "BEHIND READY"],
        None,
    ),
    program("locks::fields", &["PAIR PAIR + 12", "PAIR + 12 PAIR"], &[], Some("cycle")),
    program("locks::parking_lots", &["A B", "B A", "B C"], &["A C"], Some("cycle")),
];

/// The command that prints the whole order of locks.
const ACCESSES: &[&str] = &["audit", "--accesses"];

/// What `audit --accesses` or `check` says of the order of locks, by lines of JSON.
fn reported(command: &[&str], arguments: &[&str], exit: i32) -> Vec<Value> {
    let json = ["--lock-order", "--message-format", "json"];
    let arguments = [command, &json, arguments].concat();
    let output = run(&shared("lock_order"), &arguments).expect(exit);
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What a lock is called in its module; nothing where it may be one of several.
fn name(locks: &Value) -> Option<&str> {
    match &locks.as_array()?[..] {
        [one] => one.as_str()?.rsplit("::").next(),
        _ => None,
    }
}

#[test]
fn nestings_and_cycles_are_those_of_the_programs() {
    let lines = reported(ACCESSES, &[], 0);
    let of = |reason: &'static str| lines.iter().filter(move |line| line["reason"] == reason);
    // A library's own locks, which no cycle goes through, would hide those of the programs.
    let is_librarys = |line: &&Value| {
        ["what parking_lot_core::", "Bucket.mutex"]
            .iter()
            .any(|lock| line.to_string().contains(lock))
    };
    assert_eq!(of("nesting").chain(of("cycle")).find(is_librarys), None);
    for Program { name: program, has, has_not, cycle } in PROGRAMS {
        let path = format!("lock_order::{program}::");
        let is_its = |nesting: &Value| nesting["within"].as_str().unwrap().starts_with(&path);
        let nestings = of("nesting").filter(|nesting| is_its(nesting)).filter_map(|nesting| {
            let [held, wanted] = ["held", "wanted"].map(|end| name(&nesting[end]["locks"]));
            Some(format!("{} {}", held?, wanted?))
        });
        let nestings: BTreeSet<String> = nestings.collect();
        assert!(has.iter().all(|nesting| nestings.contains(*nesting)), "{program}: {nestings:?}");
        let wrong = has_not.iter().find(|nesting| nestings.contains(**nesting));
        assert_eq!(wrong, None, "{program}: {nestings:?}");
        let numbered: Vec<&Value> = of("nesting").collect();
        let cycles = of("cycle").filter(|cycle| {
            let all = cycle["nestings"].as_array().unwrap().iter();
            all.map(|number| numbered[number.as_u64().unwrap() as usize]).any(is_its)
        });
        let kinds: Vec<&str> = cycles.map(|cycle| cycle["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, cycle.iter().copied().collect::<Vec<_>>(), "{program}");
    }
}

#[test]
fn nestings_say_which_threads_they_are_of() {
    let lines = reported(ACCESSES, &[], 0);
    let threads = |within: &str| -> Vec<&str> {
        let nesting = lines.iter().find(|line| line["within"] == within).unwrap();
        nesting["threads"].as_array().unwrap().iter().map(|t| t.as_str().unwrap()).collect()
    };
    let test = "lock_order::orders::opposite::test";
    let closure = format!("{test}::{{{{closure}}}}");
    assert_eq!(threads(test), [test]);
    assert_eq!(threads(&closure), [closure.as_str()]);
}

#[test]
fn whatever_happens_is_known() {
    let arguments = ["check", "--check-static", "--keep-going", "--max-seconds", "20"];
    // The deadlocks are there.
    let output = run(&shared("lock_order"), &arguments).expect(1);
    let _ = output.says(&["LR0002", "orders::opposite", "locks::many"]);
}

#[test]
fn the_search_says_what_came_of_each_cycle() {
    let fixture = shared("lock_order");
    let status = |filter: &str, exit: i32, kind: &str| {
        let lines = reported(&["check"], &[filter], exit).into_iter();
        let cycles: Vec<Value> = lines.filter(|line| line["reason"] == "cycle").collect();
        let is_it = |cycle: &&Value| {
            let locks = cycle["locks"].as_array().unwrap();
            cycle["kind"] == kind && locks.iter().all(|l| l.as_str().unwrap().contains("::orders"))
        };
        let of_kind = cycles.iter().filter(is_it);
        let mut statuses: Vec<(String, Value)> = of_kind
            .map(|cycle| (cycle["status"].as_str().unwrap().into(), cycle["tests"].clone()))
            .collect();
        statuses.sort_by(|a, b| a.0.cmp(&b.0));
        statuses
    };
    let confirmed = status("orders::opposite", 1, "cycle");
    let tests = serde_json::json!(["orders::opposite::test"]);
    assert_eq!(confirmed.iter().filter(|(status, _)| status == "confirmed").count(), 1);
    assert_eq!(confirmed[0], ("confirmed".into(), tests), "{confirmed:?}");
    // The search ended at the deadlock.
    assert!(confirmed[1..].iter().all(|(status, _)| status == "not-reached"), "{confirmed:?}");
    assert_eq!(
        status("orders::gated", 0, "gated"),
        [("excluded".into(), serde_json::json!([]))],
        "a gate keeps the threads apart"
    );
    let human = run(&fixture, &["check", "--lock-order", "orders::opposite"]).expect(1);
    let _ = human
        .says(&["cycle: threads may wait for each other", "confirmed: a schedule leads there"]);
}

#[test]
fn a_cycle_that_nothing_confirms_takes_one_line_unless_all_is_asked_for() {
    let check = ["check", "--lock-order", "orders::gated"];
    let short = run(&shared("lock_order"), &check).expect(0);
    let of_gated = short.stderr.lines().filter(|line| line.contains("cycle under a common lock"));
    let [line] = &of_gated.collect::<Vec<_>>()[..] else { panic!("{short}") };
    for part in ["::A (src/orders.rs:", "::B (src/orders.rs:", "; excluded: every interleaving"] {
        assert!(line.contains(part), "{line}");
    }
    assert!(!short.stderr.contains("  acquires "), "{short}");
    let long = run(&shared("lock_order"), &[&check[..], &["--verbose"]].concat()).expect(0);
    let _ = long.says(&["cycle under a common lock, which", "  acquires "]);
}

/// The statuses of cycles that threads may wait in, each with whether it fails the check.
fn denied(arguments: &[&str], exit: i32) -> BTreeSet<(String, bool)> {
    let lines = reported(&["check"], arguments, exit).into_iter();
    let cycles = lines.filter(|line| line["reason"] == "cycle" && line["kind"] == "cycle");
    let reported = cycles
        .map(|line| (line["status"].as_str().unwrap().into(), line["denied"].as_bool().unwrap()));
    reported.collect()
}

#[test]
fn cycles_fail_a_check_only_where_they_are_denied_and_not_excluded() {
    let one = |status: &str, denied| BTreeSet::from([(status.to_owned(), denied)]);
    let cut = ["orders::attempt", "--max-executions", "1"];
    let deny = ["--deny", "lock-order"];
    assert_eq!(denied(&cut, 0), one("not-reached", false));
    assert_eq!(denied(&[&cut[..], &deny].concat(), 1), one("not-reached", true));
    assert_eq!(denied(&[&cut[..1], &deny].concat(), 0), one("excluded", false));
    let nested = ["orders::by_a_flag"];
    let has = |reported: &BTreeSet<_>, denied| reported.contains(&("nested".to_owned(), denied));
    assert!(has(&denied(&nested, 0), false));
    assert!(has(&denied(&[&nested[..], &deny].concat(), 1), true));
    let arguments = [&["check", "--lock-order"], &cut[..], &deny].concat();
    let human = run(&shared("lock_order"), &arguments).expect(1);
    let _ = human.says(&["it fails the check, as --deny asks for", "denied and not excluded"]);
}

#[test]
fn what_the_baseline_has_fails_nothing() {
    let fixture = shared("lock_order");
    let file = empty("lock-order-baseline").join("known.toml");
    let check = ["orders::by_a_flag", "--deny", "lock-order", "--baseline", file.to_str().unwrap()];
    let write = [&["check"], &check[..], &["--write-baseline"]].concat();
    let _ = run(&fixture, &write).expect(0);
    assert!(denied(&check, 0).contains(&("nested".to_owned(), false)));
}

#[test]
fn of_a_program_that_is_too_large_only_that_is_reported() {
    let flaw = ["--static-flaw", "order-is-too-much"];
    let plan = reported(ACCESSES, &flaw, 0);
    let of = |lines: &[Value], reason: &str| -> Vec<Value> {
        lines.iter().filter(|line| line["reason"] == reason).cloned().collect()
    };
    let [order] = &of(&plan, "lock-order")[..] else { panic!("{plan:?}") };
    assert_eq!((&order["known"], &order["nestings"]), (&false.into(), &0.into()));
    assert!(of(&plan, "nesting").is_empty() && of(&plan, "cycle").is_empty(), "{plan:?}");
    let check = [&["orders::same", "--deny", "lock-order"], &flaw[..]].concat();
    let lines = reported(&["check"], &check, 0);
    let [order] = &of(&lines, "lock-order")[..] else { panic!("{lines:?}") };
    assert_eq!(order["known"], false);
    assert!(of(&lines, "cycle").is_empty(), "{lines:?}");
    for command in [ACCESSES, &["check", "orders::same"]] {
        let arguments = [command, &["--lock-order"], &flaw[..]].concat();
        let human = run(&shared("lock_order"), &arguments).expect(0);
        let text = human.stdout.clone() + &human.stderr;
        assert!(text.contains("not known") && text.contains("too large for it"), "{text}");
    }
}
