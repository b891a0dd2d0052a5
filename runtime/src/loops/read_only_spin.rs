//! Loops that wait: a thread that only re-reads words with unchanged values waits until one of them
//! changes.
//!
//! Reads of a thread are remembered since its last operation that was no read, up to [`HISTORY`]
//! different ones. A read that is remembered with the value that the word still has is a *repeat*.
//! 1. A repeat after a pause (spin hint, yield, sleep) is no scheduling point: had the other
//!    threads run in between, that is the same as the thread having come a round later.
//! 2. After [`PAUSED_REPEATS`] such repeats, or [`BARE_REPEATS`] rounds without any pause, the
//!    thread stops as [`crate::machine::operation::Pending::Spinning`] until a remembered word
//!    changes. (In a loop of the program's own that counts its rounds it is not: that is reported
//!    as an assumption if the loop gives up.)
//! 3. If no other thread can run, it goes on freely, [`SLICE`] repeats at a time, in turn with the
//!    others that are in the same place. A bounded loop then gives up as it would natively (an
//!    assumption: at which iteration it gives up was not explored). Threads that have had
//!    [`FAIRNESS_TURNS`] turns without that have no more: when all have, it is a livelock.
//!
//! Loops that the shim has recognised ([`crate::machine::operation::AtomicOperation::goes_round`])
//! wait before they go round. They come here only where they go on at once, after a pause: then a
//! loop around them may be one that waits. Loops that also write (they look at something under a
//! lock) are the matter of [`crate::loops::writing_spin`].

use crate::memory::words::load;
use lockred_protocol::sites::SiteId;
use std::hash::{Hash, Hasher};

/// Different reads that are remembered.
const HISTORY: usize = 16;
/// Repeats after pauses until the thread waits.
const PAUSED_REPEATS: u32 = 128;
/// Rounds without a pause until the thread waits.
const BARE_REPEATS: u32 = 8;
/// Pauses without any operation until the thread waits.
const IDLE_PAUSES: u32 = 10_000;
/// Repeats of one turn of a thread that nobody can help.
const SLICE: u32 = 10_000;
/// Turns of a thread that nobody can help.
pub const FAIRNESS_TURNS: u32 = 100;

/// A read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Seen {
    site: SiteId,
    address: usize,
    size: u32,
    /// None once it has another one, and the thread has been woken for that.
    value: Option<u64>,
}

impl Seen {
    /// Whether the word has another value now.
    fn changed(&self) -> bool {
        self.value.is_some_and(|value| load(self.address, self.size) != value)
    }
}

/// What a thread has been reading.
#[derive(Clone, Debug, Default)]
pub struct ReadOnlySpin {
    /// The reads since the last operation that was none (the first `length` are in use).
    seen: [Option<Seen>; HISTORY],
    length: usize,
    /// The thread has paused since its last operation.
    paused: bool,
    /// Repeats after pauses, in a row.
    paused_repeats: u32,
    /// Repeats without a pause, in a row.
    bare_repeats: u32,
    /// Pauses in a row without any operation.
    pauses: u32,
    /// Some of those repeats were not scheduling points, in a loop of the program's own.
    skipped: bool,
    /// It is about to leave such a loop by itself.
    left: bool,
    /// In a turn of its own, although nothing changed: repeats so far.
    free: Option<u32>,
    /// Turns so far.
    turns: u32,
}

/// What to do with a read or a pause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Advice {
    /// It is an operation like any other.
    Stop,
    /// It is executed without a scheduling point.
    Skip,
    /// The thread first waits for a change.
    Wait,
}

impl ReadOnlySpin {
    /// The thread paused. Whether it is now to wait: it does nothing else.
    pub fn pause(&mut self) -> Advice {
        self.paused = true;
        self.pauses += 1;
        let most = if self.free.is_some() { SLICE } else { IDLE_PAUSES };
        if self.pauses >= most { Advice::Wait } else { Advice::Skip }
    }

