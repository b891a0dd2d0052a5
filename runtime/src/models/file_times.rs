//! Times of files as programs see them, and as they set them: see [`crate::world::file_times`].

use super::changes;
use crate::machine::hook;
use crate::world::file_times::{self, Moment};
use crate::world::realtime;
use libc::{c_char, c_int, timespec};

const NANOSECONDS: Moment = 1_000_000_000;

/// The program's realtime clock, which this is no look at.
pub fn now() -> Moment {
    hook::with(|state| Moment::from(state.execution.clock) + Moment::from(realtime::OFFSET))
}

/// The seconds and nanoseconds of what a program sees of such a time.
fn look(seconds: i64, nanoseconds: i64, now: Moment) -> (i64, i64) {
    let kept = Moment::from(seconds) * NANOSECONDS + Moment::from(nanoseconds);
    split(file_times::look(kept, now))
}

fn split(moment: Moment) -> (i64, i64) {
    (moment.div_euclid(NANOSECONDS) as i64, moment.rem_euclid(NANOSECONDS) as i64)
}

/// What a program sees of a file.
///
/// # Safety
/// The kernel has filled it.
pub unsafe fn shown(status: *mut libc::stat) {
    // SAFETY: by the caller's promise.
    let status = unsafe { &mut *status };
    let now = now();
    let show = |seconds: &mut i64, nanoseconds: &mut i64| {
        (*seconds, *nanoseconds) = look(*seconds, *nanoseconds, now);
    };
    show(&mut status.st_atime, &mut status.st_atime_nsec);
    show(&mut status.st_mtime, &mut status.st_mtime_nsec);
    show(&mut status.st_ctime, &mut status.st_ctime_nsec);
}

/// What a program sees of a file.
///
/// # Safety
/// The kernel has filled it.
pub unsafe fn shown_in_full(status: *mut libc::statx) {
    // SAFETY: by the caller's promise.
    let status = unsafe { &mut *status };
    let now = now();
    let times = [
        (libc::STATX_ATIME, &mut status.stx_atime),
        (libc::STATX_MTIME, &mut status.stx_mtime),
        (libc::STATX_CTIME, &mut status.stx_ctime),
        (libc::STATX_BTIME, &mut status.stx_btime),
    ];
    for (bit, time) in times {
        if status.stx_mask & bit != 0 {
            let (seconds, nanoseconds) = look(time.tv_sec, time.tv_nsec.into(), now);
            (time.tv_sec, time.tv_nsec) = (seconds, nanoseconds as u32);
        }
    }
}

/// What the kernel is to keep for the times that a program gives to a file.
///
/// # Safety
/// There are two times, or none.
unsafe fn kept(times: *const timespec) -> Option<[timespec; 2]> {
    if times.is_null() {
        return None;
    }
    // SAFETY: by the caller's promise.
    let times = unsafe { *times.cast::<[timespec; 2]>() };
    let now = now();
    Some(times.map(|time| {
        if matches!(time.tv_nsec, libc::UTIME_NOW | libc::UTIME_OMIT) {
            return time;
        }
        let shown = Moment::from(time.tv_sec) * NANOSECONDS + Moment::from(time.tv_nsec);
        let (tv_sec, tv_nsec) = split(file_times::set(shown, now));
        timespec { tv_sec, tv_nsec }
    }))
}

/// The address of times that there may be.
fn address(times: Option<&[timespec; 2]>) -> *const timespec {
    times.map_or(std::ptr::null(), |times| times.as_ptr())
}

/// utimensat.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_utimensat(
    directory: c_int,
    path: *const c_char,
    times: *const timespec,
    flags: c_int,
) -> c_int {
    // SAFETY: the program passes two times, or none.
    let kept = unsafe { kept(times) };
    let times = address(kept.as_ref());
    // SAFETY: the program's own call, passed on.
    let call = || unsafe { libc::syscall(libc::SYS_utimensat, directory, path, times, flags) };
    changes::set_times(directory, path, || call() as c_int)
}

/// futimens.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_futimens(fd: c_int, times: *const timespec) -> c_int {
    // SAFETY: the program passes two times, or none.
    let kept = unsafe { kept(times) };
    // SAFETY: the program's own call, passed on.
    changes::set_times(fd, std::ptr::null(), || unsafe {
        libc::futimens(fd, address(kept.as_ref()))
    })
}
