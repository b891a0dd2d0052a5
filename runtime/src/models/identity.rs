//! What a program learns about the process and the machine: constants, so that every process and
//! every execution learns the same, except where the kernel's own [`numbers`] show.

use crate::host::numbers;
use crate::machine::hook;
use crate::machine::state::State;
use crate::machine::thread::Thread;
use libc::{c_char, c_int, c_void};

/// The process's number, where it is made up. It leads its group.
const PROCESS: i32 = 4242;
/// That of its parent.
const PARENT: i32 = PROCESS - 1;

/// The process's number, as the kernel knows it.
fn kernels() -> i32 {
    // SAFETY: only asks.
    unsafe { libc::getpid() }
}

/// The process's number, as the program knows it if it does.
pub fn process() -> i32 {
    if numbers::are_kernels() { kernels() } else { PROCESS }
}

/// The same.
fn process_in(state: &State) -> i32 {
    if numbers::are_kernels_in(state) { kernels() } else { PROCESS }
}

/// What the system calls a thread: main's number is the process's.
fn number_of(state: &State, thread: &Thread) -> i32 {
    process_in(state) + thread.region.0 as i32
}

/// The running thread's number for the system.
pub fn process_id() -> i32 {
    match hook::enter_if_ready() {
        Some(state) if !state.execution.threads.is_empty() => {
            number_of(&state, state.running_thread())
        }
        Some(state) => process_in(&state),
        None => kernels(),
    }
}

/// The thread that the system calls so, by its number here, unless it has ended.
pub fn thread(number: i32) -> Option<u32> {
    let state = &*hook::enter();
    let is_it = |thread: &Thread| number_of(state, thread) == number && !thread.has_ended();
    state.execution.threads.iter().position(is_it).map(|index| index as u32)
}

/// Does what a system call does that asks who is running, if it is one.
pub fn system_call(number: i64) -> Option<i64> {
    match number {
        libc::SYS_gettid => Some(__lr_libc_gettid().into()),
        libc::SYS_getpid => Some(__lr_libc_getpid().into()),
        libc::SYS_getppid => Some(__lr_libc_getppid().into()),
        libc::SYS_getpgrp => Some(__lr_libc_getpgrp().into()),
        _ => None,
    }
}

/// getpid.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_getpid() -> i32 {
    numbers::shown(PROCESS).unwrap_or_else(kernels)
}

/// getppid.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_getppid() -> i32 {
    // SAFETY: only asks.
    numbers::shown(PARENT).unwrap_or_else(|| unsafe { libc::getppid() })
}

/// getpgrp.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_getpgrp() -> i32 {
    // SAFETY: only asks.
    numbers::shown(PROCESS).unwrap_or_else(|| unsafe { libc::getpgrp() })
}

/// gettid.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_gettid() -> i32 {
    let number = process_id();
    numbers::shown(number).unwrap_or(number)
}

/// dlsym: of the functions that Rust programs look for in this way, `getrandom` is found, as
/// modelled. Nothing else is: the callers do without, and a function that was found would run
/// unseen.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_dlsym(
    _library: *mut c_void,
    name: *const c_char,
) -> *mut c_void {
    // SAFETY: the program passes a C string.
    if unsafe { std::ffi::CStr::from_ptr(name) } == c"getrandom" {
        return crate::hooks::randomness::__lr_libc_getrandom as *const () as *mut c_void;
    }
    std::ptr::null_mut()
}

/// isatty: nothing is a terminal while a session runs the program.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_isatty(fd: c_int) -> c_int {
    match hook::enter_if_ready() {
        Some(state) if state.config.request.is_some() => {
            crate::machine::state::set_errno(libc::ENOTTY);
            0
        }
        // SAFETY: only looks.
        _ => unsafe { libc::isatty(fd) },
    }
}
