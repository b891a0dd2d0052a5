//! Small programs in LLVM's textual IR, instrumented: which hooks appear, and which do not.

mod conservative;
mod externals;
mod lock_order;
mod locksets;
mod plan;
mod processor;
mod protection;
mod scaled;
mod sharing;

use lockred_analysis::instrument::{Program, Summary, instrument, prepare_user_code, scale_loops};
use lockred_analysis::llvm::Context;
use lockred_analysis::plan::Rules;
use lockred_analysis::promotion::promote;
use lockred_analysis::recognise::Models;
use lockred_protocol::plan::{Flaw, Reason};

/// Declarations that every sample has.
const HEAD: &str = r#"
target triple = "x86_64-unknown-linux-gnu"
@shared = internal global i64 0
@constant = internal constant i64 7
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare ptr @llvm.threadlocal.address.p0(ptr)
declare i64 @llvm.umax.i64(i64, i64)
declare void @keeps(ptr)
declare void @forgets(ptr captures(none))
define i32 @main(i32 %argc, ptr %argv) {
  ret i32 0
}
"#;

/// Instruments a sample, checks that the result is valid, and returns the text of function `f`.
fn instrumented(text: &str) -> String {
    function_f(&whole(text))
}

/// The text of function `f` in a module's.
fn function_f(whole: &str) -> String {
    let start = whole.find("@f(").map(|at| whole[..at].rfind("define").unwrap()).unwrap();
    let end = start + whole[start..].find("\n}").unwrap();
    whole[start..end].to_owned()
}

/// The whole module as text, instrumented by what does not follow addresses through memory.
fn whole(text: &str) -> String {
    let without = vec![Reason::OwnVariables, Reason::OwnMemory];
    let rules = Rules { without, ..Rules::default() };
    whole_of(text, Program { rules, ..Program::default() })
}

fn whole_of(text: &str, program: Program) -> String {
    instrumented_by(&format!("{HEAD}{text}"), program).0
}

/// What happened to a program whose `main` is this.
fn summary_of(text: &str, main: &str, program: Program) -> Summary {
    let returns = "ret i32 0";
    let head = HEAD.replace(returns, &format!("{main}\n  {returns}"));
    instrumented_by(&format!("{head}{text}"), program).1
}

/// The instrumented module as text, which is valid, and what happened to it.
fn instrumented_by(text: &str, program: Program) -> (String, Summary) {
    let context = Context::new();
    let module = context.parse_text(text).unwrap();
    promote(context, &module).unwrap();
    if let Some(scaled) = &program.rules.scaled {
        scale_loops(context, &module, scaled);
    }
    prepare_user_code(context, &module, &Models::built_in(), false).unwrap();
    let summary = instrument(context, &module, program, Models::built_in()).unwrap();
    module.verify().unwrap();
    (module.print(), summary)
}

/// The reason that is claimed for the last store of 77 in a program, and whether it is reported
/// with a lock.
fn claimed(flaw: Option<Flaw>, text: &str) -> (Reason, bool) {
    let rules = Rules { checked: true, flaw, ..Rules::default() };
    let whole = whole_of(text, Program { rules, ..Program::default() });
    let store = whole.rfind("store i64 77").unwrap_or_else(|| panic!("{whole}"));
    let claim = whole[..store].rfind("call void @__lr_claim(").unwrap();
    let arguments = whole[claim..].split_once(')').map(|(call, _)| call).unwrap();
    let code = arguments.rsplit("i32 ").nth(1).unwrap();
    let code: u32 = code.trim_end_matches([',', ' ']).parse().unwrap();
    let reported = whole[claim..store].contains("call void @__lr_protected(");
    (Reason::from_code(code & 0xff).unwrap(), reported)
}

fn count(text: &str, pattern: &str) -> usize {
    text.matches(pattern).count()
}