    /// Whether the thread has paused since its last operation.
    pub fn has_paused(&self) -> bool {
        self.paused
    }

    /// The thread is about to read a word. `own`: the loop is the program's own, not one inside a
    /// recognised primitive.
    pub fn before_read(&mut self, site: SiteId, address: usize, size: u32, own: bool) -> Advice {
        let now = Seen { site, address, size, value: Some(load(address, size)) };
        let repeat = self.seen[..self.length].contains(&Some(now));
        if !repeat {
            // Judged now: until the read is executed, other threads may change what the loop waited
            // for.
            self.left |= self.gives_up();
            return Advice::Stop;
        }
        if let Some(free) = &mut self.free {
            *free += 1;
            return if *free > SLICE { Advice::Wait } else { Advice::Skip };
        }
        if self.paused {
            self.paused_repeats += 1;
            self.skipped |= own;
            if self.paused_repeats > PAUSED_REPEATS { Advice::Wait } else { Advice::Skip }
        } else {
            self.bare_repeats += 1;
            if self.bare_repeats > BARE_REPEATS * self.length as u32 {
                Advice::Wait
            } else {
                Advice::Stop
            }
        }
    }

    /// The thread has read a word. Whether it thereby left a loop by itself.
    pub fn read(&mut self, site: SiteId, address: usize, size: u32, value: u64) -> bool {
        self.paused = false;
        self.pauses = 0;
        let now = Some(Seen { site, address, size, value: Some(value) });
        if self.seen[..self.length].contains(&now) {
            return false;
        }
        let gave_up = std::mem::take(&mut self.left);
        // A new value of a word that was read before starts the history afresh.
        let known_place = |seen: &Option<Seen>| {
            seen.is_some_and(|seen| seen.site == site && seen.address == address)
        };
        if self.length == HISTORY || self.seen[..self.length].iter().any(known_place) {
            self.length = 0;
        }
        self.seen[self.length] = now;
        self.length += 1;
        self.paused_repeats = 0;
        self.bare_repeats = 0;
        self.skipped = false;
        self.free = None;
        self.turns = 0;
        gave_up
    }

    /// The thread is about to do something else than read. Whether it thereby leaves a loop by
    /// itself.
    pub fn acts(&mut self) -> bool {
        let gave_up = self.gives_up() || self.left;
        // Not `default`: that would clear the whole history.
        self.length = 0;
        self.paused = false;
        (self.paused_repeats, self.bare_repeats, self.pauses) = (0, 0, 0);
        (self.skipped, self.left) = (false, false);
        self.free = None;
        self.turns = 0;
        gave_up
    }

    /// Whether the thread, now that it does something else, leaves a loop whose rounds were not all
    /// scheduling points, although nothing that it waited for has changed.
    fn gives_up(&self) -> bool {
        (self.free.is_some() || self.skipped) && !self.changed()
    }

    /// Whether a remembered word has another value now.
    pub fn changed(&self) -> bool {
        self.seen[..self.length].iter().flatten().any(Seen::changed)
    }

    /// The words that the thread waits for: addresses and sizes.
    pub fn words(&self) -> impl Iterator<Item = (usize, u32)> {
        let known = |seen: &&Seen| seen.value.is_some();
        let seen = self.seen[..self.length].iter().flatten().filter(known);
        seen.map(|seen| (seen.address, seen.size))
    }

    /// Whether the thread is in a turn of its own.
    pub fn in_turn(&self) -> bool {
        self.free.is_some()
    }

    /// Turns that the thread has had since it last saw a change.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// Everything: what it remembers decides when a thread that goes round in vain waits, and when
    /// that is a livelock.
    pub fn hash(&self, hasher: &mut impl Hasher) {
        let Self { seen, length, paused, paused_repeats, bare_repeats, pauses, .. } = self;
        (&seen[..*length], paused, paused_repeats, bare_repeats, pauses).hash(hasher);
        let Self { skipped, left, free, turns, .. } = self;
        (skipped, left, free, turns).hash(hasher);
    }

