//! Walks towards cycles in the order of locks: what a search does not come to soon is found,
//! reported and replayed as anything else.

use crate::fixtures::{own, shared};
use lockred_tests::tool::run;
use serde_json::{Value, json};

/// The lines of a check of the fixture, by their reason.
fn reported(arguments: &[&str], exit: i32) -> impl Fn(&str) -> Vec<Value> + use<> {
    let arguments = [&["check", "--message-format", "json"], arguments].concat();
    let output = run(&shared("lock_order_cycles"), &arguments).expect(exit);
    let lines = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    move |reason| lines.iter().filter(|line| line["reason"] == reason).cloned().collect()
}

/// The status of the cycle whose locks are in this module.
fn status(cycles: &[Value], module: &str) -> Value {
    let lock = format!("::{module}::");
    let is_its = |cycle: &&Value| cycle["locks"][0].as_str().unwrap().contains(&lock);
    let [cycle] = &cycles.iter().filter(is_its).collect::<Vec<_>>()[..] else {
        panic!("{cycles:?}");
    };
    assert_eq!(cycle["kind"], "cycle");
    cycle["status"].clone()
}

const FEW: [&str; 2] = ["--max-executions", "30"];

#[test]
fn a_walk_closes_a_cycle_that_the_search_does_not_come_to() {
    let searched = reported(&[&["deadlocks", "--no-lock-order"], &FEW[..]].concat(), 0);
    let [test] = &searched("test-finished")[..] else { panic!("one test") };
    assert_eq!((&test["verdict"], &test["executions"]), (&json!("passed"), &json!(30)));
    assert!(test.get("walks").is_none(), "{test}");

    let walked = reported(&[&["deadlocks", "--lock-order"], &FEW[..]].concat(), 1);
    let [test] = &walked("test-finished")[..] else { panic!("one test") };
    assert_eq!(status(&walked("cycle"), "behind"), "confirmed");
    let walks = test["walks"].as_u64().unwrap();
    assert!((1..=4).contains(&walks), "{test}");
    assert_eq!((&test["verdict"], &test["ended"]), (&json!("failed"), &json!("bug")));
    assert_eq!(test["executions"], 0, "no search was made");
    let [bug] = &test["bugs"].as_array().unwrap()[..] else { panic!("{test}") };
    assert_eq!((&bug["kind"], &bug["schedule"]["minimal"]), (&json!("deadlock"), &json!(true)));

    // As the search finds it, where that comes there.
    let found = reported(&["deadlocks", "--search", "bounded"], 1);
    let [test] = &found("test-finished")[..] else { panic!("one test") };
    assert_eq!(test["bugs"][0]["fingerprint"], bug["fingerprint"]);
    assert_eq!(test["bugs"][0]["id"], bug["id"]);
    let replayed = run(&shared("lock_order_cycles"), &["replay", bug["id"].as_str().unwrap()]);
    let _ = replayed.says(&[]);
}

#[test]
fn in_a_small_program_cycles_are_walked_towards_unless_another_search_is_asked_for() {
    let by_default = reported(&[&["deadlocks"], &FEW[..]].concat(), 1);
    let [test] = &by_default("test-finished")[..] else { panic!("one test") };
    assert!((1..=4).contains(&test["walks"].as_u64().unwrap()), "{test}");
    assert_eq!(status(&by_default("cycle"), "behind"), "confirmed");
    let sampled = reported(&[&["deadlocks", "--search", "bounded=0"], &FEW[..]].concat(), 0);
    let [test] = &sampled("test-finished")[..] else { panic!("one test") };
    assert!(test.get("walks").is_none(), "{test}");
}

/// A cycle that no test comes to that is checked.
const IGNORED: &str = "
#[cfg(test)]
mod ignored {
    use std::sync::Mutex;
    use std::thread::scope;

    static A: Mutex<u32> = Mutex::new(0);
    static B: Mutex<u32> = Mutex::new(0);

    fn both(first: &Mutex<u32>, second: &Mutex<u32>) {
        *second.lock().unwrap() += *first.lock().unwrap();
    }

