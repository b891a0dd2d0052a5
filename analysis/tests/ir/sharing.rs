//! What the analysis of where addresses point to claims of accesses, in builds with checked claims.

use crate::{claimed, whole_of};
use lockred_analysis::instrument::Program;
use lockred_analysis::plan::Rules;
use lockred_protocol::plan::{Flaw, Reason};

/// The reason that is claimed for the last store of 77 in a program.
pub fn reason_of(flaw: Option<Flaw>, text: &str) -> Reason {
    claimed(flaw, text).0
}

/// A program whose `main` is this. `%b` is a block of the heap that a holder on the stack points
/// to, twice removed.
pub fn body(body: &str) -> String {
    format!(
        "declare noalias ptr @malloc(i64)
         declare i32 @pthread_create(ptr, ptr, ptr, ptr)
         declare void @unknown(ptr)
         define internal ptr @thread(ptr %q) {{
           %inner = load ptr, ptr %q
           %n = load i64, ptr %inner
           ret ptr null }}
         define internal void @keep(ptr %into, ptr %p) {{
           %field = getelementptr i8, ptr %into, i64 8
           store ptr %p, ptr %field
           ret void }}
         define internal void @call(ptr %data, ptr %table) {{
           %at = getelementptr i8, ptr %table, i64 24
           %method = load ptr, ptr %at
           call void %method(ptr %data)
           ret void }}
         define internal void @write(ptr %it) {{
           store i64 77, ptr %it
           ret void }}
         define internal void @read(ptr %it) {{
           %n = load i64, ptr %it
           ret void }}
         @vtable.0 = private constant <{{ ptr, [16 x i8], ptr }}> <{{ ptr null, [16 x i8] zeroinitializer, ptr @write }}>
         @vtable.1 = private constant <{{ ptr, [16 x i8], ptr }}> <{{ ptr null, [16 x i8] zeroinitializer, ptr @read }}>
         @unseen = internal global ptr null
         define void @look() {{
           %n = load i64, ptr @shared
           %p = inttoptr i64 %n to ptr
           br label %again
         again:
           %at = phi ptr [ %p, %0 ], [ %next, %again ]
           %first = load ptr, ptr %at
           %field = getelementptr i8, ptr %at, i64 8
           %second = load ptr, ptr %field
           %c = icmp eq ptr %first, %second
           %next = select i1 %c, ptr %first, ptr %second
           br label %again }}
         define void @f() {{
           %holder = alloca [4 x i64]
           %outer = alloca [4 x i64]
           %handle = alloca i64
           %b = call ptr @malloc(i64 64)
           call void @keep(ptr %holder, ptr %b)
           store ptr %holder, ptr %outer
           {body}
           ret void }}"
    )
}

/// A store to the block, by way of what points to it.
pub const STORE: &str = "%h = load ptr, ptr %outer
    %at = getelementptr i8, ptr %h, i64 8
    %p = load ptr, ptr %at
    store i64 77, ptr %p";

#[test]
fn memory_is_a_threads_own_if_nothing_that_others_reach_leads_to_it() {
    let own = |extra: &str| reason_of(None, &body(&format!("{extra}\n{STORE}")));
    assert_eq!(own(""), Reason::OwnMemory);
    for shares in [
        "store ptr %b, ptr @shared",
        "store ptr %outer, ptr @shared",
        "call void @unknown(ptr %outer)",
        "%copy = alloca [4 x i64]
         call void @llvm.memcpy.p0.p0.i64(ptr %copy, ptr %holder, i64 32, i1 false)
         store ptr %copy, ptr @shared",
        "%n = ptrtoint ptr %b to i64
         %m = xor i64 %n, 1
         store i64 %m, ptr @shared",
        "%pair = insertvalue { ptr, i64 } zeroinitializer, ptr %b, 0
         store { ptr, i64 } %pair, ptr @shared",
    ] {
        assert_eq!(own(shares), Reason::Shared, "{shares}");
    }
    for keeps in [
        "store i64 5, ptr @shared",
        "%other = call ptr @malloc(i64 8)
         store ptr %other, ptr @shared",
        // Nobody looks at that one.
        "store ptr %b, ptr @unseen",
        // Another field of the holder.
        "%field = load i64, ptr %holder
         store i64 %field, ptr @shared",
    ] {
        assert_eq!(own(keeps), Reason::OwnMemory, "{keeps}");
    }
}

