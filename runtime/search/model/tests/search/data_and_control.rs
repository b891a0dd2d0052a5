//! Procedures, channels, orders, fences, allocation: every search against brute force, on random
//! programs that are full of them and on named ones.

use crate::check;
use crate::generate;

use std::collections::BTreeSet;

use check::brute::every_state;
use check::cases::cases;
use check::{
    Seen, all_states, by_persistent_sets, by_states, by_transactions, leads_to, parse, search,
};
use lockred_model::{Failure, ModelMachine, Program, Watched};
use lockred_search::{Limits, Stop, Strategy};
use proptest::prelude::*;

fn is_race(failure: &Failure) -> bool {
    matches!(failure, Failure::Race { .. })
}

fn races(seen: &Seen) -> BTreeSet<&Failure> {
    seen.failures.iter().filter(|failure| is_race(failure)).collect()
}

/// Compares DPOR, transactions and the stateful search with all states; gives back what there is,
/// races included if they could be reported. Programs with more states than `most` are passed over;
/// searches with more executions are only compared for seeing nothing that does not exist.
fn compare(program: &Program, most: usize) -> Result<Seen, TestCaseError> {
    let limits = Limits { executions: Some(most as u64 / 20), ..Limits::default() };
    let machine = || ModelMachine::new(program).reporting_ends();
    let Some(states) = every_state(&mut machine(), most) else { return Ok(Seen::default()) };
    let watched = every_state(&mut Watched::new(machine()), most);
    let (by_transactions, transactions) = by_transactions(program, limits);
    let watched = watched.map(|failures| Seen { failures, ..Seen::default() });
    if let (Stop::Complete, Some(watched)) = (transactions.stop, &watched) {
        prop_assert_eq!(races(&by_transactions), races(watched), "races of {}", program);
    }
    let (by_dpor, dpor) = search(program, Strategy::Dpor, limits);
    let (by_states, stateful) = by_states(program, limits);
    let (by_persistent_sets, persistent) = by_persistent_sets(program, limits);
    let few = Limits { executions: Some(30), ..Limits::default() };
    let (at_random, random) = search(program, Strategy::Random { seed: 1 }, few);
    let searches = [
        ("random", at_random, random),
        ("transactions", by_transactions, transactions),
        ("dpor", by_dpor, dpor),
        ("stateful", by_states, stateful),
        ("persistent sets", by_persistent_sets, persistent),
    ];
    for (name, mut seen, outcome) in searches {
        for (failure, schedule) in &seen.schedules {
            let leads = leads_to(program, schedule, failure);
            prop_assert!(leads, "{}: {:?} {:?} {}", name, failure, schedule, program);
        }
        seen.failures.retain(|failure| !is_race(failure));
        match outcome.stop {
            Stop::Complete => {
                prop_assert_eq!(&seen.failures, &states, "{} {}", name, program)
            }
            Stop::Executions => {
                prop_assert!(seen.failures.is_subset(&states), "{} {}", name, program);
            }
            other => prop_assert!(false, "{}: {:?} in {}", name, other, program),
        }
    }
    Ok(watched.unwrap_or(Seen { failures: states, ..Seen::default() }))
}

proptest! {
    #![proptest_config(cases(8, 1_500, 100_000))]

    #[test]
    fn every_search_sees_what_brute_force_sees(program in generate::data::program()) {
        compare(&program, 40_000)?;
        prop_assert_eq!(program.to_string().parse(), Ok(program));
    }
}

/// What brute force sees of a program, and every search sees.
fn agrees(text: &str) -> Seen {
    let program = parse(text);
    let (naive, outcome) = search(&program, Strategy::Naive, Limits::default());
    assert_eq!(outcome.stop, Stop::Complete);
    assert_eq!(naive.failures, all_states(&program).0.failures, "{text}");
    compare(&program, 20_000_000).unwrap_or_else(|error| panic!("{error}"))
}

fn has_race(text: &str) -> bool {
    let seen = agrees(text);
    !races(&seen).is_empty()
}

fn count(seen: &Seen, which: impl Fn(&Failure) -> bool) -> usize {
    seen.failures.iter().filter(|failure| which(failure)).count()
}