#[test]
fn accesses_of_shared_memory_are_hooked_under_the_watch_flag() {
    let f = instrumented(
        "define i64 @f(ptr %p) {
          %a = load i64, ptr %p
          store i16 3, ptr @shared
          ret i64 %a
        }",
    );
    assert_eq!(count(&f, "load i32, ptr @__lr_watch"), 2, "{f}");
    assert!(f.contains("@__lr_read(i64 %") && f.contains("i64 8, i32"), "{f}");
    assert!(f.contains("@__lr_write(i64 ptrtoint (ptr @shared to i64), i64 2, i32"), "{f}");
}

#[test]
fn private_and_constant_memory_is_left_alone() {
    let f = instrumented(
        "define i64 @f() {
          %x = alloca [4 x i64]
          %second = getelementptr i64, ptr %x, i64 1
          store volatile i64 3, ptr %second
          call void @forgets(ptr %x)
          %a = load volatile i64, ptr %second
          %b = load i64, ptr @constant
          %c = add i64 %a, %b
          ret i64 %c
        }",
    );
    assert_eq!(count(&f, "__lr_read") + count(&f, "__lr_write"), 0, "{f}");
}

#[test]
fn a_variable_whose_address_gets_away_is_shared() {
    for leak in [
        "call void @keeps(ptr %x)",
        "store ptr %x, ptr @shared",
        "%n = ptrtoint ptr %x to i64\n store i64 %n, ptr @shared",
        "%y = getelementptr i8, ptr %x, i64 2\n store ptr %y, ptr @shared",
    ] {
        let f = instrumented(&format!(
            "define void @f() {{\n %x = alloca i64\n {leak}\n store i32 3, ptr %x\n ret void }}"
        ));
        assert!(f.contains("i64 4, i32"), "{leak}: {f}");
    }
}

#[test]
fn what_a_parameter_points_to_is_private_if_every_caller_says_so() {
    let callers = |arguments: &[&str]| {
        let calls: String = arguments.iter().map(|a| format!("call void @f(ptr {a})\n")).collect();
        instrumented(&format!(
            "@address = internal global ptr null
             define internal void @f(ptr %p) {{ store i32 3, ptr %p\n ret void }}
             define internal void @between(ptr %q) {{ call void @f(ptr %q)\n ret void }}
             define void @caller(ptr %unknown, i1 %c) {{
               %x = alloca i64
               %y = alloca [2 x i64]
               %z = alloca i64
               %second = getelementptr i64, ptr %y, i64 1
               %one = select i1 %c, ptr %x, ptr %second
               store ptr %z, ptr @shared
               {calls} ret void }}"
        ))
    };
    for private in [&["%x"][..], &["%x", "%second"], &["%one"], &["%x", "null", "@constant"]] {
        assert_eq!(count(&callers(private), "__lr_write"), 0, "{private:?}");
    }
    for shared in [&["%z"][..], &["%x", "%unknown"], &["@shared"], &["%x", "%z", "%second"]] {
        assert_eq!(count(&callers(shared), "__lr_write"), 1, "{shared:?}");
    }
}

#[test]
fn what_a_called_function_keeps_is_shared() {
    let variable = |body: &str| {
        instrumented(&format!(
            "declare ptr @compares(ptr captures(address))
             declare ptr @returns(ptr captures(ret: address, provenance))
             define internal ptr @h(ptr %p) {{ ret ptr %p }}
             define internal ptr @g(ptr %p, i64 %n) {{ {body} }}
             define void @f() {{
               %x = alloca i64
               %r = call ptr @g(ptr %x, i64 7)
               store i32 3, ptr %x
               ret void }}"
        ))
    };
    for forgets in [
        "store i64 1, ptr %p\n ret ptr null",
        "%r = call ptr @g(ptr %p, i64 %n)\n ret ptr null",
        "%r = call ptr @compares(ptr %p)\n ret ptr null",
        "%a = ptrtoint ptr %p to i64\n %b = and i64 %a, 7\n %c = icmp eq i64 %b, 0\n
         br i1 %c, label %o, label %o\n o: ret ptr null",
    ] {
        assert_eq!(count(&variable(forgets), "__lr_write"), 0, "{forgets}");
    }
    for keeps in [
        "ret ptr %p",
        "%r = call ptr @h(ptr %p)\n ret ptr null",
        "%r = call ptr @returns(ptr %p)\n ret ptr null",
        "store ptr %p, ptr @shared\n ret ptr null",
        "call void @keeps(ptr %p)\n ret ptr null",
        "%r = call ptr @g(ptr %p, i64 %n)\n store ptr %p, ptr @shared\n ret ptr %r",
        "%a = ptrtoint ptr %p to i64\n %b = and i64 %a, -8\n %q = inttoptr i64 %b to ptr\n
         store ptr %q, ptr @shared\n ret ptr null",
    ] {
        assert_eq!(count(&variable(keeps), "__lr_write"), 1, "{keeps}");
    }
}

