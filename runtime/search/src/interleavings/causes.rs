//! What came before what in an execution, as a hash: equal for executions that differ in the order
//! of independent steps only, which lead to the same state (happens-before caching: Musuvathi,
//! Qadeer: Partial-order reduction for context-bounded state exploration, MSR-TR-2007-12).
//!
//! An object is read or written, where everything but a read counts as a write. That orders more
//! than has to be ([`crate::core::footprint::Access::depends_on`]), so some equivalent executions
//! are told apart, never two that are not.
//!
//! All that rests on the state, which a data race lets depend on more than the order of dependent
//! steps.

use std::collections::HashMap;

use crate::core::choice::Choice;
use crate::core::fault::{Fault, is_on};
use crate::core::fingerprint;
use crate::core::footprint::{Access, Footprint, ObjectId};
use crate::core::machine::ThreadId;

/// See the module.
#[derive(Default)]
pub(crate) struct Causes {
    threads: Vec<u128>,
    /// Of each object, the hash of the step that has written it last. (Who reads says what was
    /// written before; so nobody has to tell what was read before.)
    objects: HashMap<ObjectId, u128>,
    /// The sum of the hashes of all steps.
    all: u128,
}

impl Causes {
    /// Nothing was done.
    pub(crate) fn clear(&mut self) {
        self.threads.clear();
        self.objects.clear();
        self.all = 0;
    }

    /// The hash.
    pub(crate) const fn hash(&self) -> u128 {
        self.all
    }

    /// A thread made a step, with this signature and these values.
    pub(crate) fn step(
        &mut self,
        thread: ThreadId,
        footprint: &Footprint,
        signature: u64,
        values: &[Choice],
    ) {
        if self.threads.len() <= thread.index() {
            self.threads.resize(thread.index() + 1, 0);
        }
        // Whose time has come was after all others.
        let mut seen = if footprint.by_time { fingerprint::of(&self.all) } else { 0_u128 };
        for &(object, access) in &footprint.accesses {
            let written = self.objects.get(&object).copied().unwrap_or_default();
            let written = if is_on(Fault::WritesForgotten) { 0 } else { written };
            seen = seen.wrapping_add(fingerprint::of(&(object, access, written)));
        }
        let before = self.threads[thread.index()];
        let step = fingerprint::of(&(thread, before, signature, seen, values));
        self.threads[thread.index()] = step;
        self.all = self.all.wrapping_add(step);
        for &(object, access) in &footprint.accesses {
            if !is_read(access) {
                self.objects.insert(object, step);
            }
        }
    }
}

/// Whether the order of two steps matters, by what they touch: one writes what the other touches,
/// where everything but a read counts as a write.
pub(crate) fn conflict(one: &[(ObjectId, Access)], other: &[(ObjectId, Access)]) -> bool {
    one.iter().any(|&(object, access)| {
        let same = other.iter().filter(|&&(o, _)| o == object);
        same.into_iter().any(|&(_, a)| !is_read(access) || !is_read(a))
    })
}

const fn is_read(access: Access) -> bool {
    matches!(access, Access::Read | Access::ReadPart)
}
