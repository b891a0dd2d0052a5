//! Locks that the analysis says are held at accesses, compared with those that are: in builds with
//! `--check-static`.
//!
//! A lock is held from the operation that acquires it, by its sync model. Where that operation
//! fails, since the lock is taken in a way that the model leaves to the library's own code (a
//! writer behind readers), it is not reported who acquires it in the end: nothing is compared of
//! such a lock from then on. The same holds for locks inside channels, while those are one object.

use crate::claims::bytes::place;
use crate::machine::config::Mode;
use crate::machine::hook;
use crate::machine::operation::{Atomic, AtomicOperation};
use crate::machine::state::State;
use crate::record::held::Held;
use crate::session::files::fatal;
use lockred_protocol::hooks::Class;
use lockred_protocol::sites::SiteId;

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_locked(lock: usize, shared: u32, site: u32) {
    let Some(entered) = &mut hook::enter_if_ready().filter(|state| state.config.mode != Mode::Free)
    else {
        return;
    };
    let state = &mut **entered;
    let Some(thread) = state.running else { return };
    let unclear =
        state.execution.claims.as_ref().is_some_and(|claims| claims.unclear.contains(&lock));
    if unclear || holds(&state.execution.held, thread, lock, shared != 0) {
        return;
    }
    fatal(&format!(
        "the analysis is wrong: it claims that thread {thread} holds a lock where it accesses memory at {}, but it does not",
        place(SiteId(site)),
    ));
}

/// Whether a thread holds a lock; exclusively, unless it may be `shared`.
fn holds(held: &[Held], thread: u32, lock: usize, shared: bool) -> bool {
    let matches = |held: &Held| held.address == lock && held.thread == thread;
    held.iter().any(|held| matches(held) && (shared || !held.shared))
}

/// A lock is used in an act on a channel, of which the parts are reported to nobody.
pub fn unseen(state: &mut State, lock: usize) {
    if let Some(claims) = &mut state.execution.claims {
        claims.unclear.insert(lock);
    }
}

/// An operation on a lock's word has not written it.
pub fn failed(state: &mut State, operation: &AtomicOperation) {
    let exchange = matches!(operation.kind, Atomic::CompareExchange { .. } | Atomic::Failed);
    if exchange
        && matches!(operation.how.class(), Class::Lock | Class::ReadLock)
        && let Some(claims) = &mut state.execution.claims
    {
        claims.unclear.insert(operation.address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_by_its_thread_in_its_mode() {
        let held = |thread, shared| Held {
            address: 64,
            thread,
            site: SiteId(1),
            shared,
            step: None,
            stack: Vec::new(),
        };
        let all = [held(0, true), held(1, false)];
        assert!(holds(&all, 0, 64, true) && !holds(&all, 0, 64, false));
        assert!(holds(&all, 1, 64, true) && holds(&all, 1, 64, false));
        assert!(!holds(&all, 2, 64, true) && !holds(&all, 1, 72, true));
    }
}
