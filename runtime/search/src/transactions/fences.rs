//! Fences in weak happens-before: what each thread's earlier reads saw, and what its later writes
//! release (C11 29.8).
//!
//! A fence that acquires makes all earlier reads of its thread acquire; after one that releases,
//! all writes of its thread release what came before it. Both clocks of a thread only grow, and are
//! kept per transaction so that they go back with the trace.

use crate::core::chains::Position;
use crate::core::clock::Clock;
use crate::core::machine::ThreadId;
use crate::discipline::Ordering;

/// The clocks of one thread.
#[derive(Clone, Default)]
struct Fenced {
    /// Messages that it has read.
    read: Clock,
    /// Its clock at its last fence that releases.
    released: Clock,
}

/// The clocks of all threads, in the trace under way.
#[derive(Default)]
pub(super) struct Fences {
    /// Per thread, its clocks where its transactions ended, as far as they changed there.
    threads: Vec<Vec<(Position, Fenced)>>,
    /// Those of the transaction that is judged.
    now: Fenced,
    changed: bool,
}

impl Fences {
    /// Takes back everything at `position` and after it.
    pub(super) fn truncate(&mut self, position: Position) {
        for kept in &mut self.threads {
            while kept.pop_if(|(at, _)| *at >= position).is_some() {}
        }
    }

    /// A transaction of `thread` is judged.
    pub(super) fn begin(&mut self, thread: ThreadId) {
        self.changed = false;
        match self.threads.get(thread.index()).and_then(|kept| kept.last()) {
            Some((_, last)) => {
                self.now.read.copy_from(&last.read);
                self.now.released.copy_from(&last.released);
            }
            None => {
                self.now.read.clear();
                self.now.released.clear();
            }
        }
    }

    /// It has been judged.
    pub(super) fn end(&mut self, thread: ThreadId, position: Position) {
        if !self.changed {
            return;
        }
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, Vec::new);
        }
        self.threads[thread.index()].push((position, self.now.clone()));
    }

    /// The thread reads a message.
    pub(super) fn read(&mut self, message: &Clock) {
        if !message.is_within(&self.now.read) {
            self.now.read.join(message);
            self.changed = true;
        }
    }

    /// The thread, whose clock is `now`, executes a fence.
    pub(super) fn fence(&mut self, ordering: Ordering, now: &mut Clock) {
        if ordering.acquires {
            now.join(&self.now.read);
        }
        if ordering.releases {
            self.now.released.copy_from(now);
            self.changed = true;
        }
    }

    /// What a write of the thread releases in any case.
    pub(super) fn released(&self) -> &Clock {
        &self.now.released
    }
}