#[test]
fn fences_order_what_relaxed_accesses_publish() {
    let program = |before: &str, store: &str, load: &str, after: &str| {
        format!(
            "plain x; atomic f; thread A {{ x = 1; {before}; {store} f = 1 }}
            thread B {{ {load} r = f; {after}; if r == 1 {{ q = x }} }}"
        )
    };
    for (before, store) in
        [("fence release", "relaxed"), ("fence seqcst", "relaxed"), ("", "release")]
    {
        for (load, after) in
            [("relaxed", "fence acquire"), ("relaxed", "fence acqrel"), ("acquire", "")]
        {
            let text = program(before, store, load, after);
            assert!(!has_race(&text), "{text}");
            let text = program("fence acquire", "relaxed", load, after);
            assert!(has_race(&text), "{text}");
            let text = program(before, store, "relaxed", "fence release");
            assert!(has_race(&text), "{text}");
        }
    }
}

#[test]
fn a_fence_in_the_wrong_place_orders_nothing() {
    assert!(has_race(
        "plain x; atomic f; thread A { fence release; x = 1; relaxed f = 1 }
        thread B { relaxed r = f; fence acquire; if r == 1 { q = x } }"
    ));
    assert!(has_race(
        "plain x; atomic f; thread A { x = 1; fence release; relaxed f = 1 }
        thread B { fence acquire; relaxed r = f; if r == 1 { q = x } }"
    ));
    assert!(has_race(
        "plain x; atomic f; thread A { x = 1; relaxed f = 1; fence release }
        thread B { relaxed r = f; fence acquire; if r == 1 { q = x } }"
    ));
}

#[test]
fn release_sequences_go_on_through_updates_and_end_with_stores() {
    let program = |middle: &str, value: i32| {
        format!(
            "plain x; atomic f; thread A {{ x = 1; release f = 1 }}
            thread B {{ relaxed r = f; if r == 1 {{ {middle} }} }}
            thread C {{ acquire r = f; if r == {value} {{ q = x }} }}"
        )
    };
    assert!(!has_race(&program("relaxed s = f += 1", 2)));
    assert!(!has_race(&program("relaxed relaxed s = cas f 1 2", 2)));
    assert!(has_race(&program("relaxed f = 2", 2)));
    // A fence after a relaxed read takes part in the store's own release.
    assert!(!has_race(&program("fence acquire; fence release; relaxed f = 2", 2)));
    assert!(has_race(&program("fence release; relaxed f = 2", 2)));
}

#[test]
fn relaxed_additions_do_not_commute_between_fences() {
    let text = "plain x; atomic f; thread A { x = 1; fence release; f += 1 }
        thread B { f += 1; fence acquire; q = x }";
    assert!(has_race(text));
    let text = "plain x; atomic f; thread B { f += 1; fence acquire; q = x }
        thread A { x = 1; fence release; f += 1 }";
    assert!(has_race(text));
}

#[test]
fn the_order_of_relaxed_additions_decides_what_a_fence_acquires() {
    assert!(has_race(
        "plain x; atomic f g; thread A { x = 1; relaxed g = 1; fence release; f += 1 }
        thread B { f += 1; relaxed r = g; if r == 1 { fence acquire; q = x } }"
    ));
}

#[test]
fn a_failed_compare_exchange_has_an_order_of_its_own() {
    let program = |orders: &str| {
        format!(
            "plain x; atomic f; thread A {{ x = 1; release f = 1 }}
            thread B {{ relaxed r = f; if r == 1 {{ {orders} r = cas f 0 9; q = x }} }}"
        )
    };
    for (orders, race) in [
        ("", false),
        ("acquire", false),
        ("relaxed acquire", false),
        ("release", true),
        ("acqrel relaxed", true),
    ] {
        assert_eq!(has_race(&program(orders)), race, "{orders}");
    }
}

