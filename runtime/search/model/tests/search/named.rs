//! Programs that wrong searches get wrong (docs/algorithm.md#counter-examples): every search sees
//! exactly what all states show.

use crate::check;
use crate::unified_oracle;

use check::{
    all_states, all_watched_states, by_persistent_sets, by_states, by_stoller, by_transactions,
    by_unified, leads_to, parse, search,
};
use lockred_model::{Failure, ModelMachine, Program};
use lockred_papers::stoller::{self, Memory, Sleep};
use lockred_search::unified::{Pairs, Settings};
use lockred_search::{Limits, Outcome, Stop, Strategy};

type Search = fn(&Program, Limits) -> (check::Seen, Outcome);

/// Compares every search with all states. What it reports is shown by the schedule that it reports.
fn agrees(text: &str) -> check::Seen {
    let program = parse(text);
    let shows = |name: &str, seen: &check::Seen| {
        for (failure, schedule) in &seen.schedules {
            assert!(leads_to(&program, schedule, failure), "{name}: {failure:?} of {program}");
        }
    };
    let (states, outcome) = all_states(&program);
    assert_eq!(outcome.stop, Stop::Complete);
    for strategy in [Strategy::Dpor, Strategy::Naive] {
        let (seen, outcome) = search(&program, strategy, Limits::default());
        assert_eq!(outcome.stop, Stop::Complete);
        assert_eq!(seen.failures, states.failures, "{strategy:?}: {program}");
        shows(&format!("{strategy:?}"), &seen);
    }
    for (name, search) in [("stateful", by_states as Search), ("persistent", by_persistent_sets)] {
        let (seen, outcome) = search(&program, Limits::default());
        assert_eq!(outcome.stop, Stop::Complete);
        assert_eq!(seen.failures, states.failures, "{name}: {program}");
        shows(name, &seen);
    }
    let classes = ModelMachine::new(&program).classes();
    for memory in [Memory::Stateless, Memory::Stateful] {
        let sleep = Sleep::Conditional;
        let settings = stoller::Settings { memory, sleep, ..stoller::Settings::SSS };
        let (seen, outcome, _) = by_stoller(&program, &classes, settings, Limits::default());
        assert_eq!(outcome.stop, Stop::Complete);
        assert_eq!(seen.failures, states.failures, "{settings:?}: {program}");
        shows("stoller", &seen);
    }
    let (watched, outcome) = all_watched_states(&program, Limits::default());
    assert_eq!(outcome.stop, Stop::Complete);
    let (seen, outcome) = by_transactions(&program, Limits::default());
    assert_eq!(outcome.stop, Stop::Complete);
    assert_eq!(seen.failures, watched.failures, "transactions: {program}");
    shows("transactions", &seen);
    for number in 0..8 {
        let settings = Settings { pairs: Pairs::All, ..unified_oracle::settings(number) };
        let (seen, outcome, _) = by_unified(&program, settings, u64::MAX);
        assert_eq!(outcome.stop, Stop::Complete);
        assert_eq!(seen.failures, watched.failures, "{settings:?}: {program}");
    }
    watched
}

fn deadlocks(seen: &check::Seen) -> usize {
    seen.failures.iter().filter(|failure| matches!(failure, Failure::Deadlock { .. })).count()
}

fn assertions(seen: &check::Seen) -> usize {
    seen.failures.iter().filter(|failure| matches!(failure, Failure::Assertion { .. })).count()
}

macro_rules! named {
    ($($name:ident: $text:literal;)*) => {
        $(#[test]
        fn $name() {
            agrees($text);
        })*
    };
}

