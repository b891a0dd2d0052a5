//! Questions to the processor whose answers differ between runs: the runtime answers.

use crate::{count, instrumented};

#[test]
fn time_stamps_and_numbers_come_from_the_runtime() {
    let f = instrumented(
        "declare i64 @llvm.x86.rdtsc()
        declare { i64, i32 } @llvm.x86.rdtscp()
        declare { i32, i32 } @llvm.x86.rdrand.32()
        define i64 @f() {
          %a = call i64 @llvm.x86.rdtsc()
          %b = call { i64, i32 } @llvm.x86.rdtscp()
          %c = call { i32, i32 } @llvm.x86.rdrand.32()
          %d = call { i32, i32 } asm sideeffect inteldialect \"lfence\\0Ardtsc\", \"=&{ax},=&{dx},~{memory}\"()
          %e = call i64 asm sideeffect inteldialect \"rdpid ${0:q}\", \"=&r\"()
          %t = extractvalue { i64, i32 } %b, 0
          %r = extractvalue { i32, i32 } %c, 0
          %h = extractvalue { i32, i32 } %d, 1
          %w = zext i32 %r to i64
          %x = zext i32 %h to i64
          %1 = add i64 %a, %t
          %2 = add i64 %1, %w
          %3 = add i64 %2, %x
          %4 = add i64 %3, %e
          ret i64 %4
        }",
    );
    assert_eq!(count(&f, "@__lr_time_stamp()"), 3, "{f}");
    assert_eq!(count(&f, "@__lr_processor()"), 2, "{f}");
    assert_eq!(count(&f, "@__lr_random_number()"), 1, "{f}");
    assert_eq!(count(&f, " asm ") + count(&f, "@llvm.x86."), 0, "{f}");
    assert_eq!(count(&f, "lshr i64"), 1, "{f}");
}

#[test]
fn assembly_that_asks_in_another_way_is_refused() {
    let f = instrumented(
        "define i64 @f(ptr %p) {
          %a = call i64 asm sideeffect inteldialect \"rdrand ${0:q}\", \"=r\"()
          call void asm sideeffect inteldialect \"rdtsc\\0Amov [${0:q}], eax\", \"r,~{eax},~{edx}\"(ptr %p)
          ret i64 %a
        }",
    );
    assert_eq!(count(&f, "@__lr_unsupported_call("), 2, "{f}");
}

#[test]
fn answers_of_cpuid_are_looked_through() {
    let f = instrumented(
        "define i32 @f(i32 %leaf, i32 %sub) {
          %a = call { i32, i32, i32, i32 } asm sideeffect inteldialect \"mov ${0:q}, rbx\\0Acpuid\\0Axchg ${0:q}, rbx\", \"=&r,=&{ax},=&{cx},=&{dx},1,2,~{memory}\"(i32 %leaf, i32 %sub)
          %b = extractvalue { i32, i32, i32, i32 } %a, 0
          ret i32 %b
        }",
    );
    assert_eq!(count(&f, "call i32 @__lr_cpuid(i32 %leaf, i32 1, i32 "), 1, "{f}");
    assert_eq!(count(&f, "@__lr_cpuid("), 4, "{f}");
    assert_eq!(count(&f, "@__lr_native_call("), 0, "{f}");
    assert_eq!(count(&f, "extractvalue { i32, i32, i32, i32 } %a, 0"), 1, "what is looked at\n{f}");
}

#[test]
fn what_native_code_gives_is_reported() {
    let f = instrumented(
        "declare i32 @number()
        declare ptr @pointer()
        declare void @nothing()
        define void @f() {
          %a = call i32 @number()
          %b = call ptr @pointer()
          call void @nothing()
          ret void
        }",
    );
    assert_eq!((count(&f, "@__lr_native_call("), count(&f, "@__lr_native_result(")), (3, 2), "{f}");
}
