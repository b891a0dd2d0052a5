//! What is believed of functions outside of the program: which addresses they keep, give and call.

use crate::sharing::{STORE, body, reason_of};
use lockred_protocol::plan::Reason;

/// Functions outside, and functions of the program that they are given.
const DECLARED: &str = "declare i32 @pthread_join(i64, ptr)
    declare ptr @realpath(ptr, ptr)
    declare ptr @getcwd(ptr, i64)
    declare ptr @mmap(ptr, i64, i32, i32, i32, i64)
    declare i64 @strtol(ptr, ptr, i32)
    declare i32 @getpwuid_r(i32, ptr, ptr, i64, ptr)
    declare i32 @sigaltstack(ptr, ptr)
    declare i64 @signal(i32, i64)
    declare i32 @sigaction(i32, ptr, ptr)
    declare i64 @syscall(i64, ...)
    declare i32 @_Unwind_ForcedUnwind(ptr, ptr, ptr)
    define internal ptr @gives(ptr %q) {
      %m = call ptr @malloc(i64 64)
      %held = load ptr, ptr %m
      %n = load i64, ptr %held
      ret ptr %m }
    define internal void @handler(i64 %x) {
      store i64 %x, ptr @shared
      ret void }\n";

/// What is claimed of a block of the heap, in a program that does this, too.
fn claim(acts: &str) -> Reason {
    reason_of(None, &format!("{DECLARED}{}", body(&format!("{acts}\n{STORE}"))))
}

#[test]
fn addresses_come_back_from_functions_outside() {
    let given = [
        (
            "what a thread returns, to whoever joins it",
            "%n = call i32 @pthread_create(ptr %handle, ptr null, ptr @gives, ptr null)
             %place = alloca ptr
             %j = call i32 @pthread_join(i64 1, ptr %place)
             %got = load ptr, ptr %place",
        ),
        ("the place that realpath is given", "%got = call ptr @realpath(ptr null, ptr @shared)"),
        (
            "a block that realpath gives",
            "%got = call ptr @realpath(ptr null, ptr null)
             store ptr %got, ptr @shared",
        ),
        (
            "a block that getcwd gives",
            "%got = call ptr @getcwd(ptr null, i64 0)
             store ptr %got, ptr @shared",
        ),
        (
            "what a mapping takes the place of",
            "%got = call ptr @mmap(ptr @shared, i64 64, i32 3, i32 50, i32 -1, i64 0)",
        ),
        (
            "where a number ends",
            "%place = alloca ptr
             %n = call i64 @strtol(ptr @shared, ptr %place, i32 10)
             %got = load ptr, ptr %place",
        ),
        (
            "texts of an entry, in the buffer",
            "%entry = alloca [6 x i64]
             %place = alloca ptr
             %n = call i32 @getpwuid_r(i32 0, ptr %entry, ptr @shared, i64 64, ptr %place)
             %got = load ptr, ptr %entry",
        ),
        (
            "the stack of signals",
            "%new = alloca [3 x i64]
             store ptr @shared, ptr %new
             %n = call i32 @sigaltstack(ptr %new, ptr null)
             %old = alloca [3 x i64]
             %m = call i32 @sigaltstack(ptr null, ptr %old)
             %got = load ptr, ptr %old",
        ),
        (
            "memory of a system call",
            "%n = call i64 (i64, ...) @syscall(i64 9, i64 0, i64 64, i64 3, i64 34, i64 -1, i64 0)
             %got = inttoptr i64 %n to ptr
             store ptr %got, ptr @shared",
        ),
    ];
    let is_missed =
        |acts: &str| claim(&format!("{acts}\nstore ptr %b, ptr %got")) != Reason::Shared;
    let missed: Vec<&str> =
        given.iter().filter(|given| is_missed(given.1)).map(|given| given.0).collect();
    assert_eq!(missed, [""; 0]);
}

#[test]
fn functions_outside_keep_and_call_what_they_are_given() {
    let called = "%f = inttoptr i64 %old to ptr
         %x = ptrtoint ptr %b to i64
         call void %f(i64 %x)";
    let given = [
        (
            "the handler before, by signal",
            format!(
                "%new = ptrtoint ptr @handler to i64
                 %first = call i64 @signal(i32 10, i64 %new)
                 %old = call i64 @signal(i32 10, i64 0)
                 {called}"
            ),
        ),
        (
            "the handler before, by sigaction",
            format!(
                "%new = alloca [19 x i64]
                 store ptr @handler, ptr %new
                 %n = call i32 @sigaction(i32 10, ptr %new, ptr null)
                 %before = alloca [19 x i64]
                 %m = call i32 @sigaction(i32 10, ptr null, ptr %before)
                 %old = load i64, ptr %before
                 {called}"
            ),
        ),
        (
            "what the kernel keeps with a descriptor",
            "%n = call i64 (i64, ...) @syscall(i64 233, i64 3, i64 1, i64 4, ptr %holder)".into(),
        ),
        (
            "a system call that is not known",
            "%number = load i64, ptr @shared
             %n = call i64 (i64, ...) @syscall(i64 %number, ptr %holder)"
                .into(),
        ),
        (
            "a function of the unwinder that nobody knows",
            "%n = call i32 @_Unwind_ForcedUnwind(ptr null, ptr null, ptr %holder)".into(),
        ),
    ];
    let missed: Vec<&str> = given
        .iter()
        .filter(|given| claim(&given.1) != Reason::Shared)
        .map(|given| given.0)
        .collect();
    assert_eq!(missed, [""; 0]);
}

#[test]
fn functions_outside_keep_no_more_than_they_do() {
    for acts in [
        "%n = call i64 (i64, ...) @syscall(i64 202, ptr %holder, i64 0, i64 1)",
        "%got = call ptr @realpath(ptr %holder, ptr null)",
        "%place = alloca ptr
         %n = call i64 @strtol(ptr %holder, ptr %place, i32 10)
         %got = load ptr, ptr %place
         store i8 1, ptr %got",
        "%j = call i32 @pthread_join(i64 1, ptr %outer)",
    ] {
        assert_eq!(claim(acts), Reason::OwnMemory, "{acts}");
    }
}
