//! Channels in weak happens-before: a send before the receive of its message, a receive before the send that fills its place.
//!
//! The k-th send of a channel happens before the end of the k-th receive, and the k-th receive before the end of the send that
//! is as many messages behind as there is room for (before the end of the k-th send itself, if there is none); closing happens
//! before what finds the channel closed (The Go memory model). All operations on a channel depend on each other, so the
//! numbers are the same in all linearisations of a trace.

use crate::chains::{ByObject, Position};
use crate::clock::Clock;
use crate::discipline::Passing;
use crate::footprint::ObjectId;
use crate::machine::ThreadId;

/// A clock that an operation left.
struct Left {
    position: Position,
    thread: ThreadId,
    clock: Clock,
}

/// What went through one channel.
#[derive(Default)]
struct Passed {
    sends: Vec<Left>,
    receives: Vec<Left>,
    closes: Vec<Left>,
}

/// What went through all channels, in the trace under way.
#[derive(Default)]
pub(super) struct Channels(ByObject<Passed>);

impl Channels {
    /// Takes back everything at `position` and behind it.
    pub(super) fn truncate(&mut self, position: Position) {
        for passed in self.0.values_mut() {
            for row in [&mut passed.sends, &mut passed.receives, &mut passed.closes] {
                while row.pop_if(|left| left.position >= position).is_some() {}
            }
        }
    }

    /// `thread`, whose clock is `now`, acts on a channel in the transaction at `position`.
    pub(super) fn pass(
        &mut self,
        channel: ObjectId,
        passing: Passing,
        (thread, position): (ThreadId, Position),
        now: &mut Clock,
    ) {
        let Passed { sends, receives, closes } = self.0.entry(channel).or_default();
        let (before, row) = match passing {
            Passing::Send { capacity } => {
                let number = sends.len().checked_sub(capacity as usize);
                (number.and_then(|number| receives.get(number)), sends)
            }
            Passing::Receive { .. } => (sends.get(receives.len()), receives),
            Passing::Close { .. } => (None, closes),
            Passing::Closed => {
                closes.iter().for_each(|left| now.join(&left.clock));
                return;
            }
        };
        if let Some(left) = before {
            now.join(&left.clock);
        }
        row.push(Left { position, thread, clock: now.clone() });
    }

    /// `thread` goes on behind a message that was taken, or that the channel was closed for.
    pub(super) fn resume(&self, channel: ObjectId, taken: bool, thread: ThreadId, now: &mut Clock) {
        let Some(Passed { sends, receives, closes }) = self.0.get(&channel) else { return };
        let left = if taken {
            let mine = sends.iter().rposition(|left| left.thread == thread);
            mine.and_then(|number| receives.get(number))
        } else {
            closes.last()
        };
        if let Some(left) = left {
            now.join(&left.clock);
        }
    }
}
