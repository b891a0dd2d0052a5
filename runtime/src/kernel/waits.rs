//! Waiting for descriptors above the root (`poll`, `select`, `epoll_wait`), so that it agrees with
//! virtual time.
//!
//! The kernel is asked without waiting first. Where nothing is ready and nobody outside can change
//! that, time goes on to the timeout or to the next timer, at once; else the process really waits,
//! and virtual time goes on by what that took.

use super::timers;
use crate::host;
use crate::machine::hook;
use crate::machine::state::set_errno;
use crate::world::agents;
use libc::{c_int, epoll_event, fd_set, pollfd, sigset_t, timespec, timeval};
use std::ptr::null_mut;
use std::time::Instant;

const NANOSECONDS: u64 = 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;

/// A call that waits for descriptors at most so many nanoseconds; `None`: for ever.
trait Waits: FnMut(Option<u64>) -> c_int {}
impl<F: FnMut(Option<u64>) -> c_int> Waits for F {}

/// Waits above the root until `call` finds something, or a timeout in nanoseconds has passed.
fn wait(name: &str, timeout: Option<u64>, mut call: impl Waits) -> c_int {
    if hook::with(|state| state.execution.threads.is_empty()) {
        return call(timeout);
    }
    let deadline = timeout.map(|timeout| super::now().saturating_add(timeout));
    loop {
        timers::expire();
        let found = call(Some(0));
        let now = super::now();
        if found != 0 || deadline.is_some_and(|deadline| deadline <= now) {
            return found;
        }
        let next = deadline.into_iter().chain(timers::next()).min();
        if agents::may_act() {
            let since = Instant::now();
            let found = call(next.map(|next| next - now));
            let took = since.elapsed();
            if found == 0 {
                advance_to(next.unwrap_or(now));
            }
            if found != 0 {
                return keeping_errno(found, || super::passed(took));
            }
        } else if let Some(next) = next {
            advance_to(next);
        } else {
            host::unsupported(&format!(
                "{name} without a timeout, while nothing is ready and nobody else could make it so"
            ));
        }
    }
}

/// Virtual time goes on to a moment.
fn advance_to(moment: u64) {
    hook::with(|state| crate::scheduler::timely::advance_to(state, moment));
}

/// Does something that leaves the error of a call alone.
fn keeping_errno(result: c_int, act: impl FnOnce()) -> c_int {
    let errno = super::errno();
    act();
    set_errno(errno);
    result
}

/// Below the root nothing can be waited for.
fn above(name: &str) {
    if host::below_root() {
        host::unsupported(name);
    }
}

fn milliseconds(timeout: c_int) -> Option<u64> {
    u64::try_from(timeout).ok().map(|timeout| timeout * MILLISECOND)
}

/// A timeout as `poll` takes it: not shorter than what is asked for.
fn as_milliseconds(timeout: Option<u64>) -> c_int {
    timeout
        .map_or(-1, |timeout| c_int::try_from(timeout.div_ceil(MILLISECOND)).unwrap_or(c_int::MAX))
}

/// A timeout of the program's.
///
/// # Safety
/// The pointer is null or valid.
unsafe fn given(timeout: *const timespec) -> Option<u64> {
    // SAFETY: by the caller's promise.
    let time = unsafe { timeout.as_ref() }?;
    Some((time.tv_sec as u64).saturating_mul(NANOSECONDS).saturating_add(time.tv_nsec as u64))
}

/// A read of this descriptor is about to block, where it has nothing to read. Above the root only.
pub fn readable(fd: c_int, name: &str) {
    if host::below_root() || !agents::were_asked() {
        return;
    }
    let is_pipe = || {
        // SAFETY: all-zero bytes are a valid `stat`, which the call fills.
        unsafe {
            let mut status: libc::stat = std::mem::zeroed();
            libc::fstat(fd, &raw mut status) == 0 && status.st_mode & libc::S_IFMT == libc::S_IFIFO
        }
    };
    // SAFETY: only looks at the descriptor's flags.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    let waits = flags >= 0 && flags & libc::O_NONBLOCK == 0;
    if timers::is_timer(fd) && !waits {
        timers::expire();
    } else if waits && (timers::is_timer(fd) || is_pipe()) {
        let mut entry = pollfd { fd, events: libc::POLLIN, revents: 0 };
        let what = if timers::is_timer(fd) { "a timer" } else { "a pipe" };
        // SAFETY: one valid entry.
        wait(&format!("{name} on {what}"), None, |timeout| unsafe {
            libc::poll(&raw mut entry, 1, as_milliseconds(timeout))
        });
    }
    set_errno(0);
}

