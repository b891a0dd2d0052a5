//! The order of locks of small programs, before any run: nestings that must be known, and such that must not; and every one that happens is known.

use crate::fixtures::shared;
use lockred_tests::tool::run;
use serde_json::Value;
use std::collections::BTreeSet;

/// A module of the fixture: what is held and acquired, by the last part of the locks' names, and circles.
struct Program {
    name: &'static str,
    has: &'static [&'static str],
    /// None of these: nothing else that is known of these locks is wrong.
    has_not: &'static [&'static str],
    circle: Option<&'static str>,
}

const fn program(
    name: &'static str,
    has: &'static [&'static str],
    has_not: &'static [&'static str],
    circle: Option<&'static str>,
) -> Program {
    Program { name, has, has_not, circle }
}

const PROGRAMS: &[Program] = &[
    program("orders::opposite", &["A B", "B A"], &[], Some("circle")),
    program("orders::same", &["A B"], &["B A", "B B", "A A"], None),
    program("orders::gated", &["A B", "B A", "GATE A", "GATE B"], &["A GATE"], Some("gated")),
    program("orders::alone", &["A B", "B A"], &["A A", "B B"], Some("one-thread")),
    program("orders::shared_helper", &["A B", "B A"], &[], Some("circle")),
    program("orders::three", &["A B", "B GATE", "GATE A"], &["B A"], Some("circle")),
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
    program("guards::while_it_lasts", &["A B"], &["A A", "A C", "B C", "B A"], None),
    program("locks::readers", &["A B", "B A"], &[], None),
    program("locks::a_writer", &["A B", "B A"], &[], Some("circle")),
    program(
        "locks::waiting",
        &["OUTER READY", "OUTER BEHIND", "READY BEHIND"],
        &["READY READY", "READY OUTER", "BEHIND READY"],
        None,
    ),
    program("locks::fields", &["PAIR PAIR + 12", "PAIR + 12 PAIR"], &[], Some("circle")),
    program("locks::parking_lots", &["A B", "B A", "B C"], &["A C"], Some("circle")),
];

/// The lines of the plan that are of the order of locks.
fn lines(fixture: &str) -> Vec<Value> {
    let arguments = ["plan", "--lock-order", "--message-format", "json"];
    let output = run(&shared(fixture), &arguments).expect(0);
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
fn nestings_and_circles_are_those_of_the_programs() {
    let lines = lines("lock_order");
    let of = |reason: &'static str| lines.iter().filter(move |line| line["reason"] == reason);
    for Program { name: program, has, has_not, circle } in PROGRAMS {
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
        let circles = of("circle").filter(|circle| {
            let all = circle["nestings"].as_array().unwrap().iter();
            all.map(|number| numbered[number.as_u64().unwrap() as usize]).any(is_its)
        });
        let kinds: Vec<&str> = circles.map(|circle| circle["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, circle.iter().copied().collect::<Vec<_>>(), "{program}");
    }
}

#[test]
fn nestings_say_which_threads_they_are_of() {
    let lines = lines("lock_order");
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
fn the_search_says_what_came_of_each_circle() {
    let fixture = shared("lock_order");
    let status = |filter: &str, exit: i32, kind: &str| {
        let arguments = ["check", "--lock-order", "--message-format", "json", filter];
        let output = run(&fixture, &arguments).expect(exit);
        let lines = output.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let circles: Vec<Value> = lines.filter(|line| line["reason"] == "circle").collect();
        let is_it = |circle: &&Value| {
            let locks = circle["locks"].as_array().unwrap();
            circle["kind"] == kind && locks.iter().all(|l| l.as_str().unwrap().contains("::orders"))
        };
        let of_kind = circles.iter().filter(is_it);
        let mut statuses: Vec<(String, Value)> = of_kind
            .map(|circle| (circle["status"].as_str().unwrap().into(), circle["tests"].clone()))
            .collect();
        statuses.sort_by(|a, b| a.0.cmp(&b.0));
        statuses
    };
    let confirmed = status("orders::opposite", 1, "circle");
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
    let _ = human.says(&["circle: threads may wait for each other", "confirmed: a schedule ends"]);
}
