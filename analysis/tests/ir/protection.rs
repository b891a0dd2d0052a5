//! What is said to protect the memory that threads share, in builds with checked claims.

use crate::{claimed, whole_of};
use lockred_analysis::instrument::Program;
use lockred_analysis::plan::Rules;
use lockred_protocol::plan::{Flaw, Reason};

/// A program whose `main` publishes a block that has a lock at its beginning, has a thread run
/// `@thread`, and goes on with this. The sync models know the functions of the lock.
fn program(thread: &str, main: &str) -> String {
    format!(
        r#"
declare noalias ptr @malloc(i64)
declare void @free(ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i64 @write(i32, ptr, i64)
declare i32 @posix_memalign(ptr, i64, i64)
@place = internal global ptr null
@mutex = internal global [16 x i8] zeroinitializer
define internal void @"parking_lot::raw_mutex::RawMutex::lock"(ptr %m) noinline {{
  %r = cmpxchg ptr %m, i8 0, i8 1 acquire monotonic
  ret void }}
define internal void @"parking_lot::raw_mutex::RawMutex::unlock"(ptr %m) noinline {{
  %r = cmpxchg ptr %m, i8 1, i8 0 release monotonic
  ret void }}
define internal ptr @thread(ptr %b) {{
  %data = getelementptr i8, ptr %b, i64 8
  %more = getelementptr i8, ptr %b, i64 20
  {thread}
  ret ptr null }}
define internal ptr @make() {{
  %b = call ptr @malloc(i64 64)
  ret ptr %b }}
define internal void @start(ptr %b) {{
  %handle = alloca i64
  %r = call i32 @pthread_create(ptr %handle, ptr null, ptr @thread, ptr %b)
  ret void }}
define void @f() {{
  %b = call ptr @make()
  %data = getelementptr i8, ptr %b, i64 8
  %more = getelementptr i8, ptr %b, i64 20
  store i64 5, ptr %data
  call void @start(ptr %b)
  {main}
  ret void }}"#
    )
}

fn reason(thread: &str, main: &str) -> Reason {
    let (reason, reported) = claimed(None, &program(thread, main));
    assert_eq!(reported, reason == Reason::Locked);
    reason
}

const LOCK: &str = r#"call void @"parking_lot::raw_mutex::RawMutex::lock"(ptr %b)"#;
const UNLOCK: &str = r#"call void @"parking_lot::raw_mutex::RawMutex::unlock"(ptr %b)"#;
const SET: &str = "store i64 77, ptr %data";

#[test]
fn bytes_are_protected_by_the_lock_of_their_block_that_is_held_at_all_accesses() {
    let locked = format!("{LOCK}\n store i64 6, ptr %data\n {UNLOCK}");
    let set = format!("{LOCK}\n {SET}\n {UNLOCK}");
    assert_eq!(reason(&locked, &set), Reason::Locked);
    assert_eq!(reason("store i64 6, ptr %data", &set), Reason::Shared);
    assert_eq!(reason("%n = load i64, ptr %data", &set), Reason::Shared);
    // Some of the bytes are others.
    let half = "%half = getelementptr i8, ptr %b, i64 12\n store i32 6, ptr %half";
    assert_eq!(reason(half, &set), Reason::Shared);
    let beside = "store i32 6, ptr %more";
    assert_eq!(reason(beside, &set), Reason::Locked);
    // A function outside of the program reads them, or anything does that is computed.
    assert_eq!(reason("%n = call i64 @write(i32 1, ptr %data, i64 8)", &set), Reason::Shared);
    let anywhere = "%n = load i64, ptr %more\n %at = getelementptr i8, ptr %b, i64 %n
        store i8 1, ptr %at";
    assert_eq!(reason(anywhere, &set), Reason::Shared);
    // Atomic operations are not made under locks.
    assert_eq!(reason("%n = atomicrmw add ptr %data, i64 1 seq_cst", &set), Reason::Shared);
    // To free is no access.
    assert_eq!(reason(&format!("{locked}\n call void @free(ptr %b)"), &set), Reason::Locked);
}

#[test]
fn a_global_lock_protects_too_and_another_one_does_not() {
    let by = |mutex: &str, what: &str| {
        [
            &format!(r#"call void @"parking_lot::raw_mutex::RawMutex::lock"(ptr {mutex})"#),
            what,
            &format!(r#"call void @"parking_lot::raw_mutex::RawMutex::unlock"(ptr {mutex})"#),
        ]
        .join("\n")
    };
    let (thread, main) = ("store i64 6, ptr %data", SET);
    assert_eq!(reason(&by("@mutex", thread), &by("@mutex", main)), Reason::Locked);
    assert_eq!(reason(&by("@mutex", thread), &by("%b", main)), Reason::Shared);
    assert_eq!(reason(&by("%more", thread), &by("%b", main)), Reason::Shared);
}

#[test]
fn initialising_does_not_count() {
    let text = program("%n = load i64, ptr %data", "");
    let before = text.replace("store i64 5, ptr %data", SET);
    assert_eq!(claimed(None, &before).0, Reason::Unpublished);
    // In a thread, memory is made, and then given to another one.
    let made = |before: &str, behind: &str| {
        format!(
            "%own = call ptr @make()
             {before}
             store ptr %own, ptr @place
             {behind}"
        )
    };
    let set = "store i64 77, ptr %own";
    let read = "%p = load ptr, ptr @place\n %n = load i64, ptr %p";
    assert_eq!(reason(&made(set, ""), read), Reason::Unpublished);
    assert_eq!(reason(&made("", set), read), Reason::Shared);
    assert_eq!(
        claimed(Some(Flaw::NothingIsPublished), &program(&made("", set), read)).0,
        Reason::Unpublished
    );
    // What goes round may be what was published before.
    let round = "br label %again
        again:
        %last = phi ptr [ %b, %0 ], [ %own, %again ]
        %own = call ptr @make()
        store i64 77, ptr %last
        store ptr %own, ptr @place
        br label %again
        end:";
    assert_eq!(reason(round, read), Reason::Shared);
    // An allocator may write the address to a variable, or give none.
    let aligned = "%out = alloca ptr
        call void @llvm.lifetime.start.p0(i64 8, ptr %out)
        store ptr null, ptr %out
        %failed = call i32 @posix_memalign(ptr %out, i64 64, i64 64)
        %ok = icmp eq i32 %failed, 0
        br i1 %ok, label %made, label %made_none
        made:
        %new = load ptr, ptr %out
        br label %both
        made_none:
        br label %both
        both:
        %zeroed = phi ptr [ %new, %made ], [ null, %made_none ]
        store i64 77, ptr %zeroed
        call void @llvm.lifetime.end.p0(i64 8, ptr %out)
        SHARES";
    let then = |shares: &str| reason(&aligned.replace("SHARES", shares), read);
    assert_eq!(then("store ptr %zeroed, ptr @place"), Reason::Shared);
    let given = format!(
        "define internal ptr @aligned() {{ {} }}",
        aligned.replace("SHARES", "ret ptr %zeroed")
    );
    let shared = "%z = call ptr @aligned()\n store ptr %z, ptr @place";
    let text = program(shared, read) + &given;
    assert_eq!(claimed(None, &text).0, Reason::Unpublished, "{text}");
    // Here, it is not.
    let own = round.replace("77, ptr %last", "77, ptr %own");
    assert_eq!(reason(&own, read), Reason::Unpublished);
}

#[test]
fn what_nobody_writes_is_unwritten() {
    let text = program("%n = load i64, ptr %data", "%n = load i64, ptr %data");
    let rules = Rules { checked: true, ..Rules::default() };
    let whole = whole_of(&text, Program { rules, ..Program::default() });
    let count = |reason: Reason| whole.matches(&format!("i64 8, i32 {}, ", reason as u32)).count();
    assert_eq!(count(Reason::Unwritten), 2, "{whole}");
    let text = text.replace("ret ptr null", "store i64 1, ptr %data\n ret ptr null");
    let rules = Rules { checked: true, ..Rules::default() };
    let whole = whole_of(&text, Program { rules, ..Program::default() });
    assert!(!whole.contains(&format!("i64 8, i32 {}, ", Reason::Unwritten as u32)), "{whole}");
}

#[test]
fn errors_that_tests_ask_for_are_made() {
    let text = program("store i64 6, ptr %data", SET);
    assert_eq!(claimed(None, &text).0, Reason::Shared);
    assert_eq!(claimed(Some(Flaw::ThreadsAreNotCreated), &text).0, Reason::Unpublished);
    let set = format!("{LOCK}\n {SET}\n {UNLOCK}");
    let text = program("store i64 6, ptr %data", &set);
    assert_eq!(claimed(None, &text).0, Reason::Shared);
    assert_eq!(claimed(Some(Flaw::BareAccessesDoNotCount), &text).0, Reason::Locked);
}

/// The claim of the same program with a function that is passed addresses.
fn through(function: &str, thread: &str, main: &str) -> Reason {
    flawed(None, function, thread, main)
}

fn flawed(flaw: Option<Flaw>, function: &str, thread: &str, main: &str) -> Reason {
    let slow = "_ZN5alloc4sync16Arc$LT$T$C$A$GT$9drop_slow17h0123456789abcdefE";
    let text =
        program(thread, main).replace("DROP_SLOW", slow) + &function.replace("DROP_SLOW", slow);
    claimed(flaw, &text).0
}

/// It accesses what it is passed.
const TO: &str = "define internal void @set(ptr %at) noinline {
    store i64 77, ptr %at
    ret void }";
const PASS: &str = "call void @set(ptr %data)";

#[test]
fn callers_are_distinguished_by_the_object_that_they_pass() {
    let locked = format!("{LOCK}\n {PASS}\n {UNLOCK}");
    let read = format!("{LOCK}\n %n = load i64, ptr %data\n {UNLOCK}");
    assert_eq!(through(TO, &locked, &read), Reason::Locked);
    // Whoever passes memory of its own needs no lock.
    let own = format!("%own = alloca i64\n call void @set(ptr %own)\n {read}");
    assert_eq!(through(TO, &locked, &own), Reason::Locked);
    // One does without.
    assert_eq!(through(TO, &locked, PASS), Reason::Shared);
    let flaw = Some(Flaw::BareCallersDoNotCount);
    assert_eq!(flawed(flaw, TO, &locked, PASS), Reason::Locked);
    // Through another function, which may be called by others, too.
    let more = "define internal void @more(ptr %p) noinline {
        %inside = getelementptr i8, ptr %p, i64 -8
        %at = getelementptr i8, ptr %inside, i64 8
        call void @set(ptr %at)
        ret void }";
    let more = |rest: &str| format!("{more}\n {rest}\n {TO}");
    let through_more = locked.replace("@set", "@more");
    assert_eq!(through(&more(""), &through_more, &locked), Reason::Locked);
    assert_eq!(through(&more(""), &through_more, PASS), Reason::Shared);
    assert_eq!(through(&more(""), &locked, &PASS.replace("@set", "@more")), Reason::Shared);
    let taken = "@table = global ptr @more";
    assert_eq!(through(&more(taken), &through_more, &locked), Reason::Shared);
    // It gives the lock back before.
    let gives = format!(
        "define internal void @set(ptr %at) noinline {{
        %b = getelementptr i8, ptr %at, i64 -8
        {UNLOCK}
        store i64 77, ptr %at
        ret void }}"
    );
    assert_eq!(through(&gives, &format!("{LOCK}\n {PASS}"), &read), Reason::Shared);
    // Only readers may hold it with others; atomic operations are not made under locks.
    assert_eq!(through(TO, &locked, "%n = atomicrmw add ptr %data, i64 1 seq_cst"), Reason::Shared);
}

