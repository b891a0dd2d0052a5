//! Cycles in the order of locks.
//!
//! A nesting leads to another one if what it wants may be what the other one holds, and not both
//! only read. Nestings that lead to each other are a strongly connected component, of which the
//! shortest cycle is reported. Two that are behind one gate do not lead to each other, nor do two
//! that no run has threads for; what comes about without regard to gates alone is reported as that.

use super::{End, Kind, LockId, Nesting};
use crate::facts::FunctionId;
use crate::locksets::components;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Nestings that come back to where they began.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Cycle {
    /// What it comes to.
    pub kind: Kind,
    /// Indices of nestings: what each wants, the next one holds.
    pub nestings: Vec<u32>,
    /// The lock that is wanted by each and held by the next one.
    pub locks: Vec<LockId>,
}

/// Who may run what.
pub trait Runs {
    /// Runs of the program in which a function may be executed, by number.
    fn runs(&self, function: FunctionId) -> &BTreeSet<u32>;
    /// Whether these are all executed by one thread, in each of the runs that have all of them.
    fn one_thread(&self, functions: &[FunctionId]) -> bool;
}

/// Pairs of nestings that are looked at, and steps of the search for the shortest cycles.
const MOST: usize = 20_000_000;

/// The cycles of nestings; `None` where too many of them meet. O(nestings and pairs of them that
/// meet), but for the shortest cycles.
///
/// Locks that are said to be others' make none: nobody acquires another lock while one of them is
/// held.
pub fn cycles(
    nestings: &[Nesting],
    others: &BTreeSet<LockId>,
    who: &dyn Runs,
) -> Option<Vec<Cycle>> {
    within(MOST, nestings, others, who)
}

/// The same, with so much work.
fn within(
    mut left: usize,
    nestings: &[Nesting],
    others: &BTreeSet<LockId>,
    who: &dyn Runs,
) -> Option<Vec<Cycle>> {
    let reported: Vec<Nesting> = nestings.iter().map(|nesting| without(nesting, others)).collect();
    let nestings = &reported[..];
    let mut found = Vec::new();
    let open = search(nestings, who, false, &mut found, &mut left)?;
    // What is only kept apart by gates: of those that are on no cycle without.
    let mut gated = Vec::new();
    search(nestings, who, true, &mut gated, &mut left)?;
    found.extend(gated.into_iter().filter(|c| !c.nestings.iter().any(|n| open.contains(n))).map(
        |cycle| match cycle.kind {
            Kind::Cycle => Cycle { kind: Kind::Gated, ..cycle },
            _ => cycle,
        },
    ));
    let mut alike = BTreeSet::new();
    for (index, nesting) in nestings.iter().enumerate() {
        if let Some(lock) = meeting(&nesting.wanted, &nesting.held)
            && nesting.apart.is_none_or(|apart| apart == 0)
            && alike.insert(lock)
        {
            let cycle =
                Cycle { kind: Kind::SameKind, nestings: vec![index as u32], locks: vec![lock] };
            found.push(cycle);
        }
    }
    found.sort();
    found.dedup();
    Some(found)
}

/// A nesting without what is said of some locks.
fn without(nesting: &Nesting, others: &BTreeSet<LockId>) -> Nesting {
    let end = |end: &End| End {
        locks: end.locks.iter().copied().filter(|lock| !others.contains(lock)).collect(),
        ..end.clone()
    };
    Nesting { held: end(&nesting.held), wanted: end(&nesting.wanted), ..nesting.clone() }
}

