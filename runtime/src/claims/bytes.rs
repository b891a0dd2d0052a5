//! What the plan claims of accesses, compared with what happens: builds with `--check-static`
//! announce every access before it is made.
//!
//! Of each byte is kept who has touched it since it began to live (a block was allocated, a stack
//! variable came into scope), and what was claimed there. A byte that two threads have touched, and
//! one of them has written, refutes every claim that it is unshared; a write refutes an earlier
//! claim that nobody writes any more. What is refuted is an error of ours, and ends the
//! exploration: the analysis is wrong.
//!
//! A block that `Arc::drop_slow` is called for *has ended*: nothing is claimed of locks there any
//! more, until other memory begins to live in its place. In a right program only who dropped the
//! last reference accesses it. A program with a wrong count is not known to leave it alone, so what
//! it does there refutes nothing, whoever comes in which order.
//!
//! It is a part of the execution, so that it is put back with that; before the root, it grows with
//! what the program has done until then. So copies of it have words in common, until one of them
//! learns something of one.

use crate::claims::proved::{Known, Sites, Uses};
use crate::claims::shared::{Judge, SetId, Sets, Shared};
use crate::record::held::Held;
use lockred_protocol::plan::{Claim, Reason};
use lockred_protocol::sites::SiteId;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// Bytes that are kept together.
const WORD: usize = 8;

/// An access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Touch {
    pub thread: u32,
    pub site: SiteId,
    /// What is claimed of it.
    pub reason: Reason,
    pub writes: bool,
    /// It is one of the program's while threads are there, for which hooks are paid
    /// ([`crate::claims::proved`]).
    pub counts: bool,
}

/// What is known of a byte.
#[derive(Clone, Debug)]
struct Byte {
    /// The first access.
    first: Touch,
    /// The first access that claims that only its thread touches the byte.
    unshared: Option<Touch>,
    /// The first access that claims that nobody writes the byte from then on.
    unwritten: Option<Touch>,
    /// It was written.
    written: bool,
    /// The first access of another thread than that of the first.
    other: Option<Touch>,
    /// What is so since then, or is claimed to be. Most memory is never shared.
    shared: Option<Box<Shared>>,
}

/// A claim that does not hold, and the access that shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refuted {
    pub claim: Touch,
    pub by: Touch,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    words: HashMap<usize, Rc<[Option<Byte>; WORD]>>,
    /// Who accesses what.
    uses: Uses,
    /// Blocks to which the last reference was dropped: by their beginnings, their ends.
    ended: BTreeMap<usize, usize>,
    /// Locks whose holders are not reported ([`crate::monitor::claimed_locks`]).
    pub unclear: HashSet<usize>,
    /// What each lock is, by its word ([`crate::claims::nested`]).
    pub locks: BTreeMap<usize, BTreeSet<u32>>,
    /// Sets of locks that were held.
    sets: Sets,
    /// The access that was made last.
    last: Option<Touch>,
}

impl Claims {
    /// Memory is accessed, while these are held. O(size).
    pub fn touch(
        &mut self,
        address: usize,
        size: usize,
        touch: Touch,
        held: &[Held],
    ) -> Result<(), Refuted> {
        let end = address.saturating_add(size);
        // An access that needs no hook as there is one right before it says nothing of who shares.
        if touch.counts && touch.reason != Reason::Repeated && touch.reason != Reason::Operation {
            let known = Known::of(touch.reason);
            words(address, end)
                .for_each(|(word, bytes)| self.uses.touch(word, bytes, touch.site, known));
        }
        let locks = self.sets.held(held, touch.thread, touch.writes);
        self.last = Some(touch);
        let ended = self.has_ended(address);
        let mut judge = Judge { sets: &mut self.sets, unclear: &self.unclear, ended };
        words(address, end).try_for_each(|(word, inside)| {
            let bytes = Rc::make_mut(self.words.entry(word).or_default());
            bytes_of(inside).try_for_each(|index| match &mut bytes[index] {
                Some(byte) => byte.touch(touch, locks, &mut judge),
                // What it claims itself is said of others.
                none => none.insert(Byte::new(touch)).share(touch, locks, &mut judge),
            })
        })
    }

    /// The last reference to a block was dropped.
    pub fn drop_last(&mut self, start: usize, end: usize) {
        self.ended.insert(start, end);
    }

    /// Whether the last reference to the block was dropped that an address is in.
    fn has_ended(&self, address: usize) -> bool {
        self.ended.range(..=address).next_back().is_some_and(|(_, &end)| address < end)
    }