/// poll: below the root it only looks.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_poll(fds: *mut pollfd, count: u64, timeout: c_int) -> c_int {
    if host::below_root() {
        if timeout != 0 {
            host::unsupported("poll");
        }
        host::write(fds as usize, count as usize * size_of::<pollfd>());
    }
    // SAFETY: the program's own call, passed on.
    wait("poll", milliseconds(timeout), |timeout| unsafe {
        libc::poll(fds, count, as_milliseconds(timeout))
    })
}

/// ppoll: signals are not waited for.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_ppoll(
    fds: *mut pollfd,
    count: u64,
    timeout: *const timespec,
    _mask: *const sigset_t,
) -> c_int {
    above("ppoll");
    // SAFETY: the program's own call, passed on.
    unsafe {
        wait("ppoll", given(timeout), |timeout| libc::poll(fds, count, as_milliseconds(timeout)))
    }
}

/// The sets of `select`: each call of the kernel overwrites them.
struct Sets {
    places: [*mut fd_set; 3],
    asked: [Vec<u8>; 3],
}

impl Sets {
    /// # Safety
    /// The places are null, or sets of as many descriptors.
    unsafe fn new(descriptors: c_int, places: [*mut fd_set; 3]) -> Self {
        let bytes = (descriptors.max(0) as usize).div_ceil(64) * 8;
        let asked = places.map(|place| match place.is_null() {
            true => Vec::new(),
            // SAFETY: by the caller's promise.
            false => unsafe { std::slice::from_raw_parts(place.cast::<u8>(), bytes) }.to_vec(),
        });
        Self { places, asked }
    }

    /// # Safety
    /// The places are still there.
    unsafe fn select(&self, descriptors: c_int, timeout: Option<u64>) -> c_int {
        for (place, asked) in self.places.iter().zip(&self.asked) {
            // SAFETY: as many bytes as were read there.
            unsafe { std::ptr::copy_nonoverlapping(asked.as_ptr(), place.cast(), asked.len()) };
        }
        let mut time = timeout.map(|timeout| timeval {
            tv_sec: (timeout / NANOSECONDS) as i64,
            tv_usec: (timeout % NANOSECONDS).div_ceil(1000).min(999_999) as i64,
        });
        let time = time.as_mut().map_or(null_mut(), std::ptr::from_mut);
        let [read, write, except] = self.places;
        // SAFETY: the program's own call, passed on.
        unsafe { libc::select(descriptors, read, write, except, time) }
    }
}

/// select: the timeout is left as it is.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_select(
    descriptors: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    above("select");
    // SAFETY: the program's own call, passed on.
    unsafe {
        let timeout = timeout.as_ref().map(|time| {
            (time.tv_sec as u64).saturating_mul(NANOSECONDS) + time.tv_usec as u64 * 1000
        });
        let sets = Sets::new(descriptors, [read, write, except]);
        wait("select", timeout, |timeout| sets.select(descriptors, timeout))
    }
}

/// pselect: signals are not waited for.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_pselect(
    descriptors: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *const timespec,
    _mask: *const sigset_t,
) -> c_int {
    above("pselect");
    // SAFETY: the program's own call, passed on.
    unsafe {
        let sets = Sets::new(descriptors, [read, write, except]);
        wait("pselect", given(timeout), |timeout| sets.select(descriptors, timeout))
    }
}

/// epoll_wait.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_epoll_wait(
    epoll: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: c_int,
) -> c_int {
    above("epoll_wait");
    // SAFETY: the program's own call, passed on.
    wait("epoll_wait", milliseconds(timeout), |timeout| unsafe {
        libc::epoll_wait(epoll, events, most, as_milliseconds(timeout))
    })
}

/// epoll_pwait: signals are not waited for.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: c_int,
    _mask: *const sigset_t,
) -> c_int {
    above("epoll_pwait");
    // SAFETY: the same call without a mask.
    unsafe { __lr_libc_epoll_wait(epoll, events, most, timeout) }
}

/// epoll_pwait2: signals are not waited for.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_epoll_pwait2(
    epoll: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: *const timespec,
    _mask: *const sigset_t,
) -> c_int {
    above("epoll_pwait2");
    // SAFETY: the program's own call, passed on.
    unsafe {
        wait("epoll_pwait2", given(timeout), |timeout| {
            libc::epoll_wait(epoll, events, most, as_milliseconds(timeout))
        })
    }
}
