//! How much of what is true of a program's accesses the plan knows: builds with `--check-static`
//! tell which bytes each access touches, whether two threads ever touch them, one of them writing,
//! as long as they live, and if they do, whether one lock protects them since then or nobody writes
//! them.
//!
//! Counted are accesses below the root, until the test returns: before it hooks are off, and after
//! it is the harness, which is left out. An access is judged when the memory that it touched ends,
//! or the execution does: only then is it known that no other thread came.

use lockred_protocol::message::Proved;
use lockred_protocol::plan::{Claim, Decision, Reason};
use lockred_protocol::sites::SiteId;
use std::collections::HashMap;

/// What the plan knows of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Known {
    /// A rule lets it go, as nobody else touches what it touches or nobody writes it.
    claimed: bool,
    /// What it touches is not published yet, protected by a lock, or not written any more.
    protected: bool,
}

impl Known {
    /// By the reason of what is done at it.
    pub fn of(reason: Reason) -> Self {
        use Claim::{First, Locked, OneLock, Owned, Settled};
        let protected = matches!(reason.claim(), Some(First | Locked | Settled | OneLock | Owned));
        Self { claimed: reason.decision() < Decision::Track, protected }
    }
}

/// What is known of the accesses of a site, and was seen of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Seen {
    known: Known,
    /// Two threads touched the memory of one of them.
    shared: bool,
    /// Nothing protected it then.
    bare: bool,
}

/// Sites, and what is known of their accesses.
#[derive(Clone, Debug, Default)]
pub struct Sites(HashMap<SiteId, Seen>);

impl Sites {
    fn add(&mut self, site: SiteId, seen: Seen) {
        let known = self.0.entry(site).or_default();
        known.known.claimed |= seen.known.claimed;
        known.known.protected |= seen.known.protected;
        known.shared |= seen.shared;
        known.bare |= seen.bare;
    }

    /// Adds what another execution has shown.
    pub fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(&site, &seen)| self.add(site, seen));
    }

    /// How many there are of each kind; none if nothing was looked at.
    pub fn proved(&self) -> Option<Proved> {
        let count = |counts: fn(&Seen) -> bool| self.0.values().filter(|seen| counts(seen)).count();
        (!self.0.is_empty()).then(|| Proved {
            ran: self.0.len() as u64,
            unshared: count(|seen| !seen.shared) as u64,
            proved: count(|seen| !seen.shared && seen.known.claimed) as u64,
            protected: count(|seen| seen.shared && !seen.bare) as u64,
            known: count(|seen| seen.shared && !seen.bare && seen.known.protected) as u64,
        })
    }
}

/// An access to some bytes of a word.
#[derive(Clone, Copy, Debug)]
struct Use {
    site: SiteId,
    known: Known,
    /// A bit a byte.
    bytes: u8,
}

/// Accesses to memory that lives, by word, and those to memory that does not any more.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    words: HashMap<usize, Vec<Use>>,
    sites: Sites,
}

impl Uses {
    /// A site accesses these bytes of a word.
    pub fn touch(&mut self, word: usize, bytes: u8, site: SiteId, known: Known) {
        let uses = self.words.entry(word).or_default();
        match uses.iter_mut().find(|before| before.site == site && before.known == known) {
            Some(before) => before.bytes |= bytes,
            None => uses.push(Use { site, known, bytes }),
        }
    }

    /// These bytes of a word do not live any more; those of `shared` were touched by two threads,
    /// and written; nothing protected those of `bare`.
    pub fn end(&mut self, word: usize, bytes: u8, shared: u8, bare: u8) {
        let Some(uses) = self.words.get_mut(&word) else { return };
        uses.retain_mut(|used| {
            let ended = used.bytes & bytes;
            if ended != 0 {
                let (shared, bare) = (ended & shared != 0, ended & bare != 0);
                self.sites.add(used.site, Seen { known: used.known, shared, bare });
            }
            used.bytes &= !bytes;
            used.bytes != 0
        });
        if uses.is_empty() {
            self.words.remove(&word);
        }
    }

    /// Words with accesses to memory that lives.
    pub fn words(&self) -> Vec<usize> {
        self.words.keys().copied().collect()
    }

    /// What is known of the accesses whose memory has ended.
    pub const fn sites(&self) -> &Sites {
        &self.sites
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN: Known = Known { claimed: false, protected: false };
    const CLAIMED: Known = Known { claimed: true, protected: false };
    const PROTECTED: Known = Known { claimed: false, protected: true };

    #[test]
    fn a_site_is_unshared_if_none_of_its_bytes_was_shared_as_long_as_it_lived() {
        let mut uses = Uses::default();
        uses.touch(1, 0b0011, SiteId(1), CLAIMED);
        uses.touch(1, 0b1100, SiteId(2), UNKNOWN);
        uses.touch(1, 0b0001, SiteId(3), UNKNOWN);
        uses.end(1, 0b0010, 0, 0);
        uses.end(1, 0b1101, 0b1000, 0b1000);
        assert!(uses.words().is_empty());
        let proved = uses.sites().proved();
        assert_eq!(proved, Some(Proved { ran: 3, unshared: 2, proved: 1, protected: 0, known: 0 }));
    }

    #[test]
    fn a_site_is_protected_if_all_that_it_shares_is() {
        let mut uses = Uses::default();
        uses.touch(1, 0b0001, SiteId(1), PROTECTED);
        uses.touch(1, 0b0011, SiteId(2), PROTECTED);
        uses.touch(1, 0b0001, SiteId(3), UNKNOWN);
        uses.touch(1, 0b1000, SiteId(4), PROTECTED);
        uses.end(1, 0b1111, 0b0011, 0b0010);
        let proved = uses.sites().proved();
        assert_eq!(proved, Some(Proved { ran: 4, unshared: 1, proved: 0, protected: 2, known: 1 }));
    }

    #[test]
    fn what_one_execution_shares_is_shared() {
        let seen = |shared| {
            let mut uses = Uses::default();
            uses.touch(7, 1, SiteId(1), UNKNOWN);
            uses.end(7, 1, shared, 0);
            uses.sites().clone()
        };
        let mut all = Sites::default();
        all.merge(&seen(0));
        assert_eq!(all.proved().map(|proved| proved.unshared), Some(1));
        all.merge(&seen(1));
        all.merge(&seen(0));
        assert_eq!(all.proved().map(|proved| proved.unshared), Some(0));
    }

    #[test]
    fn nothing_is_said_of_builds_that_tell_nothing() {
        assert_eq!(Sites::default().proved(), None);
    }
}
