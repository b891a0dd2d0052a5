//! What the process and the machine have used: time is the virtual one, all else is fixed.

use crate::host;
use libc::{c_int, c_long};

/// Memory that is free, in pages: as much as anybody wants.
pub const FREE_PAGES: c_long = 1 << 20;
const PAGE: u64 = 4096;
const NANOSECONDS: u64 = 1_000_000_000;

/// Virtual time: a look at the clock.
pub fn nanoseconds() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    crate::hooks::time::__lr_libc_clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time);
    time.tv_sec as u64 * NANOSECONDS + time.tv_nsec as u64
}

/// clock: processor time is the time that passes.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_clock() -> c_long {
    (nanoseconds() / 1000) as c_long
}

/// times: in hundredths of a second.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_times(out: *mut libc::tms) -> c_long {
    let ticks = (nanoseconds() / 10_000_000) as c_long;
    if !out.is_null() {
        host::write(out as usize, size_of::<libc::tms>());
        // SAFETY: the program passes null or a place for the times.
        unsafe {
            *out = libc::tms { tms_utime: ticks, tms_stime: 0, tms_cutime: 0, tms_cstime: 0 };
        }
    }
    ticks
}

/// getrusage: the time, and nothing else.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_getrusage(who: c_int, out: *mut libc::rusage) -> c_int {
    host::write(out as usize, size_of::<libc::rusage>());
    let time = nanoseconds();
    // SAFETY: the program passes a place for the usage, of which all-zero bytes are a valid value.
    unsafe {
        *out = std::mem::zeroed();
        if who != libc::RUSAGE_CHILDREN {
            (*out).ru_utime.tv_sec = (time / NANOSECONDS) as i64;
            (*out).ru_utime.tv_usec = (time % NANOSECONDS / 1000) as i64;
        }
    }
    0
}

/// sysinfo: a machine that does nothing else.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_sysinfo(out: *mut libc::sysinfo) -> c_int {
    host::write(out as usize, size_of::<libc::sysinfo>());
    let up = (nanoseconds() / NANOSECONDS) as c_long;
    // SAFETY: the program passes a place for the information, of which all-zero bytes are a valid
    // value.
    unsafe {
        *out = std::mem::zeroed();
        (*out).uptime = up;
        (*out).totalram = 2 * FREE_PAGES as u64 * PAGE;
        (*out).freeram = FREE_PAGES as u64 * PAGE;
        (*out).procs = 1;
        (*out).mem_unit = 1;
    }
    0
}

/// getloadavg: nothing waits.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_getloadavg(out: *mut f64, count: c_int) -> c_int {
    const KNOWN: c_int = 3;
    let count = count.clamp(0, KNOWN);
    host::write(out as usize, count as usize * size_of::<f64>());
    // SAFETY: the program passes a place for `count` numbers.
    unsafe { std::ptr::write_bytes(out, 0, count as usize) };
    count
}

/// mallinfo: what libc's allocator has is not the program's, which has an allocator of ours.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_mallinfo() -> libc::mallinfo {
    // SAFETY: numbers.
    unsafe { std::mem::zeroed() }
}

/// mallinfo2.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_mallinfo2() -> libc::mallinfo2 {
    // SAFETY: numbers.
    unsafe { std::mem::zeroed() }
}
