//! Data races, by the exact detector and by who has allocated what; and when there can be none.

use crate::detect::{self, AccessInfo, AccessKind, By, Detector, Race, StackId};
use crate::machine::event::{ChannelAct, Event, Executed, Freed, Plain};
use crate::machine::operation::{Atomic, AtomicOperation};
use crate::machine::state::State;
use crate::machine::watch::{rest, wake_up, watching};
use crate::memory::heap::Reuse;
use crate::monitor::births;
use crate::monitor::race_report::report;
use crate::record::captures::Spot;
use lockred_protocol::hooks::How;
use lockred_protocol::sites::SiteId;

/// An execution begins: the detector forgets, and watches.
pub fn begin(state: &mut State) {
    crate::monitor::observed::begin(state);
    if state.config.detects {
        let ranges = [crate::memory::arena::range(), crate::memory::program::globals()];
        let detector = state.monitors.detector.get_or_insert_with(|| Detector::new(&ranges));
        if state.monitors.recorder.is_some() {
            detector.keep_events();
        }
        detector.reset();
    }
    wake_up(state);
}

/// The running thread may be alone with nothing unordered after it: then no access can race until
/// it creates a thread.
pub fn rest_if_alone(state: &mut State) {
    let number = state.thread_number();
    let mut others = state.execution.threads.iter().enumerate();
    let behind_all = match &state.monitors.detector {
        Some(detector) => detector.is_behind_all(number),
        // By transactions, only joins show that nothing is unordered: locks may have ordered it by
        // chance.
        None => others.all(|(other, thread)| other == number as usize || thread.handle.joined),
    };
    if state.execution.live == 1 && behind_all {
        rest();
    }
}

/// A stack id for the detector: of the running stack while recording, else 0. A thread that goes
/// round and round in a turn of its own keeps the one that it had, as it may do that a million
/// times.
#[inline]
fn stack_id(state: &mut State, site: SiteId) -> StackId {
    if state.monitors.recorder.is_none() { StackId(0) } else { recorded_stack_id(state, site) }
}

/// The same, while recording.
#[inline(never)]
fn recorded_stack_id(state: &mut State, site: SiteId) -> StackId {
    if state.thread().loops.read_only_spin.in_turn() {
        return last_stack_id(state);
    }
    let thread = state.thread_number();
    let Some(recorder) = &mut state.monitors.recorder else { return StackId(0) };
    let spot = Spot { thread, site, pointer: crate::coroutine::context::stack_pointer() };
    let events = state.monitors.detector.as_ref().map_or(0, Detector::events);
    let held = state.execution.held.iter().filter(|held| held.thread == thread);
    StackId(recorder.captures.keep(spot, (recorder.steps.len(), events), held))
}

/// The stack id that was given last.
fn last_stack_id(state: &State) -> StackId {
    StackId(state.monitors.recorder.as_ref().map_or(0, |recorder| recorder.captures.last()))
}

/// An access was compared with what was done to the same bytes before; what is left is whether its
/// block was there.
fn judged(state: &mut State, access: AccessInfo, race: Option<Race>) {
    if let Some(race) = &race {
        report(state, race);
    }
    if let Some(race) = births::used(state, access, race.map(|race| race.earlier.thread)) {
        report(state, &race);
    }
}

/// See [`crate::scheduler::event`].
#[inline(always)]
pub fn on(state: &mut State, event: &Event<'_>) {
    let thread = state.thread_number();
    match event {
        Event::Plain(access) => plain(state, thread, *access),
        Event::Atomic(done) if done.watched => atomic(state, thread, done),
        Event::Atomic(_) => {}
        Event::Looks(operation) => looks(state, thread, operation),
        Event::Allocated { block, size } => allocated(state, *block, *size),
        Event::Freed(what) => freed(state, *what),
        other => orders(state, thread, other),
    }
}

/// Events that order others, or after which accesses may race or cannot.
fn orders(state: &mut State, thread: u32, event: &Event<'_>) {
    let detector = state.monitors.detector.as_mut();
    match (*event, detector) {
        (Event::Fence(order), Some(detector)) => detector.fence(thread, order),
        (Event::Passed(ChannelAct { channel, passing, .. }), Some(detector)) if watching() => {
            detector.pass(thread, channel, passing);
        }
        (Event::Resumed { channel, taken, .. }, Some(detector)) if watching() => {
            detector.resume(thread, channel, taken);
        }
        (Event::Created { child, .. }, detector) => {
            if let Some(detector) = detector {
                detector.spawn(thread, child);
            }
            wake_up(state);
        }
        (Event::Joined { target, .. }, detector) => {
            if let Some(detector) = detector {
                detector.join(thread, target);
            }
            rest_if_alone(state);
        }
        _ => {}
    }
}

