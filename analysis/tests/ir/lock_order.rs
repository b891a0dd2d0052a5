//! In which order locks may be acquired, and which cycles there are in that.

use crate::whole_of;
use lockred_analysis::instrument::Program;
use lockred_analysis::plan::Rules;
use lockred_protocol::lock_order::{Kind, LockOrder, Programs};
use lockred_protocol::plan::Flaw;
use lockred_protocol::section::Section as _;
use std::collections::HashSet;

/// A lock that the sync models know, guards of it as Rust makes them, and a `main` that starts
/// threads at two functions.
const LIBRARY: &str = r#"
@a = internal global [16 x i8] zeroinitializer
@b = internal global [16 x i8] zeroinitializer
@c = internal global [16 x i8] zeroinitializer
@kept = internal global ptr null
declare noalias ptr @malloc(i64)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
define internal void @"parking_lot::raw_mutex::RawMutex::lock"(ptr %m) noinline {
  %r = cmpxchg ptr %m, i8 0, i8 1 acquire monotonic
  ret void }
define internal i1 @"parking_lot::raw_mutex::RawMutex::try_lock"(ptr %m) noinline {
  %l = load atomic i8, ptr %m monotonic, align 1
  %r = cmpxchg ptr %m, i8 0, i8 1 acquire monotonic
  %ok = extractvalue { i8, i1 } %r, 1
  ret i1 %ok }
define internal void @"parking_lot::raw_mutex::RawMutex::unlock"(ptr %m) noinline {
  %r = cmpxchg ptr %m, i8 1, i8 0 release monotonic
  ret void }
define internal void @lock(ptr %guard, ptr %m) {
  call void @"parking_lot::raw_mutex::RawMutex::lock"(ptr %m)
  store ptr %m, ptr %guard
  ret void }
define internal void @drop(ptr %guard) {
  %m = load ptr, ptr %guard
  call void @"parking_lot::raw_mutex::RawMutex::unlock"(ptr %m)
  ret void }
define internal void @both(ptr %one, ptr %other) {
  %x = alloca ptr
  %y = alloca ptr
  call void @lock(ptr %x, ptr %one)
  call void @lock(ptr %y, ptr %other)
  call void @drop(ptr %y)
  call void @drop(ptr %x)
  ret void }
"#;

/// The order of locks in a program of these functions: `first` and `second` are run by threads, and
/// `f`, if there is one, by `main`.
fn order(text: &str) -> LockOrder {
    order_by(None, text)
}

/// The same, by an analysis with this error.
fn order_by(flaw: Option<Flaw>, text: &str) -> LockOrder {
    let main = if text.contains("@f(") { "call void @f()" } else { "" };
    let text = format!(
        "{LIBRARY}
         define internal ptr @one(ptr %p) {{ call void @first(ptr %p)\n ret ptr null }}
         define internal ptr @two(ptr %p) {{ call void @second(ptr %p)\n ret ptr null }}
         define void @start(ptr %p) {{
           {main}
           %t = alloca i64
           %r = call i32 @pthread_create(ptr %t, ptr null, ptr @one, ptr null)
           %s = call i32 @pthread_create(ptr %t, ptr null, ptr @two, ptr null)
           ret void }}
         {text}"
    );
    let rules = Rules { order: Programs::All, flaw, ..Rules::default() };
    let user_functions: HashSet<String> =
        ["both", "first", "second", "f"].map(String::from).into_iter().collect();
    let whole = whole_of(&text, Program { rules, user_functions, ..Program::default() });
    let start = whole.find("@__lr_lock_order = ").unwrap_or_else(|| panic!("{whole}"));
    let bytes = &whole[start..];
    let text = bytes.split("c\"").nth(1).and_then(|rest| rest.split("\", section").next()).unwrap();
    LockOrder::decode(&unescaped(text)).unwrap()
}

/// The bytes of a string as LLVM writes it.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'\\' {
            let code = std::str::from_utf8(&tail[..2]).unwrap();
            bytes.push(u8::from_str_radix(code, 16).unwrap());
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    bytes
}

