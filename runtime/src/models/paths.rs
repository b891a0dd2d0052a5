//! Calls that name files: really done; changes are undone at a restore ([`changes`]).

use super::{changes, descriptors, file_times, system_files};
use crate::host;
use libc::{c_char, c_int, c_uint};
use std::ffi::CStr;

/// A C string is read.
fn reads(text: *const c_char) {
    if !text.is_null() {
        // SAFETY: the program passes a C string.
        host::read(text as usize, unsafe { libc::strlen(text) } + 1);
    }
}

/// open.
///
/// # Safety
/// As for the C function, with a mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: the same call, relative to the current directory.
    unsafe { __lr_libc_openat(libc::AT_FDCWD, path, flags, mode) }
}

/// open64.
///
/// # Safety
/// As for the C function, with a mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_open64(
    path: *const c_char,
    flags: c_int,
    mode: c_uint,
) -> c_int {
    // SAFETY: the same call, relative to the current directory.
    unsafe { __lr_libc_openat(libc::AT_FDCWD, path, flags, mode) }
}

/// openat.
///
/// # Safety
/// As for the C function, with a mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_openat(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mode: c_uint,
) -> c_int {
    reads(path);
    system_files::looks_at(path);
    // SAFETY: the program passes a C string.
    let known = (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) }.to_bytes());
    if let Some(file) = known.and_then(crate::kernel::auxiliary::open) {
        return descriptors::opened(file);
    }
    // SAFETY: the program's own call, passed on.
    let call = || unsafe { libc::openat(directory, path, flags, mode) };
    descriptors::opened(changes::open(directory, path, flags, call))
}

/// openat64.
///
/// # Safety
/// As for the C function, with a mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_openat64(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mode: c_uint,
) -> c_int {
    // SAFETY: the same function on 64-bit machines.
    unsafe { __lr_libc_openat(directory, path, flags, mode) }
}

/// Calls that look at a file and fill a `stat`.
macro_rules! look {
    ($($name:ident($($argument:ident: $type:ty),+) $(at $path:ident)? calls $real:path;)+) => { $(
        #[doc = concat!(stringify!($real), ".\n\n# Safety\nAs for the C function.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),+, out: *mut libc::stat) -> c_int {
            $(system_files::looks_at($path);)?
            host::write(out as usize, size_of::<libc::stat>());
            // SAFETY: the program's own call, passed on; what succeeds has filled the place.
            unsafe {
                let result = $real($($argument),+, out);
                if result == 0 {
                    file_times::shown(out);
                }
                result
            }
        }
    )+ };
}

look! {
    __lr_libc_fstat(fd: c_int) calls libc::fstat;
    __lr_libc_fstat64(fd: c_int) calls libc::fstat;
    __lr_libc_stat(path: *const c_char) at path calls libc::stat;
    __lr_libc_stat64(path: *const c_char) at path calls libc::stat;
    __lr_libc_lstat(path: *const c_char) at path calls libc::lstat;
    __lr_libc_lstat64(path: *const c_char) at path calls libc::lstat;
}

/// fstatat.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_fstatat(
    directory: c_int,
    path: *const c_char,
    out: *mut libc::stat,
    flags: c_int,
) -> c_int {
    system_files::looks_at(path);
    host::write(out as usize, size_of::<libc::stat>());
    // SAFETY: the program's own call, passed on; what succeeds has filled the place.
    unsafe {
        let result = libc::fstatat(directory, path, out, flags);
        if result == 0 {
            file_times::shown(out);
        }
        result
    }
}

/// fstatat64.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_fstatat64(
    directory: c_int,
    path: *const c_char,
    out: *mut libc::stat,
    flags: c_int,
) -> c_int {
    // SAFETY: the same function on 64-bit machines.
    unsafe { __lr_libc_fstatat(directory, path, out, flags) }
}

/// statx.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_statx(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    out: *mut libc::statx,
) -> c_int {
    system_files::looks_at(path);
    host::write(out as usize, size_of::<libc::statx>());
    // SAFETY: the program's own call, passed on; what succeeds has filled the place.
    unsafe {
        let result = libc::statx(directory, path, flags, mask, out);
        if result == 0 {
            file_times::shown_in_full(out);
        }
        result
    }
}

/// readlink.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_readlink(
    path: *const c_char,
    out: *mut c_char,
    n: usize,
) -> isize {
    system_files::looks_at(path);
    // SAFETY: the program's own call, passed on.
    let result = unsafe { libc::readlink(path, out, n) };
    host::write(out as usize, usize::try_from(result).unwrap_or(0));
    result
}