named! {
    cond_footprint: "mutex a; plain x; thread A { lock a } thread B { lock a; x = 1; unlock a }
        thread C { lock a; unlock a; r = x }";
    cond_footprint_2: "mutex a; plain x; atomic f;
        thread A { lock a; r = f; if r == 0 { x = 1 } unlock a } thread B { f = 2 }
        thread C { q = f; lock a; unlock a; r = x }";
    cond_footprint_3: "mutex a; condvar c; atomic f; thread A { lock a; wait c a }
        thread B { r = f; lock a } thread C { notify_all c }";
    inherited_wakes: "mutex a; condvar c; atomic f; thread A { r = f += 1; notify_all c }
        thread B { r = try a; if r == 1 { notify_all c; unlock a } }
        thread C { lock a; wait c a; r = f += 1 }";
    hidden_lock_edge: "mutex a; plain x; thread A { x = 1; lock a; unlock a }
        thread B { lock a; unlock a; r = x; if r == 1 { x = 2 } }";
    relaxed_after_locks: "mutex a; plain x; atomic f; thread A { x = 1; f = 1; lock a; unlock a }
        thread B { lock a; unlock a; r = f; if r == 1 { q = x } }";
    handover: "mutex a; plain x y; thread A { x = 1; lock a; y = 1; unlock a }
        thread B { lock a; r = y; unlock a; if r == 1 { q = x } }";
    notify_enables: "mutex a b d; condvar c; plain x y;
        thread A { lock a; r = y; unlock a;
            if r == 1 { lock d; notify_one c; lock b; q = x; unlock b; unlock d } }
        thread B { lock a; y = 1; wait c a; unlock a; lock b; x = 1; unlock b }";
    gate: "mutex g a b; thread A { lock g; lock a; lock b; unlock b; unlock a; unlock g }
        thread B { lock g; lock b; lock a; unlock a; unlock b; unlock g }";
    park_condvar: "mutex a b d; condvar c; thread A { lock b; lock d; wait c d; unlock d; unlock b }
        thread B { lock a; lock b; unlock b; unlock a }
        thread C { lock a; unlock a; lock d; notify_all c; unlock d }";
    hold_block_closure: "mutex a b c; thread A { lock c; lock b; lock c } thread B { lock a }
        thread C { lock a; lock b; unlock b }";
    join_under_lock: "mutex a; plain x; thread A { spawn B; spawn C; lock a; join B; unlock a }
        thread B { r = x } thread C { lock a; r = x; x = r + 1 }";
    release_shadow: "mutex a b; thread A { lock b; lock a; unlock b; lock b; unlock a }
        thread B { lock a }";
    drop_protected: "mutex a; plain x; thread A { lock a; x = 1; unlock a }
        thread B { lock a; r = x; unlock a }";
    try_opaque: "mutex a; thread A { r = try a } thread B { lock a; unlock a }";
    net_lock: "mutex a; thread A { lock a } thread B { lock a }";
    rolled_back_reversal: "mutex a b c;
        thread A { r = try b; if r == 1 { unlock b } lock c; lock a; lock b; unlock b }
        thread B { lock a } thread C { lock b; unlock b }";
    false_deadlock: "mutex a; plain x; thread A { spawn B; spawn C; join B; x = 1; join C }
        thread B { lock a } thread C { r = x; if r == 0 { lock a } }";
    two_nonmovers: "plain x; thread A { x = 1 } thread B { r = x; x = r + 1 }";
    no_restart: "plain x; thread A { r = x; x = r + 1 } thread B { x = 2 }";
    sleep_by_name: "plain x; thread A { x = 1 } thread B { r = x }";
    alone_again: "plain x; thread A { spawn B; r = x } thread B { x = 1 }";
    unseen_condition: "atomic f g; thread A { f = 1 } thread B { g = 1; f = 0; f = 1 }
        thread C { r = g; await f == 1; q = f }";
    additions_that_disable: "atomic f; thread A { f += 1 } thread B { await f == 0 } thread C { f += 1 }";
    additions_that_disable_and_enable: "atomic f; thread A { f += 1; f += 1 }
        thread B { await f == 1; r = f } thread C { f += -1 } thread D { await f == 0 }";
    abort_while_another_waits: "mutex a; thread A { lock a; abort } thread B { lock a }";
    abort_hides_nothing: "plain x; thread A { r = x; if r == 0 { abort } }
        thread B { x = 1; x = 2 } thread C { r = x; assert r != 2 }";
    woken_after_a_lock: "mutex a; condvar c; plain x; thread A { lock a; wait c a; x = 1; unlock a }
        thread B { notify_one c } thread C { lock a; r = x; unlock a }
        thread D { lock a; x = 3; unlock a }";
    abort_after_a_lock: "mutex a; plain x; thread A { lock a; r = x; if r != 1 { abort } }
        thread B { x = 0; lock a }";
    abort_while_others_race: "mutex a; plain x; thread A { abort } thread B { lock a; r = x }
        thread C { x = 0; lock a; lock a }";
    abort_of_the_holder: "mutex a b; condvar c;
        thread A { lock b; r = try a; if r != 2 { abort } }
        thread B { notify_one c; lock b; lock b }";
    abort_after_a_value: "mutex a; plain y; atomic f; thread A { y = 0; lock a; f += 1 }
        thread B { f = 0; lock a; r = f; if r != 1 { abort } }";
    abort_after_a_race: "plain x; thread A { x = 0; abort } thread B { x = 0; abort }";
    await_an_old_value: "atomic f g; thread A { f += 1; r = g; f = 1 }
        thread B { g += 1; await f == 0 }";
    thread_without_operations: "plain x; thread A { spawn B; x = 1 } thread B { }
        thread C { join B; r = x }";
}