/// Looks for cycles, with regard to gates or not; gives the nestings that are on some, or nothing
/// when no work is left.
fn search(
    nestings: &[Nesting],
    who: &dyn Runs,
    through_gates: bool,
    found: &mut Vec<Cycle>,
    left: &mut usize,
) -> Option<BTreeSet<u32>> {
    let mut by_lock: BTreeMap<LockId, Vec<u32>> = BTreeMap::new();
    for (index, nesting) in nestings.iter().enumerate() {
        for &lock in &nesting.held.locks {
            by_lock.entry(lock).or_default().push(index as u32);
        }
    }
    let mut next = |from: usize| -> Option<Vec<u32>> {
        let nesting = &nestings[from];
        let mut all: Vec<u32> = Vec::new();
        for lock in &nesting.wanted.locks {
            let others = by_lock.get(lock).map_or(&[][..], |others| others);
            *left = left.checked_sub(others.len())?;
            let others = others.iter().copied();
            all.extend(others.filter(|&to| {
                let other = &nestings[to as usize];
                to as usize != from
                    && leads(nesting, other)
                    && (through_gates || nesting.gates.is_disjoint(&other.gates))
                    && !who.runs(nesting.within).is_disjoint(who.runs(other.within))
            }));
        }
        all.sort_unstable();
        all.dedup();
        Some(all)
    };
    let edges: Vec<Vec<u32>> = (0..nestings.len()).map(&mut next).collect::<Option<_>>()?;
    let mut on_some = BTreeSet::new();
    for mut component in components::components(&edges) {
        if component.len() < 2 {
            continue;
        }
        component.sort_unstable();
        on_some.extend(component.iter().copied());
        // Each may go through the whole component.
        let size: usize = component.iter().map(|&n| edges[n as usize].len()).sum();
        *left = left.checked_sub(size.saturating_mul(component.len()))?;
        let shortest = component.iter().filter_map(|&from| shortest(&edges, &component, from));
        // The first of the shortest ones; of one thread only if there is no other.
        let functions = |path: &[u32]| -> Vec<FunctionId> {
            path.iter().map(|&n| nestings[n as usize].within).collect()
        };
        let best = shortest.min_by_key(|path| (who.one_thread(&functions(path)), path.len()));
        let Some(path) = best else { continue };
        let lock = |at: usize| {
            let (from, to) = (path[at], path[(at + 1) % path.len()]);
            meeting(&nestings[from as usize].wanted, &nestings[to as usize].held)
        };
        let locks = (0..path.len()).map(|at| lock(at).unwrap_or_default()).collect();
        let kind = match who.one_thread(&functions(&path)) {
            true => Kind::OneThread,
            false => Kind::Cycle,
        };
        found.push(Cycle { kind, nestings: path, locks });
    }
    Some(on_some)
}

/// The shortest way from a nesting back to it.
fn shortest(edges: &[Vec<u32>], component: &[u32], from: u32) -> Option<Vec<u32>> {
    let mut before: BTreeMap<u32, u32> = BTreeMap::new();
    let mut open = VecDeque::from([from]);
    while let Some(at) = open.pop_front() {
        for &to in edges[at as usize].iter().filter(|to| component.binary_search(to).is_ok()) {
            if to == from {
                let mut path = vec![at];
                while path[path.len() - 1] != from {
                    path.push(before[&path[path.len() - 1]]);
                }
                path.reverse();
                return Some(path);
            }
            if let Entry::Vacant(new) = before.entry(to) {
                new.insert(at);
                open.push_back(to);
            }
        }
    }
    None
}

/// Whether who runs the one may wait for who runs the other.
fn leads(one: &Nesting, other: &Nesting) -> bool {
    let waits = !(one.wanted.shared && other.held.shared);
    // Of locks of one kind, only those of one block whose order is known make cycles with others.
    let parts = match (is_alike(one), is_alike(other)) {
        (false, false) => true,
        (true, true) => matches!((one.apart, other.apart), (Some(a), Some(b)) if a == -b && a != 0),
        _ => false,
    };
    waits && parts
}

/// Whether the two locks of a nesting may be the same, as far as they have names.
fn is_alike(nesting: &Nesting) -> bool {
    meeting(&nesting.wanted, &nesting.held).is_some()
}

