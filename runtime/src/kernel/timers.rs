//! Timers that are descriptors (`timerfd`): each is an `eventfd`, to which what has expired by the
//! virtual clock is added.
//!
//! The two are alike for who reads and waits for them: 8 bytes that are taken, nothing there until
//! something has happened. Below the root all that waits for descriptors is unsupported, so nothing
//! here is ever put back.

use crate::host;
use crate::machine::state::set_errno;
use crate::world::realtime;
use libc::{c_int, itimerspec, timespec};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

const NANOSECONDS: u64 = 1_000_000_000;

/// A timer that runs.
#[derive(Clone, Copy, Default)]
struct Timer {
    /// What its clock shows beyond the virtual one.
    offset: u64,
    /// When it expires next, by the virtual clock; `None`: it does not run.
    next: Option<u64>,
    /// From one time to the next; 0: it expires once.
    interval: u64,
}

/// All timers. A duplicate of a descriptor is the same timer, which lives as long as one of them is
/// open.
#[derive(Default)]
struct Timers {
    /// Which timer a descriptor is.
    of: BTreeMap<c_int, u64>,
    timers: BTreeMap<u64, Timer>,
    made: u64,
}

impl Timers {
    fn made(&mut self, fd: c_int, timer: Timer) {
        self.closed(fd);
        self.made += 1;
        self.of.insert(fd, self.made);
        self.timers.insert(self.made, timer);
    }

    fn get(&mut self, fd: c_int) -> Option<&mut Timer> {
        self.timers.get_mut(self.of.get(&fd)?)
    }

    fn closed(&mut self, fd: c_int) {
        let Some(timer) = self.of.remove(&fd) else { return };
        if self.of.values().all(|&other| other != timer) {
            self.timers.remove(&timer);
        }
    }

    fn duplicated(&mut self, fd: c_int, new: c_int) {
        if fd == new {
            return;
        }
        self.closed(new);
        if let Some(&timer) = self.of.get(&fd) {
            self.of.insert(new, timer);
        }
    }
}

/// (The lock is the runtime's own and never contended.)
static TIMERS: Mutex<Timers> =
    Mutex::new(Timers { of: BTreeMap::new(), timers: BTreeMap::new(), made: 0 });

fn timers() -> MutexGuard<'static, Timers> {
    TIMERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a descriptor is a timer.
pub fn is_timer(fd: c_int) -> bool {
    timers().of.contains_key(&fd)
}

/// A descriptor is closed.
pub fn closed(fd: c_int) {
    timers().closed(fd);
}

/// `new` is what `fd` is, and no more what it was, unless there was an error. Above the root.
pub fn duplicated(fd: c_int, new: c_int) {
    if new >= 0 {
        timers().duplicated(fd, new);
    }
}

/// When the next timer expires, by the virtual clock.
pub fn next() -> Option<u64> {
    timers().timers.values().filter_map(|timer| timer.next).min()
}

/// What has expired by now can be read.
pub fn expire() {
    let now = super::now();
    let mut all = timers();
    let Timers { of, timers, .. } = &mut *all;
    for (&fd, timer) in of {
        let Some(timer) = timers.get_mut(timer) else { continue };
        // Of several descriptors, the first one gets it.
        let Some(next) = timer.next.filter(|&next| next <= now) else { continue };
        let times = match timer.interval {
            0 => 1,
            interval => 1 + (now - next) / interval,
        };
        timer.next = (timer.interval > 0).then(|| next + times * timer.interval);
        // SAFETY: eight bytes, to the timer's own descriptor; that does not block before 2^64 - 1.
        unsafe { libc::write(fd, (&raw const times).cast(), 8) };
    }
}

fn nanoseconds(time: timespec) -> u64 {
    (time.tv_sec as u64).saturating_mul(NANOSECONDS).saturating_add(time.tv_nsec as u64)
}

fn spec(nanoseconds: u64) -> timespec {
    timespec {
        tv_sec: (nanoseconds / NANOSECONDS) as i64,
        tv_nsec: (nanoseconds % NANOSECONDS) as i64,
    }
}

/// What is left of a timer.
fn left(timer: &Timer) -> itimerspec {
    let now = super::now();
    // One that runs has something left.
    let left = timer.next.map_or(0, |next| next.saturating_sub(now).max(1));
    itimerspec { it_interval: spec(timer.interval), it_value: spec(left) }
}

/// timerfd_create.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_timerfd_create(clock: c_int, flags: c_int) -> c_int {
    if host::below_root() {
        host::unsupported("timerfd_create");
    }
    super::asked("timerfd_create");
    let offset = match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_ALARM => realtime::OFFSET,
        _ => 0,
    };
    // SAFETY: makes a descriptor; the flags of both kinds are those of `open`.
    let fd = unsafe { libc::eventfd(0, flags) };
    if fd >= 0 {
        timers().made(fd, Timer { offset, ..Timer::default() });
    }
    fd
}

/// timerfd_settime.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_timerfd_settime(
    fd: c_int,
    flags: c_int,
    new: *const itimerspec,
    old: *mut itimerspec,
) -> c_int {
    if host::below_root() {
        host::unsupported("timerfd_settime");
    }
    expire();
    let now = super::now();
    let mut all = timers();
    let Some(timer) = all.get(fd) else {
        set_errno(libc::EINVAL);
        return -1;
    };
    // SAFETY: the program passes a time, and null or a place for the old one.
    let (first, interval) = unsafe {
        if !old.is_null() {
            *old = left(timer);
        }
        (nanoseconds((*new).it_value), nanoseconds((*new).it_interval))
    };
    let absolute = flags & libc::TFD_TIMER_ABSTIME != 0;
    timer.interval = interval;
    timer.next = (first > 0).then(|| match absolute {
        true => first.saturating_sub(timer.offset),
        false => now.saturating_add(first),
    });
    drop(all);
    forget_expired(fd);
    0
}

/// What has expired and was not read is forgotten when a timer is set.
fn forget_expired(fd: c_int) {
    let mut entry = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut times = 0_u64;
    // SAFETY: one valid entry and eight bytes; what can be read is read without waiting.
    unsafe {
        if libc::poll(&raw mut entry, 1, 0) == 1 {
            libc::read(fd, (&raw mut times).cast(), 8);
        }
    }
}

/// timerfd_gettime.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_timerfd_gettime(fd: c_int, out: *mut itimerspec) -> c_int {
    if host::below_root() {
        host::unsupported("timerfd_gettime");
    }
    expire();
    let Some(timer) = timers().get(fd).copied() else {
        set_errno(libc::EINVAL);
        return -1;
    };
    // SAFETY: the program passes a place for the time.
    unsafe { *out = left(&timer) };
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_lives_as_long_as_a_duplicate() {
        let mut all = Timers::default();
        all.made(3, Timer { next: Some(7), ..Timer::default() });
        all.duplicated(3, 5);
        all.duplicated(3, 3);
        all.closed(3);
        assert_eq!(all.get(5).and_then(|timer| timer.next), Some(7));
        all.made(3, Timer::default());
        all.duplicated(3, 5);
        assert_eq!((all.timers.len(), all.get(5).and_then(|timer| timer.next)), (1, None));
        all.duplicated(9, 5);
        all.closed(3);
        assert!(all.of.is_empty() && all.timers.is_empty());
    }
}
