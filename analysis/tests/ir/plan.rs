//! What the plan leaves out, what it only checks, and how builds with checked claims announce
//! everything.

use crate::{count, function_f, instrumented, whole_of};
use lockred_analysis::instrument::Program;
use lockred_analysis::plan::Rules;
use lockred_protocol::plan::{Flaw, Reason};

/// A block of the heap, and what is done with it.
fn block(body: &str) -> String {
    block_of("rdl", body)
}

/// The same, in a program with an allocator of this kind.
fn block_of(allocator: &str, body: &str) -> String {
    let [allocate, free] = ["alloc", "dealloc"].map(|name| format!("__{allocator}_{name}"));
    let length = |name: &str| format!("{}_{name}", name.len());
    let (allocate, free) = (length(&allocate), length(&free));
    format!(
        "declare ptr @_RNvCs0_7___rustc{allocate}(i64, i64)
         declare void @_RNvCs0_7___rustc{free}(ptr, i64, i64)
         define internal ptr @_RNvCs0_7___rustc12___rust_alloc(i64 %n, i64 %a) {{
           %p = call ptr @_RNvCs0_7___rustc{allocate}(i64 %n, i64 %a)
           ret ptr %p }}
         define internal void @_RNvCs0_7___rustc14___rust_dealloc(ptr %p, i64 %n, i64 %a) {{
           call void @_RNvCs0_7___rustc{free}(ptr %p, i64 %n, i64 %a)
           ret void }}
         define internal void @set(ptr %q) {{ store i32 5, ptr %q\n ret void }}
         define void @f() {{
           %b = call ptr @_RNvCs0_7___rustc12___rust_alloc(i64 8, i64 8)
           {body}
           call void @_RNvCs0_7___rustc14___rust_dealloc(ptr %b, i64 8, i64 8)
           ret void }}"
    )
}

/// Instrumented by these rules.
fn by(rules: Rules, text: &str) -> String {
    whole_of(text, Program { rules, ..Program::default() })
}

#[test]
fn a_block_that_no_other_thread_can_reach_is_only_checked() {
    let f = instrumented(&block("store i32 3, ptr %b\n %x = load i8, ptr %b"));
    assert!(f.contains("@__lr_check(i64 %") && f.contains("i64 4, i32 1, i32"), "{f}");
    assert_eq!(count(&f, "__lr_write") + count(&f, "__lr_read"), 0, "{f}");
    let passed = by(Rules::default(), &block("call void @set(ptr %b)"));
    let calls = ["call void @__lr_check", "call void @__lr_write"].map(|hook| count(&passed, hook));
    assert_eq!(calls, [1, 0], "{passed}");
    for (allocator, escapes) in [
        ("rdl", "store ptr %b, ptr @shared"),
        ("rdl", "call void @keeps(ptr %b)"),
        // An allocator of the program's own keeps what it gets back.
        ("rg", ""),
    ] {
        let f = instrumented(&block_of(allocator, &format!("{escapes}\n store i32 3, ptr %b")));
        assert_eq!(count(&f, "__lr_check"), 0, "{allocator} {escapes}: {f}");
        assert!(f.contains("i64 4, i32"), "{allocator} {escapes}: {f}");
    }
    let rules = Rules { without: vec![Reason::Heap], ..Rules::default() };
    let f = function_f(&by(rules, &block("store i32 3, ptr %b")));
    assert_eq!((count(&f, "__lr_check"), count(&f, "__lr_write")), (0, 1), "{f}");
}

/// Hooks of a function of a pointer and a number.
fn hooks(body: &str) -> usize {
    let f =
        instrumented(&format!("define void @f(ptr %p, i64 %n, i1 %c) {{\n {body}\n ret void }}"));
    count(&f, "@__lr_read(") + count(&f, "@__lr_write(")
}

#[test]
fn bytes_that_were_reported_right_before_are_not_reported_again() {
    for one in [
        "%a = load i64, ptr %p\n %b = load i32, ptr %p",
        "store i64 1, ptr %p\n %b = load i64, ptr %p\n store i8 2, ptr %p",
        "%q = getelementptr i64, ptr %p, i64 %n\n %a = load i64, ptr %q
         %r = getelementptr i64, ptr %p, i64 %n\n %b = load i64, ptr %r",
        "store i64 1, ptr %p\n br i1 %c, label %x, label %y
         x: %b = load i64, ptr %p\n br label %y\n y:",
        "%a = load volatile i64, ptr %p\n %s = call i64 @llvm.umax.i64(i64 %a, i64 1)\n %b = load volatile i64, ptr %p",
    ] {
        assert_eq!(hooks(one), 1, "{one}");
    }
}

#[test]
fn what_says_more_or_comes_after_a_call_is_reported() {
    for two in [
        "%a = load i32, ptr %p\n %b = load i64, ptr %p",
        "%a = load i64, ptr %p\n store i64 1, ptr %p",
        "%a = load i64, ptr %p\n call void @forgets(ptr null)\n %b = load i64, ptr %p",
        "%a = load i64, ptr %p\n fence acquire\n %b = load i64, ptr %p",
        "%a = load i64, ptr %p\n %x = load atomic i8, ptr @shared acquire, align 1\n %b = load i64, ptr %p",
        "%q = getelementptr i64, ptr %p, i64 %n\n %a = load i64, ptr %q
         %r = getelementptr i32, ptr %p, i64 %n\n %b = load i64, ptr %r",
        // One of the ways to the second access has no hook.
        "br i1 %c, label %x, label %y\n x: %a = load i64, ptr %p\n br label %y\n y: %b = load i64, ptr %p",
        // What a loop's first round has reported is after the operation of the next one.
        "br label %x\n x: %b = load i64, ptr %p\n store i64 1, ptr @shared\n br i1 %c, label %x, label %y\n y:",
    ] {
        assert_eq!(hooks(two), 2, "{two}");
    }
}

#[test]
fn checked_builds_announce_every_access_and_the_life_of_variables() {
    let text = "define i64 @f() {
          %x = alloca [4 x i64]
          store volatile i64 3, ptr %x
          %a = load volatile i64, ptr %x
          %b = load i64, ptr @shared
          ret i64 %b
        }";
    let f = function_f(&by(Rules { checked: true, ..Rules::default() }, text));
    assert!(f.contains("@__lr_fresh(i64 %") && f.contains(", i64 8)"), "{f}");
    let stack = Reason::Stack as u32;
    assert!(f.contains(&format!("i64 8, i32 {}, i32", stack | 256)), "{f}");
    assert!(f.contains(&format!("i64 8, i32 {stack}, i32")), "{f}");
    assert!(f.contains(&format!("i64 8, i32 {}, i32", Reason::Unwritten as u32)), "{f}");
    assert_eq!((count(&f, "@__lr_write("), count(&f, "@__lr_read(")), (1, 2), "{f}");
}

#[test]
fn errors_of_the_analysis_are_made_on_demand_alone() {
    let text = "define void @f() {
          %x = alloca i64
          store ptr %x, ptr @shared
          store i32 3, ptr %x
          ret void
        }";
    for (flaw, hooks) in [(None, 2), (Some(Flaw::StoresKeepNothing), 1)] {
        let without = vec![Reason::OwnVariables];
        let f = function_f(&by(Rules { flaw, without, ..Rules::default() }, text));
        assert_eq!(count(&f, "__lr_write"), hooks, "{f}");
    }
}