// Without some line of the searches, what one of these shows is missed, reported with a schedule
// that does not show it, or reported although it is not there; the programs above need none of
// these lines.
named! {
    taken_by_a_try: "mutex a b; plain x; thread A { lock a; x = 1; unlock a } thread B { r = try a; read b; r = x }";
    meeting_under_a_lock: "mutex a; barrier m = 2; thread A { lock a; arrive m }
        thread B { lock a; unlock a; r = arrive m }";
    ending_with_a_lock: "mutex a b; thread A { lock a } thread B { lock b; lock a; unlock a }
        thread C { read a; unread a; read b }";
    decrement_between_relaxed_flags: "atomic c = 3; atomic f; plain x;
        thread A { r = dec c; relaxed q = f; if q == 1 { r = x } } thread B { relaxed f = 1; x = 1 }
        thread C { r = dec c; q = c; if q == 1 { r = x } }";
    free_after_a_semaphore: "plain x; atomic s; thread A { down s; free x }
        thread B { x = 1; s += 2; if r == 0 { s = r } }";
    race_after_a_meeting: "plain x; barrier m = 2; thread A { arrive m } thread B { } thread C { x = 1 }
        thread D { arrive m; x = 1 }";
    await_a_sum: "atomic f; thread A { f += -1 } thread B { } thread C { await f == 1 } thread D { f += 1 }";
    reader_that_stays: "mutex a b; thread A { lock b; unlock b; lock a } thread B { r = try b; read a }";
    try_before_a_lock: "mutex a b; thread A { r = try a } thread B { r = try b; if r == 1 { lock a; unlock a } }
        thread C { lock a; lock b }";
    own_release_sequence: "plain x; atomic s; thread A { x = 1; s = r + 1 } thread B { release s += 1; down s; r = x }";
    join_of_itself: "mutex a b; thread A { lock a; join A } thread B { lock b; lock a } thread C { }
        thread D { lock b }";
    two_meetings_for_one: "barrier m = 2; thread A { arrive m } thread B { arrive m }
        thread C { arrive m; r = arrive m } thread D { r = arrive m; arrive m }";
    try_before_a_shared_lock: "plain x; mutex a b; thread A { read b; lock a; x = 1 } thread B { }
        thread C { r = try a; read b; r = x }";
    try_before_the_last_lock: "mutex a b; thread A { r = try a; lock b }
        thread B { r = try b; if r == 1 { lock a; unlock a } } thread C { lock a; lock b }";
    two_decrements_of_one: "atomic c = 3; thread A { } thread B { r = dec c; r = dec c } thread C { r = dec c }";
    try_that_holds: "mutex a b; thread A { lock a; lock b; unlock b; unlock a } thread B { r = try b; lock a }";
    nested_lock_that_is_tried: "mutex a b; thread A { } thread B { r = try a; if r == 1 { unlock a } }
        thread C { lock b; lock a; unlock a }";
    started_after_a_write: "plain x; thread A { x = 1 } thread B { x = 1; spawn A }";
    notification_of_all: "mutex a; condvar c; thread A { notify_all c } thread B { lock a; wait c a }
        thread C { lock a; wait c a }";
    own_relaxed_flag: "atomic f; plain x; thread A { } thread B { x = 1; relaxed f = 1; r = f }
        thread C { acquire r = f; if r == 1 { q = x } }";
    exchange_beside_a_join: "plain x y; atomic f; thread A { r = x; join B } thread B { r = y }
        thread C { r = cas f 0 1; y = 1 }";
    choice_after_a_wait: "atomic f; thread A { if r == 0 { await f == 0; r = any 2 } else { acqrel r = f += 2 } }";
    flags_after_a_write: "plain x; atomic f; mutex a; thread A { relaxed r = f; join B; x = q }
        thread B { lock a; x = 1; f = 1; relaxed f = 1 }";
    join_under_a_lock_of_a_late_thread: "mutex a; thread A { } thread B { } thread C { lock a; join A }
        thread D { spawn C; lock a; unlock a; spawn A }";
    waiter_that_may_not_wait: "plain x y; mutex a; condvar c; thread A { lock a; y = 1 }
        thread B { lock a; r = y; if r == 0 { wait c a } unlock a; x = 1 }
        thread C { lock a; notify_all c; unlock a; lock a; x = 1; unlock a }";
    sends_to_a_closed_channel: "plain x; channel q = 0; thread A { send q 1; r = send q 2; x = 1 }
        thread B { close q; r = x }";
    fence_after_an_update: "plain x; atomic f; thread A { r = x; q = cas f 0 2 }
        thread B { relaxed r = f += 1; fence acqrel; x = 1 }";
    receive_after_a_weak_exchange: "plain x y; atomic f; channel q = 1;
        proc P(n) { acquire n = casweak f 1 1; n = recv q; call R(0) }
        proc R(n) { send q 2; n = y; send q 1 }
        thread A { x = 1; acqrel f += 1 } thread B { r = x; call P(0) }";
    rolled_back_before_the_end: "mutex a b; plain x; thread A { lock b; lock b } thread B { lock a }
        thread C { } thread D { r = x; lock a }";
    updates_around_a_try: "atomic f; atomic c = 4; mutex a; reentrant b;
        thread A { relaxed f = 1; r = try a; if r == 1 { r = f += 2; unlock a } q = dec c }
        thread B { read a; r = f += 2; unread a } thread C { } thread D { lock b; f += 1; r = f += 1 }";
}

