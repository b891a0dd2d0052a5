//! Which locks are said to be held where memory is accessed, in builds with checked claims.

use crate::whole_of;
use lockred_analysis::instrument::Program;
use lockred_analysis::plan::Rules;
use lockred_protocol::plan::Flaw;

/// Functions of a library that the sync models know, and what Rust makes of guards. A guard is a
/// pointer to the mutex; the data is 8 bytes after that.
const LIBRARY: &str = r#"
@mutex = internal global [16 x i8] zeroinitializer
@flag = internal global i1 false
declare void @unknown()
declare i32 @__gxx_personality_v0(...)
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
define internal ptr @deref(ptr %guard) {
  %m = load ptr, ptr %guard
  %data = getelementptr i8, ptr %m, i64 8
  ret ptr %data }
define internal void @drop(ptr %guard) {
  %m = load ptr, ptr %guard
  call void @"parking_lot::raw_mutex::RawMutex::unlock"(ptr %m)
  ret void }
define internal i8 @try(ptr %guard, ptr %m) {
  %ok = call i1 @"parking_lot::raw_mutex::RawMutex::try_lock"(ptr %m)
  br i1 %ok, label %yes, label %no
yes:
  store ptr %m, ptr %guard
  br label %end
no:
  br label %end
end:
  %tag = phi i8 [ 0, %yes ], [ 1, %no ]
  ret i8 %tag }
define internal void @set(ptr %data) {
  store i64 77, ptr %data
  ret void }
define void @caller(ptr %m, i1 %c) {
  call void @f(ptr %m, i1 %c)
  ret void }
"#;

/// Calls of the hook before the only store of 77 in a program, and the lock that each says is held.
fn reported(flaw: Option<Flaw>, text: &str) -> Vec<String> {
    let rules = Rules { checked: true, flaw, ..Rules::default() };
    let whole = whole_of(text, Program { rules, ..Program::default() });
    let store = whole.rfind("store i64 77").unwrap_or_else(|| panic!("{whole}"));
    // Locks are reported after what is said of the access before, and in front of what is said of
    // this one.
    let claim = whole[..store].rfind("call void @__lr_claim(").unwrap();
    let before = whole[..claim].rfind(" @__lr_claim(").unwrap_or_default();
    let before = before.max(whole[..claim].rfind("define ").unwrap_or_default());
    let lines = whole[before..store].lines();
    lines.filter(|line| line.contains("call void @__lr_locked(")).map(str::to_owned).collect()
}

fn body(body: &str) -> String {
    format!(
        "{LIBRARY} define internal void @f(ptr %m, i1 %c) personality ptr @__gxx_personality_v0 {{
          %guard = alloca ptr
          {body} }}"
    )
}

/// How many locks are known to be held at the store.
fn held(text: &str) -> usize {
    reported(None, &body(text)).len()
}

const LOCK: &str = "call void @lock(ptr %guard, ptr %m)";
const SET: &str = "%d = call ptr @deref(ptr %guard)\n store i64 77, ptr %d";
const DROP: &str = "call void @drop(ptr %guard)";

#[test]
fn data_beside_a_lock_is_accessed_under_it_until_its_guard_is_dropped() {
    assert_eq!(held(&format!("{LOCK}\n{SET}\n{DROP}\n ret void")), 1);
    assert_eq!(held("%d = getelementptr i8, ptr %m, i64 8\n store i64 77, ptr %d\n ret void"), 0);
    let text = format!("{LOCK}\n{DROP}\n{SET}\n ret void");
    assert_eq!(reported(None, &body(&text)).len(), 0);
    assert_eq!(reported(Some(Flaw::LocksStayHeld), &body(&text)).len(), 1);
    // It is handed to a function of its own.
    assert_eq!(
        held(&format!(
            "{LOCK}\n %d = call ptr @deref(ptr %guard)\n call void @set(ptr %d)\n ret void"
        )),
        1
    );
}

#[test]
fn guards_are_moved_and_kept_in_options() {
    let moved = format!(
        "%other = alloca [2 x i64]
         {LOCK}
         %place = getelementptr i8, ptr %other, i64 8
         call void @llvm.memcpy.p0.p0.i64(ptr %place, ptr %guard, i64 8, i1 false)"
    );
    let set = "%d = call ptr @deref(ptr %place)\n store i64 77, ptr %d";
    let drop = "call void @drop(ptr %place)";
    assert_eq!(held(&format!("{moved}\n{set}\n{drop}\n ret void")), 1);
    assert_eq!(held(&format!("{moved}\n{drop}\n{set}\n ret void")), 0);
    let option = |first: &str, second: &str| {
        held(&format!(
            "%some = alloca i8
             br i1 %c, label %a, label %b
             a: {LOCK}\n store i8 1, ptr %some\n br label %join
             b: store i8 0, ptr %some\n br label %join
             join: call void @unknown()
             %tag = load i8, ptr %some
             %is = icmp eq i8 %tag, 1
             br i1 %is, label %x, label %y
             x: {first}\n br label %end
             y: {second}\n br label %end
             end: ret void"
        ))
    };
    let near = "%d = getelementptr i8, ptr %m, i64 8\n store i64 77, ptr %d";
    // What is not known may drop a guard, but not one that it cannot reach.
    assert_eq!([option(near, ""), option("", near)], [0, 0]);
    let calm = |first: &str| {
        let text = body(&format!(
            "%some = alloca i8
             br i1 %c, label %a, label %b
             a: {LOCK}\n store i8 1, ptr %some\n br label %join
             b: store i8 0, ptr %some\n br label %join
             join: %tag = load i8, ptr %some
             %is = icmp eq i8 %tag, 1
             br i1 %is, label %x, label %y
             x: {first}\n br label %end
             y: br label %end
             end: ret void"
        ));
        reported(None, &text).len()
    };
    assert_eq!(calm(near), 1);
}

