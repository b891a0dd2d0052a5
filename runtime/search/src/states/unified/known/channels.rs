//! What goes through a channel with its messages: what receivers learn, and senders for which there
//! is room again.
//!
//! Messages are numbered in an execution, and states do not show the numbers. But all messages in
//! flight are the last ones, so that their rows, counted from the last one, are the same in equal
//! states.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use crate::core::machine::ThreadId;

use super::super::bits::Bits;
use super::Lessons;

/// What a message, or the room for one, carries.
#[derive(Clone, Debug, Default)]
pub(super) struct Carried {
    /// Which message it is. (Not part of the state.)
    pub(super) number: u32,
    pub(super) row: Bits,
    pub(super) lessons: Lessons,
}

impl PartialEq for Carried {
    fn eq(&self, other: &Self) -> bool {
        self.row == other.row && self.lessons == other.lessons
    }
}

impl Eq for Carried {}

impl Hash for Carried {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.row.hash(state);
        self.lessons.hash(state);
    }
}

impl Carried {
    fn is_empty(&self) -> bool {
        self.row.is_empty() && self.lessons.0.is_empty()
    }
}

/// What is in flight in one channel.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Passed {
    /// Messages that were sent and not received.
    pub(super) sends: Vec<Carried>,
    /// Receives that made room which is not filled.
    pub(super) receives: Vec<Carried>,
    /// Per sender that offers a message which was taken, what its receiver knew.
    pub(super) answers: BTreeMap<ThreadId, Bits>,
    pub(super) closed: Bits,
    pub(super) dropped_senders: Bits,
}

impl Passed {
    pub(super) fn is_empty(&self) -> bool {
        self.sends.is_empty()
            && self.receives.is_empty()
            && self.answers.is_empty()
            && self.closed.is_empty()
            && self.dropped_senders.is_empty()
    }

    pub(super) fn each_row(&mut self, change: &mut impl FnMut(&mut Bits)) {
        for carried in self.sends.iter_mut().chain(&mut self.receives) {
            change(&mut carried.row);
            carried.lessons.each(change);
        }
        self.answers.values_mut().for_each(&mut *change);
        self.answers.retain(|_, row| !row.is_empty());
        change(&mut self.closed);
        change(&mut self.dropped_senders);
        self.trim();
    }

    pub(super) fn take_away(&mut self, common: &Lessons) {
        let carried = self.sends.iter_mut().chain(&mut self.receives);
        carried.for_each(|carried| carried.lessons.take_away(common));
        self.trim();
    }

    /// The first ones that carry nothing need not be kept: places are counted from the last one.
    fn trim(&mut self) {
        for row in [&mut self.sends, &mut self.receives] {
            let empty = row.iter().take_while(|carried| carried.is_empty()).count();
            row.drain(..empty);
        }
    }
}

/// What was carried with the message of this number.
pub(super) fn of(row: &[Carried], number: u32) -> Option<&Carried> {
    row.iter().find(|carried| carried.number == number)
}