#[test]
fn a_weak_compare_exchange_may_fail_for_no_reason() {
    let strong = agrees("atomic f; thread A { r = cas f 0 1; assert r == 1 }");
    assert_eq!(count(&strong, |f| matches!(f, Failure::Assertion { .. })), 0);
    let weak = agrees("atomic f; thread A { r = casweak f 0 1; assert r == 1 }");
    assert_eq!(count(&weak, |f| matches!(f, Failure::Assertion { .. })), 1);
    // When it fails it writes nothing, and a loop of it ends with the right value.
    let text = "atomic f; plain x; thread A { while r == 0 { r = casweak f 0 1 } x = 1 }
        thread B { acquire r = f; if r == 1 { release r = casweak f 1 2 } }";
    let program = parse(text);
    let (states, _) = all_states(&program);
    let (seen, outcome) = by_states(&program, Limits::default());
    assert_eq!((outcome.stop, seen.failures), (Stop::Complete, states.failures));
    let read = "plain x; atomic f; thread A { x = 1; release f = 1 }
        thread B { relaxed r = f; if r == 1 { acqrel relaxed r = casweak f 1 2;
            if r == 0 { q = x } } }";
    assert!(has_race(read));
}

#[test]
fn memory_is_live_between_allocation_and_free() {
    let freed = |f: &Failure| matches!(f, Failure::Freed { .. });
    let misuse = |f: &Failure| matches!(f, Failure::Misuse { .. });
    for text in ["x = 1", "alloc x; free x; r = x", "alloc x; free x; free x", "free x"] {
        let text = format!("heap plain x; thread A {{ {text} }}");
        assert_eq!(count(&agrees(&text), freed), 1, "{text}");
    }
    let twice = agrees("heap plain x; thread A { alloc x; alloc x }");
    assert_eq!((count(&twice, freed), count(&twice, misuse)), (0, 1));
    let again = "heap plain x; thread A { alloc x; x = 1; free x; alloc x; r = x; assert r == 0 }";
    assert_eq!(agrees(again).failures.len(), 1);
}

#[test]
fn a_pointer_that_comes_back_fools_a_compare_exchange() {
    // A stack of two nodes, 1 and 2; `next` of the first leads to the second. A pops; B pops both,
    // and pushes the first again.
    let seen = agrees(
        "atomic head = 1; heap atomic one; heap atomic two; atomic taken;
        thread A { alloc one; alloc two; one = 2; spawn B;
            h = head; if h == 1 { n = one; r = cas head 1 2;
                if r == 1 { h = head; if h == 2 { n = two } } } }
        thread B { r = cas head 1 2; if r == 1 { r = cas head 2 0;
            if r == 1 { free two; free one; alloc one; head = 1 } } }",
    );
    // The second node is reached through the first one, after it was freed.
    let freed = |f: &Failure| {
        matches!(f, Failure::Freed { thread, place }
        if thread.0 == 0 && *place == 11)
    };
    assert_eq!(count(&seen, freed), 1, "{:?}", seen.failures);
}

#[test]
fn a_semaphores_down_releases_nothing() {
    assert!(has_race(
        "atomic s = 2; plain x; thread A { x = 1; down s } thread B { down s; q = x }"
    ));
    assert!(!has_race(
        "atomic s = 1; plain x; thread A { down s; x = 1; release s += 1 }
        thread B { down s; q = x; release s += 1 }"
    ));
}

fn deadlocks(text: &str) -> usize {
    count(&agrees(text), |failure| matches!(failure, Failure::Deadlock { .. }))
}

#[test]
fn a_rendezvous_needs_both() {
    assert_eq!(deadlocks("channel q = 0; thread A { send q 1 }"), 1);
    assert_eq!(deadlocks("channel q = 0; thread A { r = recv q }"), 1);
    let text = "channel q = 0; thread A { send q 7 } thread B { r = recv q; assert r == 7 }";
    assert_eq!(agrees(text).failures.len(), 1);
    // Either sender may be left over.
    let text = "channel q = 0; thread A { send q 1 } thread B { send q 2 } thread C { r = recv q }";
    assert_eq!(deadlocks(text), 2);
    // A lock is held while its owner offers.
    let text = "channel q = 0; mutex a; thread A { lock a; send q 1; unlock a }
        thread B { lock a; unlock a; r = recv q }";
    assert_eq!(deadlocks(text), 1);
    let text = "channel q = 0; mutex a; thread A { lock a; r = recv q; unlock a }
        thread B { lock a; unlock a; send q 1 }";
    assert_eq!(deadlocks(text), 1);
}

