//! Sleep sets and inherited accesses: which threads need not run at a node, and which accesses a
//! woken sleeper inherits (docs/algorithm.md#exploration, docs/algorithm.md#inherited-accesses).
//!
//! A thread that was explored from a node sleeps in the subtrees of its later siblings, until a run
//! depends on its footprint (Godefroid, LNCS 1032, chapter 5). Footprints are kept once, at the
//! node where the thread was put to sleep; nodes below refer to them.

use std::collections::HashSet;

use crate::core::footprint::{Access, ObjectId};
use crate::core::machine::ThreadId;
use crate::core::thin::Thin;
use crate::core::thread_set::ThreadSet;
use serde::{Deserialize, Serialize};

/// Where the footprint of a sleeper is kept: the node (by depth), and a number there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Sleeper {
    pub(crate) thread: ThreadId,
    pub(crate) depth: u32,
    pub(crate) number: u32,
}

/// The sleeping threads of a node and the accesses inherited from threads that were woken on
/// the way to it.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Sleep {
    pub(crate) asleep: ThreadSet,
    sleepers: Thin<Sleeper>,
    inherited: Thin<Sleeper>,
    /// Footprints of threads that were put to sleep at this node: their accesses, all choices
    /// together.
    footprints: Thin<Vec<(ObjectId, Access)>>,
    /// Those of these threads whose first access is to an object that they touch in any state
    /// ([`Sleep::carry`]).
    fixed: ThreadSet,
    used: usize,
}

impl Sleep {
    pub(crate) fn clear(&mut self) {
        self.asleep.clear();
        self.sleepers.clear();
        self.inherited.clear();
        self.fixed.clear();
        self.used = 0;
    }

    /// Gives up memory that is kept for later.
    pub(crate) fn shrink(&mut self) {
        self.footprints.truncate(self.used);
    }

    /// Puts `thread` to sleep; this is the node at `depth`. `fixed`: see [`Sleep::carry`].
    pub(crate) fn put(
        &mut self,
        thread: ThreadId,
        depth: usize,
        accesses: &[(ObjectId, Access)],
        fixed: Option<ObjectId>,
    ) {
        if self.footprints.len() == self.used {
            self.footprints.push(Vec::new());
        }
        let kept = &mut self.footprints[self.used];
        kept.clear();
        kept.extend_from_slice(accesses);
        if fixed.is_some() && accesses.first().map(|access| access.0) == fixed {
            self.fixed.insert(thread);
        }
        let number = self.used as u32;
        self.used += 1;
        self.sleepers.push(Sleeper { thread, depth: depth as u32, number });
        self.asleep.insert(thread);
    }

    pub(crate) fn footprint(&self, number: u32) -> &[(ObjectId, Access)] {
        &self.footprints[number as usize]
    }

    pub(crate) fn sleepers(&self) -> &[Sleeper] {
        &self.sleepers
    }

    pub(crate) fn inherited(&self) -> &[Sleeper] {
        &self.inherited
    }

    pub(crate) fn inherit(&mut self, sleeper: Sleeper) {
        self.sleepers.push(sleeper);
        self.asleep.insert(sleeper.thread);
    }

    /// Wakes everyone else than `threads`.
    pub(crate) fn keep(&mut self, threads: &ThreadSet) {
        self.sleepers.retain(|sleeper| threads.contains(sleeper.thread));
        self.asleep.retain(|thread| threads.contains(thread));
    }

    pub(crate) fn add_inherited(&mut self, inherited: Sleeper) {
        self.inherited.push(inherited);
    }