/// realpath; a result that the caller frees comes from the program's heap.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_realpath(path: *const c_char, out: *mut c_char) -> *mut c_char {
    system_files::looks_at(path);
    // SAFETY: the program's own call, passed on; without a buffer the result is libc's to free, and
    // copied.
    unsafe {
        let own = libc::realpath(path, std::ptr::null_mut());
        if own.is_null() {
            return own;
        }
        let size = libc::strlen(own) + 1;
        let to =
            if out.is_null() { crate::hooks::blocks::__lr_libc_malloc(size).cast() } else { out };
        if !to.is_null() {
            host::write(to as usize, size);
            std::ptr::copy_nonoverlapping(own, to, size);
        }
        libc::free(own.cast());
        to
    }
}

/// getcwd, into the caller's buffer.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_getcwd(out: *mut c_char, n: usize) -> *mut c_char {
    // SAFETY: the program's own call, passed on; a result that is not null is a C string in the
    // buffer.
    unsafe {
        let result = libc::getcwd(out, n);
        if !result.is_null() {
            host::write(out as usize, libc::strlen(out) + 1);
        }
        result
    }
}

/// mkdir.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_mkdir(path: *const c_char, mode: c_uint) -> c_int {
    reads(path);
    // SAFETY: the program's own call, passed on.
    changes::make_directory(libc::AT_FDCWD, path, || unsafe { libc::mkdir(path, mode) })
}

/// rmdir.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_rmdir(path: *const c_char) -> c_int {
    reads(path);
    // SAFETY: the program's own call, passed on.
    changes::remove_directory(libc::AT_FDCWD, path, || unsafe { libc::rmdir(path) })
}

/// unlink.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_unlink(path: *const c_char) -> c_int {
    reads(path);
    // SAFETY: the program's own call, passed on.
    changes::remove(libc::AT_FDCWD, path, || unsafe { libc::unlink(path) })
}

/// unlinkat.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_unlinkat(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
) -> c_int {
    reads(path);
    // SAFETY: the program's own call, passed on.
    let call = || unsafe { libc::unlinkat(directory, path, flags) };
    if flags & libc::AT_REMOVEDIR != 0 {
        changes::remove_directory(directory, path, call)
    } else {
        changes::remove(directory, path, call)
    }
}

/// mkdirat.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_mkdirat(
    directory: c_int,
    path: *const c_char,
    mode: c_uint,
) -> c_int {
    reads(path);
    // SAFETY: the program's own call, passed on.
    changes::make_directory(directory, path, || unsafe { libc::mkdirat(directory, path, mode) })
}

/// rename.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the same call, relative to the current directory.
    unsafe { __lr_libc_renameat(libc::AT_FDCWD, from, libc::AT_FDCWD, to) }
}

/// renameat.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_renameat(
    from_directory: c_int,
    from: *const c_char,
    to_directory: c_int,
    to: *const c_char,
) -> c_int {
    reads(from);
    reads(to);
    // SAFETY: the program's own call, passed on.
    let call = || unsafe { libc::renameat(from_directory, from, to_directory, to) };
    changes::rename((from_directory, from), (to_directory, to), call)
}

/// link.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_link(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the same call, relative to the current directory.
    unsafe { __lr_libc_linkat(libc::AT_FDCWD, from, libc::AT_FDCWD, to, 0) }
}

/// linkat.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_linkat(
    from_directory: c_int,
    from: *const c_char,
    to_directory: c_int,
    to: *const c_char,
    flags: c_int,
) -> c_int {
    reads(from);
    reads(to);
    // SAFETY: the program's own call, passed on.
    let call = || unsafe { libc::linkat(from_directory, from, to_directory, to, flags) };
    changes::make(to_directory, to, call)
}

/// symlink.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_symlink(target: *const c_char, path: *const c_char) -> c_int {
    // SAFETY: the same call, relative to the current directory.
    unsafe { __lr_libc_symlinkat(target, libc::AT_FDCWD, path) }
}

/// symlinkat.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_symlinkat(
    target: *const c_char,
    directory: c_int,
    path: *const c_char,
) -> c_int {
    reads(target);
    reads(path);
    // SAFETY: the program's own call, passed on.
    changes::make(directory, path, || unsafe { libc::symlinkat(target, directory, path) })
}
