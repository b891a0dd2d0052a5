//! Channels in weak happens-before: a send before the receive of its message, a receive before the
//! send that fills its place.
//!
//! The k-th send of a channel happens before the end of the k-th receive, and the k-th receive
//! before the end of the send that is as many messages after as there is room for (before the end
//! of the k-th send itself, if there is none); closing happens before what finds the channel closed
//! (The Go memory model). So do the ends of all senders before a receive that finds the channel
//! closed, what has been sent before it is dropped with the last receiver, and that one's end
//! before a send that fails. All sends depend on each other, as do all receives, so the numbers are
//! the same in all linearisations of a trace. What was not reported (before there were other
//! threads) happened before everything.

use crate::core::chains::{ByObject, Position};
use crate::core::clock::Clock;
use crate::core::footprint::ObjectId;
use crate::core::machine::ThreadId;
use crate::discipline::Passing;

/// A clock that an operation left.
struct Left {
    position: Position,
    thread: ThreadId,
    /// Which message it was about.
    number: u32,
    clock: Clock,
}

/// The clock that was left with a message.
fn of(row: &[Left], number: u32) -> Option<&Left> {
    row.iter().rev().find(|left| left.number == number)
}

/// What went through one channel.
#[derive(Default)]
struct Passed {
    sends: Vec<Left>,
    receives: Vec<Left>,
    closes: Vec<Left>,
    dropped_senders: Vec<Left>,
}

/// What went through all channels, in the trace under way.
#[derive(Default)]
pub(super) struct Channels(ByObject<Passed>);

impl Channels {
    /// Takes back everything at `position` and after it.
    pub(super) fn truncate(&mut self, position: Position) {
        for passed in self.0.values_mut() {
            let Passed { sends, receives, closes, dropped_senders } = passed;
            for row in [sends, receives, closes, dropped_senders] {
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
        let Passed { sends, receives, closes, dropped_senders } =
            self.0.entry(channel).or_default();
        let (before, number, row) = match passing {
            Passing::Send { number, capacity } => {
                let makes_room = number.checked_sub(capacity).filter(|_| capacity > 0);
                (makes_room.and_then(|first| of(receives, first)), number, sends)
            }
            Passing::Receive { number, .. } => (of(sends, number), number, receives),
            Passing::Close { .. } => (None, 0, closes),
            Passing::DropSender => (None, 0, dropped_senders),
            Passing::DropReceiver { .. } => {
                let first = receives.last().map_or(0, |left| left.number + 1);
                let dropped = sends.iter().filter(|left| left.number >= first);
                dropped.for_each(|left| now.join(&left.clock));
                (None, 0, closes)
            }
            Passing::Fail => {
                closes.iter().for_each(|left| now.join(&left.clock));
                return;
            }
            Passing::Closed => {
                closes.iter().chain(&*dropped_senders).for_each(|left| now.join(&left.clock));
                return;
            }
            Passing::Peek => return,
        };
        if let Some(left) = before {
            now.join(&left.clock);
        }
        row.push(Left { position, thread, number, clock: now.clone() });
    }

    /// `thread` goes on after a message that was taken, or that the channel was closed for.
    pub(super) fn resume(&self, channel: ObjectId, taken: bool, thread: ThreadId, now: &mut Clock) {
        let Some(Passed { sends, receives, closes, .. }) = self.0.get(&channel) else { return };
        let left = if taken {
            let mine = sends.iter().rev().find(|left| left.thread == thread);
            mine.and_then(|mine| of(receives, mine.number))
        } else {
            closes.last()
        };
        if let Some(left) = left {
            now.join(&left.clock);
        }
    }
}
