//! The locking discipline: the lockset algorithm for LD, and lockset′ for LD′ (sections 3.4, 6 and
//! 7; Savage et al., TOCS 1997).
//!
//! *LD*: after initialization, which ends when a second thread accesses it, an object is read only
//! (LD-RO), or some lock is owned at all accesses (LD-lock). *LD′*: initialization is a single
//! transition, by the thread that initThread gives in advance; an object for which it gives none
//! has no initialization. LD is for the oracle and the comparison: reduced searches may miss its
//! violations (section 7).
//!
//! Theorem 8 does not hold for objects that initThread names: a program in which θ1 executes
//! `sem.up(); v := 1` and θ2 `sem.down(); o.acquire(); v := 2; o.release()` violates LD′ with
//! initThread(v) = θ1, since v := 2 may come first, but IF-SSS always executes v := 1 right after
//! the up, where it is the initialization. (The proof of theorem 7 overlooks it in case 2.2.2: that
//! other transitions violate LD′ after `t` as they do without it, which is not so if `t` is the
//! initialization.) So a reduced search that checks LD′ claims to have explored everything only if
//! initThread is empty.
//!
//! Kept is, per object, its mode, its first thread, and its candidate locks, as in section 6.
//! Departures: LD-RO asks whether an object is written, not whether its value changes, as the
//! algorithm does, too. Accesses are those of transitions that are executed, which section 7 shows
//! to be enough, and initialization ends with the second of them (with the second *state* in which
//! one is possible, as the definition has it, an object whose initialization does not come at once
//! would violate LD′ by that alone). A guard that waits for an object under the discipline would
//! violate NonBlockInvis wherever it waits, so guards need no check of their own.

use std::collections::BTreeMap;

use super::classes::{Class, Classes};
use super::system::Operation;
use lockred_search::fault::{Fault, is_on};
use lockred_search::footprint::ObjectId;
use lockred_search::machine::ThreadId;

/// What is checked during a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checking {
    /// Nothing: LD is known to hold.
    Off,
    /// LD.
    Ld,
    /// LD′.
    LdPrime,
}

/// An object's mode (section 6).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
enum Mode {
    /// Not accessed.
    #[default]
    Virgin,
    /// Being initialized by its first thread.
    Exclusive,
    /// Initialized, and only read since.
    Shared,
    /// Initialized, and written since.
    SharedModified,
}

/// What the algorithm keeps of an object.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
struct Entry {
    mode: Mode,
    /// Of an object that is being initialized, or unshared. (After that it would only tell states
    /// apart.)
    first: Option<ThreadId>,
    /// The locks that were owned at all accesses after initialization; all locks, if there was
    /// none.
    candidates: Option<Vec<ObjectId>>,
}

/// What the algorithm keeps. Part of the state of the system that runs it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub(super) struct Locksets(BTreeMap<ObjectId, Entry>);

impl Entry {
    fn may_be_owned(&self, lock: ObjectId) -> bool {
        self.candidates.as_ref().is_none_or(|candidates| candidates.contains(&lock))
    }

    /// An access after initialization. Returns whether the discipline holds.
    fn share(&mut self, reads: bool, held: &[ObjectId]) -> bool {
        self.first = None;
        match &mut self.candidates {
            None => self.candidates = Some(held.to_vec()),
            Some(candidates) => candidates.retain(|lock| held.contains(lock)),
        }
        let is_missed = is_on(Fault::LateWritesAreReads) && self.mode == Mode::Shared;
        if !(reads || is_missed) {
            self.mode = Mode::SharedModified;
        } else if self.mode != Mode::SharedModified {
            self.mode = Mode::Shared;
        }
        self.mode != Mode::SharedModified || self.candidates.as_ref().is_none_or(|c| !c.is_empty())
    }
}