#[test]
fn what_a_thread_is_started_with_is_shared() {
    let starts = "%n = call i32 @pthread_create(ptr %handle, ptr null, ptr @thread, ptr %outer)";
    let text = body(&format!("{starts}\n{STORE}"));
    assert_eq!(reason_of(None, &text), Reason::Shared);
    assert_eq!(reason_of(Some(Flaw::ThreadsShareNothing), &text), Reason::OwnMemory);
}

#[test]
fn methods_are_called_on_the_objects_that_have_them() {
    let text = |global: &str| {
        body(&format!(
            "call void @call(ptr %b, ptr @vtable.0)
             call void @call(ptr {global}, ptr @vtable.1)"
        ))
    };
    assert_eq!(reason_of(None, &text("@shared")), Reason::OwnMemory);
    let both = body(
        "call void @call(ptr %b, ptr @vtable.0)
         call void @call(ptr @shared, ptr @vtable.0)",
    );
    assert_eq!(reason_of(None, &both), Reason::Shared);
}

#[test]
fn trait_objects_that_are_passed_on_whole_have_the_methods_that_they_had() {
    let passed = |parameters: &str, [own, shared]: [&str; 2]| {
        let text = body(&format!("call void @pass({own})\n call void @pass({shared})"));
        let pass = "define internal void @pass(PARAMETERS) {
                      %pair = alloca [2 x i64]
                      store ptr %data, ptr %pair
                      %second = getelementptr i8, ptr %pair, i64 8
                      store ptr %table, ptr %second
                      %d = load ptr, ptr %pair
                      %t = load ptr, ptr %second
                      call void @call(ptr %d, ptr %t)
                      ret void }";
        reason_of(None, &(pass.replace("PARAMETERS", parameters) + &text))
    };
    let beside = ["ptr %b, ptr @vtable.0", "ptr @shared, ptr @vtable.1"];
    assert_eq!(passed("ptr %data, ptr %table", beside), Reason::OwnMemory);
    // What was not together may be put together in any way.
    let apart = ["ptr %b, i64 0, ptr @vtable.0", "ptr @shared, i64 0, ptr @vtable.1"];
    assert_eq!(passed("ptr %data, i64 %n, ptr %table", apart), Reason::Shared);
}

#[test]
fn what_a_closure_has_captured_is_no_payload_of_its_panic() {
    let caught = |symbol: &str, run: &str| {
        let text = body(
            "%data = alloca [2 x i64]
             store ptr %b, ptr %data
             %r = call i32 @__rust_try(ptr @DO_CALL, ptr %data, ptr @DO_CATCH)
             %result = load ptr, ptr %data
             store ptr %result, ptr @shared",
        );
        let functions = "define internal void @DO_CALL(ptr %data) {
               %captured = load ptr, ptr %data
               store i64 77, ptr %captured
               RUN
               ret void }
             define internal void @DO_CATCH(ptr %data, ptr %exception) {
               store ptr %exception, ptr %data
               ret void }
             define internal i32 @__rust_try(ptr %run, ptr %data, ptr %catch) {
               call void %run(ptr %data)
               call void %catch(ptr %data, ptr @shared)
               ret i32 0 }";
        let text = (text + functions).replace("RUN", run);
        let named =
            |name: &str| format!("_ZN3std9panicking12catch_unwind{name}17h0123456789abcdefE");
        let catch = named(&format!("8{symbol}"));
        reason_of(None, &text.replace("DO_CALL", &named("7do_call")).replace("DO_CATCH", &catch))
    };
    assert_eq!(caught("do_catch", ""), Reason::OwnMemory);
    // It is, if the closure returns it.
    assert_eq!(caught("do_catch", "store ptr %captured, ptr %data"), Reason::Shared);
    assert_eq!(caught("do_other", ""), Reason::Shared);
}

#[test]
fn ordinary_builds_believe_it() {
    // Whether the store of 77 asks whether its memory is there, and whether it reports all.
    let hooks = |without: Vec<Reason>| {
        let rules = Rules { without, ..Rules::default() };
        let whole = whole_of(&body(STORE), Program { rules, ..Program::default() });
        let f = &whole[whole.find("void @f(").unwrap()..];
        let f = &f[..f.find("\n}").unwrap()];
        ["@__lr_check(", "@__lr_write("].map(|hook| f.contains(hook))
    };
    assert_eq!(hooks(vec![]), [true, false]);
    // By the other rules, three variables' addresses get away.
    assert_eq!(hooks(vec![Reason::OwnVariables, Reason::OwnMemory]), [false, true]);
}
