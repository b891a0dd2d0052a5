//! The clocks of one thread: what it has seen, what it could acquire by a fence, what it released
//! by one.

use super::clock::Clock;
use lockred_protocol::hooks::Order;

/// The clocks of one thread.
///
/// Invariant: `clock`'s component of the thread itself is its current epoch, at least 1, and larger
/// than the epoch in any clock that another thread or an object got from it. It grows after each
/// release, so that later accesses are not covered by it.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// What happens before the thread's next operation.
    pub(super) clock: Clock,
    /// What its reads so far could have acquired: an acquire fence joins it.
    pub(super) read: Clock,
    /// `clock` at its last release fence: its relaxed stores release it. Empty without one.
    pub(super) fenced: Clock,
}

impl Thread {
    /// Becomes a thread that has seen nothing.
    pub(super) fn start(&mut self, index: usize) {
        self.clock.clear();
        self.read.clear();
        self.fenced.clear();
        self.clock.set(index, 1);
    }

    /// Later accesses of the thread are not covered by the releases so far.
    #[inline]
    pub(super) fn next_epoch(&mut self, index: usize) {
        let next = self.clock.get(index).checked_add(1);
        self.clock.set(index, next.expect("fewer than 2^32 releases in one execution"));
    }

    /// What a store of this order releases; empty if nothing.
    #[inline]
    pub(super) fn released(&self, order: Order) -> &Clock {
        if order.releases() { &self.clock } else { &self.fenced }
    }

    /// A fence. C++20 [atomics.fences]; a SeqCst fence adds no happens-before to an acquire-release
    /// one.
    pub(super) fn fence(&mut self, index: usize, order: Order) {
        if order.acquires() {
            self.clock.join(&self.read);
        }
        if order.releases() {
            self.fenced.copy_from(&self.clock);
            self.next_epoch(index);
        }
    }
}
