//! Loops that wait and write: a thread that goes round and round, every time with the same
//! operations and the same values, and pauses or times out in every round.
//!
//! `while !*done.lock().unwrap() { sleep(…) }` is one, `wait_timeout` in a loop another. A round
//! ends at a pause (spin hint, yield, sleep) or where a wait with a timeout begins; it is a
//! *repeat* if its operations (sites, words, values before and after) are those of one of the two
//! rounds before it and left behind the same contents of the plain memory that it wrote beyond its
//! own stack. After [`REPEATS`] repeats the thread is *stuttering*: another round makes sense only
//! once another thread has done something, so that it waits for that. If nobody else can run, it
//! has a turn, up to [`FAIRNESS_TURNS`]; leaving the loop in such a turn is a bounded loop giving
//! up by itself (an assumption, as in [`crate::loops::read_only_spin`]); without that it is a
//! livelock.
//!
//! What a thread does in a repeat while it is stuttering changes nothing, and does not count as
//! something done. Its progress is buffered, and committed once the round differs from the two
//! before it: by an operation, by a place of a write, or at its end.
//!
//! *Doing something* is a plain write beyond the own stack, an atomic operation that changes a word
//! (lock words and reference counts excepted: whoever only acquires and releases changes nothing
//! that another could wait for), and a thread's end.

use lockred_protocol::hooks::Class;
use lockred_search::footprint::Access;
use std::hash::{Hash, Hasher};

/// Repeats until the thread is stuttering.
const REPEATS: u32 = 2;
/// Plain writes of a round that are remembered; a longer round is taken as progress.
const WRITES: usize = 32;
/// Bytes of a plain write, and operations of a round, that are remembered.
const LONG: usize = 4096;
/// Turns of a stuttering thread that nobody can help.
pub const FAIRNESS_TURNS: u32 = 10_000;

/// How a round ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The thread goes on.
    On,
    /// The thread goes on, and has left a loop in a turn of its own.
    GaveUp,
    /// The thread is stuttering.
    Stutters,
}

/// The rounds of one thread.
#[derive(Clone, Debug, Default)]
pub struct WritingSpin {
    /// Hash of the round under way.
    hash: u64,
    /// It has operations.
    any: bool,
    /// It has operations that are no reads.
    writes: bool,
    /// Where it wrote plain memory: addresses and lengths.
    written: Vec<(usize, usize)>,
    /// It wrote more than is remembered, or in memory that may go away.
    disturbed: bool,
    /// What a stuttering thread may have done in the round under way: not reported yet.
    held_back: u64,
    /// The round under way is none of those before it.
    deviates: bool,
    /// The operations of the round under way, each mixed with those before it (kept while it may be
    /// a repeat).
    sequence: Vec<u64>,
    /// The sequences of the two rounds before, and the places that the last one wrote.
    sequences: [Vec<u64>; 2],
    places: Vec<(usize, usize)>,
    /// Hashes of the rounds before.
    last: [u64; 2],
    repeats: u32,
    turns: u32,
    in_turn: bool,
    /// What others had done when the round under way began; stuttering threads wait for that to
    /// change.
    before: u64,
}

impl WritingSpin {
    /// Its thread does something that others may wait for: whether it is stuttering, and that is
    /// held back.
    pub fn holds_back(&mut self) -> bool {
        if !self.is_stuttering() {
            return false;
        }
        self.held_back += 1;
        true
    }

    /// An operation was executed.
    pub fn operation(&mut self, hash: u64, wrote: bool) {
        self.hash = (self.hash.rotate_left(5) ^ hash).wrapping_mul(0x517c_c1b7_2722_0a95);
        self.any = true;
        self.writes |= wrote;
        if self.repeats > 0 && self.sequence.len() < LONG {
            let index = self.sequence.len();
            let known = |sequence: &Vec<u64>| sequence.get(index) == Some(&self.hash);
            self.deviates |= self.repeats >= REPEATS && !self.sequences.iter().any(known);
            self.sequence.push(self.hash);
        }
    }