/// What is nested in what, by the names of the locks.
fn nestings(order: &LockOrder) -> Vec<String> {
    let names = |locks: &[u32]| -> String {
        let names: Vec<&str> = locks.iter().map(|&lock| order.lock(lock)).collect();
        names.join("|")
    };
    let mut all: Vec<String> = order
        .nestings
        .iter()
        .map(|n| format!("{} {}", names(&n.held.locks), names(&n.wanted.locks)))
        .collect();
    all.sort();
    all.dedup();
    all
}

fn kinds(order: &LockOrder) -> Vec<Kind> {
    order.cycles.iter().map(|cycle| cycle.kind).collect()
}

/// Two threads that run these.
fn threads(first: &str, second: &str) -> LockOrder {
    order(&format!(
        "define internal void @first(ptr %p) {{ {first}\n ret void }}
         define internal void @second(ptr %p) {{ {second}\n ret void }}"
    ))
}

const AB: &str = "call void @both(ptr @a, ptr @b)";
const BA: &str = "call void @both(ptr @b, ptr @a)";

#[test]
fn two_orders_are_a_cycle_and_one_is_none() {
    let cycle = threads(AB, BA);
    assert!(cycle.known);
    assert_eq!(nestings(&cycle), ["a b", "b a"]);
    assert_eq!(kinds(&cycle), [Kind::Cycle]);
    let [one, two] = [0, 1].map(|at| &cycle.nestings[cycle.cycles[0].nestings[at] as usize]);
    assert_ne!(one.threads, two.threads);
    assert_eq!(one.threads.len(), 1);
    let same = threads(AB, AB);
    assert_eq!((nestings(&same), kinds(&same)), (vec!["a b".to_owned()], vec![]));
}

#[test]
fn a_guard_that_was_dropped_or_moved_holds_what_it_holds() {
    let at = |between: &str| {
        nestings(&threads(
            &format!(
                "%x = alloca ptr\n %y = alloca ptr\n %z = alloca [2 x ptr]
                 call void @lock(ptr %x, ptr @a)
                 {between}
                 call void @lock(ptr %y, ptr @b)"
            ),
            "",
        ))
    };
    let moved = "%place = getelementptr i8, ptr %z, i64 8
        call void @llvm.memcpy.p0.p0.i64(ptr %place, ptr %x, i64 8, i1 false)";
    assert_eq!(at(""), ["a b"]);
    assert!(at("call void @drop(ptr %x)").is_empty());
    assert_eq!(at(moved), ["a b"]);
    assert!(at(&format!("{moved}\n call void @drop(ptr %place)")).is_empty());
    // Somewhere else it may be anybody's.
    assert_eq!(at("store ptr %x, ptr @kept"), ["a b"]);
    // On one of two ways.
    let one = "%c = icmp eq ptr %p, null\n br i1 %c, label %drop, label %on
        drop: call void @drop(ptr %x)\n br label %on
        on:";
    assert_eq!(at(one), ["a b"]);
}

#[test]
fn an_attempt_holds_a_lock_and_waits_for_none() {
    let order = threads(
        "%ok = call i1 @\"parking_lot::raw_mutex::RawMutex::try_lock\"(ptr @a)
         br i1 %ok, label %yes, label %no
         yes: call void @both(ptr @b, ptr @c)\n br label %no
         no:",
        "%x = alloca ptr
         call void @lock(ptr %x, ptr @b)
         %ok = call i1 @\"parking_lot::raw_mutex::RawMutex::try_lock\"(ptr @a)",
    );
    assert_eq!(nestings(&order), ["a b", "a c", "b c"]);
    assert_eq!(kinds(&order), []);
}

#[test]
fn a_gate_keeps_threads_apart() {
    let gated = |body: &str| {
        format!(
            "%g = alloca ptr\n call void @lock(ptr %g, ptr @c)\n {body}\n call void @drop(ptr %g)"
        )
    };
    assert_eq!(kinds(&threads(&gated(AB), &gated(BA))), [Kind::Gated]);
    assert_eq!(kinds(&threads(&gated(AB), BA)), [Kind::Cycle]);
}