    /// The access that was made last is one to memory that a lock is claimed to protect. O(size).
    pub fn guard(&mut self, address: usize, size: usize, lock: usize) -> Result<(), Refuted> {
        let Some(claim) = self.last.filter(|_| !self.has_ended(address)) else { return Ok(()) };
        let judge = Judge { sets: &mut self.sets, unclear: &self.unclear, ended: false };
        words(address, address.saturating_add(size)).try_for_each(|(word, inside)| {
            let Some(bytes) = self.words.get_mut(&word).map(Rc::make_mut) else { return Ok(()) };
            bytes_of(inside).try_for_each(|index| {
                let byte = bytes[index].as_mut();
                let shared = byte.map(|byte| byte.shared.get_or_insert_default());
                shared.map_or(Ok(()), |shared| shared.guard(lock, claim, &judge))
            })
        })
    }

    /// Other memory begins to live here. O(size), or what is known of memory if that is less.
    pub fn forget(&mut self, address: usize, size: usize) {
        let end = address.saturating_add(size);
        let locks: Vec<usize> = self.locks.range(address..end).map(|(&word, _)| word).collect();
        locks.iter().for_each(|word| drop(self.locks.remove(word)));
        let ended = self.ended.range(..end).rev().take_while(|(_, end)| **end > address);
        let ended: Vec<usize> = ended.map(|(start, _)| *start).collect();
        for start in ended {
            self.ended.remove(&start);
        }
        let known: Vec<(usize, u8)> = if size / WORD > self.words.len() {
            let there = |&word: &usize| word >= address / WORD && word < end.div_ceil(WORD);
            let part = |word: usize| words(address.max(word * WORD), end.min((word + 1) * WORD));
            self.words.keys().copied().filter(there).flat_map(part).collect()
        } else {
            words(address, end).collect()
        };
        for (word, inside) in known {
            let Some(bytes) = self.words.get_mut(&word).map(Rc::make_mut) else { continue };
            self.uses.end(word, inside, shared(bytes), bare(bytes, &self.sets));
            bytes_of(inside).for_each(|index| bytes[index] = None);
            if bytes.iter().all(Option::is_none) {
                self.words.remove(&word);
            }
        }
    }

    /// The execution ends: what its accesses have shown of who shares what. O(memory).
    pub fn end(&mut self) -> &Sites {
        for word in self.uses.words() {
            let bytes = self.words.get(&word).map(Rc::as_ref);
            let bare = bytes.map_or(0, |bytes| bare(bytes, &self.sets));
            self.uses.end(word, u8::MAX, bytes.map_or(0, shared), bare);
        }
        self.uses.sites()
    }
}

/// The words of a range of addresses, each with a bit for each byte that is in the range.
fn words(address: usize, end: usize) -> impl Iterator<Item = (usize, u8)> {
    (address / WORD..end.div_ceil(WORD)).map(move |word| {
        let inside = |index: &usize| (address..end).contains(&(word * WORD + index));
        (word, (0..WORD).filter(inside).fold(0, |bits, index| bits | 1 << index))
    })
}

/// The bytes of a word whose bits are set.
fn bytes_of(inside: u8) -> impl Iterator<Item = usize> {
    (0..WORD).filter(move |index| inside & 1 << index != 0)
}

/// The bytes of a word that two threads have touched, one of them writing.
fn shared(bytes: &[Option<Byte>; WORD]) -> u8 {
    those(bytes, |byte| byte.other.is_some() && byte.written)
}

/// The bytes of a word that nothing protects since two threads have touched them.
fn bare(bytes: &[Option<Byte>; WORD], sets: &Sets) -> u8 {
    let is_bare = |shared: &Shared| !shared.is_protected(sets);
    those(bytes, |byte| byte.shared.as_deref().is_some_and(is_bare))
}

fn those(bytes: &[Option<Byte>; WORD], are: impl Fn(&Byte) -> bool) -> u8 {
    let is = |index: &usize| bytes[*index].as_ref().is_some_and(&are);
    (0..WORD).filter(is).fold(0, |bits, index| bits | 1 << index)
}

impl Byte {
    fn new(touch: Touch) -> Self {
        let claims = |claim| (touch.reason.claim() == Some(claim)).then_some(touch);
        let (unshared, unwritten) = (claims(Claim::Unshared), claims(Claim::Unwritten));
        Self { first: touch, unshared, unwritten, written: touch.writes, other: None, shared: None }
    }