    /// Plain memory beyond the thread's own stack is about to be written.
    pub fn plain_write(&mut self, address: usize, size: usize) {
        self.writes = true;
        if self.written.contains(&(address, size)) {
            return;
        }
        if self.written.len() == WRITES || size > LONG || !lasting(address) {
            self.disturbed = true;
            self.deviates = true;
        } else {
            self.written.push((address, size));
            self.deviates |= self.repeats >= REPEATS && !self.places.contains(&(address, size));
        }
    }

    /// Mixes what the remembered plain writes left behind into the round's hash.
    fn close(&mut self) {
        for &(address, size) in &self.written {
            for offset in (0..size).step_by(8) {
                let word = load(address + offset, (size - offset).min(8));
                self.hash = (self.hash.rotate_left(5) ^ word ^ address as u64)
                    .wrapping_mul(0x517c_c1b7_2722_0a95);
            }
        }
        std::mem::swap(&mut self.written, &mut self.places);
        self.written.clear();
        let [last, before] = &mut self.sequences;
        std::mem::swap(last, before);
        std::mem::swap(last, &mut self.sequence);
        self.sequence.clear();
    }

    /// A round ends (at a pause only if there was something in it that
    /// [`crate::loops::read_only_spin`] does not handle). Whether the thread is stuttering;
    /// `others` counts what other threads have done.
    pub fn end_round(&mut self, others: u64) -> End {
        self.close();
        let repeated = self.any && !self.disturbed && self.last.contains(&self.hash);
        let gave_up = !repeated && self.in_turn && !self.changed(others);
        if repeated {
            // Where others have done something in the meantime, the round began too early to know
            // of it.
            self.repeats = if self.changed(others) { REPEATS - 1 } else { self.repeats + 1 };
            self.held_back = 0;
        } else {
            self.repeats = 0;
            self.turns = 0;
            self.in_turn = false;
        }
        self.last = [self.hash, self.last[0]];
        (self.hash, self.any, self.writes, self.disturbed) = (0, false, false, false);
        self.deviates = false;
        self.before = others;
        match self.is_stuttering() {
            true => End::Stutters,
            false if gave_up => End::GaveUp,
            false => End::On,
        }
    }

    /// A pause: it ends a round unless that only reads.
    pub fn pause(&mut self, others: u64) -> End {
        if self.writes { self.end_round(others) } else { End::On }
    }

    /// Whether another round would be a repeat like those before; in a round, whether it has been
    /// one so far.
    pub fn is_stuttering(&self) -> bool {
        self.repeats >= REPEATS && !self.deviates
    }

    /// Whether other threads have done something since the thread began to stutter.
    pub fn changed(&self, others: u64) -> bool {
        self.before != others
    }

    /// Whether it is in a turn of its own.
    pub fn in_turn(&self) -> bool {
        self.in_turn
    }

    /// What decides when the thread waits, and when that is a livelock; `others`: what others have
    /// done. Nothing of the round under way, nor of what was done in the ones before: it makes the
    /// thread wait sooner or later, which loses nothing, and a thread that never pauses is always
    /// in its first one.
    pub fn hash(&self, others: u64, hasher: &mut impl Hasher) {
        let Self { deviates, repeats, turns, in_turn, .. } = self;
        (deviates, repeats.min(&REPEATS), turns, in_turn).hash(hasher);
        (self.is_stuttering() && self.changed(others)).hash(hasher);
    }

    /// What was held back and has turned out to be something done.
    pub fn take_held_back(&mut self) -> u64 {
        if self.is_stuttering() { 0 } else { std::mem::take(&mut self.held_back) }
    }

    /// How often the thread may have done something that is not reported yet.
    pub fn held_back(&self) -> u64 {
        self.held_back
    }

    /// Turns that it has had in a row.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// The thread is run although it is stuttering: in a turn of its own if others have done
    /// nothing.
    pub fn release(&mut self, others: u64) {
        if self.changed(others) {
            self.turns = 0;
            self.in_turn = false;
            self.before = others;
        } else {
            self.turns += 1;
            self.in_turn = true;
        }
    }

