//! Loops that may end early: which are asked for, and where they begin.

use crate::{count, function_f, whole_of};
use lockred_analysis::instrument::Program;
use lockred_analysis::plan::{Rules, Scaled};

/// `next` of a range as rustc names it.
const NEXT: &str = "\"_ZN4core4iter5range101_$LT$impl$u20$core..iter..traits..iterator..Iterator$u20$for$u20$core..ops..range..Range$LT$A$GT$$GT$4next17ha03eace670cecda3E\"";

/// A function with a loop over a range, in a program whose loops end early in this package.
fn loop_in(package: &str, behind: &str) -> String {
    let scaled = Some(Scaled { rounds: 3, package: package.into() });
    let rules = Rules { scaled, ..Rules::default() };
    let text = format!(
        "define internal {{ i32, i32 }} @{NEXT}(ptr %self) {{ ret {{ i32, i32 }} zeroinitializer }}
         define void @f(i32 %n) {{
         start:
           %iter = alloca [8 x i8], align 4
           store i32 0, ptr %iter
           %end = getelementptr inbounds nuw i8, ptr %iter, i64 4
           store i32 %n, ptr %end
           br label %next
         next:
           %more = call {{ i32, i32 }} @{NEXT}(ptr noalias %iter)
           %some = extractvalue {{ i32, i32 }} %more, 0
           %is = trunc nuw i32 %some to i1
           br i1 %is, label %next, label %done
         done:
           {behind}
           ret void }}"
    );
    function_f(&whole_of(&text, Program { rules, ..Program::default() }))
}

#[test]
fn a_loop_over_a_range_asks_before_each_round() {
    let f = loop_in("", "");
    assert_eq!(count(&f, "call void @__lr_round("), 1, "{f}");
    let asks = f.find("call void @__lr_round(").expect("it asks");
    assert!(asks < f.find("4next17h").expect("there is a round"), "{f}");
    assert!(f.contains("i32 4, i64 %") && f.contains("i64 3, i32"), "{f}");
    // Where the range is written, twice, the loop begins.
    assert_eq!(count(&f, "store i64 0, ptr %"), 2, "{f}");
}

#[test]
fn a_round_that_may_unwind_asks_too() {
    let text = format!(
        "declare i32 @__gxx_personality_v0(...)
         define internal {{ i32, i32 }} @{NEXT}(ptr %self) {{ ret {{ i32, i32 }} zeroinitializer }}
         define void @f(i32 %n) personality ptr @__gxx_personality_v0 {{
         start:
           %iter = alloca [8 x i8], align 4
           br label %begin
         cleanup:
           %pad = landingpad {{ ptr, i32 }} cleanup
           resume {{ ptr, i32 }} %pad
         begin:
           store i64 0, ptr %iter
           br label %next
         next:
           %more = invoke {{ i32, i32 }} @{NEXT}(ptr noalias %iter) to label %body unwind label %cleanup
         body:
           %some = extractvalue {{ i32, i32 }} %more, 0
           %is = trunc nuw i32 %some to i1
           br i1 %is, label %next, label %done
         done:
           ret void }}"
    );
    let scaled = Some(Scaled { rounds: 3, package: String::new() });
    let rules = Rules { scaled, ..Rules::default() };
    let f = function_f(&whole_of(&text, Program { rules, ..Program::default() }));
    assert_eq!(count(&f, "call void @__lr_round("), 1, "{f}");
}

#[test]
fn loops_of_other_packages_and_ranges_that_go_elsewhere_are_left_alone() {
    let asks = |f: &str| count(f, "@__lr_round(");
    assert_eq!(asks(&loop_in("/package", "")), 0);
    assert_eq!(asks(&loop_in("", "call void @keeps(ptr %iter)")), 0);
    assert_eq!(asks(&loop_in("", "%address = ptrtoint ptr %iter to i64")), 0);
}
