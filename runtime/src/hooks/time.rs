//! Virtual time: one clock that every look advances a little, and that sleeps and timeouts advance
//! by what they ask for.
//!
//! So time never goes back, and who has slept or timed out finds that the time has passed. That
//! looks of one thread come before or after those, or the sleeps, of another is explored only as
//! far as other operations put them there; how much time has passed at a look is a choice of two
//! ([`crate::scheduler::looks`]).

use crate::machine::hook::{self, Entered};
use crate::machine::state::set_errno;
use crate::world::{agents, realtime};
use lockred_protocol::sites::SiteId;
use std::time::Duration;

const NANOSECONDS: u64 = 1_000_000_000;

/// A look at the monotonic clock, in nanoseconds.
fn now(entered: &mut Entered) -> u64 {
    let passes = crate::scheduler::looks::passes(entered);
    let clock = &mut entered.execution.clock;
    *clock += passes;
    *clock
}

fn timespec(nanoseconds: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: (nanoseconds / NANOSECONDS) as i64,
        tv_nsec: (nanoseconds % NANOSECONDS) as i64,
    }
}

/// Sleeps: time goes on, and other threads may run wherever they may run anyway.
fn sleep_for(entered: &mut Entered, nanoseconds: u64) {
    if !entered.is_put_back() {
        // It may wait, and a signal of a child's is handled meanwhile.
        entered.outside(|| really_sleep(nanoseconds));
    }
    crate::scheduler::timely::sleep(
        entered,
        nanoseconds,
        entered.execution.clock.saturating_add(nanoseconds),
    );
    if entered.below_root {
        crate::scheduler::pauses::pause(entered, SiteId(0));
    }
}

/// Sleeps above the root really, where somebody else goes on meanwhile.
fn really_sleep(nanoseconds: u64) {
    if agents::may_act() {
        std::thread::sleep(Duration::from_nanos(nanoseconds));
    }
}

fn sleep_until(entered: &mut Entered, nanoseconds: u64) {
    sleep_for(entered, nanoseconds.saturating_sub(entered.execution.clock));
}

/// Reads a requested time.
fn requested(time: *const libc::timespec) -> Option<u64> {
    // SAFETY: the program passes a valid timespec.
    let time = unsafe { *time };
    let valid = time.tv_sec >= 0 && (0..NANOSECONDS as i64).contains(&time.tv_nsec);
    valid.then(|| {
        (time.tv_sec as u64).saturating_mul(NANOSECONDS).saturating_add(time.tv_nsec as u64)
    })
}

/// clock_gettime.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_clock_gettime(clock: i32, out: *mut libc::timespec) -> i32 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    let offset = match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => realtime::OFFSET,
        _ => 0,
    };
    // SAFETY: the program passes a place for the time.
    unsafe { *out = timespec(now(entered) + offset) };
    0
}

/// gettimeofday.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_gettimeofday(out: *mut libc::timeval, _zone: *mut u8) -> i32 {
    let entered = &mut hook::enter();
    let time = timespec(now(entered) + realtime::OFFSET);
    // SAFETY: the program passes a place for the time.
    unsafe { *out = libc::timeval { tv_sec: time.tv_sec, tv_usec: time.tv_nsec / 1000 } };
    0
}

/// time.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_time(out: *mut i64) -> i64 {
    let entered = &mut hook::enter();
    let seconds = ((now(entered) + realtime::OFFSET) / NANOSECONDS) as i64;
    if !out.is_null() {
        // SAFETY: the program passes null or a place for the time.
        unsafe { *out = seconds };
    }
    seconds
}

/// nanosleep.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_nanosleep(
    time: *const libc::timespec,
    _rest: *mut libc::timespec,
) -> i32 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    match requested(time) {
        Some(nanoseconds) => {
            sleep_for(entered, nanoseconds);
            0
        }
        None => {
            set_errno(libc::EINVAL);
            -1
        }
    }
}

/// clock_nanosleep; returns the error instead of setting `errno`.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_clock_nanosleep(
    clock: i32,
    flags: i32,
    time: *const libc::timespec,
    _rest: *mut libc::timespec,
) -> i32 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    let Some(nanoseconds) = requested(time) else { return libc::EINVAL };
    if flags & libc::TIMER_ABSTIME == 0 {
        sleep_for(entered, nanoseconds);
    } else {
        let offset = if clock == libc::CLOCK_REALTIME { realtime::OFFSET } else { 0 };
        sleep_until(entered, nanoseconds.saturating_sub(offset));
    }
    0
}

/// usleep.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_usleep(microseconds: u32) -> i32 {
    let entered = &mut hook::enter();
    sleep_for(entered, u64::from(microseconds) * 1000);
    0
}

/// sleep.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_sleep(seconds: u32) -> u32 {
    let entered = &mut hook::enter();
    sleep_for(entered, u64::from(seconds) * NANOSECONDS);
    0
}