    #[test]
    #[ignore = \"nobody checks it\"]
    fn either_way() {
        scope(|scope| {
            scope.spawn(|| both(&A, &B));
            both(&B, &A);
        });
    }
}
";

#[test]
fn people_read_by_default_what_no_test_has_come_to() {
    let fixture = own("lock_order_cycles", "cycles-by-default");
    let source = fixture.join("src").join("lib.rs");
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(&source, text + IGNORED).unwrap();
    let all = run(&fixture, &["check", "--keep-going", "--max-executions", "1"]).expect(1);
    let lines = all.stderr.lines().filter(|line| line.contains("lock-order cycle: "));
    let [line] = &lines.collect::<Vec<_>>()[..] else { panic!("{all}") };
    assert!(
        line.contains("::ignored::A (src/lib.rs:") && line.contains("; not reached: "),
        "{line}"
    );
    assert!(!all.stderr.contains(" walk"), "{all}");
    let some = ["check", "kept_apart", "--max-executions", "1"];
    let some = run(&fixture, &some).expect(0);
    assert!(!some.stderr.contains("lock-order cycle"), "{some}");
}

#[test]
fn the_search_goes_on_after_what_walks_find_and_its_counts_are_its_own() {
    let keep = ["behind::", "--keep-going", "--lock-order", "--jobs", "2"];
    let walked = reported(&[&keep[..], &FEW].concat(), 1);
    let [none, some] = &walked("test-finished")[..] else { panic!("two tests") };
    assert_eq!(none["name"], "behind::acquires_none_of_them");
    // One target are the cycles of mutexes, another one those of other locks. Four walks towards
    // each meet none of it.
    assert_eq!((&none["walks"], &none["executions"]), (&json!(8), &json!(30)));
    assert_eq!((&none["verdict"], &none["bugs"]), (&json!("passed"), &json!([])));
    assert_eq!((&some["walks"], &some["executions"]), (&json!(104), &json!(30)));
    assert_eq!((&some["ended"], some["bugs"].as_array().unwrap().len()), (&json!("executions"), 1));
}

#[test]
fn walks_exclude_nothing_and_a_search_that_is_complete_does() {
    let filter = ["kept_apart", "--lock-order"];
    let complete = reported(&filter, 0);
    let [test] = &complete("test-finished")[..] else { panic!("one test") };
    assert_eq!((&test["verdict"], &test["walks"]), (&json!("verified"), &json!(104)));
    assert_ne!(status(&complete("cycle"), "kept_apart"), "confirmed");
    assert_eq!(status(&complete("cycle"), "behind"), "excluded");
    let cut = reported(&[&filter[..], &["--max-executions", "1"]].concat(), 0);
    assert_eq!(status(&cut("cycle"), "behind"), "not-reached");
}

#[test]
fn who_dies_in_a_walk_is_a_bug() {
    let walked = reported(&["dies", "--lock-order"], 1);
    let [test] = &walked("test-finished")[..] else { panic!("one test") };
    assert_eq!((&test["bugs"][0]["kind"], &test["executions"]), (&json!("abort"), &json!(0)));
    // And with what else there is, where the check goes on.
    let walked = reported(&["dies", "--lock-order", "--keep-going"], 1);
    let [test] = &walked("test-finished")[..] else { panic!("one test") };
    let bugs = test["bugs"].as_array().unwrap();
    let kinds: Vec<&str> = bugs.iter().map(|bug| bug["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"abort") && kinds.contains(&"deadlock"), "{kinds:?}");
    assert_eq!(test["ended"], "complete");
}

#[test]
fn people_read_how_many_walks_were_made() {
    let fixture = own("lock_order_cycles", "cycles-for-people");
    let arguments = ["check", "--lock-order", "kept_apart"];
    let _ = run(&fixture, &arguments).expect(0).says(&["1 execution, 104 walks"]);
    let output = run(&fixture, &["check", "--lock-order", "deadlocks"]).expect(1);
    let output = output.says(&["confirmed: a schedule leads there", " walk"]);
    assert!(!output.stderr.contains("0 executions"), "{output}");
}