/// Plain memory is accessed.
#[inline]
fn plain(state: &mut State, thread: u32, Plain { address, size, site, writes }: Plain) {
    let (mut race, mut stack) = (None, StackId(0));
    if state.monitors.detector.is_some() {
        stack = stack_id(state, site);
    }
    let by = By { thread, site, stack };
    if let Some(detector) = &mut state.monitors.detector {
        race = match writes {
            true => detector.write(by, address, size),
            false => detector.read(by, address, size),
        };
    }
    let kind = if writes { AccessKind::Write } else { AccessKind::Read };
    judged(state, births::access(kind, by, (address, size)), race);
}

/// An atomic operation was executed.
fn atomic(state: &mut State, thread: u32, done: &Executed<'_>) {
    let Executed { operation, access, wrote, reported, .. } = *done;
    let (mut race, mut stack) = (None, StackId(0));
    if state.monitors.detector.is_some() {
        stack = if reported { stack_id(state, operation.site) } else { last_stack_id(state) };
    }
    let by = By { thread, site: operation.site, stack };
    let (address, size) = (operation.address, operation.size as usize);
    if let Some(detector) = &mut state.monitors.detector {
        // Users of a recognised primitive cannot see weak values.
        let trusted = operation.how.has(How::PRIMITIVE);
        let atomic = detect::Atomic { order: operation.order, access, trusted };
        race = match operation.kind {
            Atomic::Store => detector.atomic_write(by, address, size, atomic),
            _ if wrote => detector.atomic_rmw(by, address, size, atomic),
            _ => detector.atomic_read(by, address, size, atomic),
        };
    }
    let kind = if wrote { AccessKind::AtomicWrite } else { AccessKind::AtomicRead };
    judged(state, births::access(kind, by, (address, size)), race);
    if operation.order.acquires() {
        rest_if_alone(state);
    }
}

/// The running thread is about to look at a word, maybe in vain, over and over.
fn looks(state: &mut State, thread: u32, operation: &AtomicOperation) {
    if !watching() || state.monitors.detector.is_none() {
        return;
    }
    let stack = stack_id(state, operation.site);
    let Some(detector) = &mut state.monitors.detector else { return };
    let by = By { thread, site: operation.site, stack };
    let (address, size) = (operation.address, operation.size as usize);
    let (access, weak) = (operation.in_vain(), operation.sees_stale_values());
    if let Some(race) = detector.look(by, address, size, access, weak) {
        report(state, &race);
    }
}

/// A block was allocated.
fn allocated(state: &mut State, address: usize, size: usize) {
    let (true, Some(thread)) = (watching(), state.running) else { return };
    // Who allocates with reuse has freed it. That is not forgotten, so that somebody's access
    // through an old pointer is one to freed memory, for the search by transactions and for its
    // replay alike.
    if let (Reuse::Late, Some(detector)) = (state.config.reuse, &mut state.monitors.detector) {
        crate::memory::arena::touched(address, size, |address, size| {
            detector.allocated(address, size)
        });
    }
    if !crate::machine::channels::is_inside_modelled_call(state) {
        let stack = stack_id(state, SiteId(0));
        births::begins(state, By { thread, site: SiteId(0), stack }, address);
    }
}

/// Memory is about to end.
fn freed(state: &mut State, Freed { address, size, modelled, .. }: Freed) {
    let (false, true, Some(thread)) = (modelled, watching(), state.running) else { return };
    let by = By { thread, site: SiteId(0), stack: stack_id(state, SiteId(0)) };
    let mut race = None;
    if let Some(detector) = &mut state.monitors.detector {
        // Nobody has accessed what was never touched.
        crate::memory::arena::touched(address, size, |address, size| {
            race = race.take().or(detector.freed(by, address, size));
        });
    }
    judged(state, births::access(AccessKind::Free, by, (address, size)), race);
}
