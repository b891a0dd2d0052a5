//! Each rule of the search by transactions, switched off: the oracle catches it on the
//! counter-example that stands for it (docs/algorithm.md#counter-examples).

use crate::check;

use std::collections::BTreeSet;

use check::{all_watched_states, by_transactions, leads_to, parse};
use lockred_model::program::{Body, Variable};
use lockred_model::{Failure, ModelMachine, Program};
use lockred_search::discipline::Discipline;
use lockred_search::fault::{self, Fault};
use lockred_search::{Choice, Limits, Observer, Stop, transactions};

/// Whether the oracle objects to what the search sees of the program.
fn objects(text: &str) -> bool {
    let program = parse(text);
    let (watched, outcome) = all_watched_states(&program, Limits::default());
    assert_eq!(outcome.stop, Stop::Complete);
    let limits = Limits { executions: Some(100_000), ..Limits::default() };
    let (seen, outcome) = by_transactions(&program, limits);
    outcome.stop != Stop::Complete
        || seen.failures != watched.failures
        || !seen.schedules.iter().all(|(failure, schedule)| leads_to(&program, schedule, failure))
}

/// The program with its threads in every order: which one the search tries first decides which
/// rules it needs.
pub fn orders(text: &str) -> Vec<String> {
    let mut parts = text.split("thread ");
    let declarations = parts.next().unwrap_or_default();
    let mut orders: Vec<Vec<&str>> = vec![Vec::new()];
    for thread in parts {
        let grown = orders.iter().flat_map(|order| {
            (0..=order.len()).map(|place| {
                let mut order = order.clone();
                order.insert(place, thread);
                order
            })
        });
        orders = grown.collect();
    }
    let text = |order: Vec<&str>| {
        order.into_iter().fold(declarations.to_owned(), |text, thread| text + "thread " + thread)
    };
    orders.into_iter().map(text).collect()
}

macro_rules! caught {
    ($($name:ident: $fault:ident, $text:literal;)*) => {
        $(#[test]
        fn $name() {
            let orders = orders($text);
            for text in &orders {
                assert!(!objects(text), "wrong without any fault: {text}");
            }
            let caught = fault::with(Fault::$fault, || orders.iter().any(|text| objects(text)));
            assert!(caught, "the fault is not caught");
        })*
    };
}

caught! {
    // After a transaction the search goes on with the same thread if it can. By itself this puts
    // the orders of the programs in `named` right; so what follows is the work of threads that are
    // spawned there.
    cond_footprint: NothingInherited, "mutex a; plain x; thread A { lock a }
        thread B { lock a; x = 1; unlock a }
        thread C { lock a; unlock a; spawn A; spawn D } thread D { r = x }";
    cond_footprint_2: NothingInherited, "mutex a; plain x; atomic f;
        thread A { lock a; r = f; if r == 0 { x = 1 } unlock a } thread B { f = 2 }
        thread C { q = f; spawn B; spawn D } thread D { lock a; unlock a; r = x }";
    cond_footprint_3: NothingInherited, "mutex a; condvar c; atomic f; thread A { lock a; wait c a }
        thread B { r = f; lock a } thread C { notify_all c }";
    inherited_wakes: InheritedEnable, "mutex a; condvar c; atomic f; thread A { r = f; notify_all c }
        thread B { lock a; notify_all c; unlock a; r = try a }
        thread C { lock a; wait c a; r = f += 1 }";
    hidden_lock_edge: AllLockEdges, "mutex a; plain x; thread A { x = 1; lock a; unlock a }
        thread B { lock a; unlock a; r = x; if r == 1 { x = 2 } }";
    relaxed_after_locks: AllLockEdges, "mutex a; plain x; atomic f;
        thread A { x = 1; relaxed f = 1; lock a; unlock a }
        thread B { lock a; unlock a; acquire r = f; if r == 1 { q = x } }";
    handover: NoLockEdges, "mutex a; plain x y; thread A { x = 1; lock a; y = 1; unlock a }
        thread B { lock a; r = y; unlock a; if r == 1 { q = x } }";
    no_witness: NoWitness, "mutex a; plain x; thread A { x = 1; lock a; unlock a }
        thread B { lock a; unlock a; r = x; if r == 1 { x = 2 } }";
    notify_enables: NotifyBoth, "mutex a b d; condvar c; plain x y;
        thread A { lock a; r = y; unlock a;
            if r == 1 { lock d; notify_one c; lock b; q = x; unlock b; unlock d } }
        thread B { lock a; y = 1; wait c a; unlock a; lock b; x = 1; unlock b }";
    abba: CyclesIgnored, "mutex a b; thread A { lock a; lock b } thread B { lock b; lock a }";
    self_lock: NeverPark, "mutex a; thread A { lock a; lock a } thread B { lock a }";
    park_condvar: NeverPark, "mutex a b d; condvar c;
        thread A { lock b; lock d; wait c d; unlock d; unlock b }
        thread B { lock a; lock b; unlock b; unlock a }
        thread C { lock a; unlock a; lock d; notify_all c; unlock d }";
    hold_block_closure: NoClosure, "mutex a b c; thread A { lock c; lock b; lock c }
        thread B { lock a } thread C { lock a; lock b; unlock b }";
    join_under_lock: JoinNeverReversed, "mutex a; thread A { lock a; join B; unlock a }
        thread B { join C } thread C { lock a; unlock a }";
    release_shadow: ReleaseShadows, "mutex a b;
        thread A { lock b; lock a; unlock b; lock b; unlock a } thread B { lock a }";
    blocked_at_end: BlockedLeftOut, "mutex a; thread A { lock a } thread B { lock a }";
    blocked_after_sleep: BlockedBehindSleep, "mutex a; atomic f; thread A { lock a; f = 1 }
        thread B { r = f } thread C { r = f; lock a }";
    drop_protected: ProtectedDropped, "mutex a; plain x; thread A { lock a; x = 1; unlock a }
        thread B { lock a; r = x; unlock a }";
    try_opaque: TryUnobserved, "mutex a; thread A { r = try a } thread B { lock a; unlock a }";
    net_lock: ChangeAsSection, "mutex a; thread A { lock a } thread B { lock a }";
    rolled_back_reversal: RolledBackPassedOver, "mutex a b c;
        thread A { r = try b; if r == 1 { unlock b } lock c; lock a; lock b; unlock b }
        thread B { lock a } thread C { lock b; unlock b }";
    false_deadlock: EndUnchecked, "mutex a; plain x;
        thread A { spawn B; spawn C; join B; x = 1; join C }
        thread B { lock a } thread C { r = x; if r == 0 { lock a } }";
    // Another value than B's, so that the end states differ.
    two_nonmovers: TwoNonMovers, "plain x; thread A { x = 2 } thread B { r = x; x = r + 1 }";
    no_restart: NoRestart, "plain x; thread A { r = x; x = r + 1 } thread B { x = 2 }";
    sleep_by_name: SleepTooLong, "plain x; thread A { x = 1 } thread B { r = x }";
}

