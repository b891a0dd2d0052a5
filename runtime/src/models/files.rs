//! Reading and writing files: really done; buffers are accesses of the running thread; output goes
//! to the session.

use super::changes;
use super::descriptors::{self, must_not_block};
use crate::host;
use crate::kernel;
use crate::machine::state::set_errno;
use libc::{c_int, c_void, iovec, off_t};

/// Bytes of a result that is a length or -1.
fn length(result: isize) -> usize {
    usize::try_from(result).unwrap_or(0)
}

/// read.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_read(fd: c_int, buffer: *mut c_void, n: usize) -> isize {
    if descriptors::is_random(fd) {
        return crate::hooks::randomness::__lr_libc_getrandom(buffer.cast(), n, 0);
    }
    must_not_block(fd, "read");
    kernel::readable(fd, "read");
    // SAFETY: the program's own call, passed on.
    let result = kernel::waiting(|| unsafe { libc::read(fd, buffer, n) });
    host::write(buffer as usize, length(result));
    result
}

/// Fills the program's parts with random bytes; gives how many.
fn random_parts(parts: *const iovec, count: c_int) -> isize {
    let Ok(count) = usize::try_from(count) else {
        set_errno(libc::EINVAL);
        return -1;
    };
    // SAFETY: the program passes `count` parts.
    let parts = unsafe { std::slice::from_raw_parts(parts, count) };
    let fill = |part: &iovec| {
        crate::hooks::randomness::__lr_libc_getrandom(part.iov_base.cast(), part.iov_len, 0)
    };
    parts.iter().map(fill).sum()
}

/// readv.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_readv(fd: c_int, parts: *const iovec, count: c_int) -> isize {
    if descriptors::is_random(fd) {
        return random_parts(parts, count);
    }
    must_not_block(fd, "readv");
    kernel::readable(fd, "readv");
    // SAFETY: the program's own call, passed on.
    let result = kernel::waiting(|| unsafe { libc::readv(fd, parts, count) });
    // Of the parts only what was read is written.
    let mut left = length(result);
    if left > 0 {
        // SAFETY: the call has accepted the program's `count` parts.
        for part in unsafe { std::slice::from_raw_parts(parts, count as usize) } {
            let written = part.iov_len.min(left);
            host::write(part.iov_base as usize, written);
            left -= written;
        }
    }
    result
}

/// pread.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_pread(
    fd: c_int,
    buffer: *mut c_void,
    n: usize,
    at: off_t,
) -> isize {
    if descriptors::is_random(fd) {
        return crate::hooks::randomness::__lr_libc_getrandom(buffer.cast(), n, 0);
    }
    // SAFETY: the program's own call, passed on.
    let result = unsafe { libc::pread(fd, buffer, n, at) };
    host::write(buffer as usize, length(result));
    result
}

/// pread64.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_pread64(
    fd: c_int,
    buffer: *mut c_void,
    n: usize,
    at: off_t,
) -> isize {
    // SAFETY: the same function on 64-bit machines.
    unsafe { __lr_libc_pread(fd, buffer, n, at) }
}

/// write.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_write(fd: c_int, buffer: *const c_void, n: usize) -> isize {
    host::read(buffer as usize, n);
    if fd == 1 || fd == 2 {
        // SAFETY: the program passes a buffer of `n` bytes.
        let bytes = unsafe { std::slice::from_raw_parts(buffer.cast::<u8>(), n) };
        if host::output(fd, bytes) {
            return n as isize;
        }
    }
    must_not_block(fd, "write");
    // SAFETY: the program's own call, passed on.
    let call = || unsafe { libc::write(fd, buffer, n) };
    let written = kernel::waiting(|| changes::write(fd, call));
    if written < 0 && kernel::errno() == libc::EPIPE {
        super::nobody_reads();
        set_errno(libc::EPIPE);
    }
    written
}

/// writev.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_writev(fd: c_int, parts: *const iovec, count: c_int) -> isize {
    let mut total = 0;
    if count < 0 {
        set_errno(libc::EINVAL);
        return -1;
    }
    // SAFETY: the program passes `count` parts.
    for part in unsafe { std::slice::from_raw_parts(parts, count as usize) } {
        // SAFETY: each part is a buffer of the program.
        let result = unsafe { __lr_libc_write(fd, part.iov_base, part.iov_len) };
        if result < 0 {
            return if total > 0 { total } else { result };
        }
        total += result;
        if length(result) < part.iov_len {
            break;
        }
    }
    total
}

/// pwrite.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_pwrite(
    fd: c_int,
    buffer: *const c_void,
    n: usize,
    at: off_t,
) -> isize {
    host::read(buffer as usize, n);
    // SAFETY: the program's own call, passed on.
    changes::write(fd, || unsafe { libc::pwrite(fd, buffer, n, at) })
}

/// pwrite64.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_pwrite64(
    fd: c_int,
    buffer: *const c_void,
    n: usize,
    at: off_t,
) -> isize {
    // SAFETY: the same function on 64-bit machines.
    unsafe { __lr_libc_pwrite(fd, buffer, n, at) }
}

/// close.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_close(fd: c_int) -> c_int {
    if descriptors::closes(fd) {
        kernel::closed(fd);
        // SAFETY: the program's own call, passed on.
        return unsafe { libc::close(fd) };
    }
    0
}

/// lseek.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_lseek(fd: c_int, offset: off_t, whence: c_int) -> off_t {
    // SAFETY: the program's own call, passed on.
    unsafe { libc::lseek(fd, offset, whence) }
}

/// lseek64.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_lseek64(fd: c_int, offset: off_t, whence: c_int) -> off_t {
    // SAFETY: the program's own call, passed on.
    unsafe { libc::lseek(fd, offset, whence) }
}

/// fsync.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_fsync(fd: c_int) -> c_int {
    // SAFETY: the program's own call, passed on.
    unsafe { libc::fsync(fd) }
}

/// fdatasync.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_fdatasync(fd: c_int) -> c_int {
    // SAFETY: the program's own call, passed on.
    unsafe { libc::fdatasync(fd) }
}

/// ftruncate.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_ftruncate(fd: c_int, size: off_t) -> c_int {
    // SAFETY: the program's own call, passed on.
    changes::write(fd, || unsafe { libc::ftruncate(fd, size) })
}

/// ftruncate64.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_ftruncate64(fd: c_int, size: off_t) -> c_int {
    // SAFETY: the program's own call, passed on.
    changes::write(fd, || unsafe { libc::ftruncate(fd, size) })
}

/// ioctl.
///
/// # Safety
/// As for the C function, with an argument of pointer size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_ioctl(fd: c_int, request: u64, argument: usize) -> c_int {
    must_not_block(fd, "ioctl");
    // SAFETY: the program's own call, passed on.
    unsafe { libc::ioctl(fd, request, argument) }
}