/// A lock that both may be.
fn meeting(one: &End, other: &End) -> Option<LockId> {
    one.locks.iter().copied().find(|lock| other.locks.binary_search(lock).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each function is executed in one run, by a thread of its own, but for those above 100, which
    /// are one thread.
    struct Alone(BTreeSet<u32>);

    impl Runs for Alone {
        fn runs(&self, _: FunctionId) -> &BTreeSet<u32> {
            &self.0
        }
        fn one_thread(&self, functions: &[FunctionId]) -> bool {
            functions.iter().all(|&function| function > 100)
        }
    }

    fn nesting(held: LockId, wanted: LockId, gates: &[LockId]) -> Nesting {
        let end = |lock| End { locks: vec![lock], point: lock, call: lock, shared: false };
        Nesting {
            held: end(held),
            wanted: end(wanted),
            apart: None,
            within: held,
            sure: true,
            gates: gates.iter().copied().collect(),
        }
    }

    fn found(nestings: &[Nesting]) -> Vec<(Kind, Vec<u32>)> {
        let cycles = cycles(nestings, &BTreeSet::from([7]), &Alone(BTreeSet::from([0])));
        cycles.unwrap().into_iter().map(|cycle| (cycle.kind, cycle.nestings)).collect()
    }

    #[test]
    fn each_component_is_reported_once_by_its_shortest_cycle() {
        let cycle =
            [nesting(1, 2, &[]), nesting(2, 1, &[]), nesting(2, 3, &[]), nesting(3, 1, &[])];
        assert_eq!(found(&cycle), [(Kind::Cycle, vec![0, 1])]);
        let three = [nesting(1, 2, &[]), nesting(2, 3, &[]), nesting(3, 1, &[])];
        assert_eq!(found(&three), [(Kind::Cycle, vec![0, 1, 2])]);
        assert!(found(&three[..2]).is_empty());
        assert!(found(&[nesting(1, 7, &[]), nesting(7, 1, &[])]).is_empty(), "another's");
    }

    #[test]
    fn no_cycle_is_reported_where_more_meet_than_can_be_looked_at() {
        // Each of them leads to all the others.
        let many: Vec<Nesting> = (0..6)
            .flat_map(|n| (0..6).filter(move |m| *m != n).map(move |m| nesting(n, m, &[])))
            .collect();
        let within = |left| {
            within(left, &many, &BTreeSet::new(), &Alone(BTreeSet::from([0]))).map(|all| all.len())
        };
        // 30 · 5 pairs, with regard to gates and without, and 30 searches among these.
        let all = 2 * (150 + 30 * 150);
        assert_eq!(
            [within(0), within(149), within(all - 1), within(all)],
            [None, None, None, Some(1)]
        );
    }

    #[test]
    fn gates_and_single_threads_are_distinguished() {
        let gated = [nesting(1, 2, &[9, 1]), nesting(2, 1, &[9, 2])];
        assert_eq!(found(&gated), [(Kind::Gated, vec![0, 1])]);
        let one = gated.map(|n| Nesting { gates: BTreeSet::new(), within: 101, ..n });
        assert_eq!(found(&one), [(Kind::OneThread, vec![0, 1])]);
    }

    #[test]
    fn readers_do_not_wait_for_each_other() {
        let with = |wanted, held| {
            let mut two = [nesting(1, 2, &[]), nesting(2, 1, &[])];
            (two[0].wanted.shared, two[1].held.shared) = (wanted, held);
            found(&two).len()
        };
        assert_eq!([with(true, true), with(true, false), with(false, true)], [0, 1, 1]);
    }

    #[test]
    fn locks_of_one_kind_make_a_cycle_where_their_order_in_the_block_is_both() {
        let apart = |apart| Nesting { apart, ..nesting(1, 1, &[]) };
        assert_eq!(found(&[apart(None)]), [(Kind::SameKind, vec![0])]);
        assert_eq!(found(&[apart(Some(0))]), [(Kind::SameKind, vec![0])]);
        assert!(found(&[apart(Some(8)), apart(Some(8))]).is_empty());
        assert_eq!(found(&[apart(Some(8)), apart(Some(-8))]), [(Kind::Cycle, vec![0, 1])]);
    }
}
