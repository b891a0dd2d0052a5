//! What is said to protect the memory that threads share, in builds with checked claims.

use crate::{claimed, whole_of};
use lockred_analysis::instrument::Program;
use lockred_analysis::plan::Rules;
use lockred_trace::plan::{Flaw, Reason};

/// A program whose `main` publishes a block that has a lock at its beginning, has a thread run `@thread`, and goes on with this. The
/// sync models know the functions of the lock.
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
    let (reason, told) = claimed(None, &program(thread, main));
    assert_eq!(told, reason == Reason::Locked);
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
    // In a thread, memory is made, and then told to another one.
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