#[test]
fn a_lock_may_be_held_for_good_by_who_waits_for_a_message() {
    for (one, other) in [("r = recv q", "send q 1"), ("send q 1", "r = recv q")] {
        let text = format!(
            "channel q = 0; mutex a b; thread A {{ lock a; {one}; unlock a }}
            thread B {{ lock b; lock a; unlock a; unlock b }}
            thread C {{ lock b; unlock b; {other} }}"
        );
        assert_eq!(deadlocks(&text), 1, "{text}");
    }
}

#[test]
fn a_rendezvous_orders_both_ways() {
    assert!(!has_race(
        "channel q = 0; plain x y; thread A { x = 1; send q 1; r = y }
        thread B { y = 1; r = recv q; r = x }"
    ));
    assert!(has_race(
        "channel q = 0; plain x; thread A { send q 1; x = 1 } thread B { r = recv q; r = x }"
    ));
    // A bounded channel orders only what has gone through it.
    assert!(has_race(
        "channel q = 1; plain y; thread A { send q 1; r = y } thread B { y = 1; r = recv q }"
    ));
}

#[test]
fn a_message_orders_only_its_own_sender_and_receiver() {
    for capacity in 0..3 {
        let declared = format!("channel q = {capacity}; plain x;");
        // Another sender's message.
        assert!(has_race(&format!(
            "{declared} thread A {{ x = 1; send q 1 }} thread B {{ send q 2 }}
            thread C {{ r = recv q; if r == 2 {{ r = x }} else {{ r = recv q }} }}"
        )));
        // Two senders, and two receivers, do not order each other.
        assert!(
            has_race(&format!(
                "{declared} thread A {{ x = 1; send q 1 }} thread B {{ send q 2; x = 2 }}
            thread C {{ r = recv q; r = recv q }}"
            )) || capacity == 1
        );
        assert!(has_race(&format!(
            "{declared} thread A {{ r = recv q; x = 1 }} thread B {{ r = recv q; x = 2 }}
            thread C {{ send q 1; send q 2 }}"
        )));
    }
}

#[test]
fn a_receive_orders_the_send_that_fills_its_place() {
    let program = |capacity: u32, sends: usize| {
        let sends = "send q 1; ".repeat(sends);
        format!(
            "channel q = {capacity}; plain x; thread A {{ {sends} x = 1 }}
            thread B {{ x = 2; r = recv q; r = recv q; r = recv q }}"
        )
    };
    for capacity in 0..3 {
        for sends in 1..=3 {
            let ordered = sends > capacity as usize;
            assert_eq!(has_race(&program(capacity, sends)), !ordered, "{capacity} {sends}");
        }
    }
    // The second send waits for the first receive, which is not the one after the write.
    assert!(has_race(
        "channel q = 1; plain x; thread A { send q 1; send q 2; x = 1 }
        thread B { r = recv q; x = 2; r = recv q }"
    ));
}

#[test]
fn a_closed_channel_gives_what_is_in_it_and_then_says_so() {
    let text = "channel q = 2; thread A { send q 1; close q; r = send q 2; assert r == 0 }
        thread B { r = recv q; assert r == 1; r = recv q; assert r == closed }";
    assert_eq!(agrees(text).failures.len(), 1);
    let text = "channel q = 0; thread A { r = send q 1; assert r == 1 } thread B { close q }";
    let seen = agrees(text);
    assert_eq!(count(&seen, |failure| matches!(failure, Failure::Assertion { .. })), 1);
    assert_eq!(seen.failures.len(), 2);
    let text =
        "channel q = 1; thread A { send q 1; r = send q 2; assert r == 1 } thread B { close q }";
    let seen = agrees(text);
    assert_eq!(count(&seen, |failure| matches!(failure, Failure::Assertion { .. })), 1);
    assert_eq!(
        deadlocks("channel q = 0; thread A { r = recv q } thread B { close q; close q }"),
        0
    );
}

#[test]
fn closing_orders_what_finds_the_channel_closed() {
    for capacity in 0..2 {
        let program = |find: &str| {
            format!(
                "channel q = {capacity}; plain x; thread A {{ x = 1; close q }} thread B {{ {find} }}"
            )
        };
        for find in ["r = recv q; r = x", "r = send q 1; if r == 0 { r = x }"] {
            assert!(!has_race(&program(find)), "{capacity} {find}");
        }
        let late = "r = x; r = recv q";
        assert!(has_race(&program(late)), "{capacity}");
        // Who closes again orders nothing.
        assert!(has_race(&format!(
            "channel q = {capacity}; plain x; thread A {{ close q }} thread B {{ x = 1; close q }}
            thread C {{ r = recv q; r = x }}"
        )));
    }
}