#[test]
fn a_function_whose_calls_are_not_all_known_may_get_shared_memory() {
    for (linkage, more) in [
        ("", ""),
        ("internal", "store ptr @f, ptr @shared"),
        ("internal", "%i = load ptr, ptr @shared\n call void %i(ptr @f)"),
        ("internal", "call void @f(ptr %x, ptr @f)"),
    ] {
        let f = instrumented(&format!(
            "define {linkage} void @f(ptr %p, ptr %g) {{ store i32 3, ptr %p\n ret void }}
             define void @caller() {{
               %x = alloca i64
               call void @f(ptr %x, ptr null)
               {more}
               ret void }}"
        ));
        assert_eq!(count(&f, "__lr_write"), 1, "{linkage} {more}");
    }
}

#[test]
fn thread_local_variables_are_private_while_their_address_stays() {
    for (leak, hooks) in
        [("", 0), ("store ptr %p, ptr @shared", 2), ("call void @keeps(ptr %p)", 1)]
    {
        let f = instrumented(&format!(
            "@local = internal thread_local global i64 0
             define void @f() {{
               %p = call ptr @llvm.threadlocal.address.p0(ptr @local)
               store i32 3, ptr %p
               {leak}
               ret void }}"
        ));
        assert_eq!(count(&f, "__lr_write"), hooks, "{leak}: {f}");
    }
}

#[test]
fn loops_and_phis_survive_the_splitting_of_blocks() {
    let f = instrumented(
        "define i64 @f(ptr %p, i64 %n) {
        entry:
          %first = load i64, ptr %p
          br label %again
        again:
          %i = phi i64 [ 0, %entry ], [ %next, %again ]
          %sum = phi i64 [ %first, %entry ], [ %more, %again ]
          %at = getelementptr i64, ptr %p, i64 %i
          %x = load i64, ptr %at
          store i64 %i, ptr %at
          %more = add i64 %sum, %x
          %next = add i64 %i, 1
          %done = icmp eq i64 %next, %n
          br i1 %done, label %out, label %again
        out:
          %result = phi i64 [ %more, %again ]
          ret i64 %result
        }",
    );
    assert_eq!(count(&f, "load i32, ptr @__lr_watch"), 3, "{f}");
}

#[test]
fn memory_intrinsics_are_hooked_as_ranges() {
    let f = instrumented(
        "define void @f(ptr %p, ptr %q, i64 %n) {
          %x = alloca [64 x i8]
          call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %n, i1 false)
          call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 24, i1 false)
          call void @llvm.memcpy.p0.p0.i64(ptr %x, ptr %q, i64 64, i1 false)
          call void @llvm.memset.p0.i64(ptr %x, i8 0, i64 64, i1 false)
          ret void
        }",
    );
    assert_eq!((count(&f, "@__lr_read("), count(&f, "@__lr_write(")), (2, 2), "{f}");
    assert_eq!(count(&f, "load i32, ptr @__lr_watch"), 3, "{f}");
}