#[test]
fn what_one_thread_does_alone_is_reported_as_that() {
    let order = order(&format!(
        "define internal void @first(ptr %p) {{ ret void }}
         define internal void @second(ptr %p) {{ ret void }}
         define internal void @f() {{ {AB}\n {BA}\n ret void }}"
    ));
    assert_eq!(kinds(&order), [Kind::OneThread]);
}

#[test]
fn blocks_of_the_heap_are_distinguished_by_their_allocation_and_by_place() {
    let order = threads(
        "%m = call ptr @malloc(i64 16)
         %n = call ptr @malloc(i64 16)
         call void @both(ptr %m, ptr %n)",
        "%m = call ptr @malloc(i64 64)
         %second = getelementptr i8, ptr %m, i64 16
         call void @both(ptr %m, ptr %second)
         call void @both(ptr %second, ptr %m)",
    );
    let heap = |at: usize| &order.nestings[at];
    assert_eq!(order.nestings.len(), 3, "{order:?}");
    assert_ne!(heap(0).held.locks, heap(0).wanted.locks);
    let mut apart: Vec<_> = order.nestings.iter().map(|n| n.apart).collect();
    apart.sort_unstable();
    assert_eq!(apart, [None, Some(-16), Some(16)]);
}

#[test]
fn calls_by_pointer_and_cycles_of_calls_are_followed() {
    let order = threads(
        "%x = alloca ptr
         call void @lock(ptr %x, ptr @a)
         store ptr @second, ptr @kept
         %f = load ptr, ptr @kept
         call void %f(ptr null)",
        "%y = alloca ptr
         %c = icmp eq ptr %p, null
         br i1 %c, label %again, label %out
         again: call void @second(ptr %p)\n br label %out
         out: call void @lock(ptr %y, ptr @b)",
    );
    assert_eq!(nestings(&order), ["a b"]);
}

#[test]
fn locks_that_calls_come_back_with_can_be_forgotten_on_demand() {
    let text = format!(
        "define internal void @first(ptr %p) {{ {AB}\n ret void }}
         define internal void @second(ptr %p) {{ ret void }}"
    );
    assert_eq!(nestings(&order_by(None, &text)), ["a b"]);
    assert!(nestings(&order_by(Some(Flaw::CallsKeepNoLock), &text)).is_empty());
}

#[test]
fn who_catches_panics_calls_what_it_is_asked_to_call() {
    let order = order(
        r#"
        declare i32 @rust_eh_personality(...)
        define internal i32 @__rust_try(ptr %f, ptr %p, ptr %c) personality ptr @rust_eh_personality {
          invoke void %f(ptr %p) to label %done unwind label %caught
        done: ret i32 0
        caught:
          %x = landingpad { ptr, i32 } catch ptr null
          ret i32 1 }
        define internal void @a_last(ptr %p) { call void @both(ptr @b, ptr @a) ret void }
        define internal void @keeps_b(ptr %p) {
          %x = alloca ptr
          call void @lock(ptr %x, ptr @b)
          ret void }
        define internal void @first(ptr %p) {
          %r = call i32 @__rust_try(ptr @a_last, ptr %p, ptr null)
          ret void }
        define internal void @second(ptr %p) {
          %y = alloca ptr
          %r = call i32 @__rust_try(ptr @keeps_b, ptr %p, ptr null)
          call void @lock(ptr %y, ptr @c)
          ret void }"#,
    );
    assert_eq!(nestings(&order), ["b a", "b c"]);
    let threads: Vec<_> = order.nestings.iter().map(|nesting| &nesting.threads).collect();
    assert!(threads.iter().all(|threads| threads.len() == 1), "{order:?}");
    assert_ne!(threads[0], threads[1]);
}

