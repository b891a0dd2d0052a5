//! Memory and string functions: the ranges that they read and write are plain accesses of the
//! running thread.

use crate::host;
use libc::{c_char, c_int, c_void};

/// memcpy.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_memcpy(
    to: *mut c_void,
    from: *const c_void,
    n: usize,
) -> *mut c_void {
    host::read(from as usize, n);
    host::write(to as usize, n);
    // SAFETY: the program's own call, passed on.
    unsafe { libc::memcpy(to, from, n) }
}

/// memmove.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_memmove(
    to: *mut c_void,
    from: *const c_void,
    n: usize,
) -> *mut c_void {
    host::read(from as usize, n);
    host::write(to as usize, n);
    // SAFETY: the program's own call, passed on.
    unsafe { libc::memmove(to, from, n) }
}

/// memset.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_memset(to: *mut c_void, byte: c_int, n: usize) -> *mut c_void {
    host::write(to as usize, n);
    // SAFETY: the program's own call, passed on.
    unsafe { libc::memset(to, byte, n) }
}

/// memcmp: both ranges are read whole, as the C standard allows.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_memcmp(a: *const c_void, b: *const c_void, n: usize) -> c_int {
    host::read(a as usize, n);
    host::read(b as usize, n);
    // SAFETY: the program's own call, passed on.
    unsafe { libc::memcmp(a, b, n) }
}

/// bcmp.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_bcmp(a: *const c_void, b: *const c_void, n: usize) -> c_int {
    // SAFETY: the same function but for the sign of the result.
    unsafe { __lr_libc_memcmp(a, b, n) }
}

/// memchr: reads up to the byte that it finds.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_memchr(
    from: *const c_void,
    byte: c_int,
    n: usize,
) -> *mut c_void {
    // SAFETY: the program's own call, passed on.
    let found = unsafe { libc::memchr(from, byte, n) };
    let length = if found.is_null() { n } else { found as usize - from as usize + 1 };
    host::read(from as usize, length);
    found
}

/// memrchr: reads down to the byte that it finds.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_memrchr(
    from: *const c_void,
    byte: c_int,
    n: usize,
) -> *mut c_void {
    // SAFETY: the program's own call, passed on.
    let found = unsafe { libc::memrchr(from, byte, n) };
    let start = if found.is_null() { from as usize } else { found as usize };
    host::read(start, from as usize + n - start);
    found
}

/// strlen.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_strlen(from: *const c_char) -> usize {
    // SAFETY: the program's own call, passed on.
    let length = unsafe { libc::strlen(from) };
    host::read(from as usize, length + 1);
    length
}

/// strnlen.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_strnlen(from: *const c_char, n: usize) -> usize {
    // SAFETY: the program's own call, passed on.
    let length = unsafe { libc::strnlen(from, n) };
    host::read(from as usize, (length + 1).min(n));
    length
}

unsafe extern "C" {
    fn __xpg_strerror_r(error: c_int, buffer: *mut c_char, n: usize) -> c_int;
}

/// strerror_r, the POSIX one.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc___xpg_strerror_r(
    error: c_int,
    buffer: *mut c_char,
    n: usize,
) -> c_int {
    // SAFETY: the program's own call, passed on; what it leaves in a buffer is a C string.
    unsafe {
        let result = __xpg_strerror_r(error, buffer, n);
        if n > 0 {
            host::write(buffer as usize, libc::strlen(buffer) + 1);
        }
        result
    }
}

/// strerror_r: Rust declares the POSIX one under this name, too.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_strerror_r(
    error: c_int,
    buffer: *mut c_char,
    n: usize,
) -> c_int {
    // SAFETY: the same function.
    unsafe { __lr_libc___xpg_strerror_r(error, buffer, n) }
}