    /// The waiting thread is run: in a turn of its own if nothing changed, else from a clean slate.
    /// What changed may be a word that its loop does not read (it did before): for that it is woken
    /// once.
    pub fn release(&mut self) {
        self.pauses = 0;
        if self.changed() {
            let seen = self.seen[..self.length].iter_mut().flatten();
            seen.filter(|seen| seen.changed()).for_each(|seen| seen.value = None);
            self.paused_repeats = 0;
            self.bare_repeats = 0;
            self.skipped = false;
            self.free = None;
            self.turns = 0;
        } else {
            self.free = Some(0);
            self.turns += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: SiteId = SiteId(7);

    #[test]
    fn repeats_after_pauses_are_skipped_then_wait_for_a_change() {
        let mut word = 1_u32;
        let address = &raw mut word as usize;
        let mut spin = ReadOnlySpin::default();
        assert_eq!(spin.before_read(SITE, address, 4, true), Advice::Stop);
        spin.read(SITE, address, 4, 1);
        for _ in 0..PAUSED_REPEATS {
            assert_eq!(spin.pause(), Advice::Skip);
            assert_eq!(spin.before_read(SITE, address, 4, true), Advice::Skip);
            spin.read(SITE, address, 4, 1);
        }
        spin.pause();
        assert_eq!(spin.before_read(SITE, address, 4, true), Advice::Wait);
        assert!(!spin.changed());
        crate::memory::words::store(address, 4, 2);
        assert!(spin.changed());
        spin.release();
        assert_eq!(spin.before_read(SITE, address, 4, true), Advice::Stop);
        assert!(!spin.read(SITE, address, 4, 2), "it saw a change");
    }

    #[test]
    fn a_word_that_the_loop_no_longer_reads_wakes_it_once() {
        let (mut before, word) = (1_u32, 1_u32);
        let mut spin = ReadOnlySpin::default();
        spin.read(SiteId(6), &raw const before as usize, 4, 1);
        let address = &raw const word as usize;
        spin.read(SITE, address, 4, 1);
        crate::memory::words::store(&raw mut before as usize, 4, 2);
        assert!(spin.changed());
        spin.release();
        assert!(!spin.changed() && !spin.in_turn());
        assert!(spin.words().eq([(address, 4)]));
        let rounds = || {
            spin.pause();
            spin.before_read(SITE, address, 4, true)
        };
        let advice: Vec<Advice> = std::iter::repeat_with(rounds).take(129).collect();
        assert_eq!((advice[127], advice[128]), (Advice::Skip, Advice::Wait));
        spin.release();
        assert!(spin.in_turn(), "nothing has changed since");
    }

    #[test]
    fn a_loop_that_nobody_helps_gives_up_or_takes_turns() {
        let word = 1_u32;
        let address = &raw const word as usize;
        let mut spin = ReadOnlySpin::default();
        spin.read(SITE, address, 4, 1);
        spin.release();
        assert_eq!(spin.before_read(SITE, address, 4, true), Advice::Skip);
        assert!(spin.acts(), "it left the loop although nothing changed");
        spin.read(SITE, address, 4, 1);
        for turn in 1..=3 {
            spin.release();
            assert_eq!(spin.turns(), turn);
            let advice = (0..=SLICE).map(|_| spin.before_read(SITE, address, 4, true)).last();
            assert_eq!(advice, Some(Advice::Wait), "the others have a turn");
        }
        assert!(spin.acts());
        assert_eq!(spin.turns(), 0);
    }

    #[test]
    fn a_few_reads_without_pauses_are_ordinary_operations() {
        let word = 1_u32;
        let address = &raw const word as usize;
        let mut spin = ReadOnlySpin::default();
        for _ in 0..=BARE_REPEATS {
            assert_eq!(spin.before_read(SITE, address, 4, true), Advice::Stop);
            spin.read(SITE, address, 4, 1);
        }
        assert_eq!(spin.before_read(SITE, address, 4, true), Advice::Wait);
    }
}