    /// Adds the accesses of a thread that was put to sleep at this node to those that are inherited
    /// from it.
    ///
    /// `fixed`: an object that the woken thread's run touches by its first operation, one on its
    /// value alone. If that was so before too, this access is not carried. Inherited accesses keep
    /// conflicts that would be missed when another event decides whether the access happens. Here
    /// it happens in any case. Whether it reads or writes depends on events on the same object,
    /// which conflict with it either way. So source sets are right for such runs as they are (a
    /// happens-before assignment in the sense of Abdulla, Aronis, Jonsson, Sagonas: Optimal dynamic
    /// partial order reduction, POPL 2014, section 3).
    pub(crate) fn carry(
        &self,
        sleeper: Sleeper,
        fixed: Option<ObjectId>,
        inherited: &mut Vec<(ObjectId, Access)>,
    ) {
        let kept = self.footprint(sleeper.number);
        let first = kept.first().map(|access| access.0);
        let fixed = first.filter(|_| first == fixed && self.fixed.contains(sleeper.thread));
        for &(object, access) in kept.iter().filter(|access| Some(access.0) != fixed) {
            // The round to which the sleeper would have come may end before it comes.
            let is_arrival = matches!(access, Access::Arrive { .. });
            let carried = (object, if is_arrival { Access::Write } else { access });
            if !inherited.contains(&carried) {
                inherited.push(carried);
            }
        }
    }
}

/// Whether a sleeper whose run would do `kept` is to run again after a run that did `done`.
pub(crate) fn wakes(kept: &[(ObjectId, Access)], done: &[(ObjectId, Access)]) -> bool {
    let outdated = |&(object, access): &(ObjectId, Access)| {
        done.iter().any(|&(o, a)| o == object && access.is_outdated_by(a))
    };
    let arrives = |access: &&(ObjectId, Access)| matches!(access.1, Access::Arrive { .. });
    dependent(kept, done) || kept.iter().filter(arrives).any(outdated)
}

/// Comparisons up to which lists of accesses are compared one by one.
const FEW: usize = 4096;

/// Whether any access of `one` depends on any of `other`. O(n log n) in long lists.
pub fn dependent(one: &[(ObjectId, Access)], other: &[(ObjectId, Access)]) -> bool {
    if one.len() * other.len() <= FEW {
        return one.iter().any(|&(object, access)| {
            other.iter().any(|&(o, a)| o == object && access.depends_on(a))
        });
    }
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let mut sorted = short.to_vec();
    sorted.sort_unstable();
    long.iter().any(|&(object, access)| {
        let first = sorted.partition_point(|&(o, _)| o < object);
        let same = sorted[first..].iter().take_while(|&&(o, _)| o == object);
        same.into_iter().any(|&(_, a)| access.depends_on(a))
    })
}

/// Adds to `all` what it does not have of `accesses`, which has nothing twice. O(n) in long lists.
pub(crate) fn add(all: &mut Vec<(ObjectId, Access)>, accesses: &[(ObjectId, Access)]) {
    if all.is_empty() {
        return all.extend_from_slice(accesses);
    }
    if all.len() * accesses.len() <= FEW {
        for access in accesses {
            if !all.contains(access) {
                all.push(*access);
            }
        }
        return;
    }
    let known: HashSet<_> = all.iter().copied().collect();
    all.extend(accesses.iter().filter(|access| !known.contains(access)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(objects: impl Iterator<Item = u64>) -> Vec<(ObjectId, Access)> {
        objects.map(|object| (ObjectId(object), Access::Read)).collect()
    }

    #[test]
    fn long_lists_are_compared_like_short_ones() {
        let (even, odd) = (reads((0..400).map(|n| 2 * n)), reads((0..400).map(|n| 2 * n + 1)));
        for number in 0..800 {
            let write = [(ObjectId(number), Access::Write)];
            assert_eq!(dependent(&even, &write), number % 2 == 0);
            let mut with_write = odd.clone();
            with_write.push(write[0]);
            assert_eq!(dependent(&even, &with_write), number % 2 == 0);
            assert_eq!(dependent(&with_write, &even), number % 2 == 0);
        }
        assert!(!dependent(&even, &even));
    }

    #[test]
    fn adding_leaves_nothing_out_and_adds_nothing_twice() {
        let mut all = reads(0..300);
        add(&mut all, &reads(100..400));
        assert_eq!(all, reads(0..400));
        let mut few = reads(0..3);
        add(&mut few, &reads(2..5));
        assert_eq!(few, reads(0..5));
    }
}
