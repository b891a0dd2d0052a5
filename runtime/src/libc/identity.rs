//! What a program learns about the process and the machine: constants, so that every process and every execution learns the same.

use crate::host;
use crate::state::{installed, state};
use libc::{c_char, c_int, c_long, c_void};

/// The process's number.
const PROCESS: i32 = 4242;
/// Processors that the program sees: enough to start threads, few enough to explore them.
const PROCESSORS: i64 = 2;

/// The running thread's number for the system: main's is the process's.
pub fn process_id() -> i32 {
    match installed() {
        Some(state) if !state.execution.threads.is_empty() => {
            PROCESS + state.thread().region.0 as i32
        }
        _ => PROCESS,
    }
}

/// getpid.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_getpid() -> i32 {
    PROCESS
}

/// gettid.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_gettid() -> i32 {
    process_id()
}

/// sysconf: the number of processors is fixed.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_sysconf(name: c_int) -> c_long {
    match name {
        libc::_SC_NPROCESSORS_ONLN | libc::_SC_NPROCESSORS_CONF => PROCESSORS,
        // SAFETY: only looks.
        _ => unsafe { libc::sysconf(name) },
    }
}

/// sched_getaffinity: the first processors.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_sched_getaffinity(
    _process: i32,
    size: usize,
    set: *mut c_void,
) -> c_int {
    host::write(set as usize, size);
    // SAFETY: the program passes a set of `size` bytes.
    unsafe {
        std::ptr::write_bytes(set.cast::<u8>(), 0, size);
        if size > 0 {
            *set.cast::<u8>() = (1 << PROCESSORS) - 1;
        }
    }
    0
}

/// dlsym: of the functions that Rust programs look for in this way, `getrandom` is found, as modelled. Nothing else is: the
/// callers do without, and a function that was found would run unseen.
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
        return crate::randomness::__lr_libc_getrandom as *const () as *mut c_void;
    }
    std::ptr::null_mut()
}

/// isatty: nothing is a terminal while a session runs the program.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_isatty(fd: c_int) -> c_int {
    match installed() {
        Some(_) if state().order.is_some() => {
            crate::state::set_errno(libc::ENOTTY);
            0
        }
        // SAFETY: only looks.
        _ => unsafe { libc::isatty(fd) },
    }
}
