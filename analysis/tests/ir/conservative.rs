//! What the analysis of where addresses point to does not follow is counted.

use crate::summary_of;
use lockred_analysis::instrument::Program;
use lockred_analysis::plan::Rules;
use lockred_protocol::addresses::{Addresses, Followed};
use lockred_protocol::plan::Reason;

/// What is counted in a program whose `main` calls `f`.
fn counted(rules: Rules, body: &str) -> Addresses {
    let text = format!(
        "declare void @unknown(ptr)
         declare i32 @printf(ptr, ...)
         @address = internal global i64 0
         define internal void @of_others(ptr %p) {{
           store i64 1, ptr %p
           ret void }}
         define internal void @f(i64 %n) {{
           %a = alloca [4 x i64]
           %b = alloca [4 x i64]
           {body}
           ret void }}
         define internal void @nobody(ptr %p) {{
           call void @unknown(ptr %p)
           ret void }}"
    );
    summary_of(&text, "call void @f(i64 8)", Program { rules, ..Program::default() }).addresses
}

/// What is counted, by name.
fn named(of: &Addresses) -> [(&'static str, u64); 7] {
    [
        ("anywhere", of.anywhere),
        ("restored", of.restored),
        ("mixed", of.mixed),
        ("unresolved", of.unresolved),
        ("foreign", of.foreign),
        ("variadic", of.variadic),
        ("undescribed", of.undescribed),
    ]
}

#[test]
fn what_is_not_followed_is_counted() {
    let of = |body: &str| counted(Rules::default(), body);
    let nothing = of("");
    assert_eq!(nothing.followed, Followed::Whole);
    let differs = |body: &str, expected: &[(&str, u64)]| {
        let counted = of(body);
        for ((name, now), (_, before)) in named(&counted).into_iter().zip(named(&nothing)) {
            let more = expected.iter().find(|(n, _)| *n == name).map_or(0, |(_, more)| *more);
            assert_eq!(now - before, more, "{name}: {body}");
        }
    };
    differs("store i64 1, ptr %a", &[]);
    differs("call void @unknown(ptr %a)", &[("foreign", 1)]);
    differs("call i32 (ptr, ...) @printf(ptr %a, i64 1)", &[("foreign", 1), ("variadic", 1)]);
    differs("%p = inttoptr i64 %n to ptr", &[("restored", 1)]);
    differs("%x = va_arg ptr %a, i64", &[("undescribed", 1)]);
    differs("call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %b, i64 32, i1 false)", &[]);
    differs(
        "store ptr @shared, ptr %b
         call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %b, i64 %n, i1 false)
         %p = load ptr, ptr %a
         store i64 1, ptr %p",
        &[("mixed", 1)],
    );
    // What others have put there may be anything of theirs.
    differs(
        "call void @unknown(ptr %a)
         %p = load ptr, ptr %a
         store i64 1, ptr %p
         call void %p()",
        &[("foreign", 1), ("anywhere", 1), ("unresolved", 1)],
    );
}

#[test]
fn it_is_said_where_nothing_was_followed() {
    let without = vec![Reason::OwnVariables, Reason::OwnMemory];
    let counted = counted(Rules { without, ..Rules::default() }, "");
    assert_eq!(counted, Addresses { followed: Followed::NotAsked, ..Addresses::default() });
}
