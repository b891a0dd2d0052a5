//! What is known of a channel as a whole: how much went through it, who offers, whose ends are
//! gone; and what an act does to it then.

use lockred_protocol::hooks::Act;
use lockred_search::discipline::Passing;
use lockred_search::machine::ThreadId;
use std::hash::{Hash, Hasher};

/// One channel of the program. The program's own is run beside it; this only knows beforehand what
/// that will do.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Bytes of the block that it is in.
    pub size: usize,
    /// For how many messages there is room; [`Passing::UNBOUNDED`]: for any number; 0: they are
    /// handed over.
    pub capacity: u32,
    /// What is in it when all receivers are gone stays until all senders are.
    pub keeps: bool,
    sent: u32,
    received: u32,
    /// Who has offered a message that was neither taken nor withdrawn.
    offering: Option<u32>,
    senders_gone: bool,
    receivers_gone: bool,
    /// How often it has changed.
    changes: u64,
}

impl Channel {
    /// A channel that was just made.
    pub const fn new(size: usize, capacity: u32, keeps: bool) -> Self {
        Self {
            size,
            capacity,
            keeps,
            sent: 0,
            received: 0,
            offering: None,
            senders_gone: false,
            receivers_gone: false,
            changes: 0,
        }
    }

    /// Messages in it; an offered one is.
    const fn length(&self) -> u32 {
        match self.capacity {
            0 => self.offering.is_some() as u32,
            _ => self.sent.wrapping_sub(self.received),
        }
    }

    /// How often it has changed.
    pub const fn changes(&self) -> u64 {
        self.changes
    }

    /// Who has offered a message.
    pub const fn offering(&self) -> Option<u32> {
        self.offering
    }

    /// Whether a send could go on.
    const fn has_room(&self) -> bool {
        match self.capacity {
            0 => self.offering.is_none(),
            capacity => self.length() < capacity,
        }
    }

    /// Whether an act would not wait now.
    pub const fn can_proceed(&self, act: Act) -> bool {
        match act {
            Act::Send => self.receivers_gone || self.has_room(),
            Act::Receive => self.senders_gone || self.length() > 0,
            _ => true,
        }
    }

    /// What it will do. How many messages have gone through it, and how often it has changed,
    /// decides nothing.
    pub fn hash(&self, hasher: &mut impl Hasher) {
        (self.size, self.capacity, self.keeps, self.length(), self.offering).hash(hasher);
        (self.senders_gone, self.receivers_gone).hash(hasher);
    }

    fn wakes(&self) -> Option<ThreadId> {
        self.offering.map(ThreadId)
    }

    /// What an act does now, or would do if it did not have to wait. `gives_up`: it does not wait.
    pub fn passing(&self, act: Act, gives_up: bool) -> Option<Passing> {
        let gives_up = gives_up || matches!(act, Act::TrySend | Act::TryReceive);
        Some(match act {
            Act::Send | Act::TrySend if self.receivers_gone => Passing::Fail,
            Act::Send | Act::TrySend if gives_up && !self.has_room() => Passing::Peek,
            Act::Send | Act::TrySend => {
                Passing::Send { number: self.sent, capacity: self.capacity }
            }
            Act::Receive | Act::TryReceive if self.length() == 0 && self.senders_gone => {
                Passing::Closed
            }
            Act::Receive | Act::TryReceive if self.length() == 0 && gives_up => Passing::Peek,
            Act::Receive | Act::TryReceive => {
                Passing::Receive { number: self.received, wakes: self.wakes() }
            }
            Act::Look => Passing::Peek,
            Act::DropSender => Passing::DropSender,
            Act::Clone | Act::DropReceiver | Act::Disconnect => return None,
        })
    }

    /// What dropping the last receiver does.
    pub fn dropping_receiver(&self) -> Passing {
        Passing::DropReceiver { wakes: self.wakes() }
    }