/// Judging races by the happens-before of the executions that are explored is not enough although
/// both orders are.
#[test]
fn hidden_both_ways() {
    struct Confirmed<'a> {
        program: &'a Program,
        failures: BTreeSet<Failure>,
    }
    impl Observer<Failure> for Confirmed<'_> {
        fn on_failure(&mut self, failure: Failure, schedule: &[Choice]) -> bool {
            if leads_to(self.program, schedule, &failure) {
                self.failures.insert(failure);
            }
            true
        }
    }
    let program = parse(
        "mutex a; plain x; thread A { x = 1; lock a; unlock a }
        thread B { lock a; unlock a; r = x; if r == 1 { x = 2 } }",
    );
    let confirmed = || {
        let mut seen = Confirmed { program: &program, failures: BTreeSet::new() };
        let mut machine = ModelMachine::new(&program).reporting_ends();
        let limits = Limits::default();
        transactions::explore(&mut machine, &mut Discipline::default(), limits, &mut seen);
        seen.failures
    };
    let (watched, _) = all_watched_states(&program, Limits::default());
    assert_eq!(confirmed(), watched.failures);
    let explored = fault::with(Fault::NoWitness, confirmed);
    let hidden: Vec<_> = watched.failures.difference(&explored).collect();
    let writes = |place| (Body(u8::from(place != 0)), place);
    let race = Failure::Race { variable: Variable(0), one: writes(0), other: writes(4) };
    assert_eq!(hidden, [&race]);
}

/// Complete and blocked executions of the final pass, and refinements.
fn costs(text: &str) -> (u64, u64, u64) {
    let (_, outcome) = by_transactions(&parse(text), Limits::default());
    assert_eq!(outcome.stop, Stop::Complete);
    (outcome.counts.executions, outcome.counts.blocked, outcome.counts.refinements)
}

#[test]
fn handover_under_lock() {
    let text = "plain x y z u v; mutex a b; thread A { x = 1; z = 1; lock a; y = 1; unlock a }
        thread B { lock a; r = y; unlock a; if r == 1 { lock b; r = x; r = z; unlock b } }
        thread C { lock b; u = 1; unlock b } thread D { lock b; v = 1; unlock b }";
    assert_eq!(costs(text), (2, 0, 0));
    assert_eq!(fault::with(Fault::NoLockEdges, || costs(text)), (5, 0, 2));
}

#[test]
fn gate() {
    let text = "mutex g a b; thread A { lock g; lock a; lock b; unlock b; unlock a; unlock g }
        thread B { lock g; lock b; lock a; unlock a; unlock b; unlock g }";
    assert_eq!(costs(text), (1, 0, 0));
    assert_eq!(fault::with(Fault::NoGuards, || costs(text)), (2, 0, 1));
}

#[test]
fn eager_park() {
    let body = "lock a0; x0 = #; lock a1; unlock a0; x1 = #; lock a2; unlock a1; x2 = #; unlock a2";
    let threads =
        (0..4).map(|i| format!("thread T{i} {{ {} }}\n", body.replace('#', &i.to_string())));
    let text = format!("plain x0 x1 x2; mutex a0 a1 a2;\n{}", threads.collect::<String>());
    assert_eq!(costs(&text), (24, 0, 0));
    assert_eq!(fault::with(Fault::EagerPark, || costs(&text)), (192, 0, 0));
}
