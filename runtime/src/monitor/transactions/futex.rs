//! Futex calls in the words of the search: queues of condition variables, and those that the
//! discipline does not know.

use super::{INTERNAL, internal, report, with_monitor};
use crate::machine::event::Futex;
use crate::machine::object_ids::{self, Use};
use crate::machine::operation::Pending;
use crate::machine::state::State;
use lockred_search::discipline::{Effect, Kind, Mode, Operation, TransactionMonitor, Value};
use lockred_search::footprint::Access;
use lockred_search::machine::ThreadId;

/// Something was done with a futex.
pub(super) fn futex(state: &mut State, address: usize, what: Futex<'_>) {
    match what {
        Futex::Compared | Futex::TimedOut | Futex::Woken { .. } => {}
        Futex::Differs { timed } => futex_wait(state, address, false, timed),
        Futex::Enqueued { timed } => futex_wait(state, address, true, timed),
        Futex::Returned => futex_returned(state, address),
        Futex::Left => futex_left(state, address),
        Futex::Wakes(woken) => futex_wake(state, address, woken),
    }
}

/// The queue at an address is used as that of a condition variable, or in a way that the discipline
/// does not know.
fn use_queue(state: &mut State, monitor: &mut TransactionMonitor<'_>, address: usize, how: Use) {
    if state.knowledge.object_ids.use_queue(address, how) {
        monitor.expose(object_ids::queue(address));
    }
}

/// An access to a queue that the discipline does not know: seen by all.
fn queue(state: &mut State, monitor: &mut TransactionMonitor<'_>, address: usize, access: Access) {
    use_queue(state, monitor, address, Use::Exposed);
    monitor.after(&internal(object_ids::queue(address), access), Effect::Done);
}

/// A futex's word was compared, and the running thread has entered its queue or not.
fn futex_wait(state: &mut State, address: usize, entered: bool, timed: bool) {
    let number = state.thread_number() as usize;
    let thread = &mut state.execution.threads[number];
    let (condvar, lock) = (thread.condvar.address.take(), thread.condvar.lock.take());
    let known = lock.filter(|_| condvar == Some(address) && entered);
    thread.condvar.waits_with = known.filter(|_| !timed);
    with_monitor(state, |state, monitor| {
        if let Some(lock) = known {
            let (queue, lock) = (object_ids::queue(address), object_ids::lock(lock));
            monitor.after(&Operation::Wait { queue, lock, in_order: false }, Effect::Done);
            use_queue(state, monitor, address, Use::Condvar);
            if timed {
                use_queue(state, monitor, address, Use::Exposed);
            }
            return;
        }
        if let Some(lock) = lock {
            let lock = object_ids::lock(lock);
            monitor.after(&Operation::Release(lock, Mode::Exclusive), Effect::Done);
        }
        compared(state, monitor, address);
        if entered {
            queue(state, monitor, address, Access::Enqueue);
        }
    });
}

/// A futex's word was compared, and the running thread goes on for no reason: as if it had never
/// been in the queue, where nobody has seen it.
fn futex_returned(state: &mut State, address: usize) {
    let number = state.thread_number() as usize;
    let thread = &mut state.execution.threads[number];
    let (condvar, lock) = (thread.condvar.address.take(), thread.condvar.lock.take());
    with_monitor(state, |state, monitor| {
        if let Some(lock) = lock {
            let lock = object_ids::lock(lock);
            monitor.after(&Operation::Release(lock, Mode::Exclusive), Effect::Done);
        }
        if condvar == Some(address) {
            monitor.after(&Operation::Local, Effect::Done);
        } else {
            compared(state, monitor, address);
        }
    });
}

/// The word of a futex was compared by the machine.
fn compared(state: &mut State, monitor: &mut TransactionMonitor<'_>, address: usize) {
    state.knowledge.object_ids.use_as_data(address, 4);
    let kind = Kind::Atomic(Value::Read, INTERNAL);
    report(monitor, (address, 4), Access::Read, kind, |object, access, kind| Operation::Data {
        object,
        access,
        kind,
        site: 0,
    });
}

/// The running thread leaves a futex's queue, in which it might have timed out.
fn futex_left(state: &mut State, address: usize) {
    with_monitor(state, |state, monitor| queue(state, monitor, address, Access::Leave));
}

/// Waiters of a futex were woken.
fn futex_wake(state: &mut State, address: usize, woken: &[u32]) {
    let number = state.thread_number() as usize;
    let condvar = state.execution.threads[number].condvar.address.take();
    with_monitor(state, |state, monitor| {
        let threads = &state.execution.threads;
        let waits_with = |&thread: &u32| {
            let lock = threads[thread as usize].condvar.waits_with?;
            Some((ThreadId(thread), object_ids::lock(lock)))
        };
        let known: Vec<_> = woken.iter().filter_map(waits_with).collect();
        if condvar == Some(address) && known.len() == woken.len() {
            use_queue(state, monitor, address, Use::Condvar);
            return monitor.after(
                &Operation::Notify(object_ids::queue(address)),
                Effect::Woke { waiters: &known, others: false },
            );
        }
        let access = if woken.is_empty() { Access::WakeNone } else { Access::Wake };
        queue(state, monitor, address, access);
        for &thread in woken {
            let pending = state.execution.threads[thread as usize].pending;
            if let Pending::FutexQueued { deadline: None, .. } = pending {
                monitor.enables(ThreadId(thread));
            }
        }
    });
}
