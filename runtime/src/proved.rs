//! How much of what is true of a program's accesses the plan knows: builds with `--check-static` tell which bytes each access touches, and whether two
//! threads ever touch them, one of them writing, as long as they live.
//!
//! An access is judged when the memory that it touched ends, or the execution does: only then is it known that no other thread came.

use lockred_trace::message::Proved;
use lockred_trace::sites::SiteId;
use std::collections::HashMap;

/// What is known of the accesses of a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Seen {
    /// A rule lets them go, as nobody else touches what they touch or nobody writes it.
    claimed: bool,
    /// Two threads touched the memory of one of them.
    shared: bool,
}

/// Sites, and what is known of their accesses.
#[derive(Clone, Debug, Default)]
pub struct Sites(HashMap<SiteId, Seen>);

impl Sites {
    fn add(&mut self, site: SiteId, seen: Seen) {
        let known = self.0.entry(site).or_default();
        known.claimed |= seen.claimed;
        known.shared |= seen.shared;
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
            proved: count(|seen| !seen.shared && seen.claimed) as u64,
        })
    }
}

/// An access to some bytes of a word.
#[derive(Clone, Copy, Debug)]
struct Use {
    site: SiteId,
    claimed: bool,
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
    pub fn touch(&mut self, word: usize, bytes: u8, site: SiteId, claimed: bool) {
        let uses = self.words.entry(word).or_default();
        match uses.iter_mut().find(|known| known.site == site && known.claimed == claimed) {
            Some(known) => known.bytes |= bytes,
            None => uses.push(Use { site, claimed, bytes }),
        }
    }

    /// These bytes of a word do not live any more; those of `shared` were touched by two threads, and written.
    pub fn end(&mut self, word: usize, bytes: u8, shared: u8) {
        let Some(uses) = self.words.get_mut(&word) else { return };
        uses.retain_mut(|known| {
            let ended = known.bytes & bytes;
            if ended != 0 {
                let seen = Seen { claimed: known.claimed, shared: ended & shared != 0 };
                self.sites.add(known.site, seen);
            }
            known.bytes &= !bytes;
            known.bytes != 0
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

    #[test]
    fn a_site_is_unshared_if_none_of_its_bytes_was_shared_as_long_as_it_lived() {
        let mut uses = Uses::default();
        uses.touch(1, 0b0011, SiteId(1), true);
        uses.touch(1, 0b1100, SiteId(2), false);
        uses.touch(1, 0b0001, SiteId(3), false);
        uses.end(1, 0b0010, 0);
        uses.end(1, 0b1101, 0b1000);
        assert!(uses.words().is_empty());
        let proved = uses.sites().proved();
        assert_eq!(proved, Some(Proved { ran: 3, unshared: 2, proved: 1 }));
    }

    #[test]
    fn what_one_execution_shares_is_shared() {
        let seen = |shared| {
            let mut uses = Uses::default();
            uses.touch(7, 1, SiteId(1), false);
            uses.end(7, 1, shared);
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