#[test]
fn assembly_that_is_a_fence_is_reported_as_one_unless_others_can_reach_what_it_updates() {
    let fenced = |body: &str| {
        let f = instrumented(&format!("define void @f(ptr %p) {{\n{body}\nret void }}"));
        [count(&f, "@__lr_fence(i32 4, i32"), count(&f, "@__lr_native_call("), count(&f, " asm ")]
    };
    let not = |operand| {
        format!(
            "call void asm sideeffect inteldialect \"lock not qword ptr [${{0:q}}]\", \"r,~{{memory}}\"(ptr {operand})"
        )
    };
    let variable = "%x = alloca i64\nstore i64 0, ptr %x\n";
    assert_eq!(fenced("call void asm sideeffect \"mfence\", \"~{memory}\"()"), [1, 0, 1]);
    assert_eq!(fenced(&format!("{variable}{}", not("%x"))), [1, 0, 1]);
    let kept = format!("{variable}call void @keeps(ptr %x)\n{}", not("%x"));
    assert_eq!(fenced(&kept)[0], 0);
    assert_eq!(fenced(&not("%p")), [0, 1, 1]);
    assert_eq!(fenced(&not("@shared")), [0, 1, 1]);
}

#[test]
fn atomics_become_calls_with_their_orders() {
    let f = instrumented(
        "define i32 @f(ptr %p) {
          %a = load atomic i8, ptr %p acquire, align 1
          store atomic ptr %p, ptr %p release, align 8
          %b = atomicrmw umax ptr %p, i32 5 seq_cst
          %c = cmpxchg weak ptr %p, i32 1, i32 %b acq_rel monotonic
          fence acquire
          fence syncscope(\"singlethread\") seq_cst
          %d = atomicrmw add ptr %p, i32 1 monotonic
          %e = extractvalue { i32, i1 } %c, 0
          ret i32 %e
        }",
    );
    assert_eq!(count(&f, "atomicrmw") + count(&f, "cmpxchg weak") + count(&f, "atomic i8"), 0);
    assert!(f.contains("@__lr_atomic_load(i64 %") && f.contains("i32 1, i32 1, i32 0, i32"), "{f}");
    assert!(f.contains("@__lr_atomic_store(i64 %"), "{f}");
    assert!(f.contains("i64 5, i32 9, i32 4, i32 4, i32 0, i32"), "{f}");
    // Success acquire-release, failure relaxed; weak, so that the runtime says whether it
    // succeeded.
    assert!(f.contains("i32 4, i32 3, i32 2048, i32"), "{f}");
    assert_eq!(count(&f, "load i32, ptr @__lr_exchanged"), 1, "{f}");
    assert!(f.contains("@__lr_fence(i32 1, i32"), "{f}");
    assert_eq!(count(&f, "fence syncscope"), 1, "{f}");
    // An addition whose result nobody uses.
    assert!(f.contains("i64 1, i32 1, i32 4, i32 0, i32 10, i32"), "{f}");
}

#[test]
fn what_the_hooks_cannot_express_ends_the_test() {
    let f = instrumented(
        "define void @f(ptr %p) {
          %a = load atomic i128, ptr %p seq_cst, align 16
          %b = atomicrmw fadd ptr %p, double 1.0 seq_cst
          ret void
        }",
    );
    assert_eq!(count(&f, "@__lr_unsupported_instruction("), 2, "{f}");
}

#[test]
fn outside_calls_are_distinguished() {
    let f = instrumented(
        "declare ptr @malloc(i64)
        declare double @sin(double)
        declare i32 @clone()
        declare i32 @pipe(ptr)
        declare void @unknown()
        define void @f() {
          %p = call ptr @malloc(i64 8)
          %s = call double @sin(double 1.0)
          %c = call i32 @clone()
          %d = call i32 @pipe(ptr %p)
          call void @unknown()
          call void asm sideeffect \"\", \"~{memory}\"()
          call void asm sideeffect \"cpuid\", \"\"()
          call void asm sideeffect \"cli\", \"\"()
          call void asm sideeffect \"syscall\", \"\"()
          ret void
        }",
    );
    assert!(f.contains("@__lr_libc_malloc("), "{f}");
    assert!(f.contains("@__lr_libc_pipe("), "{f}");
    assert_eq!(count(&f, "@__lr_unsupported_call("), 2, "{f}");
    assert_eq!(count(&f, "@__lr_native_call("), 2, "{f}");
}

