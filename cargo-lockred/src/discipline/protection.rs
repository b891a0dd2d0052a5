//! What protects a field, judged over the places that access it, and the one place that does
//! without.

use super::facts::{Field, Place};
use std::collections::BTreeSet;
use std::fmt;

/// Places under a lock that make it a rule.
const RULE: usize = 3;

/// What protects a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Protection {
    /// These locks are held at all accesses.
    Locked(BTreeSet<String>),
    /// Nobody writes it once others can reach it.
    ReadOnly,
    /// All accesses are atomic.
    Atomic,
    /// No lock does: something else orders the accesses, or nothing.
    Otherwise,
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Locked(locks) => {
                let locks: Vec<&str> = locks.iter().map(String::as_str).collect();
                write!(f, "locked({})", locks.join(", "))
            }
            Self::ReadOnly => f.write_str("read-only after initialisation"),
            Self::Atomic => f.write_str("atomic"),
            Self::Otherwise => f.write_str("no lock"),
        }
    }
}

impl Protection {
    /// What [`Self`] is written as.
    pub fn parse(text: &str) -> Option<Self> {
        let others = [Self::ReadOnly, Self::Atomic, Self::Otherwise];
        if let Some(other) = others.into_iter().find(|other| other.to_string() == text) {
            return Some(other);
        }
        let locks = text.strip_prefix("locked(")?.strip_suffix(')')?;
        (!locks.is_empty()).then(|| Self::Locked(locks.split(", ").map(str::to_owned).collect()))
    }

    /// In one word, for machines.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Locked(_) => "locked",
            Self::ReadOnly => "read-only",
            Self::Atomic => "atomic",
            Self::Otherwise => "none",
        }
    }

    /// Whether what protects a field now is no less than this. One of several locks is as good as
    /// all of them.
    pub fn is_kept_by(&self, now: &Self) -> bool {
        match (self, now) {
            (Self::Otherwise, _) | (_, Self::ReadOnly) => true,
            (Self::Locked(were), Self::Locked(are)) => !were.is_disjoint(are),
            (Self::Locked(_), _) | (_, Self::Otherwise) => false,
            (Self::ReadOnly | Self::Atomic, Self::Locked(_) | Self::Atomic) => true,
        }
    }
}

impl Field {
    fn counted(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(|place| place.counts)
    }

    /// What protects it; `None` if no two threads access it at the same time.
    pub fn protection(&self) -> Option<Protection> {
        let first = self.counted().next()?;
        let everywhere = |lock: &&str| self.counted().all(|place| place.is_under(lock));
        let locks = first.held.iter().map(|lock| lock.name.as_str()).filter(everywhere);
        let locks: BTreeSet<String> = locks.map(str::to_owned).collect();
        Some(if !self.counted().any(|place| place.writes) {
            Protection::ReadOnly
        } else if !locks.is_empty() {
            Protection::Locked(locks)
        } else if self.counted().all(|place| place.atomic) {
            Protection::Atomic
        } else {
            Protection::Otherwise
        })
    }

    /// A lock that is held at most places, and the places where it is not: at least three hold it,
    /// one of them to write, and for each that does not, three that do. Atomic accesses need none,
    /// and what a lock's own type guards can only be reached without by who has the lock to
    /// himself. Places are those of the user's own code, by line.
    pub fn exceptions(&self) -> Option<Exceptions<'_>> {
        if self.is_guarded {
            return None;
        }
        let places = || self.counted().filter(|place| !place.atomic && place.frame().is_some());
        let locks: BTreeSet<&str> =
            places().flat_map(|place| &place.held).map(|lock| lock.name.as_str()).collect();
        let lines = |places: &[&Place]| {
            let at = |place: &&Place| place.frame().map(|at| (at.file.clone(), at.line));
            places.iter().filter_map(at).collect::<BTreeSet<_>>().len()
        };
        locks.into_iter().find_map(|lock| {
            let (under, without): (Vec<&Place>, Vec<&Place>) =
                places().partition(|place| place.is_under(lock));
            let (rule, others) = (lines(&under), lines(&without));
            let is_rule = rule >= RULE && others > 0 && rule >= RULE * others;
            (is_rule && under.iter().any(|place| place.writes)).then_some(Exceptions {
                lock,
                under,
                without,
                numbers: [rule, rule + others],
            })
        })
    }
}

/// A rule that is not kept everywhere.
#[derive(Debug)]
pub struct Exceptions<'a> {
    /// The lock.
    pub lock: &'a str,
    /// Places that hold it.
    pub under: Vec<&'a Place>,
    /// Places that do not.
    pub without: Vec<&'a Place>,
    /// Lines that hold it, of so many.
    pub numbers: [usize; 2],
}

#[cfg(test)]
mod tests {
    use super::super::facts::tests::{at, field};
    use super::*;

    fn reported(places: &[Place]) -> String {
        field(places).protection().map_or_else(String::new, |protection| protection.to_string())
    }

    #[test]
    fn a_lock_protects_what_is_never_accessed_without() {
        let (read, write) = (at(1, false, &["A", "B"]), at(2, true, &["A"]));
        assert_eq!(reported(&[read.clone(), write.clone()]), "locked(A)");
        assert_eq!(
            reported(&[read.clone(), at(3, true, &["~A"])]),
            "no lock",
            "shared is not enough"
        );
        assert_eq!(reported(&[at(1, false, &["~A"]), write.clone()]), "locked(A)");
        assert_eq!(reported(&[at(1, false, &[]), read.clone()]), "read-only after initialisation");
        let apart = |place: Place| Place { counts: false, ..place };
        assert_eq!(reported(&[apart(at(9, true, &[])), write]), "locked(A)");
        assert_eq!(reported(&[apart(at(9, true, &[]))]), "");
        let atomic = Place { atomic: true, ..at(4, true, &[]) };
        assert_eq!(reported(std::slice::from_ref(&atomic)), "atomic");
        assert_eq!(reported(&[atomic, at(5, true, &[])]), "no lock");
    }

    #[test]
    fn one_of_four_is_an_exception_and_one_of_three_is_none() {
        let numbers = |places: &[Place]| field(places).exceptions().map(|found| found.numbers);
        let under = |line| at(line, true, &["A"]);
        let four = [under(1), under(2), under(3), at(4, false, &[])];
        assert_eq!(numbers(&four), Some([3, 4]));
        assert_eq!(numbers(&four[1..]), None, "two are no rule");
        assert_eq!(numbers(&[under(1), under(1), under(2), at(4, true, &[])]), None, "by line");
        let two = [four.to_vec(), vec![at(5, false, &[])]].concat();
        assert_eq!(numbers(&two), None, "two of five");
        let reads: Vec<Place> = (1..4).map(|line| at(line, false, &["A"])).collect();
        assert_eq!(
            numbers(&[reads, vec![at(4, true, &[])]].concat()),
            None,
            "nobody writes under it"
        );
        let atomic = Place { atomic: true, ..at(4, true, &[]) };
        assert_eq!(numbers(&[under(1), under(2), under(3), atomic]), None);
        let guarded = Field { is_guarded: true, ..field(&four) };
        assert!(guarded.exceptions().is_none());
    }
}
