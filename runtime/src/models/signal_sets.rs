//! Sets of signals: a kilobit of the program's memory each, of which a call reads and writes what
//! it needs.

use crate::host;
use crate::machine::state::set_errno;
use libc::{c_int, sigset_t};

/// Bytes of a set.
const BYTES: usize = size_of::<sigset_t>();
/// Signals that a set can have are numbered from 1 to this.
const SIGNALS: c_int = 64;

/// The byte of a set that a signal is in, and its bit there.
fn place(set: *const sigset_t, signal: c_int) -> Option<(*mut u8, u8)> {
    if set.is_null() || !(1..=SIGNALS).contains(&signal) {
        set_errno(libc::EINVAL);
        return None;
    }
    let index = (signal - 1) as usize;
    Some((set.cast::<u8>().cast_mut().wrapping_add(index / 8), 1 << (index % 8)))
}

/// Fills a set with one byte.
fn fill(set: *mut sigset_t, byte: u8) -> c_int {
    host::write(set as usize, BYTES);
    // SAFETY: the program passes a set.
    unsafe { std::ptr::write_bytes(set.cast::<u8>(), byte, BYTES) };
    0
}

/// sigemptyset.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_sigemptyset(set: *mut sigset_t) -> c_int {
    fill(set, 0)
}

/// sigfillset.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_sigfillset(set: *mut sigset_t) -> c_int {
    fill(set, 0xff)
}

/// Changes the byte with a signal in it. That is an access to the whole word, as libc makes it.
fn change(set: *mut sigset_t, signal: c_int, how: impl FnOnce(u8, u8) -> u8) -> c_int {
    let Some((byte, bit)) = place(set, signal) else { return -1 };
    host::read(set as usize, 8);
    host::write(set as usize, 8);
    // SAFETY: a byte of the program's set.
    unsafe { *byte = how(*byte, bit) };
    0
}

/// sigaddset.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_sigaddset(set: *mut sigset_t, signal: c_int) -> c_int {
    change(set, signal, |byte, bit| byte | bit)
}

/// sigdelset.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_sigdelset(set: *mut sigset_t, signal: c_int) -> c_int {
    change(set, signal, |byte, bit| byte & !bit)
}

/// sigismember.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_sigismember(set: *const sigset_t, signal: c_int) -> c_int {
    let Some((byte, bit)) = place(set, signal) else { return -1 };
    host::read(set as usize, 8);
    // SAFETY: a byte of the program's set.
    c_int::from(unsafe { *byte } & bit != 0)
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn signals_are_numbered_from_1_on() {
        let set = 64 as *const libc::sigset_t;
        assert_eq!(place(set, 1), Some((64 as *mut u8, 1)));
        assert_eq!(place(set, 8), Some((64 as *mut u8, 128)));
        assert_eq!(place(set, 9), Some((65 as *mut u8, 1)));
        assert_eq!(place(set, 64), Some((71 as *mut u8, 128)));
    }
}