    /// The thread does something that no such loop does. Whether it left a loop in a turn of its
    /// own.
    pub fn leave(&mut self, others: u64) -> bool {
        let gave_up = self.in_turn && !self.changed(others);
        let held_back = self.held_back;
        *self = Self { held_back, before: others, ..Self::default() };
        gave_up
    }
}

/// Whether memory at an address stays readable for the whole execution.
fn lasting(address: usize) -> bool {
    crate::memory::arena::range().contains(&address)
        || crate::memory::program::globals().contains(&address)
}

/// Reads up to eight bytes.
fn load(address: usize, size: usize) -> u64 {
    let mut bytes = [0; 8];
    // SAFETY: the thread has written there in this round, and `lasting` memory stays mapped.
    unsafe { std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), size) };
    u64::from_le_bytes(bytes)
}

/// Whether an atomic operation that changed its word is something that others may wait for.
pub fn counts(class: Class, access: Access) -> bool {
    let counts = matches!(access, Access::RefInc | Access::RefDec | Access::RefDecToOne);
    (!class.is_lock() || class == Class::Downgrade) && !counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(spin: &mut WritingSpin, hash: u64) -> bool {
        spin.operation(hash, true);
        spin.pause(0) == End::Stutters
    }

    #[test]
    fn equal_rounds_stutter_and_others_end_that() {
        let mut spin = WritingSpin::default();
        assert!((0..REPEATS).all(|_| !round(&mut spin, 7)));
        assert!(round(&mut spin, 7));
        assert!(!spin.changed(0) && spin.changed(1));
        spin.release(1);
        assert_eq!(spin.turns(), 0);
        spin.operation(8, true);
        assert_eq!(spin.pause(1), End::On, "the loop is left because of others");
        assert!(!spin.leave(1));
    }

    #[test]
    fn what_others_did_during_a_round_is_looked_at_in_another() {
        let mut spin = WritingSpin::default();
        let mut go = |others| {
            spin.operation(7, true);
            spin.pause(others)
        };
        assert_eq!([go(0), go(0), go(1)], [End::On; 3]);
        assert_eq!(go(1), End::Stutters);
    }

    #[test]
    fn a_round_that_deviates_is_known_at_once() {
        let mut spin = WritingSpin::default();
        while spin.pause(0) != End::Stutters {
            spin.operation(7, true);
            spin.operation(8, true);
        }
        spin.release(1);
        spin.operation(7, true);
        assert!(spin.is_stuttering());
        spin.operation(9, true);
        assert!(!spin.is_stuttering());
    }

    #[test]
    fn rounds_may_alternate() {
        let mut spin = WritingSpin::default();
        let stutters = [1, 2, 1, 2, 1].map(|hash| round(&mut spin, hash));
        assert_eq!(stutters, [false, false, false, true, true]);
    }

    #[test]
    fn rounds_that_write_or_differ_are_progress() {
        let mut spin = WritingSpin::default();
        for _ in 0..10 {
            spin.plain_write(0x1000, 8);
            assert!(!round(&mut spin, 7));
        }
        assert!((0..10).all(|value| !round(&mut spin, value)));
    }

    #[test]
    fn leaving_in_a_turn_is_reported() {
        let mut spin = WritingSpin::default();
        while !round(&mut spin, 7) {}
        spin.release(0);
        assert!(round(&mut spin, 7));
        spin.release(0);
        assert_eq!(spin.turns(), 2);
        assert!(spin.clone().leave(0));
        spin.operation(8, true);
        assert_eq!(spin.pause(0), End::GaveUp);
    }

    #[test]
    fn rounds_of_reads_are_not_its_matter() {
        let mut spin = WritingSpin::default();
        for _ in 0..10 {
            spin.operation(7, false);
            assert_eq!(spin.pause(0), End::On);
        }
    }
}
