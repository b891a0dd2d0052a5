//! Accesses that counts of references keep apart: who accesses what several threads share holds one
//! of the references, gives it back later, and whoever gives back the last one has learned of all
//! that was done before, and destroys it.
//!
//! So of a thread one has to know only whether it has done something to what is counted that no
//! decrement has passed on yet. What others know of that makes no difference, unless a count comes
//! to zero while there is something: then it keeps nothing apart, and the search starts again.

use crate::core::footprint::ObjectId;

/// A set of counts, by its number; 0: none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub(crate) struct CountSet(u32);

impl CountSet {
    pub(crate) const NONE: Self = Self(0);
}

/// By which counts an access is kept apart from those that it may race with.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) enum Guard {
    /// It may race with nothing.
    #[default]
    Apart,
    /// By each of these.
    Counts(Vec<ObjectId>),
    /// By none.
    Nothing,
}

impl Guard {
    /// It may race with an access after the last decrements of these counts. Returns whether that
    /// is new.
    pub(super) fn meet(&mut self, counts: &[ObjectId]) -> bool {
        let met = match self {
            Self::Apart => Self::Counts(counts.to_vec()),
            Self::Counts(known) => {
                let both = known.iter().filter(|count| counts.contains(count));
                Self::Counts(both.copied().collect())
            }
            Self::Nothing => Self::Nothing,
        };
        self.set(if met == Self::Counts(Vec::new()) { Self::Nothing } else { met })
    }

    /// It may race with another access. Returns whether that is new.
    pub(super) fn fail(&mut self) -> bool {
        self.set(Self::Nothing)
    }

    fn set(&mut self, new: Self) -> bool {
        let differs = *self != new;
        *self = new;
        differs
    }
}

/// Sets of counts that keep accesses apart.
#[derive(Debug, Default)]
pub(super) struct CountSets {
    sets: Vec<Vec<ObjectId>>,
    /// Those that keep nothing apart, as was seen.
    failed: Vec<CountSet>,
    /// Some count was not used as one: nothing is counted any more.
    off: bool,
}

impl CountSets {
    /// The number of the counts that keep an access apart.
    pub(super) fn of(&mut self, guard: &Guard) -> CountSet {
        let Guard::Counts(counts) = guard else { return CountSet::NONE };
        let index = self.sets.iter().position(|set| set == counts).unwrap_or_else(|| {
            self.sets.push(counts.clone());
            self.sets.len() - 1
        });
        let set = CountSet(index as u32 + 1);
        if self.off || self.failed.contains(&set) { CountSet::NONE } else { set }
    }

    /// The counts of a set.
    pub(super) fn counts(&self, set: CountSet) -> &[ObjectId] {
        match set {
            CountSet::NONE => &[],
            CountSet(number) => &self.sets[number as usize - 1],
        }
    }

    /// The counts of a set keep nothing apart. Returns whether that is new.
    pub(super) fn fail(&mut self, set: CountSet) -> bool {
        let new = !self.failed.contains(&set);
        if new {
            self.failed.push(set);
        }
        new
    }

    /// Somebody overwrites an object: if that is a count, nothing is counted any more. Returns
    /// whether that is new.
    pub(super) fn overwritten(&mut self, object: ObjectId) -> bool {
        let counts = self.sets.iter().any(|set| set.contains(&object));
        counts && !std::mem::replace(&mut self.off, true)
    }
}
