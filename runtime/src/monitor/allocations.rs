//! Where the program allocates and frees blocks ([`crate::record::allocations`]), and what reports
//! say of that.

use crate::machine::event::Freed;
use crate::machine::state::State;
use crate::record::allocations::Event;
use crate::record::failure::place;
use crate::record::held::Held;
use lockred_protocol::message::{Place, Role};
use lockred_protocol::sites::SiteId;

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

/// See [`crate::scheduler::event`].
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
    let allocations = state.monitors.allocations.as_ref();
    if allocations.is_none_or(|allocations| !allocations.has_room(below_root)) {
        return;
    }
    let event = event(state);
    if let Some(allocations) = &mut state.monitors.allocations {
        allocations.allocated(block, event, below_root);
    }
}

/// The running thread is freeing a block.
fn freed(state: &mut State, block: usize) {
    if state.monitors.allocations.is_none() {
        return;
    }
    let event = event(state);
    let below_root = state.below_root;
    if let Some(allocations) = &mut state.monitors.allocations {
        allocations.freed(block, event, below_root);
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

/// What a report says besides of a block that the running thread is freeing: the locks that it
/// holds, and where the block comes from.
pub fn places_of_free(state: &mut State, block: usize) -> Vec<Place> {
    if state.monitors.recorder.is_none() {
        return Vec::new();
    }
    let number = state.thread_number();
    let held = held_by(state, number);
    let mut all: Vec<Place> = held_places(state, Role::Held, held).collect();
    let life = state.monitors.allocations.as_ref().and_then(|lives| lives.of(block));
    if let Some(event) = life.and_then(|life| life.allocated.clone()) {
        all.extend(places(state, Role::Allocated, &event));
    }
    all
}