    /// What the access says of memory that is shared, or claims to be: but to a block that has
    /// ended.
    fn share(&mut self, touch: Touch, locks: SetId, judge: &mut Judge<'_>) -> Result<(), Refuted> {
        let late = self.other.is_some();
        let claims = matches!(touch.reason.claim(), Some(Claim::Settled | Claim::OneLock));
        if !judge.ended && (late || claims) {
            self.shared.get_or_insert_default().touch(touch, locks, late, judge)?;
        }
        Ok(())
    }

    fn touch(&mut self, touch: Touch, locks: SetId, judge: &mut Judge<'_>) -> Result<(), Refuted> {
        if let Some(claim) = self.unwritten.filter(|_| touch.writes) {
            return Err(Refuted { claim, by: touch });
        }
        let Self { unshared, unwritten, .. } = Self::new(touch);
        self.unshared = self.unshared.or(unshared);
        self.unwritten = self.unwritten.or(unwritten);
        self.written |= touch.writes;
        if touch.thread != self.first.thread {
            self.other = self.other.or(Some(touch));
        }
        let first = match touch.reason.claim() {
            Some(Claim::First) => true,
            Some(Claim::Owned) => !judge.ended,
            _ => false,
        };
        if first && let Some(other) = self.other {
            let by = if touch.thread == other.thread { self.first } else { other };
            return Err(Refuted { claim: touch, by });
        }
        self.share(touch, locks, judge)?;
        match (self.unshared, self.other) {
            (Some(claim), Some(other)) if self.written => {
                let by = if claim.thread == other.thread { self.first } else { other };
                Err(Refuted { claim, by })
            }
            _ => Ok(()),
        }
    }
}

/// What is wrong, in words.
pub fn reported(Refuted { claim, by }: Refuted) -> String {
    let promise = match claim.reason.claim() {
        Some(Claim::Unwritten) => "that nobody writes it",
        Some(Claim::Settled) => "that nobody writes it once it is shared",
        Some(Claim::Locked | Claim::OneLock) => "that all do so under one lock",
        Some(Claim::First) => "that nobody else has touched it",
        Some(Claim::Owned) => {
            "that nobody else has touched it, or the last reference to it was dropped"
        }
        _ => "that no other thread touches it",
    };
    format!(
        "the analysis is wrong: of the memory that thread {} {} at {} it claims {promise} (rule `{}`), but thread {} {} it at {}",
        claim.thread,
        accesses(claim),
        place(claim.site),
        claim.reason.name(),
        by.thread,
        accesses(by),
        place(by.site),
    )
}

const fn accesses(touch: Touch) -> &'static str {
    if touch.writes { "writes" } else { "reads" }
}

