//! Handles of threads: one that is dropped where its thread is created is dropped before that
//! thread has run.
//!
//! A handle shares the thread's result and name with the thread, and both count their references.
//! Whoever comes last destroys them, and by that ends the wait of a scope: so its order would be
//! explored. The sync model says of which results nobody can tell who dropped them (`handle` in
//! analysis/models/std.toml), and the decrement of the thread that made the handle is then reported
//! as a both mover: it becomes a part of the transaction that created the thread, unless something
//! lies between that others may see. That it is one is checked, as it is for every count: if the
//! last decrement is not ordered after it for another reason, the search refutes that, and explores
//! both.
//!
//! A thread that panics leaves a payload in its result, which may be of any type. Then, nothing is
//! left out.

use crate::machine::operation::AtomicOperation;
use crate::machine::state::State;
use lockred_protocol::hooks::{Class, How};

/// The running thread increments or decrements a count of references: it may thereby get, or drop,
/// its own part of a handle.
pub fn counts(state: &mut State, address: usize, how: How) {
    let gets = how.has(How::HANDLE);
    if !gets && how.class() != Class::RefDec {
        return;
    }
    if state.running.is_none() {
        return;
    }
    let shares = &mut state.thread().handle.shares;
    if gets {
        shares.push(address);
    } else if let Some(place) = shares.iter().position(|&shared| shared == address) {
        shares.swap_remove(place);
    }
}

/// Whether an operation of a thread drops its part of a handle, and nobody can tell when.
pub fn drops(state: &mut State, number: usize, operation: &AtomicOperation) -> bool {
    operation.how.class() == Class::RefDec
        && state.execution.threads[number].handle.shares.contains(&operation.address)
        && state.knowledge.object_ids.drop_handle()
}

/// A panic of the running thread starts unwinding.
pub fn unwinds(state: &mut State) {
    if state.thread().parent.is_some() {
        state.knowledge.object_ids.see_handles();
    }
}