#[test]
fn an_attempt_holds_the_lock_where_it_succeeded() {
    let at = |place: &str| {
        let text = format!(
            "%tag = call i8 @try(ptr %guard, ptr %m)
             %ok = icmp eq i8 %tag, 0
             br i1 %ok, label %yes, label %no
             yes: {}\n {DROP}\n br label %no
             no: {}\n ret void",
            if place == "yes" { SET } else { "" },
            if place == "no" {
                "%d = getelementptr i8, ptr %m, i64 8\n store i64 77, ptr %d"
            } else {
                ""
            },
        );
        held(&text)
    };
    assert_eq!([at("yes"), at("no")], [1, 0]);
}

#[test]
fn what_may_be_given_back_is_not_held() {
    let near = "%d = getelementptr i8, ptr %m, i64 8\n store i64 77, ptr %d";
    let at = |between: &str| held(&format!("{LOCK}\n{between}\n{near}\n ret void"));
    assert_eq!(at(""), 1);
    for gives_back in [
        // Whatever it calls may have the lock's address.
        "call void @unknown()",
        // It may be the same lock.
        "%p = load ptr, ptr @shared
         call void @\"parking_lot::raw_mutex::RawMutex::unlock\"(ptr %p)",
        "br i1 %c, label %a, label %b\n a: call void @drop(ptr %guard)\n br label %b\n b:",
        // In the second round.
        "br label %round
         round: %again = load i1, ptr @shared
         br i1 %again, label %go, label %out
         go: call void @drop(ptr %guard)\n br label %round
         out:",
    ] {
        assert_eq!(at(gives_back), 0, "{gives_back}");
    }
    for keeps in [
        "call void @\"parking_lot::raw_mutex::RawMutex::lock\"(ptr @mutex)
         call void @\"parking_lot::raw_mutex::RawMutex::unlock\"(ptr @mutex)",
        "br i1 %c, label %a, label %b
         a: call void @drop(ptr %guard)\n call void @lock(ptr %guard, ptr %m)\n br label %b\n b:",
    ] {
        assert_eq!(at(keeps), 1, "{keeps}");
    }
}

#[test]
fn locks_of_global_variables_are_known_wherever_data_lies() {
    let lock = "call void @\"parking_lot::raw_mutex::RawMutex::lock\"(ptr @mutex)";
    let calls = reported(None, &body(&format!("{lock}\n call void @set(ptr @shared)\n ret void")));
    assert!(calls.len() == 1 && calls[0].contains("@mutex"), "{calls:?}");
    // Another caller does not hold it.
    let others = format!("call void @set(ptr %m)\n{lock}\n call void @set(ptr @shared)\n ret void");
    assert_eq!(held(&others), 0);
}

#[test]
fn unwinding_drops_guards_as_it_is_written() {
    let text = |cleanup: &str| {
        format!(
            "{LOCK}
             invoke void @forgets(ptr null) to label %on unwind label %pad
             on: {DROP}\n ret void
             pad: %e = landingpad {{ ptr, i32 }} cleanup
             {cleanup}
             %d = getelementptr i8, ptr %m, i64 8
             store i64 77, ptr %d
             resume {{ ptr, i32 }} %e"
        )
    };
    // Who unwinds may have done anything before.
    assert_eq!(held(&text("")), 0);
    let own = |cleanup: &str| text(cleanup).replace("@forgets(ptr null)", "@throws(ptr %m)");
    let throws = "define internal void @throws(ptr %m) {
        call void @_Unwind_RaiseException(ptr null)
        unreachable }
        declare void @_Unwind_RaiseException(ptr)";
    let count = |cleanup| reported(None, &format!("{}\n{throws}", body(&own(cleanup)))).len();
    assert_eq!([count(""), count(DROP)], [1, 0]);
}

#[test]
fn the_address_of_the_lock_is_reported() {
    let text = body(&format!("{LOCK}\n{SET}\n{DROP}\n ret void"));
    let rules = Rules { checked: true, ..Rules::default() };
    let whole = whole_of(&text, Program { rules, ..Program::default() });
    assert!(whole.contains(", i64 -8"), "{whole}");
}

#[test]
fn what_is_read_from_a_variable_again_is_the_same_address() {
    let fill = "call void @fill(ptr %v)";
    let twice = |between: &str| {
        let text = format!(
            r#"%v = alloca ptr
            {fill}
            %one = load ptr, ptr %v
            call void @"parking_lot::raw_mutex::RawMutex::lock"(ptr %one)
            {between}
            %other = load ptr, ptr %v
            %d = getelementptr i8, ptr %other, i64 8
            store i64 77, ptr %d
            ret void"#
        );
        let fills = "@any = global ptr null
            define internal void @fill(ptr %v) noinline {
            %p = load ptr, ptr @any
            store ptr %p, ptr %v
            ret void }";
        reported(None, &format!("{}\n{fills}", body(&text))).len()
    };
    assert_eq!(twice(""), 1);
    assert_eq!(twice(fill), 0);
    assert_eq!(twice("store ptr %m, ptr %v"), 0);
    assert_eq!(twice("%byte = getelementptr i8, ptr %v, i64 3\n store i8 1, ptr %byte"), 0);
}