#[test]
fn crossed_locks_deadlock() {
    let seen = agrees("mutex a b; thread A { lock a; lock b } thread B { lock b; lock a }");
    assert_eq!(deadlocks(&seen), 3);
}

#[test]
fn a_lock_taken_twice_deadlocks() {
    assert_eq!(deadlocks(&agrees("mutex a; thread A { lock a; lock a }")), 1);
}

#[test]
fn blocked_at_end() {
    let seen = agrees("mutex a; thread A { lock a } thread B { lock a }");
    assert_eq!(deadlocks(&seen), 2);
}

#[test]
fn blocked_after_sleep() {
    let seen = agrees(
        "mutex a; plain x y; thread A { x = 2 } thread B { lock a }
        thread C { q = y; lock a; r = x; assert r != 0 }",
    );
    assert_eq!(assertions(&seen), 1);
}

#[test]
fn a_notification_may_be_lost() {
    let seen = agrees(
        "mutex a; condvar c; plain x;
        thread A { lock a; wait c a; unlock a } thread B { notify_one c }",
    );
    assert_eq!(deadlocks(&seen), 1);
}

#[test]
fn any_waiter_may_be_woken() {
    let seen = agrees(
        "mutex a; condvar c; thread A { lock a; wait c a; unlock a }
        thread B { lock a; wait c a; unlock a } thread C { notify_one c }",
    );
    assert_eq!(deadlocks(&seen), 3);
}

#[test]
fn every_waiter_is_woken_in_some_execution() {
    let waiter = "lock a; n += 1; wait c a; unlock a";
    let seen = agrees(&format!(
        "mutex a; condvar c; atomic n; plain x; thread A {{ {waiter} }} thread B {{ {waiter} }}
        thread C {{ lock a; r = n; unlock a; if r == 2 {{ notify_one c; x = 1 }} }}"
    ));
    let both_waited = seen
        .failures
        .iter()
        .filter(|failure| matches!(failure, Failure::End(state) if state.values[1] == 1));
    assert_eq!(both_waited.count(), 2);
}