#[test]
fn a_variable_that_functions_are_only_lent_is_followed() {
    // Whoever keeps the address of a guard may drop it at any time.
    let at = |give: &str| {
        nestings(&threads(
            &format!(
                "%x = alloca ptr
                 %y = alloca ptr
                 call void @lock(ptr %x, ptr @a)
                 {give}
                 call void @drop(ptr %x)
                 call void @lock(ptr %y, ptr @b)"
            ),
            "",
        ))
    };
    assert!(at("").is_empty());
    assert_eq!(
        at("store ptr %x, ptr @kept\n %k = load ptr, ptr @kept\n store ptr @c, ptr %k"),
        ["a b"]
    );
}

#[test]
fn what_a_thread_runs_beside_unseen_others_is_not_said_to_be_alone() {
    let text = |start: &str| {
        format!(
            "define internal void @given(ptr %p) {{ call void @f()\n ret void }}
             define internal void @first(ptr %p) {{ {start}\n ret void }}
             define internal void @second(ptr %p) {{ ret void }}
             define internal void @f() {{ {AB}\n {BA}\n ret void }}"
        )
    };
    assert_eq!(kinds(&order(&text(""))), [Kind::OneThread]);
    assert_eq!(kinds(&order(&text("call void @f()"))), [Kind::Cycle]);
    assert_eq!(kinds(&order(&text("call void @keeps(ptr @given)"))), [Kind::Cycle]);
}

#[test]
fn a_lock_that_calls_come_back_with_is_one_whichever_way_they_come() {
    let mut calls = String::from(
        "define internal void @come0() {
           %m = load ptr, ptr @kept
           call void @\"parking_lot::raw_mutex::RawMutex::lock\"(ptr %m)
           ret void }
         ",
    );
    // There are more ways through these than can be told apart.
    for n in 1..=24 {
        let inner = n - 1;
        calls += &format!(
            "define internal void @come{n}() {{
               call void @come{inner}()
               call void @come{inner}()
               ret void }}
             "
        );
    }
    let order = order(&format!(
        "{calls}
         define internal void @first(ptr %p) {{
           store ptr @a, ptr @kept
           call void @come24()
           %x = alloca ptr
           call void @lock(ptr %x, ptr @b)
           ret void }}
         define internal void @second(ptr %p) {{ ret void }}"
    ));
    assert!(order.known);
    assert!(nestings(&order).contains(&"a b".to_owned()));
}

#[test]
fn locks_that_a_model_says_are_innermost_are_left_out() {
    // One of many locks, which no thread gives back.
    let order = |lock: &str| {
        order(&format!(
            "@table = internal global [64 x i8] zeroinitializer
             @which = internal global i64 0
             define internal void @\"parking_lot_core::word_lock::WordLock::lock\"(ptr %m) noinline {{
               %r = cmpxchg ptr %m, i8 0, i8 1 acquire monotonic
               ret void }}
             define void @\"parking_lot_core::word_lock::WordLock::unlock\"(ptr %m) noinline {{
               %r = atomicrmw sub ptr %m, i8 1 release
               ret void }}
             define internal void @some() noinline {{
               %n = load volatile i64, ptr @which
               %m = getelementptr i8, ptr @table, i64 %n
               call void @\"{lock}::lock\"(ptr %m)
               ret void }}
             define internal void @first(ptr %p) {{ call void @some()\n {AB}\n ret void }}
             define internal void @second(ptr %p) {{ {BA}\n call void @some()\n ret void }}"
        ))
    };
    let innermost = order("parking_lot_core::word_lock::WordLock");
    assert_eq!(nestings(&innermost), ["a b", "b a"]);
    assert_eq!((innermost.left_out.len(), kinds(&innermost)), (1, vec![Kind::Cycle]));
    let any = order("parking_lot::raw_mutex::RawMutex");
    assert_eq!(nestings(&any), ["a b", "b a", "table a", "table b"]);
    assert!(any.left_out.is_empty());
}