/// A site, for people.
pub fn place(site: SiteId) -> String {
    let Some(sidecar) = crate::session::files::sidecar() else { return format!("site {}", site.0) };
    let frame = |site: &lockred_protocol::sites::Site| {
        let (file, function) = (sidecar.string(site.file), sidecar.string(site.function));
        format!("{function} ({file}:{}:{})", site.line, site.column)
    };
    let frames: Vec<String> = sidecar.chain(site).map(frame).collect();
    frames.join(", inlined in ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn touch(thread: u32, reason: Reason, writes: bool) -> Touch {
        Touch { thread, site: SiteId(thread + 1), reason, writes, counts: true }
    }

    /// Makes touches of one place; gives the number of the first that is refuted.
    fn refuted(touches: &[Touch]) -> Option<usize> {
        let mut claims = Claims::default();
        touches.iter().position(|&touch| claims.touch(100, 12, touch, &[]).is_err())
    }

    #[test]
    fn what_is_claimed_to_be_unshared_is_touched_by_one_thread_before_and_after() {
        let [mine, other] = [0, 1].map(|thread| touch(thread, Reason::Shared, true));
        let claim = touch(0, Reason::Stack, false);
        assert_eq!(refuted(&[mine, claim, mine, claim]), None);
        assert_eq!(refuted(&[mine, other, mine]), None);
        assert_eq!(refuted(&[claim, other]), Some(1));
        assert_eq!(refuted(&[mine, other, claim]), Some(2));
        assert_eq!(refuted(&[other, claim]), Some(1));
        let reads = touch(1, Reason::Shared, false);
        assert_eq!(refuted(&[claim, reads, claim]), None);
        assert_eq!(refuted(&[claim, reads, mine]), Some(2));
    }

    #[test]
    fn what_is_claimed_to_stay_may_have_been_written_before() {
        let [writes, reads] = [true, false].map(|writes| touch(1, Reason::Shared, writes));
        let claim = touch(0, Reason::Invariant, false);
        assert_eq!(refuted(&[writes, claim, reads, claim]), None);
        assert_eq!(refuted(&[writes, claim, writes]), Some(2));
        // A write to what is mapped for reading alone is a signal, once it is made.
        assert_eq!(refuted(&[touch(0, Reason::Constant, true)]), None);
    }

    #[test]
    fn what_is_claimed_to_be_touched_first_is() {
        let [mine, other] = [0, 1].map(|thread| touch(thread, Reason::Shared, true));
        let claim = touch(0, Reason::Unpublished, true);
        assert_eq!(refuted(&[mine, claim, mine, other, mine]), None);
        assert_eq!(refuted(&[mine, other, claim]), Some(2));
        assert_eq!(refuted(&[other, claim]), Some(1));
        let reads = touch(1, Reason::Shared, false);
        assert_eq!(refuted(&[reads, claim]), Some(1));
    }

    #[test]
    fn nothing_is_claimed_of_a_block_that_has_ended() {
        let [mine, other] = [0, 1].map(|thread| touch(thread, Reason::Shared, true));
        let [one, owned] = [Reason::OneLock, Reason::Owned].map(|reason| touch(0, reason, true));
        assert_eq!(refuted(&[mine, other, one]), Some(2));
        assert_eq!(refuted(&[mine, one, other]), Some(2));
        assert_eq!(refuted(&[mine, owned, other]), None);
        assert_eq!(refuted(&[mine, other, owned]), Some(2));
        let ended = |start: usize, end: usize, touches: &[Touch]| {
            let mut claims = Claims::default();
            claims.touch(100, 12, other, &[]).unwrap();
            claims.ended.insert(start, end);
            let all = |claims: &mut Claims| {
                touches.iter().all(|&touch| claims.touch(100, 12, touch, &[]).is_ok())
            };
            let before = all(&mut claims);
            // Other memory begins to live there.
            claims.forget(96, 32);
            assert!(claims.ended.is_empty());
            (before, all(&mut claims))
        };
        assert_eq!(ended(100, 112, &[owned, one, other, mine]), (true, false));
        assert_eq!(ended(96, 128, &[one, other]), (true, false));
        assert_eq!(ended(112, 128, &[owned]), (false, true));
        assert_eq!(ended(90, 100, &[owned]), (false, true));
        // A lock that is claimed by name is none there, either.
        let mut claims = Claims::default();
        claims.touch(100, 12, mine, &[]).unwrap();
        claims.touch(100, 12, other, &[]).unwrap();
        claims.ended.insert(100, 112);
        claims.touch(100, 12, touch(0, Reason::Locked, true), &[]).unwrap();
        claims.guard(100, 12, 64).unwrap();
        // What one thread alone touches is so to its end.
        claims.touch(100, 12, touch(0, Reason::Heap, true), &[]).unwrap_err();
    }

    #[test]
    fn the_access_that_is_named_is_another_threads() {
        let (mine, claim) = (touch(0, Reason::Shared, true), touch(1, Reason::Heap, true));
        let mut claims = Claims::default();
        claims.touch(0, 1, mine, &[]).unwrap();
        assert_eq!(claims.touch(0, 1, claim, &[]), Err(Refuted { claim, by: mine }));
    }

    #[test]
    fn other_memory_in_the_same_place_knows_of_nothing() {
        let (claim, other) = (touch(0, Reason::Stack, true), touch(1, Reason::Shared, true));
        let mut claims = Claims::default();
        claims.touch(100, 12, claim, &[]).unwrap();
        claims.forget(100, 10);
        claims.touch(100, 10, other, &[]).unwrap();
        assert!(claims.touch(110, 1, other, &[]).is_err());
        claims.forget(96, 24);
        assert!(claims.words.is_empty());
        // Much memory of which little is known: the bytes at its edges and beside it stay.
        claims.touch(100, 12, claim, &[]).unwrap();
        claims.touch(1 << 20, 8, claim, &[]).unwrap();
        claims.forget(102, (1 << 20) - 98);
        let left = |word: usize| claims.words[&word].iter().flatten().count();
        assert_eq!((claims.words.len(), left(12), left((1 << 20) / WORD)), (2, 2, 4));
    }
}
