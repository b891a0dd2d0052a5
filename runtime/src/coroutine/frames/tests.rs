//! Functions in machine code, as LLVM writes them, and what is dead in their frames.

#![expect(clippy::single_range_in_vec_init, reason = "lists of one place are meant")]

use super::liveness;
use super::steps::Layout;
use std::arch::global_asm;
use std::ops::Range;

global_asm!(".text", "frames_test_callee:", "ret");

/// A function `$name` that gives code in assembly and where it begins.
macro_rules! code {
    ($name:ident: $($line:literal)*) => {
        global_asm!(
            ".text",
            concat!("frames_test_", stringify!($name), ":"),
            $($line,)*
            concat!("frames_test_", stringify!($name), "_end:"),
        );
        fn $name() -> (&'static [u8], usize) {
            unsafe extern "C" {
                #[link_name = concat!("frames_test_", stringify!($name))]
                static START: u8;
                #[link_name = concat!("frames_test_", stringify!($name), "_end")]
                static END: u8;
            }
            let start = &raw const START;
            // SAFETY: code lies between the two.
            let code = unsafe {
                std::slice::from_raw_parts(start, (&raw const END).offset_from_unsigned(start))
            };
            (code, start as usize)
        }
    };
}

/// A frame with these variables and nothing below `lowest`.
fn layout(variables: &[Range<i64>], lowest: i64) -> Layout {
    Layout { variables: variables.to_vec(), lowest }
}

/// The size of the frame and the dead parts of it at each call.
fn dead(
    (code, start): (&[u8], usize),
    layout: &Layout,
    landing_pads: &[(Range<usize>, usize)],
) -> Vec<(usize, Vec<Range<usize>>)> {
    let mut found = liveness::find(code, start, layout, landing_pads);
    found.sort_by_key(|(address, _)| *address);
    found.into_iter().map(|(_, waiting)| (waiting.size, waiting.dead)).collect()
}

code!(straight:
    "sub rsp, 40"
    "mov [rsp + 8], rdi"
    "mov [rsp + 16], rsi"
    "lea rdi, [rsp + 24]"
    "mov rsi, [rsp + 16]"
    "call frames_test_callee"
    "mov rdi, [rsp + 8]"
    "call frames_test_callee"
    "add rsp, 40"
    "ret");

#[test]
fn what_is_not_read_again_is_dead_and_variables_are_not() {
    // The variable is at rsp + 24; below it and above it is room that nothing uses.
    let layout = layout(&[-16..-8], -32);
    assert_eq!(
        dead(straight(), &layout, &[]),
        [(40, vec![0..8, 16..24, 32..40]), (40, vec![0..24, 32..40])]
    );
}

#[test]
fn where_the_address_of_no_variable_is_taken_nothing_is_known() {
    assert_eq!(dead(straight(), &layout(&[], -32), &[]), []);
    assert_eq!(dead(straight(), &layout(&[-8..0], -32), &[]), []);
}

code!(round:
    "sub rsp, 24"
    "mov [rsp + 16], rdi"
    "2: call frames_test_callee"
    "mov [rsp + 8], rax"
    "call frames_test_callee"
    "mov rax, [rsp + 8]"
    "dec dword ptr [rsp + 16]"
    "jne 2b"
    "add rsp, 24"
    "ret");

#[test]
fn what_the_next_round_reads_is_live() {
    // Half of the counter's slot is never read.
    assert_eq!(
        dead(round(), &layout(&[], -16), &[]),
        [(24, vec![0..16, 20..24]), (24, vec![0..8, 20..24])]
    );
}

code!(partly:
    "sub rsp, 24"
    "mov [rsp + 8], rdi"
    "call frames_test_callee"
    "mov dword ptr [rsp + 8], eax"
    "call frames_test_callee"
    "mov rax, [rsp + 8]"
    "add rsp, 24"
    "ret");

#[test]
fn what_is_overwritten_in_part_is_dead_in_part() {
    assert_eq!(
        dead(partly(), &layout(&[], -16), &[]),
        [(24, vec![0..12, 16..24]), (24, vec![0..8, 16..24])]
    );
}

code!(arguments:
    "sub rsp, 24"
    "mov rax, rsp"
    "mov dword ptr [rax], 7"
    "mov dword ptr [rsp + 8], 7"
    "call frames_test_callee"
    "call frames_test_callee"
    "add rsp, 24"
    "ret");

#[test]
fn arguments_are_the_callee_s() {
    assert_eq!(
        dead(arguments(), &layout(&[], -8), &[]),
        [(24, vec![4..8, 12..24]), (24, vec![0..24])]
    );
}

code!(copy_is_kept:
    "sub rsp, 24"
    "mov rax, rsp"
    "mov [rsp + 16], rax"
    "call frames_test_callee"
    "add rsp, 24"
    "ret");

#[test]
fn where_a_copy_of_the_stack_pointer_goes_elsewhere_nothing_is_dead() {
    assert_eq!(dead(copy_is_kept(), &layout(&[], -8), &[]), []);
}

code!(lands:
    "sub rsp, 24"
    "mov [rsp + 8], rdi"
    "mov [rsp + 16], rdi"
    "call frames_test_callee"
    "mov rax, [rsp + 16]"
    "add rsp, 24"
    "ret"
    "mov rdi, [rsp + 8]"
    "call frames_test_callee"
    "ud2");

#[test]
fn what_a_landing_pad_reads_is_live() {
    let (code, start) = lands();
    let layout = layout(&[], -16);
    let call = code.iter().position(|byte| *byte == 0xe8).unwrap();
    let pad = code.iter().position(|byte| *byte == 0xc3).unwrap() + 1;
    let pads = [(start + call..start + call + 5, start + pad)];
    assert_eq!(dead(lands(), &layout, &pads), [(24, vec![0..8]), (24, vec![0..24])]);
    // Without it, that code is never reached.
    assert_eq!(dead(lands(), &layout, &[]), [(24, vec![0..16])]);
}

code!(saves:
    "push rbx"
    "push rax"
    "call frames_test_callee"
    "pop rcx"
    "pop rbx"
    "ret");

#[test]
fn registers_of_the_caller_are_live_and_room_is_not() {
    assert_eq!(dead(saves(), &layout(&[], -16), &[]), [(16, vec![0..8])]);
}

code!(framed:
    "push rbp"
    "mov rbp, rsp"
    "sub rsp, 32"
    "mov [rbp - 8], rdi"
    "mov [rbp - 16], rdi"
    "lea rdi, [rbp - 24]"
    "call frames_test_callee"
    "mov rax, [rbp - 16]"
    "add rsp, 32"
    "pop rbp"
    "ret");

#[test]
fn frames_with_a_frame_pointer_are_understood() {
    let layout = layout(&[-32..-24], -32);
    assert_eq!(dead(framed(), &layout, &[]), [(40, vec![0..8, 24..32])]);
}

code!(jumps:
    "sub rsp, 24"
    "mov [rsp + 8], rdi"
    "mov [rsp + 16], rdi"
    "call frames_test_callee"
    "mov rax, [rax]"
    "jmp rax"
    "ud2");

#[test]
fn where_a_jump_is_not_understood_nothing_is_known() {
    assert_eq!(dead(jumps(), &layout(&[], -16), &[]), []);
}
