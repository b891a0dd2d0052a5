//! The native machine: [`lockred_search::machine::Machine`] over the program's coroutines.

use crate::loops::read_only_spin;
use crate::loops::writing_spin;
use crate::machine::channels;
use crate::machine::config::Mode;
use crate::machine::fingerprint::Fingerprints;
use crate::machine::footprints;
use crate::machine::hook::{self, Entered};
use crate::machine::operation::{ChannelOperation, Pending};
use crate::machine::state::{State, run};
use crate::machine::step::Lent;
use crate::machine::thread::Thread;
use crate::machine::timely::{self, may_give_up};
use crate::machine::transactional::Log;
use crate::record::failure::Failure;
use lockred_protocol::codes::AssumptionKind;
use lockred_protocol::sites::SiteId;
use lockred_search::footprint::{Footprint, ObjectId};
use lockred_search::machine::{Approach, Chooser, Flow, Machine, Status, Step, ThreadId};
use std::cell::RefCell;

/// Steps that remain to the other threads once the process has exited.
const STEPS_AFTER_EXIT: u64 = 10_000;

/// The machine. The program's state is in [`crate::machine::state`]: coroutines reach it from
/// inside a step.
#[derive(Default, Debug)]
pub struct Native {
    /// How the present state was reached, for the search by transactions.
    pub(crate) log: Log,
    /// What states are told apart with, in the search over them.
    pub(crate) fingerprints: RefCell<Fingerprints>,
}