#[test]
fn nothing_is_said_of_the_order_of_more_locks_than_can_be_paired() {
    let order = |count: usize| {
        let globals = |n| format!("@many{n} = internal global [16 x i8] zeroinitializer\n");
        let lock =
            |n| format!("call void @\"parking_lot::raw_mutex::RawMutex::lock\"(ptr @many{n})\n ");
        let globals: String = (0..count).map(globals).collect();
        let locks: String = (0..count).map(lock).collect();
        order(&format!(
            "{globals}
             define internal void @first(ptr %p) {{ {locks}\n ret void }}
             define internal void @second(ptr %p) {{ {BA}\n ret void }}"
        ))
    };
    let small = order(20);
    assert!(small.known);
    // Each under all that come before it, and the other thread's.
    assert_eq!(small.nestings.len(), 20 * 19 / 2 + 1);
    assert_eq!(order(400), LockOrder::default());
}

#[test]
fn a_build_that_is_not_asked_knows_nothing() {
    let whole = whole_of("", Program::default());
    assert!(whole.contains("\\22known\\22:false"), "{whole}");
}

#[test]
fn what_std_prints_in_a_panic_is_as_it_was() {
    let of = |panics: &str, rest: &str| {
        nestings(&order(&format!(
            "declare i32 @rust_eh_personality(...)
             declare void @_Unwind_RaiseException(ptr)
             define internal void @{panics}(ptr %what) noinline {{
               %copy = alloca ptr
               store ptr %what, ptr %copy
               %f = load ptr, ptr @kept
               call void %f(ptr %copy)
               call void @_Unwind_RaiseException(ptr null)
               unreachable }}
             define internal void @first(ptr %p) personality ptr @rust_eh_personality {{
               %x = alloca ptr
               call void @lock(ptr %x, ptr @a)
               invoke void @{panics}(ptr %x) to label %on unwind label %pad
               on: unreachable
               pad: %e = landingpad {{ ptr, i32 }} cleanup
               call void @drop(ptr %x)
               call void @both(ptr @b, ptr @c)
               resume {{ ptr, i32 }} %e }}
             {rest}"
        )))
    };
    assert_eq!(of("panics", "define internal void @second(ptr %p) { ret void }"), ["b c"]);
    // The program's own may do anything.
    assert_eq!(of("second", ""), ["a b", "a c", "b c"]);
}

#[test]
fn a_tag_is_the_same_where_it_is_asked_again() {
    let at = |between: &str| {
        nestings(&threads(
            &format!(
                "%tag = alloca i8\n %x = alloca ptr
                 %read = load i8, ptr @kept\n store i8 %read, ptr %tag
                 call void @lock(ptr %x, ptr @a)
                 %one = load i8, ptr %tag
                 %is = icmp eq i8 %one, 2
                 br i1 %is, label %now, label %later
                 now: call void @drop(ptr %x)\n br label %join
                 later: br label %join
                 join: {between}
                 %other = load i8, ptr %tag
                 %again = icmp eq i8 %other, 2
                 br i1 %again, label %end, label %drop
                 drop: call void @drop(ptr %x)\n br label %end
                 end: call void @both(ptr @b, ptr @c)"
            ),
            "",
        ))
    };
    assert_eq!(at(""), ["b c"]);
    let another = "%more = load i8, ptr @kept\n store i8 %more, ptr %tag";
    assert_eq!(at(another), ["a b", "a c", "b c"]);
}

#[test]
fn a_lock_that_is_taken_twice_is_reported() {
    let twice = threads("call void @both(ptr @a, ptr @a)", "");
    assert_eq!((nestings(&twice), kinds(&twice)), (vec!["a a".to_owned()], vec![Kind::SameKind]));
    assert!(twice.nestings.iter().all(|nesting| nesting.sure));
    let in_turn = "%x = alloca ptr
        call void @lock(ptr %x, ptr @a)\n call void @drop(ptr %x)
        call void @lock(ptr %x, ptr @a)\n call void @drop(ptr %x)";
    assert!(nestings(&threads(in_turn, "")).is_empty());
}
