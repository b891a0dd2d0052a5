//! Who holds which lock, and in which order locks are acquired.

use crate::locks::order;
use crate::machine::event::Event;
use crate::machine::operation::AtomicOperation;
use crate::machine::state::State;
use crate::monitor::lock_order;
use crate::record::held::Held;
use lockred_protocol::hooks::Class;

/// See [`crate::scheduler::event`].
#[inline(always)]
pub fn on(state: &mut State, event: &Event<'_>) {
    match event {
        Event::Atomic(done) if done.operation.how.class().is_lock() => {
            used(state, done.operation, done.wrote);
        }
        Event::Created { child, .. } => {
            let creates = order::Event::Creates(state.thread_number(), *child);
            state.execution.events.push(creates);
        }
        Event::Joined { target, .. } => {
            let joins = order::Event::Joins(state.thread_number(), *target);
            state.execution.events.push(joins);
        }
        _ => {}
    }
}

/// A lock's word was operated on.
fn used(state: &mut State, operation: &AtomicOperation, wrote: bool) {
    if !wrote {
        crate::monitor::claimed_locks::failed(state, operation);
        return;
    }
    let stack = crate::report::record::stack(state);
    let thread = state.thread_number();
    let held = &mut state.execution.held;
    match operation.how.class() {
        Class::Lock | Class::TryLock | Class::ReadLock | Class::TryReadLock => {
            let class = operation.how.class();
            let shared = matches!(class, Class::ReadLock | Class::TryReadLock);
            let waits = matches!(class, Class::Lock | Class::ReadLock);
            lock_order::acquires(state, operation.address, operation.site, shared, waits, &stack);
            let step = state.monitors.recorder.as_ref().map(|recorder| recorder.steps.len());
            state.execution.held.push(Held {
                address: operation.address,
                thread,
                site: operation.site,
                shared,
                step,
                stack,
            });
        }
        Class::Downgrade => {
            let lock = |held: &&mut Held| held.address == operation.address;
            if let Some(held) = held.iter_mut().find(lock) {
                held.shared = true;
            }
        }
        _ => {
            let lock = |held: &Held| held.address == operation.address;
            // A guard may be released by another thread than the one that acquired it.
            let own = held.iter().rposition(|held| lock(held) && held.thread == thread);
            if let Some(index) = own.or_else(|| held.iter().rposition(lock)) {
                held.remove(index);
            }
        }
    }
}