#[test]
fn receivers_of_a_closed_channel_commute() {
    let text = "channel q; thread A { close q; spawn B; spawn C } thread B { r = recv q }
        thread C { r = recv q }";
    let (_, outcome) = search(&parse(text), Strategy::Dpor, Limits::default());
    assert_eq!(outcome.counts.executions, 1);
}

#[test]
fn a_procedure_has_registers_of_its_own_and_returns_a_value() {
    let text = "proc Sum(n) { if n == 0 { return 0 } m = n + -1; m = call Sum(m);
            while n != 0 { m = m + 1; n = n + -1 } return m }
        thread A { m = 7; r = call Sum(4); assert r == 10; assert m == 7; call Sum(1) }";
    assert_eq!(agrees(text).failures.len(), 1);
}

#[test]
fn calls_that_are_nested_too_deep_end_the_thread() {
    let overflow = |failure: &Failure| matches!(failure, Failure::Overflow { .. });
    let seen = agrees(
        "mutex a; proc P() { call P() } thread A { lock a; call P() } thread B { lock a; unlock a }",
    );
    assert_eq!(count(&seen, overflow), 1);
    assert_eq!(count(&seen, |failure| matches!(failure, Failure::Deadlock { .. })), 1);
    let text = "proc P(n) { if n != 0 { n = n + -1; call P(n) } } thread A { call P(31) }";
    assert_eq!(count(&agrees(text), overflow), 0);
    assert_eq!(count(&agrees(&text.replace("31", "32")), overflow), 1);
}

#[test]
fn threads_that_procedures_spawn_begin_there() {
    let text =
        "plain x; proc Deeper() { spawn C } proc Start(n) { if n == 1 { spawn B } call Deeper() }
        thread A { x = 1; call Start(1); join B; join C } thread B { r = x; assert r == 1 }
        thread C { r = x; assert r == 1 }";
    assert_eq!(agrees(text).failures.len(), 1);
    // Nobody calls the procedure.
    let text = "proc Start() { spawn B } thread A { r = 1 } thread B { assert r == 1 }";
    assert_eq!(count(&agrees(text), |failure| matches!(failure, Failure::Assertion { .. })), 1);
}

#[test]
fn a_recursive_search_of_a_locked_list_sees_what_was_pushed() {
    let text = "plain one; plain two; mutex a;
        proc Length(n) { lock a; if n == 0 { r = one } else { r = two } unlock a;
            if r == 0 { return n } n = n + 1; if n == 2 { return n } r = call Length(n); return r }
        thread A { lock a; one = 1; unlock a; lock a; two = 1; unlock a }
        thread B { r = call Length(0); assert r != 1 }";
    let seen = agrees(text);
    assert_eq!(count(&seen, |failure| matches!(failure, Failure::Assertion { .. })), 1);
    assert!(races(&seen).is_empty());
}

#[test]
fn every_value_is_chosen_wherever_the_choice_is() {
    // In a procedure, twice in a row, and before its thread waits.
    let text = "atomic f; mutex a; proc Pick() { r = any 2; if r == 1 { lock a } s = any 2; s = s + 1; return s }
        thread A { r = call Pick(); if r == 2 { f = 1 } assert r != 1 }
        thread B { r = any 3; lock a; if r == 2 { await f == 1; assert r != 2 } }";
    let seen = agrees(text);
    assert_eq!(count(&seen, |failure| matches!(failure, Failure::Assertion { .. })), 2);
    let text = "channel q = 0; proc Pick() { r = any 3; return r }
        thread A { r = call Pick(); s = any 2; send q r; send q s } thread B { r = recv q; s = recv q;
            if r == 2 { assert s != 1 } }";
    let seen = agrees(text);
    assert_eq!(count(&seen, |failure| matches!(failure, Failure::Assertion { .. })), 1);
    assert_eq!(count(&seen, |failure| matches!(failure, Failure::End(_))), 6);
}
