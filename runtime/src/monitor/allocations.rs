//! Where blocks were allocated and freed, and by whom: for reports, and for grouping leaks by where
//! they come from.

use crate::machine::event::Freed;
use crate::machine::execution::Held;
use crate::machine::state::State;
use crate::report::failure::place;
use lockred_protocol::message::{Place, Role};
use lockred_protocol::sites::SiteId;
use std::collections::HashMap;

/// Blocks from before the root of which the allocation is remembered: a stack is walked for each.
const MOST_BEFORE_ROOT: usize = 20_000;

/// What happened to a block.
#[derive(Clone, Debug)]
pub struct Event {
    /// Who did it.
    pub thread: u32,
    /// Return addresses, innermost first.
    pub stack: Vec<u64>,
    /// Steps recorded before it.
    step: usize,
    /// Locks that the thread held.
    held: Vec<Held>,
}

/// One block from its allocation on.
#[derive(Clone, Debug, Default)]
pub struct Life {
    /// Its allocation, unless that is too long ago.
    pub allocated: Option<Event>,
    /// Its deallocation, once it is freed.
    pub freed: Option<Event>,
}

/// The blocks of one execution, by address. Kept while recording, and where leaks are looked for.
#[derive(Debug, Default)]
pub struct Allocations {
    before_root: HashMap<usize, Life>,
    since_root: HashMap<usize, Life>,
}

impl Allocations {
    /// What is known of a block.
    pub fn of(&self, block: usize) -> Option<&Life> {
        self.since_root.get(&block).or_else(|| self.before_root.get(&block))
    }

    /// The allocation of a block, if that was after the root.
    pub fn allocated_since_root(&self, block: usize) -> Option<&Event> {
        self.since_root.get(&block)?.allocated.as_ref()
    }

    /// An execution begins at the root.
    pub fn begin(&mut self) {
        self.since_root.clear();
    }
}

/// What the running thread does just now.
fn event(state: &State) -> Event {
    let thread = state.thread_number();
    let held = state.execution.held.iter().filter(|held| held.thread == thread);
    Event {
        thread,
        stack: crate::coroutine::unwind::stack(),
        step: state.monitors.recorder.as_ref().map_or(0, |recorder| recorder.steps.len()),
        held: held.cloned().collect(),
    }
}

/// See [`crate::machine::event`].
#[inline(always)]
pub fn on(state: &mut State, event: &crate::machine::event::Event<'_>) {
    match *event {
        crate::machine::event::Event::Allocated { block, .. } => allocated(state, block),
        crate::machine::event::Event::Freed(Freed { address, block: true, .. }) => {
            freed(state, address)
        }
        _ => {}
    }
}

/// The running thread has got a block.
fn allocated(state: &mut State, block: usize) {
    let below_root = state.below_root;
    if state
        .monitors
        .allocations
        .as_ref()
        .is_none_or(|allocations| !below_root && allocations.before_root.len() >= MOST_BEFORE_ROOT)
    {
        return;
    }
    let life = Life { allocated: Some(event(state)), freed: None };
    if let Some(allocations) = &mut state.monitors.allocations {
        let allocations =
            if below_root { &mut allocations.since_root } else { &mut allocations.before_root };
        allocations.insert(block, life);
    }
}

/// The running thread is freeing a block.
fn freed(state: &mut State, block: usize) {
    if state.monitors.allocations.is_none() {
        return;
    }
    let event = event(state);
    let Some(allocations) = &mut state.monitors.allocations else { return };
    if state.below_root {
        let mut life = allocations.of(block).cloned().unwrap_or_default();
        // One that was allocated before the root is not known as the program's own until then, but
        // is from here on.
        life.freed = Some(event);
        allocations.since_root.insert(block, life);
    } else {
        allocations.before_root.remove(&block);
    }
}

/// The place of an event in a report, and those of the locks that its thread held.
pub fn places(state: &mut State, role: Role, event: &Event) -> Vec<Place> {
    let mut places = vec![Place {
        stack: event.stack.clone(),
        step: Some(event.step),
        ..place(role, event.thread, SiteId(0))
    }];
    if role == Role::Freed {
        places.extend(held_places(state, Role::Held, event.held.clone()));
    }
    places
}

/// Where locks were acquired that are, or were, held.
pub fn held_places(
    state: &mut State,
    role: Role,
    held: Vec<Held>,
) -> impl Iterator<Item = Place> + use<'_> {
    held.into_iter().map(move |held| held_place(state, role, &held))
}

/// The locks that a thread holds.
pub fn held_by(state: &State, thread: u32) -> Vec<Held> {
    state.execution.held.iter().filter(|held| held.thread == thread).cloned().collect()
}

fn held_place(state: &mut State, role: Role, held: &Held) -> Place {
    let mut place = place(role, held.thread, held.site);
    if state.monitors.recorder.is_some() {
        place.object = crate::report::record::object(state, held.address, "lock", None);
        place.step = held.step;
        place.stack.clone_from(&held.stack);
    }
    place
}
