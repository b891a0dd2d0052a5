//! What passes through channels that are known as a whole: which clocks go with it.
//!
//! A message happens before its receive, and, where there is room for `n` messages, each receive
//! before the send that is `n` messages after; a message that is handed over also happens after
//! its receive. The ends of all senders happen before a receive that finds none left; that of the
//! last receiver happens after what it drops, and before a send that finds it gone. Sends order
//! nothing among each other, nor do receives. The same edges as the search by transactions has.

use super::Detector;
use super::advice::Event;
use super::clock::Clock;
use lockred_search::discipline::Passing;
use std::collections::BTreeMap;

/// Clocks that were left at one channel.
#[derive(Debug, Default)]
pub(super) struct Passed {
    sends: BTreeMap<u32, (u32, Clock)>,
    receives: BTreeMap<u32, Clock>,
    dropped_senders: Clock,
    dropped_receiver: Clock,
}

fn copy(clock: &Clock) -> Clock {
    let mut copy = Clock::default();
    copy.copy_from(clock);
    copy
}

impl Detector {
    /// `thread` acts on the channel at an address.
    pub fn pass(&mut self, thread: u32, channel: usize, passing: Passing) {
        self.keep(Event::Pass(thread, channel, passing));
        let passed = self.channels.entry(channel).or_default();
        let index = thread as usize;
        let now = &mut self.threads[index].clock;
        match passing {
            Passing::Send { number, capacity } => {
                let makes_room = number.checked_sub(capacity).filter(|_| capacity > 0);
                if let Some(clock) = makes_room.and_then(|first| passed.receives.get(&first)) {
                    now.join(clock);
                }
                passed.sends.insert(number, (thread, copy(now)));
            }
            Passing::Receive { number, .. } => {
                if let Some((_, clock)) = passed.sends.get(&number) {
                    now.join(clock);
                }
                passed.receives.insert(number, copy(now));
            }
            Passing::DropSender => passed.dropped_senders.join(now),
            Passing::DropReceiver { .. } | Passing::Close { .. } => {
                let first = passed.receives.keys().next_back().map_or(0, |last| last + 1);
                for (_, clock) in passed.sends.range(first..).map(|(_, sent)| sent) {
                    now.join(clock);
                }
                passed.dropped_receiver.join(now);
            }
            Passing::Fail => now.join(&passed.dropped_receiver),
            Passing::Closed => {
                now.join(&passed.dropped_receiver);
                now.join(&passed.dropped_senders);
            }
            Passing::Peek => return,
        }
        self.threads[index].next_epoch(index);
    }

    /// `thread` goes on after a message that it had offered to the channel at an address.
    pub fn resume(&mut self, thread: u32, channel: usize, taken: bool) {
        self.keep(Event::Resume(thread, channel, taken));
        let Some(passed) = self.channels.get(&channel) else { return };
        let now = &mut self.threads[thread as usize].clock;
        if !taken {
            return now.join(&passed.dropped_receiver);
        }
        let mine = passed.sends.iter().rev().find(|(_, (sender, _))| *sender == thread);
        if let Some(clock) = mine.and_then(|(number, _)| passed.receives.get(number)) {
            now.join(clock);
        }
    }
}