#[test]
fn every_race_is_shown_by_its_schedule() {
    let texts = [
        // A section of the later access's thread has to come before one that the first access's
        // thread makes later.
        "plain x; atomic f g; mutex a; thread A { x = 1; r = f; lock a; r = x; unlock a }
            thread B { x = 1; g = 1 }
            thread C { lock a; f += 1; unlock a; r = g; if r == 1 { q = x } }",
        "plain x; mutex a; thread A { x = 1; lock a; unlock a }
            thread B { lock a; unlock a; r = x; if r == 1 { x = 2 } }",
        "atomic g; thread A { relaxed g += 1; await g == 2 } thread B { free g; relaxed r = g += 1 }",
        "plain x; mutex a; condvar c; thread A { lock a; wait c a; unlock a; r = x }
            thread B { x = 1; notify_one c; lock a; unlock a; x = 2 }",
        // B learns of A's access by its own lock, so C's section with the other lock has to come
        // before.
        "plain x; atomic f y; mutex a b; thread A { lock a; r = x; unlock a; relaxed q = y }
            thread B { relaxed y = 1; lock a; lock b; f += 1; unlock b; unlock a }
            thread C { lock b; relaxed r = y; unlock b; relaxed q = f; x = 1 }",
        "plain x0 x1; atomic f; mutex a b; condvar c;
            thread A { x0 = 1; f = 1; lock a; r = x0; if r == 0 { wait c a } unlock a; r = x1 }
            thread B { x1 = 1; relaxed f = 1; lock a; lock b; f += 1; unlock b; unlock a }
            thread C { lock b; r = x1; if r == 0 { wait c b } unlock b; relaxed r = f; x0 = 1; f = 1 }",
        // C's section comes after what A does later, and still has to come before B's.
        "plain x; atomic f g; mutex a; thread A { x = 1; f = 1; read a; g = 0; unread a }
            thread B { lock a; r = f += 1; unlock a }
            thread C { read a; g = 0; unread a; relaxed r = f; x = 1; f = 1 }",
    ];
    for text in texts {
        let program = parse(text);
        let (seen, _) = by_transactions(&program, Limits::default());
        let races =
            seen.schedules.iter().filter(|(failure, _)| matches!(failure, Failure::Race { .. }));
        assert!(races.clone().count() > 0, "{text}");
        for (failure, schedule) in races {
            assert!(leads_to(&program, schedule, failure), "{failure:?} of {text}");
        }
    }
}

fn ends(seen: &check::Seen) -> usize {
    seen.failures.iter().filter(|failure| matches!(failure, Failure::End(_))).count()
}

#[test]
fn any_owner_may_drop_the_last_reference() {
    let owner = "inc n; r = dec n; r = dec n; if r == 1 { free x }";
    let text = format!(
        "atomic n = 3; plain x; thread A {{ {owner} }} thread B {{ {owner} }} thread C {{ {owner} }}"
    );
    assert_eq!(ends(&agrees(&text)), 3);
    let (_, outcome) = search(&parse(&text), Strategy::Dpor, Limits::default());
    assert_eq!(outcome.counts.refinements, 1);
}

#[test]
fn references_that_are_dropped_before_the_last_one_commute() {
    let owner = "r = dec n";
    let text = format!(
        "atomic n = 4; thread A {{ {owner} }} thread B {{ {owner} }} thread C {{ {owner} }}
        thread D {{ join A; join B; join C; r = dec n }}"
    );
    agrees(&text);
    let (_, outcome) = search(&parse(&text), Strategy::Dpor, Limits::default());
    assert_eq!((outcome.counts.executions, outcome.counts.refinements), (1, 0));
    let (_, outcome) = by_transactions(&parse(&text), Limits::default());
    assert_eq!((outcome.counts.executions, outcome.counts.refinements), (1, 0));
}

#[test]
fn a_reference_is_used_after_the_last_one_was_dropped() {
    let seen = agrees(
        "atomic n = 1; plain x; thread A { r = dec n; if r == 1 { free x } } thread B { r = x }",
    );
    assert!(seen.failures.iter().any(|failure| matches!(failure, Failure::Freed { .. })));
    assert!(seen.failures.iter().any(|failure| matches!(failure, Failure::Race { .. })));
}