/// Mixes an operation into a signature.
pub fn sign(signature: &mut u64, what: u64, address: usize, site: SiteId) {
    for word in [what, address as u64, u64::from(site.0)] {
        *signature = (signature.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

/// How often threads other than this one have done something ([`crate::loops::writing_spin`]).
fn others(state: &State, number: usize) -> u64 {
    state.execution.progress - state.execution.threads[number].progress
}

/// Whether a thread could run whatever the others do, timeouts and turns of loops aside.
pub fn ready(state: &State, number: usize) -> bool {
    let thread = &state.execution.threads[number];
    match thread.pending {
        Pending::Start
        | Pending::Spawn
        | Pending::FutexWait { .. }
        | Pending::FutexWake { .. }
        | Pending::Choosing => true,
        Pending::Join { target } => state.execution.threads[target as usize].has_ended(),
        Pending::Atomic(operation) => {
            operation.can_proceed() && !crate::monitor::transactions::waits(state, &operation)
        }
        Pending::FutexQueued { .. } => thread.woken,
        Pending::Channel(operation) => channels::can_proceed(state, &operation),
        Pending::Offering { .. } => {
            thread.channel.answered.is_some() || state.knowledge.channels_step_by_step
        }
        Pending::Spinning => thread.loops.read_only_spin.changed(),
        Pending::Stuttering => thread.loops.writing_spin.changed(others(state, number)),
        Pending::Sleeping { .. } | Pending::Never | Pending::Ended => false,
    }
}

/// Whether a thread sleeps, or waits with a timeout, which may end although others could run.
pub fn may_time_out(state: &State, number: usize) -> bool {
    let thread = &state.execution.threads[number];
    let sleeps = matches!(thread.pending, Pending::Sleeping { .. });
    sleeps
        || may_give_up(&thread.pending)
            && (!thread.loops.writing_spin.is_stuttering()
                || thread.loops.writing_spin.changed(others(state, number)))
}

/// Turns that a thread which goes round a loop has had, if it waits for another one.
pub fn turns(thread: &Thread) -> Option<u32> {
    match thread.pending {
        Pending::Spinning => Some(thread.loops.read_only_spin.turns()),
        Pending::Stuttering => Some(thread.loops.writing_spin.turns()),
        pending if may_give_up(&pending) => Some(thread.loops.writing_spin.turns()),
        _ => None,
    }
}

/// Whether a thread goes round a loop, and waits there for another one.
pub fn goes_round(thread: &Thread) -> bool {
    let recognised = matches!(thread.pending, Pending::Atomic(operation) if operation.goes_round());
    recognised || turns(thread).is_some()
}

/// The thread whose turn it is when nobody can run: of those that go round loops, the one that had
/// the fewest turns.
fn next_turn(state: &State) -> Option<usize> {
    let threads = &state.execution.threads;
    let idle = |number: &usize| !ready(state, *number) && !may_time_out(state, *number);
    if state.execution.exit.is_some() || !(0..threads.len()).all(|number| idle(&number)) {
        return None;
    }
    let limit = |thread: &Thread| match (state.config.mode, thread.pending) {
        (Mode::Free, _) => u32::MAX,
        (_, Pending::Spinning) => read_only_spin::FAIRNESS_TURNS,
        _ => writing_spin::FAIRNESS_TURNS,
    };
    let candidates = threads.iter().enumerate().filter_map(|(number, thread)| {
        turns(thread).filter(|turns| *turns < limit(thread)).map(|turns| (turns, number))
    });
    candidates.min().map(|(_, number)| number)
}

/// Status of a thread; see [`crate::loops::read_only_spin`] and [`crate::loops::writing_spin`] for
/// what loops wait for.
pub fn status(state: &State, number: usize) -> Status {
    let thread = &state.execution.threads[number];
    if thread.has_ended() || state.execution.cut {
        return Status::Ended;
    }
    if ready(state, number) {
        return Status::Enabled;
    }
    let gives_up = may_time_out(state, number) && timely::comes_next(state, number);
    if gives_up || (turns(thread).is_some() && next_turn(state) == Some(number)) {
        return Status::LowPriority;
    }
    Status::Blocked { on: waits_for(state, thread.pending) }
}

/// The object that a blocked thread waits for.
fn waits_for(state: &State, pending: Pending) -> ObjectId {
    match pending {
        Pending::Atomic(operation) => footprints::word(operation.address),
        Pending::FutexQueued { address, .. } => footprints::queue(address),
        Pending::Channel(ChannelOperation { channel, .. }) | Pending::Offering { channel } => {
            channels::object(state, channel)
        }
        Pending::Join { target } => ObjectId(1 << 62 | u64::from(target)),
        _ => ObjectId(0),
    }
}

/// Runs a thread, which can run, to its next stop. `monitor`: of the search by transactions, if
/// that runs it.
pub fn execute(
    entered: &mut Entered,
    thread: ThreadId,
    chooser: &mut dyn Chooser,
    monitor: Option<Lent>,
    step: &mut Step<Failure>,
) {
    step.clear();
    let state = &mut **entered;
    // SAFETY: only the lifetime is changed; the pointer is used during this call alone and cleared
    // at its end.
    let chooser: *mut (dyn Chooser + 'static) =
        unsafe { std::mem::transmute(std::ptr::from_mut(chooser)) };
    state.step.chooser = Some(chooser);
    state.step.monitor = monitor;
    state.step.begin(thread.0, state.execution.threads[thread.index()].site);
    state.step.signature = u64::from(thread.0);
    state.monitors.native.begin_step();
    std::mem::swap(&mut state.step.footprint, &mut step.footprint);
    std::mem::swap(&mut state.step.failures, &mut step.failures);
    if state.knowledge.deaths.take_reached() {
        state.step.flow = Flow::Over;
    } else {
        run(entered, thread.0);
    }
    let state = &mut **entered;
    state.step.chooser = None;
    state.step.monitor = None;
    std::mem::swap(&mut state.step.footprint, &mut step.footprint);
    std::mem::swap(&mut state.step.failures, &mut step.failures);
    step.signature = state.step.signature;
    step.flow = state.step.flow;
    step.overtaken = state.step.overtaken;
    state.knowledge.most_threads =
        state.knowledge.most_threads.max(state.execution.threads.len() as u32);
    if state.execution.exit.is_some() {
        state.execution.steps_after_exit += 1;
        state.execution.cut |= state.config.exit_ends;
        if state.execution.steps_after_exit > STEPS_AFTER_EXIT {
            state.execution.cut = true;
            crate::machine::limits::assume(state, AssumptionKind::DetachedThreadCut, "");
        }
    }
}

/// The search is outside: each of these enters ([`crate::machine::hook`]).
impl Machine for Native {
    type Failure = Failure;

    fn is_race(failure: &Failure) -> bool {
        failure.kind == lockred_protocol::codes::BugKind::DataRace
    }

    fn restore_root(&mut self) {
        self.log.clear();
        crate::machine::root::restore(&mut hook::enter());
    }

    fn threads(&self) -> u32 {
        hook::enter().execution.threads.len() as u32
    }

    fn status(&mut self, thread: ThreadId) -> Status {
        status(&hook::enter(), thread.index())
    }

    fn waits_for_time(&self) -> bool {
        timely::is_waited_for(&hook::enter())
    }

    fn pending(&mut self, thread: ThreadId, footprint: &mut Footprint) {
        let state = &*hook::enter();
        footprint.clear();
        if state.config.by_transactions {
            let touch = |object, access| footprint.touch(object, access);
            return crate::monitor::transactions::pending(state, thread.index(), touch);
        }
        let thread = &state.execution.threads[thread.index()];
        let words = thread.loops.read_only_spin.words().map(|(address, _)| address);
        footprints::pending(&thread.pending, words, footprint);
    }

    fn approach(&self, thread: ThreadId, target: u32) -> Approach {
        crate::monitor::targets::approach(&hook::enter(), thread, target)
    }

    fn step(&mut self, thread: ThreadId, chooser: &mut dyn Chooser, step: &mut Step<Failure>) {
        execute(&mut hook::enter(), thread, chooser, None, step);
    }

    fn finish(&mut self, failures: &mut Vec<Failure>) {
        crate::report::judge::finish(&mut hook::enter(), failures);
    }
}

/// An alternative, picked by the search; 0 where there is nothing to pick or nobody to ask.
pub fn choose(entered: &mut Entered, of: usize) -> usize {
    if of < 2 {
        return 0;
    }
    match entered.step.chooser {
        Some(chooser) => {
            // SAFETY: set by `step`, whose caller lends the chooser until the step ends, and this
            // runs inside a step.
            let value = entered.outside(|| unsafe { (*chooser).choose(of as u32) as usize });
            crate::machine::deaths::after_value(entered);
            value
        }
        None => 0,
    }
}