    /// A thread does this to it. What becomes of the thread that had offered a message: it was
    /// taken, or withdrawn.
    pub const fn pass(&mut self, thread: u32, passing: Passing) -> Option<(u32, bool)> {
        let (answer, changes) = match passing {
            Passing::Send { capacity, .. } => {
                self.sent = self.sent.wrapping_add(1);
                if capacity == 0 {
                    self.offering = Some(thread);
                }
                (None, true)
            }
            Passing::Receive { .. } => {
                self.received = self.received.wrapping_add(1);
                (Some(true), true)
            }
            Passing::DropReceiver { .. } | Passing::Close { .. } => {
                self.receivers_gone = true;
                (Some(false), true)
            }
            Passing::DropSender => (None, true),
            Passing::Fail | Passing::Peek | Passing::Closed => (None, false),
        };
        self.changes += changes as u64;
        match (answer, self.offering) {
            (Some(taken), Some(sender)) => {
                self.offering = None;
                Some((sender, taken))
            }
            _ => None,
        }
    }

    /// The last sender is gone.
    pub const fn lose_senders(&mut self) {
        self.senders_gone = true;
        self.changes += 1;
    }

    /// Whether both ends are gone and have left messages behind: whichever was the last one drops
    /// them, and who that was can be seen.
    pub const fn leaves_messages(&self) -> bool {
        self.keeps && self.senders_gone && self.receivers_gone && self.length() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn does(channel: &mut Channel, act: Act) -> Passing {
        let passing = channel.passing(act, false).unwrap();
        channel.pass(1, passing);
        passing
    }

    #[test]
    fn a_bound_is_respected() {
        let mut channel = Channel::new(64, 1, false);
        assert!(channel.can_proceed(Act::Send) && !channel.can_proceed(Act::Receive));
        assert_eq!(does(&mut channel, Act::Send), Passing::Send { number: 0, capacity: 1 });
        assert!(!channel.can_proceed(Act::Send) && channel.can_proceed(Act::Receive));
        assert_eq!(channel.passing(Act::TrySend, false), Some(Passing::Peek));
        assert_eq!(channel.passing(Act::Send, true), Some(Passing::Peek));
        assert_eq!(does(&mut channel, Act::Receive), Passing::Receive { number: 0, wakes: None });
        assert_eq!(channel.passing(Act::TryReceive, false), Some(Passing::Peek));
        assert!(channel.can_proceed(Act::Send));
    }

    #[test]
    fn what_is_in_a_channel_is_received_before_its_end() {
        let mut channel = Channel::new(64, Passing::UNBOUNDED, false);
        does(&mut channel, Act::Send);
        channel.lose_senders();
        assert_eq!(does(&mut channel, Act::Receive), Passing::Receive { number: 0, wakes: None });
        assert!(channel.can_proceed(Act::Receive));
        assert_eq!(does(&mut channel, Act::Receive), Passing::Closed);
    }

    #[test]
    fn an_offer_stands_until_it_is_taken_or_withdrawn() {
        let mut channel = Channel::new(64, 0, false);
        does(&mut channel, Act::Send);
        assert!(!channel.can_proceed(Act::Send) && channel.can_proceed(Act::Receive));
        let taken = channel.passing(Act::Receive, false).unwrap();
        assert_eq!(taken, Passing::Receive { number: 0, wakes: Some(ThreadId(1)) });
        assert_eq!(channel.pass(2, taken), Some((1, true)));
        does(&mut channel, Act::Send);
        assert_eq!(channel.pass(2, channel.dropping_receiver()), Some((1, false)));
        assert_eq!(channel.passing(Act::Send, false), Some(Passing::Fail));
    }

    #[test]
    fn looking_changes_nothing() {
        let mut channel = Channel::new(64, 3, true);
        assert_eq!((does(&mut channel, Act::Look), channel.changes()), (Passing::Peek, 0));
        does(&mut channel, Act::Send);
        assert_eq!(channel.changes(), 1);
    }

    #[test]
    fn messages_are_abandoned_by_the_second_end_alone() {
        for (capacity, keeps) in [(3, true), (3, false), (0, true)] {
            let mut channel = Channel::new(64, capacity, keeps);
            does(&mut channel, Act::Send);
            channel.lose_senders();
            assert!(!channel.leaves_messages());
            channel.pass(1, channel.dropping_receiver());
            assert_eq!(channel.leaves_messages(), keeps && capacity > 0);
        }
    }
}
