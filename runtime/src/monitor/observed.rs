//! What threads access, and under which locks, where the discipline is looked at
//! ([`crate::discipline::observed`]).

use crate::coroutine::unwind::Frame;
use crate::discipline::observed::How;
use crate::machine::event::{Event, Executed, Plain};
use crate::machine::hook::Entered;
use crate::machine::state::State;
use crate::report::home;
use lockred_protocol::hooks;
use lockred_protocol::message::{Home, LockSeen, Memory, Observation};
use lockred_protocol::sites::SiteId;
use std::collections::HashMap;

/// An execution begins.
pub fn begin(state: &mut State) {
    let threads = state.execution.threads.len();
    state.monitors.exclusive.begin();
    if let Some(observed) = &mut state.monitors.observed {
        observed.begin(threads);
    }
}

/// See [`crate::scheduler::event`].
#[inline(always)]
pub fn on(entered: &mut Entered, event: &Event<'_>) {
    if entered.monitors.observed.is_some() {
        looks_on(entered, event);
    }
}

/// The same, where somebody wants to know.
#[inline(never)]
fn looks_on(entered: &mut Entered, event: &Event<'_>) {
    let number = entered.thread_number() as usize;
    match *event {
        Event::Plain(Plain { address, size, site, writes }) => {
            accessed(entered, (address, size), site, writes, false);
        }
        Event::Atomic(Executed { operation, wrote, watched: true, .. })
            if !operation.how.has(hooks::How::PRIMITIVE) =>
        {
            let memory = (operation.address, operation.size as usize);
            accessed(entered, memory, operation.site, wrote, true);
        }
        Event::Created { child, .. } => {
            if let Some(observed) = &mut entered.monitors.observed {
                observed.creates(number, child as usize);
            }
        }
        Event::Joined { target, .. } => {
            if let Some(observed) = &mut entered.monitors.observed {
                observed.joins(number, target as usize);
            }
        }
        _ => {}
    }
}

/// The running thread accesses memory that others may access, too.
fn accessed(
    entered: &mut Entered,
    (address, size): (usize, usize),
    site: SiteId,
    writes: bool,
    atomic: bool,
) {
    let state = &mut **entered;
    let thread = state.thread_number();
    let Some(observed) = &mut state.monitors.observed else { return };
    if !observed.looks() {
        return;
    }
    let state = &**entered;
    let Some(observed) = &state.monitors.observed else { return };
    let memory = |address, size| memory(state, address, size, &observed.frames);
    let held = state.execution.held.iter().filter(|held| held.thread == thread);
    let mut held: Vec<LockSeen> = held
        .map(|held| LockSeen { lock: memory(held.address, 1).0, shared: held.shared })
        .collect();
    held.sort();
    let text = crate::memory::program::text();
    let stack = crate::coroutine::unwind::stack();
    let stack: Vec<u64> =
        stack.into_iter().filter(|frame| text.contains(&(*frame as usize))).collect();
    let (known, block) = match observed.memory(address, size) {
        Some(known) => (known.clone(), None),
        None => memory(address, size),
    };
    crate::monitor::exclusive::look(entered, Some((site, &stack)));
    let refused = crate::monitor::exclusive::accessed(entered, &known, address);
    if let Some(observed) = &mut entered.monitors.observed {
        let how = How { site, stack, writes, atomic, held, refused };
        observed.access(thread, (address, size), (known, block), how);
    }
}

/// What is at an address, in words that mean the same in all executions, and the block that it is
/// in.
fn memory(
    state: &State,
    address: usize,
    size: usize,
    frames: &HashMap<u32, Vec<Frame>>,
) -> (Memory, Option<usize>) {
    let (address, size) = (address as u64, size as u64);
    match home::of(state, address as usize, frames) {
        Some(Home::Block { start, size: bytes, allocated }) => {
            let home = Some(Home::Block { start: 0, size: bytes, allocated });
            (Memory { address: address - start, size, home }, Some(start as usize))
        }
        home => (Memory { address, size, home }, None),
    }
}

/// The execution is judged, so that it was not too long.
pub fn judged(state: &mut State) {
    if let Some(observed) = &mut state.monitors.observed {
        observed.judged();
    }
}

/// The execution has come to its end.
pub fn ends(state: &mut State) {
    let Some(observed) = &mut state.monitors.observed else { return };
    let life = |block: usize| {
        let life = state.monitors.allocations.as_ref().and_then(|lives| lives.of(block));
        life.map_or([None, None], |life| {
            [&life.allocated, &life.freed].map(|event| event.as_ref().map(|event| event.thread))
        })
    };
    let threads = &state.execution.threads;
    let parent = |thread: u32| threads.get(thread as usize).and_then(|thread| thread.parent);
    observed.ends(life, &parent);
}

/// What was seen.
pub fn observation(state: &mut State) -> Observation {
    let observed = state.monitors.observed.take().unwrap_or_default();
    observed.into_observation(state.monitors.exclusive.take_broken())
}
