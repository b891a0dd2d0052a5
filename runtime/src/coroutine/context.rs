//! Switching stacks: a coroutine is a saved stack pointer, and everything else that a call
//! preserves lies on its stack.
//!
//! Layout of a suspended stack, from its saved pointer up: mxcsr and x87 control word (8 bytes),
//! r15, r14, r13, r12, rbx, rbp, return address. This is what [`prepare`] builds for a coroutine
//! that has not run yet.

use std::arch::global_asm;

global_asm!(
    ".text",
    ".globl __lr_switch",
    ".hidden __lr_switch",
    ".type __lr_switch,@function",
    "__lr_switch:", // (rdi: where to save the stack pointer, rsi: the stack pointer to go on with)
    ".cfi_startproc",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "sub rsp, 8",
    "stmxcsr [rsp]",
    "fnstcw [rsp + 4]",
    "mov [rdi], rsp",
    "mov rdi, rsi",
    ".cfi_endproc",
    ".globl __lr_resume",
    ".hidden __lr_resume",
    "__lr_resume:", // (rdi: the stack pointer to go on with); never returns to its caller
    ".cfi_startproc",
    ".cfi_undefined rip",
    "mov rsp, rdi",
    "ldmxcsr [rsp]",
    "fldcw [rsp + 4]",
    "add rsp, 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    "ret",
    ".cfi_endproc",
    ".size __lr_switch, . - __lr_switch",
    ".globl __lr_coroutine",
    ".hidden __lr_coroutine",
    ".type __lr_coroutine,@function",
    "__lr_coroutine:", // the bottom frame: r12 is the function, r13 its argument; unwinding ends here
    ".cfi_startproc",
    ".cfi_undefined rip",
    "mov rdi, r13",
    "call r12",
    "ud2",
    ".cfi_endproc",
    ".size __lr_coroutine, . - __lr_coroutine",
);

unsafe extern "C" {
    fn __lr_switch(save: *mut usize, to: usize);
    fn __lr_resume(to: usize) -> !;
    fn __lr_coroutine();
}

/// The stack pointer of the function that this is inlined into.
#[inline(always)]
pub fn stack_pointer() -> usize {
    let pointer;
    // SAFETY: copies a register.
    unsafe {
        std::arch::asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    pointer
}

/// Suspends the running stack into `save` and goes on with the one saved as `to`.
///
/// # Safety
/// `to` must have been saved by this function or built by [`prepare`], and its stack must be as it
/// was then.
pub unsafe fn switch(save: *mut usize, to: usize) {
    // SAFETY: by the caller's promise `to` has the layout that the module describes.
    unsafe { __lr_switch(save, to) }
}

/// Abandons the running stack and goes on with the one saved as `to`.
///
/// # Safety
/// As for [`switch`].
pub unsafe fn abandon(to: usize) -> ! {
    // SAFETY: by the caller's promise `to` has the layout that the module describes.
    unsafe { __lr_resume(to) }
}

/// Address of the code that [`abandon`] jumps to, for a signal handler that wants to return into it
/// with `rdi = to`.
pub fn resume_address() -> usize {
    __lr_resume as *const () as usize
}

/// Builds a suspended stack below `top` that will call `function(argument)`, which must never
/// return.
///
/// # Safety
/// The memory below `top` must be writable and unused; `top` must be 16-byte aligned.
pub unsafe fn prepare(top: usize, function: extern "C" fn(usize) -> !, argument: usize) -> usize {
    const MXCSR: u64 = 0x1f80;
    const X87: u64 = 0x037f;
    // Eight words, and then two so that the stack is 16-byte aligned before the coroutine's `call`.
    let words: [u64; 10] = [
        MXCSR | X87 << 32,
        0,                        // r15
        0,                        // r14
        argument as u64,          // r13
        function as usize as u64, // r12
        0,                        // rbx
        0,                        // rbp
        __lr_coroutine as *const () as usize as u64,
        0,
        0,
    ];
    let pointer = top - size_of_val(&words);
    // SAFETY: the caller promises writable, unused memory below `top`.
    unsafe { std::ptr::copy_nonoverlapping(words.as_ptr(), pointer as *mut u64, words.len()) };
    pointer
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pair {
        outside: usize,
        inside: usize,
        seen: Vec<u32>,
    }

    extern "C" fn body(pair: usize) -> ! {
        let pair = pair as *mut Pair;
        for i in 0.. {
            // SAFETY: the test keeps the pair alive and reads it only while this coroutine is
            // suspended.
            unsafe {
                (*pair).seen.push(i);
                switch(&raw mut (*pair).inside, (*pair).outside);
            }
        }
        unreachable!()
    }

    #[test]
    fn a_coroutine_goes_on_where_it_stopped() {
        let mut stack = vec![0_u128; 4096];
        let top = stack.as_mut_ptr_range().end as usize;
        let mut pair = Pair { outside: 0, inside: 0, seen: Vec::new() };
        let pair = &raw mut pair;
        // SAFETY: `stack` outlives the coroutine, and the pair is a live local.
        unsafe {
            (*pair).inside = prepare(top, body, pair as usize);
            for _ in 0..3 {
                switch(&raw mut (*pair).outside, (*pair).inside);
            }
            assert_eq!((*pair).seen, [0, 1, 2]);
        }
    }
}
