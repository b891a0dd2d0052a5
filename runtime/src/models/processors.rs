//! Processors as the program sees them: two, of which a thread is always on the first that it may
//! use.
//!
//! The one OS thread of the search is on any of the machine's, and moves; what programs do with the
//! number must not depend on that.

use super::identity;
use crate::host;
use crate::machine::hook;
use crate::machine::state::{State, set_errno};
use crate::world::processors::{ALL, PROCESSORS};
use libc::{c_int, c_long, c_uint, c_void};

/// Bytes of the kernel's set of processors, of which the rest is empty.
const SET_BYTES: usize = 8;

/// The processor that the running thread is on.
fn current() -> u32 {
    let of = |state: &mut State| state.execution.processors.of(state.thread_number());
    hook::with(of).trailing_zeros()
}

/// The running thread's number.
fn running() -> u32 {
    hook::with(|state| state.thread_number())
}

/// The thread that a call about processors names by its number for the system: 0 is the running
/// one.
fn named(number: c_int) -> Option<u32> {
    let running = running();
    let thread = if number == 0 { running } else { identity::thread(number)? };
    if thread != running && host::below_root() {
        host::unsupported("processors of another thread");
    }
    Some(thread)
}

/// Writes the processors of a thread; gives the error.
fn get(thread: u32, size: usize, set: *mut c_void) -> c_int {
    if size < SET_BYTES {
        return libc::EINVAL;
    }
    host::write(set as usize, size);
    let processors = hook::with(|state| state.execution.processors.of(thread));
    // SAFETY: the program passes a set of `size` bytes, which are eight at least.
    unsafe {
        std::ptr::write_bytes(set.cast::<u8>(), 0, size);
        *set.cast::<u64>() = processors;
    }
    0
}

/// Reads the processors that a thread is to use; gives the error.
fn set(thread: u32, size: usize, set: *const c_void) -> c_int {
    let bytes = size.min(SET_BYTES);
    host::read(set as usize, bytes);
    let mut word = [0; SET_BYTES];
    // SAFETY: the program passes a set of `size` bytes.
    unsafe { std::ptr::copy_nonoverlapping(set.cast::<u8>(), word.as_mut_ptr(), bytes) };
    match u64::from_le_bytes(word) & ALL {
        0 => libc::EINVAL,
        processors => {
            hook::with(|state| state.execution.processors.set(thread, processors));
            0
        }
    }
}

/// -1 with an error, or 0.
fn errno_result(error: c_int) -> c_int {
    if error == 0 {
        return 0;
    }
    set_errno(error);
    -1
}

/// sched_getaffinity.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_sched_getaffinity(
    process: c_int,
    size: usize,
    out: *mut c_void,
) -> c_int {
    errno_result(named(process).map_or(libc::ESRCH, |thread| get(thread, size, out)))
}

/// sched_setaffinity.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_sched_setaffinity(
    process: c_int,
    size: usize,
    wanted: *const c_void,
) -> c_int {
    errno_result(named(process).map_or(libc::ESRCH, |thread| set(thread, size, wanted)))
}

/// The running thread, if that is the one which a handle names.
fn own(handle: usize) -> u32 {
    if handle != crate::hooks::pthread::__lr_libc_pthread_self() {
        host::unsupported("processors of another thread");
    }
    running()
}

/// pthread_getaffinity_np.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_pthread_getaffinity_np(
    thread: usize,
    size: usize,
    out: *mut c_void,
) -> c_int {
    get(own(thread), size, out)
}

/// pthread_setaffinity_np.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_pthread_setaffinity_np(
    thread: usize,
    size: usize,
    wanted: *const c_void,
) -> c_int {
    set(own(thread), size, wanted)
}

/// sched_getcpu.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_sched_getcpu() -> c_int {
    current() as c_int
}

/// getcpu.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_getcpu(processor: *mut c_uint, node: *mut c_uint) -> c_int {
    for (out, value) in [(processor, current()), (node, 0)] {
        if !out.is_null() {
            host::write(out as usize, size_of::<c_uint>());
            // SAFETY: the program passes null or a place for the number.
            unsafe { *out = value };
        }
    }
    0
}

/// sysconf: the number of processors is fixed.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_sysconf(name: c_int) -> c_long {
    match name {
        libc::_SC_NPROCESSORS_ONLN | libc::_SC_NPROCESSORS_CONF => PROCESSORS.into(),
        libc::_SC_AVPHYS_PAGES => super::usage::FREE_PAGES,
        // SAFETY: only looks.
        _ => unsafe { libc::sysconf(name) },
    }
}

/// Does what a system call about processors does, if it is one.
pub fn system_call(number: i64, a: usize, b: usize, c: usize) -> Option<i64> {
    match number {
        libc::SYS_getcpu => {
            // SAFETY: the program's own call, passed on.
            let result = unsafe { __lr_libc_getcpu(a as *mut c_uint, b as *mut c_uint) };
            Some(result.into())
        }
        // The kernel gives the bytes that it wrote.
        libc::SYS_sched_getaffinity => {
            // SAFETY: as above.
            let result = unsafe { __lr_libc_sched_getaffinity(a as c_int, b, c as *mut c_void) };
            Some(if result == 0 { SET_BYTES as i64 } else { -1 })
        }
        _ => None,
    }
}

/// See [`lockred_protocol::hooks`]: what `rdtscp` and `rdpid` give.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_processor() -> u64 {
    current().into()
}

/// See [`lockred_protocol::hooks`]: what the processor counts, at a rate of one in a nanosecond of
/// virtual time.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_time_stamp() -> u64 {
    super::usage::nanoseconds()
}

/// See [`lockred_protocol::hooks`]: what `rdrand` and `rdseed` give.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_random_number() -> u64 {
    let mut word = 0_u64;
    let place = (&raw mut word).cast();
    crate::hooks::randomness::__lr_libc_getrandom(place, size_of::<u64>(), 0);
    word
}

/// Bits of `cpuid`'s answers that name the processor which is asked (Intel SDM volume 2, CPUID; AMD
/// APM volume 3, appendix E): by leaf, the register (0 to 3: eax to edx), and the bits.
const NAMES: [(u32, u32, u32); 4] =
    [(1, 1, 0xff00_0000), (0xb, 3, u32::MAX), (0x1f, 3, u32::MAX), (0x8000_001e, 0, u32::MAX)];

/// See [`lockred_protocol::hooks`]: what `cpuid` gives in a register, without what names the
/// processor.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_cpuid(leaf: u32, register: u32, value: u32) -> u32 {
    let is_named = |&&(of, at, _): &&(u32, u32, u32)| (of, at) == (leaf, register);
    NAMES.iter().find(is_named).map_or(value, |(_, _, bits)| value & !bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_a_processor_is_left_out() {
        assert_eq!(__lr_cpuid(1, 1, 0x0712_3456), 0x0012_3456);
        assert_eq!(__lr_cpuid(1, 2, 0x0712_3456), 0x0712_3456);
        assert_eq!(__lr_cpuid(0xb, 3, 5), 0);
        assert_eq!(__lr_cpuid(7, 3, 5), 5);
    }
}