#[test]
fn readers_do_not_exclude_each_other() {
    let text = "plain x; mutex a; thread A { read a; r = x; unread a }
        thread B { read a; r = x; unread a }";
    agrees(text);
    assert_eq!(search(&parse(text), Strategy::Dpor, Limits::default()).1.counts.executions, 1);
    let upgrade =
        "plain x; mutex a; thread A { read a; r = x; lock a } thread B { read a; lock a }";
    assert!(deadlocks(&agrees(upgrade)) > 0);
    let writer = "plain x; mutex a; thread A { read a; r = x; unread a }
        thread B { lock a; x = 1; unlock a } thread C { read a; r = x; unread a }";
    let seen = agrees(writer);
    assert_eq!(ends(&seen), 4);
    assert!(!seen.failures.iter().any(|failure| matches!(failure, Failure::Race { .. })));
}

#[test]
fn a_lock_that_is_downgraded_is_shared() {
    let races = |seen: &check::Seen| {
        seen.failures.iter().filter(|failure| matches!(failure, Failure::Race { .. })).count()
    };
    let writer = "lock a; r = x; x = r + 1; downgrade a; r = x; unread a";
    let two = format!("plain x; mutex a; thread A {{ {writer} }} thread B {{ {writer} }}");
    assert_eq!(races(&agrees(&two)), 0);
    let outcome = by_transactions(&parse(&two), Limits::default()).1;
    assert_eq!(outcome.counts.executions, 2);
    let late = "plain x; mutex a; thread A { lock a; downgrade a; x = 1; unread a }
        thread B { read a; r = x; unread a }";
    assert!(races(&agrees(late)) > 0);
    // Others read from then on, and only from then on, and nobody writes until it is given back.
    let met = |other: &str| {
        let text = format!(
            "atomic f g; mutex a; thread A {{ lock a; await f == 1; downgrade a; await g == 1; unread a }}
            thread B {{ f = 1; {other} }}"
        );
        deadlocks(&agrees(&text))
    };
    assert_eq!(met("read a; g = 1; unread a"), 0);
    assert!(met("lock a; g = 1; unlock a") > 0);
    let tried = "atomic f; mutex a; thread A { lock a; f = 1; downgrade a; f = 2; unread a }
        thread B { r = f; q = tryread a; if r == 1 { assert q == 1 } }
        thread C { r = f; q = try a; if r == 2 { assert q == 1 } }";
    assert_eq!(assertions(&agrees(tried)), 2);
    let misused =
        "mutex a; thread A { read a; downgrade a } thread B { lock a; downgrade a; unlock a }";
    let seen = agrees(misused);
    let is_misuse = |failure: &&Failure| matches!(failure, Failure::Misuse { .. });
    assert_eq!(seen.failures.iter().filter(is_misuse).count(), 2);
}

#[test]
fn semaphores_and_channels_order_what_they_guard() {
    let semaphore =
        "atomic s; plain x; thread A { x = 1; release s += 1 } thread B { down s; r = x }";
    assert_eq!((ends(&agrees(semaphore)), deadlocks(&agrees(semaphore))), (1, 0));
    let channel = "channel q = 1; plain x; thread A { x = 1; send q 7; send q 8 }
        thread B { r = recv q; r0 = x; r1 = recv q; assert r1 == 8 }";
    let seen = agrees(channel);
    assert_eq!((ends(&seen), deadlocks(&seen), assertions(&seen)), (1, 0, 0));
    let full = "channel q = 1; thread A { send q 1; send q 2 } thread B { r = recv q }";
    let seen = agrees(full);
    assert_eq!(deadlocks(&seen), 0);
    let empty = "channel q; thread A { send q 1 } thread B { r = recv q } thread C { r = recv q }";
    assert_eq!(deadlocks(&agrees(empty)), 2);
}

#[test]
fn every_value_is_chosen() {
    let seen = agrees("mutex a; thread A { r = any 3; lock a; assert r != 2 } thread B { lock a }");
    assert_eq!(assertions(&seen), 1);
    assert_eq!(deadlocks(&seen), 2);
}
