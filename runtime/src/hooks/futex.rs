//! The futex system call: the one primitive that std and most crates block on.
//!
//! Wait compares the word and enters the queue in one step; the thread then is queued until it is
//! woken or its timeout fires. A wake of fewer threads than are queued picks any of them: that is a
//! choice of the search.

use crate::machine::event::Event;
use crate::machine::event::Futex;
use crate::machine::hook::Entered;
use crate::machine::operation::Pending;
use crate::machine::state;
use crate::machine::state::NOTHING;
use crate::machine::state::State;
use crate::memory::words::load;
use crate::scheduler::choice::choose;
use crate::scheduler::event;
use crate::scheduler::stops::stop;
use lockred_protocol::message::Timed;
use lockred_protocol::sites::SiteId;

const NANOSECONDS: u64 = 1_000_000_000;

/// How a wait's timeout is given.
#[derive(Clone, Copy)]
enum Timeout {
    Relative,
    Absolute,
}

/// `syscall(SYS_futex, …)`. `hook`: the function of the runtime that the program called for it.
pub fn futex(
    entered: &mut Entered,
    address: usize,
    operation: i32,
    value: u32,
    timeout: usize,
    bits: u32,
    hook: usize,
) -> i64 {
    let command = operation & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);
    match command {
        libc::FUTEX_WAIT => {
            let deadline = deadline(entered, timeout, Timeout::Relative);
            wait(entered, address, value, deadline, u32::MAX, hook)
        }
        libc::FUTEX_WAIT_BITSET => {
            let realtime = operation & libc::FUTEX_CLOCK_REALTIME != 0;
            let offset = if realtime { crate::world::realtime::OFFSET } else { 0 };
            let deadline = deadline(entered, timeout, Timeout::Absolute);
            wait(
                entered,
                address,
                value,
                deadline.map(|time| time.saturating_sub(offset)),
                bits,
                hook,
            )
        }
        libc::FUTEX_WAKE => wake(entered, address, value),
        libc::FUTEX_WAKE_BITSET if bits == u32::MAX => wake(entered, address, value),
        _ => crate::machine::limits::unsupported(entered, &format!("futex operation {command}")),
    }
}

/// Virtual time at which a wait gives up.
fn deadline(state: &State, timeout: usize, how: Timeout) -> Option<u64> {
    if timeout == 0 {
        return None;
    }
    // SAFETY: the program passes a valid timespec or null.
    let time = unsafe { *(timeout as *const libc::timespec) };
    let nanoseconds =
        (time.tv_sec as u64).saturating_mul(NANOSECONDS).saturating_add(time.tv_nsec as u64);
    Some(match how {
        Timeout::Relative => state.execution.clock.saturating_add(nanoseconds),
        Timeout::Absolute => nanoseconds,
    })
}

fn fail(error: i32) -> i64 {
    state::set_errno(error);
    -1
}

fn wait(
    entered: &mut Entered,
    address: usize,
    value: u32,
    deadline: Option<u64>,
    bits: u32,
    hook: usize,
) -> i64 {
    if bits != u32::MAX {
        crate::machine::limits::unsupported(entered, "futex wait with a bit set");
    }
    if crate::machine::channels::is_inside_modelled_call(entered)
        && crate::scheduler::acts::times_out(entered, deadline)
    {
        return fail(libc::ETIMEDOUT);
    }
    match deadline {
        Some(_) => {
            crate::scheduler::timely::bounds(entered);
            crate::machine::loops::begin_timed(entered);
        }
        None => crate::machine::loops::leave_loop(entered, SiteId(0)),
    }
    let inside = crate::machine::region::takes_futex(entered, address);
    if !inside {
        let until = deadline.map_or([0, 0], |deadline| [1, deadline]);
        stop(
            entered,
            Pending::FutexWait { address },
            [value.into(), until[0], until[1], 0],
            SiteId(0),
        );
    }
    event::notify(entered, &Event::Futex(address, Futex::Compared));
    let timed = deadline.is_some();
    if load(address, 4) != u64::from(value) {
        event::notify(entered, &Event::Futex(address, Futex::Differs { timed }));
        return fail(libc::EAGAIN);
    }
    if crate::scheduler::spurious::happens(entered, address, hook) {
        event::notify(entered, &Event::Futex(address, Futex::Returned));
        return 0;
    }
    event::notify(entered, &Event::Futex(address, Futex::Enqueued { timed }));
    entered.thread().woken = false;
    let begun = entered.execution.clock;
    stop(entered, Pending::FutexQueued { address, deadline }, NOTHING, SiteId(0));
    let left = if timed { Event::Futex(address, Futex::Left) } else { Event::WentOn };
    event::notify(entered, &left);
    crate::scheduler::spurious::ended(entered, address);
    if std::mem::take(&mut entered.thread().woken) {
        event::notify(entered, &Event::Futex(address, Futex::Woken { timed }));
        return 0;
    }
    let takes = deadline.unwrap_or(0).saturating_sub(begun);
    crate::scheduler::timely::ended(entered, Timed::Timeout, takes, deadline);
    crate::scheduler::timely::advance_to(entered, deadline.unwrap_or(0));
    event::notify(entered, &Event::Futex(address, Futex::TimedOut));
    fail(libc::ETIMEDOUT)
}

fn wake(entered: &mut Entered, address: usize, most: u32) -> i64 {
    if !entered.below_root {
        return 0;
    }
    crate::machine::loops::leave_reads(entered, SiteId(0));
    let inside = crate::machine::region::takes_futex(entered, address);
    if !inside {
        stop(entered, Pending::FutexWake { address }, [most.into(), 0, 0, 0], SiteId(0));
    }
    let mut woken = Vec::new();
    while woken.len() < most as usize {
        let waiters: Vec<u32> = waiters(entered, address).collect();
        if waiters.is_empty() {
            break;
        }
        // Everybody is woken: there is nothing to choose.
        let all = waiters.len() <= most as usize - woken.len();
        let chosen = waiters[if all { 0 } else { choose(entered, waiters.len()) }];
        entered.execution.threads[chosen as usize].woken = true;
        woken.push(chosen);
    }
    event::notify(entered, &Event::Futex(address, Futex::Wakes(&woken)));
    woken.len() as i64
}

/// Threads in a futex's queue that nobody has woken, in creation order.
fn waiters(state: &State, address: usize) -> impl Iterator<Item = u32> {
    let threads = state.execution.threads.iter().enumerate();
    threads.filter_map(move |(number, thread)| match thread.pending {
        Pending::FutexQueued { address: queued, .. } if queued == address && !thread.woken => {
            Some(number as u32)
        }
        _ => None,
    })
}