#[test]
fn system_calls_in_assembly_become_calls_of_the_hook() {
    let f = instrumented(
        "define i64 @f(i64 %n, ptr %a, i32 %b) {
          %r = call i64 asm sideeffect \"syscall\", \"={ax},{di},{si},0,~{rcx},~{r11}\"(ptr %a, i32 %b, i64 %n)
          %s = call { i64, i64 } asm sideeffect \"syscall\", \"=&{cx},={ax},1\"(i64 %n)
          %t = extractvalue { i64, i64 } %s, 1
          %u = add i64 %r, %t
          ret i64 %u
        }",
    );
    assert_eq!(count(&f, "call i64 @__lr_syscall("), 2, "{f}");
    assert_eq!(count(&f, " asm "), 0, "{f}");
    assert_eq!(count(&f, "@__lr_unsupported_call("), 0, "{f}");
}

#[test]
fn calls_by_pointer_of_outside_functions_are_seen() {
    let text = whole(
        "declare i32 @unknown(i32)
        define ptr @f() {
          %x = call i32 @unknown(i32 1)
          ret ptr @unknown
        }",
    );
    assert!(text.contains("ret ptr @\"unknown (by pointer)\""), "{text}");
    assert_eq!(count(&text, "call void @__lr_native_call("), 2, "{text}");
    assert_eq!(count(&text, "call i32 @unknown("), 2, "{text}");
}

#[test]
fn weak_functions_without_a_model_do_not_exist() {
    let text = whole(
        "declare extern_weak i32 @exotic(i32)
        declare extern_weak i32 @getrandom(ptr, i64, i32)
        define ptr @f(i1 %c) {
          %x = select i1 %c, ptr @exotic, ptr @getrandom
          ret ptr %x
        }",
    );
    assert!(text.contains("select i1 %c, ptr null, ptr @__lr_libc_getrandom"), "{text}");
    assert!(text.contains("declare i32 @__lr_libc_getrandom"), "{text}");
}

#[test]
fn thread_locals_are_places_in_the_block_of_the_running_thread() {
    let text = whole(
        "@byte = internal thread_local global i8 3
        @wide = internal thread_local global [2 x i64] [i64 1, i64 2], align 32
        define i64 @f() {
          %b = call ptr @llvm.threadlocal.address.p0(ptr @byte)
          store i8 1, ptr %b
          %w = call ptr @llvm.threadlocal.address.p0(ptr @wide)
          %second = getelementptr i64, ptr %w, i64 1
          %v = load i64, ptr %second
          ret i64 %v
        }",
    );
    assert_eq!(count(&text, "load ptr, ptr @__lr_tls_base"), 2, "{text}");
    assert!(text.contains("@__lr_tls_size = constant i64 48"), "{text}");
    assert!(text.contains("@__lr_tls_align = constant i64 32"), "{text}");
    assert!(!text.contains("thread_local"), "{text}");
}

#[test]
fn code_is_in_one_section() {
    let text = whole("define void @f() { ret void }");
    let defined: Vec<&str> = text.lines().filter(|line| line.starts_with("define ")).collect();
    assert!(defined.len() > 1, "{text}");
    for line in defined {
        assert!(line.contains("section \"lockred_text\""), "{line}");
    }
}

#[test]
fn writable_globals_are_in_one_section() {
    let text = whole("define void @f() { store i64 1, ptr @shared\n ret void }");
    assert!(text.contains("@shared = internal global i64 0, section \"lockred_data\""), "{text}");
    assert!(!text.contains("@constant = internal constant i64 7, section"), "{text}");
    assert!(text.contains("@__lr_program_main"), "{text}");
    assert!(text.contains("section \"lockred_sites\""), "{text}");
}

#[test]
fn what_cannot_be_reached_traps() {
    let f = instrumented(
        "declare void @never() noreturn
        define void @f(i1 %c) {
          br i1 %c, label %a, label %b
        a:
          call void @never()
          unreachable
        b:
          unreachable
        }",
    );
    assert_eq!(count(&f, "call void @llvm.trap()"), 1, "{f}");
}