#[test]
fn locks_that_are_in_other_places_are_some_lock() {
    let locked = format!("{LOCK}\n {PASS}\n {UNLOCK}");
    let other = |lock: &str| {
        let call = |name: &str| {
            format!(r#"call void @"parking_lot::raw_mutex::RawMutex::{name}"(ptr {lock})"#)
        };
        let (lock, unlock) = (call("lock"), call("unlock"));
        format!(
            "%c = call ptr @make()
            store ptr %c, ptr @place
            %q = load ptr, ptr @place
            %far = getelementptr i8, ptr %q, i64 32
            {lock}
            call void @set(ptr %q)
            {unlock}"
        )
    };
    assert_eq!(through(TO, &locked, &other("%far")), Reason::OneLock);
    assert_eq!(through(TO, &locked, &other("@mutex")), Reason::OneLock);
    let bare = other("%far") + "\n store i64 5, ptr %c";
    assert_eq!(through(TO, &locked, &bare), Reason::Shared);
}

#[test]
fn who_dropped_the_last_reference_has_the_block_alone() {
    let slow = "define internal void @DROP_SLOW(ptr %arc) noinline {
        %p = load ptr, ptr %arc
        BODY
        ret void }";
    let slow = |body: &str| format!("{}\n {TO}", slow.replace("BODY", body));
    let drops = "%arc = alloca ptr
        store ptr %b, ptr %arc
        call void @DROP_SLOW(ptr %arc)";
    let drops_it = |lock: &str| format!("{lock}\n {drops}");
    let locked = format!("{LOCK}\n store i64 6, ptr %data\n {UNLOCK}");
    let pass = "%at = getelementptr i8, ptr %p, i64 8\n call void @set(ptr %at)";
    assert_eq!(through(&slow(pass), &locked, &drops_it("")), Reason::Owned);
    let by_another = slow(pass).replace("DROP_SLOW", "drop_slowly");
    let drops_by_another = drops.replace("DROP_SLOW", "drop_slowly");
    assert_eq!(through(&by_another, &locked, &drops_by_another), Reason::Shared);
    // Who drops it does not count, beside others that hold the lock.
    let locked = format!("{LOCK}\n {PASS}\n {UNLOCK}");
    assert_eq!(through(&slow(pass), &locked, &drops_it("")), Reason::Locked);
    assert_eq!(through(&slow(pass), PASS, &drops_it("")), Reason::Shared);
    // What the block leads to may be anybody's.
    let leads = "%next = getelementptr i8, ptr %p, i64 16
        %at = load ptr, ptr %next
        call void @set(ptr %at)";
    let tells = format!(
        "%next = getelementptr i8, ptr %b, i64 16
        %other = call ptr @make()
        store ptr %other, ptr %next
        store ptr %other, ptr @place
        {drops}"
    );
    let reads = "%o = load ptr, ptr @place\n %n = load i64, ptr %o";
    assert_eq!(through(&slow(leads), reads, &tells), Reason::Shared);
}
