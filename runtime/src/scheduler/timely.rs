//! Sleeps and timeouts, and what others could have done before they end.
//!
//! A schedule is *timely* if time passes only when no thread can run: a sleep or a wait with a
//! timeout ends only then (who only goes round a loop in vain, yields or sleeps cannot run), those
//! that end earlier do so first, and no look at a clock comes late. All else are *overtaken*
//! sleeps, timeouts and looks. With ordered time, only timely schedules are possible; else the
//! overtaken ones are counted, and kept in a record.
//!
//! Moments that are less than [`NOISE`] apart are the same: looks at clocks take time themselves,
//! in an order that no search explores.

use crate::machine::event::Event;
use crate::machine::hook::Entered;
use crate::machine::operation::{ChannelOperation, Pending};
use crate::machine::state::State;
use crate::machine::thread::Thread;
use crate::scheduler::event;
use crate::scheduler::status;
use crate::scheduler::stops::stop;
use lockred_protocol::codes::AssumptionKind;
use lockred_protocol::message::{Overtaken, Timed};
use lockred_protocol::session::Request;
use lockred_protocol::sites::SiteId;

/// See the module; in nanoseconds.
const NOISE: u64 = 500_000;

/// When a thread goes on by itself that nobody wakes; nothing where that is not known.
const fn until(thread: &Thread) -> Option<u64> {
    match thread.pending {
        Pending::Sleeping { until } => Some(until),
        Pending::FutexQueued { deadline, .. } => deadline,
        Pending::Channel(ChannelOperation { timed: true, .. }) => thread.channel.until,
        _ => None,
    }
}

/// The thread that is to go on before the time of another one comes, `moment`.
fn goes_before(state: &State, number: usize, moment: Option<u64>) -> Option<usize> {
    let earlier = |other: usize| {
        let thread = &state.execution.threads[other];
        status::may_time_out(state, other)
            && until(thread)
                .zip(moment)
                .is_some_and(|(its, mine)| its.saturating_add(NOISE) <= mine)
    };
    let mut others = (0..state.execution.threads.len()).filter(|&other| other != number);
    others.find(|&other| status::ready(state, other) || earlier(other))
}

/// Whether a thread that sleeps, or waits with a timeout, may go on by itself.
pub fn comes_next(state: &State, number: usize) -> bool {
    let thread = &state.execution.threads[number];
    !state.config.orders_time || goes_before(state, number, until(thread)).is_none()
}

/// Whether some thread waits for that.
pub fn is_waited_for(state: &State) -> bool {
    let threads = 0..state.execution.threads.len();
    state.config.orders_time && { threads }.any(|number| status::may_time_out(state, number))
}

/// Time goes on to a moment, if that is not past: the running thread has slept, or timed out.
pub fn advance_to(state: &mut State, nanoseconds: u64) {
    let clock = &mut state.execution.clock;
    *clock = (*clock).max(nanoseconds);
}

/// The running thread sleeps so long, and until then.
pub fn sleep(entered: &mut Entered, nanoseconds: u64, until: u64) {
    let state = &mut **entered;
    if !state.below_root || state.execution.live == 1 {
        return crate::scheduler::timely::advance_to(state, until);
    }
    bounds(state);
    state.thread().atomic.open = false;
    stop(entered, Pending::Sleeping { until }, [until, nanoseconds, 0, 0], SiteId(0));
    ended(entered, Timed::Sleep, nanoseconds, Some(until));
    event::notify(entered, &Event::Slept(nanoseconds));
    crate::scheduler::timely::advance_to(entered, until);
}

/// The running thread's sleep or wait of so many nanoseconds, until then, has ended by itself.
pub fn ended(entered: &mut Entered, what: Timed, nanoseconds: u64, until: Option<u64>) {
    if entered.config.orders_time {
        return event::notify(entered, &Event::ByTime);
    }
    let state = &mut **entered;
    let number = state.thread_number() as usize;
    let moment = until.unwrap_or(0);
    if let Some(by) = goes_before(state, number, Some(moment)) {
        overtaken(state, what, nanoseconds, Some(by));
    }
}

/// The running thread has looked at a clock, which says that so much time has passed.
pub fn late(state: &mut State, nanoseconds: u64) {
    let number = state.thread_number() as usize;
    let by = goes_before(state, number, Some(0));
    overtaken(state, Timed::Look, nanoseconds, by);
}

/// Whether some failures are known to show where something is overtaken, and passed over there.
fn passes_over(state: &State) -> bool {
    state.config.request.as_ref().is_some_and(|request| !request.passes.is_empty())
}

/// Whether a failure is known to show where something is overtaken, as it was in the execution
/// under way. The same failure without that is another finding.
pub fn is_known(state: &State, failure: &str) -> bool {
    let known = |request: &Request| request.passes.iter().any(|key| key == failure);
    state.execution.overtaken && state.config.request.as_ref().is_some_and(known)
}

fn overtaken(state: &mut State, what: Timed, nanoseconds: u64, by: Option<usize>) {
    state.step.overtaken += 1;
    // Else it would only tell states apart.
    state.execution.overtaken = passes_over(state);
    if state.monitors.recorder.is_none() {
        return;
    }
    let stack = crate::coroutine::unwind::stack();
    let (site, thread) = (SiteId(0), state.thread_number());
    let by = by.map(|number| (number as u32, state.execution.threads[number].site));
    if let Some(recorder) = &mut state.monitors.recorder {
        let step = recorder.steps.len();
        recorder.overtaken.push(Overtaken { what, nanoseconds, site, stack, thread, by, step });
    }
}

/// Something takes time: with ordered time, other schedules are left out.
pub fn bounds(state: &mut State) {
    if state.config.orders_time {
        crate::machine::limits::assume(state, AssumptionKind::TimeOrdered, "");
    }
}

/// Whether what a thread does next is to wait with a timeout, or to go on after a sleep.
pub const fn may_give_up(pending: &Pending) -> bool {
    matches!(
        pending,
        Pending::FutexQueued { deadline: Some(_), .. }
            | Pending::Channel(ChannelOperation { timed: true, .. })
    )
}