#[test]
fn a_region_begins_with_its_function_and_ends_wherever_that_is_left() {
    let name = "_ZN3std4sync4mpmc4list16Channel$LT$T$GT$4send17h0123456789abcdefE";
    let text = format!(
        "declare i32 @personality(...)
        define void @\"{name}\"(i1 %c) personality ptr @personality {{
          br i1 %c, label %returns, label %calls
        returns:
          ret void
        calls:
          invoke void @keeps(ptr @shared) to label %done unwind label %unwinds
        done:
          ret void
        unwinds:
          %raised = landingpad {{ ptr, i32 }} cleanup
          resume {{ ptr, i32 }} %raised
        }}
        define void @f(i1 %c) {{
          call void @\"{name}\"(i1 %c)
          ret void
        }}"
    );
    let whole = whole(&text);
    let calls = |hook: &str| count(&whole, &format!("call void @{hook}()"));
    assert_eq!((calls("__lr_region_enter"), calls("__lr_region_leave")), (1, 3), "{whole}");
}

#[test]
fn an_act_on_a_channel_begins_with_what_it_acts_on_and_ends_with_its_result() {
    let text = "%message = type [40 x i8]
        define void @\"_ZN3std4sync4mpmc4list16Channel$LT$T$GT$4recv17h0123456789abcdefE\"(ptr sret(%message) %result, ptr %channel, i64 %seconds, i32 %nanoseconds) {
          ret void
        }
        define i1 @\"_ZN3std4sync4mpmc5array16Channel$LT$T$GT$8try_send17h0123456789abcdefE\"(ptr %channel, i32 %message) {
          ret i1 true
        }
        define void @f(ptr %result, ptr %channel) {
          call void @\"_ZN3std4sync4mpmc4list16Channel$LT$T$GT$4recv17h0123456789abcdefE\"(ptr sret(%message) %result, ptr %channel, i64 0, i32 5)
          %sent = call i1 @\"_ZN3std4sync4mpmc5array16Channel$LT$T$GT$8try_send17h0123456789abcdefE\"(ptr %channel, i32 1)
          ret void
        }";
    let whole = whole(text);
    let enters: Vec<&str> =
        whole.lines().filter(|line| line.contains("call void @__lr_channel_enter(")).collect();
    assert!(
        enters[0].contains("(i32 2, i64 %")
            && enters[0].contains(", i64 %seconds, i32 %nanoseconds, ")
    );
    assert!(enters[1].contains("(i32 1, i64 %") && enters[1].contains(", i32 1000000000, "));
    assert_eq!(enters.len(), 2, "{whole}");
    let leaves =
        |arguments: &str| count(&whole, &format!("call void @__lr_channel_leave({arguments}"));
    assert_eq!((leaves("i64 0, i64 0, "), leaves("i64 %")), (1, 1), "{whole}");
    assert!(whole.contains(", i64 40, i32 "), "{whole}");
    assert_eq!(count(&whole, "call void @__lr_region_enter"), 0, "{whole}");
}

#[test]
fn libtest_reports_what_a_test_returns() {
    // `test::assert_test_result` as rustc compiles it, and a function of the user's that returns in
    // memory, too.
    let wrapper = "_ZN4test18assert_test_result17h0123456789abcdefE";
    let text = format!(
        "define void @{wrapper}(ptr sret([24 x i8]) %result, i1 %good) {{
          br i1 %good, label %yes, label %no
        yes:
          ret void
        no:
          ret void
        }}
        define void @f(ptr sret([24 x i8]) %result) {{
          call void @{wrapper}(ptr %result, i1 true)
          ret void
        }}"
    );
    let reported = |libtest| {
        let whole = whole_of(&text, Program { libtest, ..Program::default() });
        ["call void @__lr_test_returned(i64 ", "call void @__lr_test_begins()"]
            .map(|call| count(&whole, call))
    };
    assert_eq!((reported(true), reported(false)), ([2, 1], [0, 0]));
}
