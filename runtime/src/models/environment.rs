//! Environment variables: libc's own, put back at a restore if an execution changed them.

use crate::host;
use libc::{c_char, c_int};

/// getenv.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_getenv(name: *const c_char) -> *mut c_char {
    // SAFETY: the program's own call, passed on.
    unsafe { libc::getenv(name) }
}

/// The program changes its environment.
fn changes() {
    host::outside();
    if host::below_root() {
        crate::world::environment::changes();
    }
}

/// setenv.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_setenv(
    name: *const c_char,
    value: *const c_char,
    replace: c_int,
) -> c_int {
    changes();
    // SAFETY: the program's own call, passed on.
    unsafe { libc::setenv(name, value, replace) }
}

/// unsetenv.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_unsetenv(name: *const c_char) -> c_int {
    changes();
    // SAFETY: the program's own call, passed on.
    unsafe { libc::unsetenv(name) }
}
