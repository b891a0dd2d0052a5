//! Directory streams: blocks of the program's heap with all entries in them, so that a restore puts
//! them back, and threads that share one are seen to.
//!
//! Entries are read when the stream is opened; what changes in the directory afterwards may be seen
//! or not, as POSIX has it.

use super::{files, paths};
use crate::hooks::blocks as memory;
use crate::host;
use crate::machine::state;
use libc::{DIR, c_char, c_int, c_long, dirent};

/// The head of a stream; the entries follow, as the kernel gives them, which is how libc has them.
#[repr(C)]
struct Stream {
    fd: c_int,
    /// Bytes of the entry that is read next, from the first one on.
    at: usize,
    /// Bytes of all entries.
    end: usize,
}

const HEAD: usize = size_of::<Stream>();
/// Where an entry has its length, and how many bytes that has.
const LENGTH: usize = std::mem::offset_of!(dirent, d_reclen);

/// All entries of an open directory.
fn entries(fd: c_int) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    let mut buffer = vec![0_u8; 32 << 10];
    loop {
        // SAFETY: the kernel fills the buffer as far as it goes.
        let read =
            unsafe { libc::syscall(libc::SYS_getdents64, fd, buffer.as_mut_ptr(), buffer.len()) };
        match usize::try_from(read) {
            Err(_) => return None,
            Ok(0) => return Some(all),
            Ok(bytes) => all.extend_from_slice(&buffer[..bytes]),
        }
    }
}

/// opendir.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_opendir(path: *const c_char) -> *mut DIR {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC | libc::O_NONBLOCK;
    // SAFETY: by the caller's promise.
    let fd = unsafe { paths::__lr_libc_openat(libc::AT_FDCWD, path, flags, 0) };
    if fd < 0 {
        return std::ptr::null_mut();
    }
    let stream = __lr_libc_fdopendir(fd);
    if stream.is_null() {
        let errno = crate::kernel::errno();
        // SAFETY: it was opened here.
        unsafe { files::__lr_libc_close(fd) };
        state::set_errno(errno);
    }
    stream
}

/// fdopendir.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_fdopendir(fd: c_int) -> *mut DIR {
    let Some(entries) = entries(fd) else { return std::ptr::null_mut() };
    let block = memory::__lr_libc_malloc(HEAD + entries.len());
    if !block.is_null() {
        host::write(block as usize, HEAD + entries.len());
        // SAFETY: a new block of that size, aligned for anything.
        unsafe {
            block.cast::<Stream>().write(Stream { fd, at: 0, end: entries.len() });
            std::ptr::copy_nonoverlapping(entries.as_ptr(), block.add(HEAD), entries.len());
        }
    }
    block.cast()
}

/// The head of a stream, which the running thread reads.
///
/// # Safety
/// The program passes an open stream.
unsafe fn head<'a>(stream: *mut DIR) -> &'a mut Stream {
    host::read(stream as usize, HEAD);
    // SAFETY: by the caller's promise; nobody else refers to it while a call is made.
    unsafe { &mut *stream.cast::<Stream>() }
}

/// The next entry; null at the end.
///
/// # Safety
/// The program passes an open stream.
unsafe fn next(stream: *mut DIR) -> *mut dirent {
    // SAFETY: by the caller's promise. Entries are whole, and each says how long it is.
    unsafe {
        let head = head(stream);
        if head.at >= head.end {
            return std::ptr::null_mut();
        }
        host::write(stream as usize, HEAD);
        let entry = stream.cast::<u8>().add(HEAD + head.at);
        let length = entry.add(LENGTH).cast::<u16>().read_unaligned();
        head.at += usize::from(length);
        entry.cast()
    }
}

/// readdir.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_readdir(stream: *mut DIR) -> *mut dirent {
    // SAFETY: by the caller's promise.
    unsafe { next(stream) }
}

/// readdir64.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_readdir64(stream: *mut DIR) -> *mut dirent {
    // SAFETY: the same function on 64-bit machines.
    unsafe { next(stream) }
}

/// readdir_r.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_readdir_r(
    stream: *mut DIR,
    entry: *mut dirent,
    result: *mut *mut dirent,
) -> c_int {
    // SAFETY: by the caller's promise; an entry is as long as it says.
    unsafe {
        let next = next(stream);
        host::write(result as usize, size_of::<usize>());
        *result = std::ptr::null_mut();
        if !next.is_null() {
            let length = usize::from((&raw const (*next).d_reclen).read_unaligned());
            let length = length.min(size_of::<dirent>());
            host::read(next as usize, length);
            host::write(entry as usize, length);
            std::ptr::copy_nonoverlapping(next.cast::<u8>(), entry.cast(), length);
            *result = entry;
        }
    }
    0
}

/// readdir64_r.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_readdir64_r(
    stream: *mut DIR,
    entry: *mut dirent,
    result: *mut *mut dirent,
) -> c_int {
    // SAFETY: the same function on 64-bit machines.
    unsafe { __lr_libc_readdir_r(stream, entry, result) }
}

/// telldir.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_telldir(stream: *mut DIR) -> c_long {
    // SAFETY: by the caller's promise.
    unsafe { head(stream) }.at as c_long
}

/// seekdir: to where `telldir` was asked.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_seekdir(stream: *mut DIR, at: c_long) {
    host::write(stream as usize, HEAD);
    // SAFETY: by the caller's promise.
    let head = unsafe { head(stream) };
    head.at = usize::try_from(at).unwrap_or(0).min(head.end);
}

/// rewinddir: the directory would have to be read again.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_rewinddir(_stream: *mut DIR) {
    host::unsupported("rewinddir");
}

/// dirfd.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_dirfd(stream: *mut DIR) -> c_int {
    // SAFETY: by the caller's promise.
    unsafe { head(stream) }.fd
}

/// closedir.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_closedir(stream: *mut DIR) -> c_int {
    // SAFETY: by the caller's promise.
    unsafe {
        let fd = head(stream).fd;
        memory::__lr_libc_free(stream.cast());
        files::__lr_libc_close(fd)
    }
}