impl Locksets {
    /// The thread, which owns the locks `held`, accesses an object. Returns whether the object's
    /// discipline holds.
    pub(super) fn access(
        &mut self,
        thread: ThreadId,
        operation: Operation,
        held: &[ObjectId],
        (checking, classes): (Checking, &Classes),
    ) -> bool {
        let class = classes.class(operation.object);
        if checking == Checking::Off || !matches!(class, Class::Discipline | Class::Unshared) {
            return true;
        }
        let entry = self.0.entry(operation.object).or_default();
        let is_first = entry.mode == Mode::Virgin;
        if class == Class::Unshared {
            entry.mode = Mode::Exclusive;
            return *entry.first.get_or_insert(thread) == thread;
        }
        let reads = operation.is_read_only();
        let open_end = checking == Checking::Ld || is_on(Fault::InitializationIsOpen);
        if open_end {
            let initializes = matches!(entry.mode, Mode::Virgin | Mode::Exclusive);
            if initializes && *entry.first.get_or_insert(thread) == thread {
                entry.mode = Mode::Exclusive;
                return true;
            }
            return entry.share(reads, held);
        }
        match classes.initial_thread(operation.object) {
            Some(initial) if is_first => {
                entry.mode = Mode::Exclusive;
                initial == thread
            }
            _ => entry.share(reads, held),
        }
    }

    /// The paper's LDallows for some lock among `locks`, which the thread owns or acquires (section
    /// 6; for LD′, section 7).
    ///
    /// Departure: an access that needs no lock is allowed although the thread owns and acquires
    /// none, which the formula, read literally, does not say.
    pub(super) fn allows(
        &self,
        thread: ThreadId,
        operation: Operation,
        locks: &[ObjectId],
        (checking, classes): (Checking, &Classes),
    ) -> bool {
        let reads = operation.is_read_only();
        let virgin = Entry::default();
        let entry = self.0.get(&operation.object).unwrap_or(&virgin);
        let initial = classes.initial_thread(operation.object);
        let protected = || locks.iter().any(|&lock| entry.may_be_owned(lock));
        match (checking, entry.mode) {
            (Checking::Off, _) => true,
            (Checking::Ld, Mode::Virgin) => initial.is_none_or(|initial| initial == thread),
            (Checking::Ld, Mode::Exclusive) => entry.first == Some(thread) || reads || protected(),
            (Checking::LdPrime, Mode::Virgin) if initial.is_some() => initial == Some(thread),
            (_, Mode::Virgin | Mode::Exclusive | Mode::Shared) => reads || protected(),
            (_, Mode::SharedModified) => protected(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::system::Action;
    use super::*;

    const X: ObjectId = ObjectId(1);
    const LOCKS: [ObjectId; 2] = [ObjectId(10), ObjectId(11)];

    /// Whether the discipline holds at every access: thread, whether it writes, locks.
    fn holds(
        checking: Checking,
        initial: Option<u32>,
        accesses: &[(u32, bool, &[ObjectId])],
    ) -> bool {
        let mut classes = Classes::default();
        classes.set(X, Class::Discipline);
        if let Some(thread) = initial {
            classes.initialized_by(X, ThreadId(thread));
        }
        let mut locksets = Locksets::default();
        accesses.iter().all(|&(thread, writes, held)| {
            let action = if writes { Action::Write } else { Action::Read };
            let operation = Operation { object: X, action };
            locksets.access(ThreadId(thread), operation, held, (checking, &classes))
        })
    }

    #[test]
    fn initialization_needs_no_lock() {
        let accesses: [(u32, bool, &[ObjectId]); 3] =
            [(0, true, &[]), (0, true, &[]), (1, false, &[])];
        assert!(holds(Checking::Ld, None, &accesses));
        // A single transition is initialization, and only of the thread that was named.
        assert!(!holds(Checking::LdPrime, Some(0), &accesses));
        assert!(holds(Checking::LdPrime, Some(0), &accesses[1..]));
        assert!(!holds(Checking::LdPrime, Some(1), &accesses[1..]));
        assert!(!holds(Checking::LdPrime, None, &accesses[1..]));
    }

    #[test]
    fn written_objects_need_one_lock_at_all_accesses() {
        let [a, b] = LOCKS;
        for checking in [Checking::Ld, Checking::LdPrime] {
            assert!(holds(checking, None, &[(0, true, &[a, b]), (1, true, &[b]), (0, true, &[b])]));
            assert!(!holds(
                checking,
                None,
                &[(0, true, &[a, b]), (1, true, &[b]), (0, true, &[a])]
            ));
            // Written late.
            assert!(!holds(checking, None, &[(0, false, &[]), (1, false, &[]), (0, true, &[])]));
            assert!(holds(checking, None, &[(0, false, &[]), (1, false, &[a]), (2, false, &[])]));
        }
    }
}
