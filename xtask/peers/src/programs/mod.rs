//! The programs, a file a family. Each is a pair: `fn name<const RIGHT: bool>()` has its bug where `RIGHT` is false.

pub mod actors;
pub mod arcs;
pub mod atomics;
pub mod barriers;
pub mod block_on;
pub mod caches;
pub mod channels;
pub mod condvars;
pub mod deques;
pub mod lazy;
pub mod lock_algorithms;
pub mod locks;
#[cfg(feature = "memory-errors")]
pub mod memory;
pub mod orders;
pub mod pools;
pub mod queues;
pub mod reclamation;
pub mod rings;
pub mod rwlocks;
#[cfg(feature = "scope")]
pub mod scoped;
pub mod sequence_locks;
pub mod stacks;
#[cfg(feature = "statics")]
pub mod statics;
#[cfg(feature = "timeouts")]
pub mod timeouts;

use crate::sync::{Arc, UnsafeCell, thread};

/// Fails with a message by which the benches know that it is the bug of the program, and no failure of a checker.
macro_rules! check {
    ($condition:expr) => {
        assert!($condition, "bug: {}", stringify!($condition))
    };
}
pub(crate) use check;

/// Memory that threads share unprotected: what orders its accesses is the program's concern.
pub struct Plain<T>(UnsafeCell<T>);

// SAFETY: programs that use it are right only if they order their accesses; the others are here to be found.
unsafe impl<T: Send> Sync for Plain<T> {}

impl<T: Copy> Plain<T> {
    pub fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    pub fn get(&self) -> T {
        // SAFETY: see above.
        self.0.with(|value| unsafe { *value })
    }

    pub fn set(&self, new: T) {
        // SAFETY: see above.
        self.0.with_mut(|value| unsafe { *value = new });
    }
}

/// Two names for one thing.
pub fn two<T>(value: T) -> (Arc<T>, Arc<T>) {
    let one = Arc::new(value);
    (Arc::clone(&one), one)
}

/// Does the second beside the first, which gets a thread of its own.
pub fn beside(theirs: impl FnOnce() + Send + 'static, mine: impl FnOnce()) {
    let thread = thread::spawn(theirs);
    mine();
    thread.join().unwrap();
}
