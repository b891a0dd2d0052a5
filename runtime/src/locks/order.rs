//! The order in which locks are acquired under each other, and cycles in it that are no deadlock
//! of the interleavings that were run.
//!
//! An *edge* is an acquisition that waits, by a thread that holds another lock (Havelund's GoodLock
//! graph, SPIN 2000). A cycle of edges by different threads is reported if no lock is held at two
//! of them (a gate, which keeps them apart), each lock is wanted or held exclusively somewhere, and
//! creating and joining threads leaves every two of them unordered. All edges are of one execution,
//! in which addresses mean locks; its schedule is replayed for the stacks. What orders the edges
//! otherwise (a message, a flag) is what the warning is about: it may not always.

use crate::record::failure::place;
use crate::record::held::Held;
use lockred_protocol::codes::WarningKind;
use lockred_protocol::message::{Place, Role, Warning};
use lockred_protocol::schedule::Schedule;
use lockred_protocol::sites::SiteId;
use std::collections::{BTreeSet, HashSet};

/// Edges of one execution that are looked at: cycles are looked for among all of them.
const MOST_EDGES: usize = 64;

/// Threads in a cycle, at most.
const LONGEST: usize = 4;

/// A lock at one place of the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Taken {
    /// Its word.
    pub address: usize,
    /// Where it is acquired.
    pub site: SiteId,
    /// With others who do the same.
    pub shared: bool,
}

impl Taken {
    /// One that is held.
    pub const fn of(held: &Held) -> Self {
        Self { address: held.address, site: held.site, shared: held.shared }
    }
}

/// A lock is acquired under another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    thread: u32,
    holds: Taken,
    acquires: Taken,
    /// All locks that the thread holds.
    held: Vec<usize>,
    /// Stacks at both acquisitions (only while recording).
    stacks: [Vec<u64>; 2],
}

impl Edge {
    /// The locks, if they were acquired at two of these places.
    pub fn pair_at(&self, places: &BTreeSet<[SiteId; 2]>) -> Option<(usize, usize)> {
        let Self { holds, acquires, .. } = self;
        let is_there = places.contains(&[holds.site, acquires.site]);
        is_there.then_some((holds.address, acquires.address))
    }
}

/// What decides whether acquisitions may come at the same time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A thread creates another one.
    Creates(u32, u32),
    /// A thread has seen the end of another one.
    Joins(u32, u32),
    /// A thread acquires a lock under another one.
    Nests(Edge),
}

/// Cycles that were found.
#[derive(Debug, Default)]
pub struct LockOrder {
    /// Edges of executions that were looked at, by their places.
    seen: HashSet<Vec<(u32, Taken, Taken)>>,
    cycles: Vec<Cycle>,
}

/// A cycle, and how to come to it.
#[derive(Debug)]
struct Cycle {
    found: Found,
    schedule: Schedule,
}

/// A cycle of one execution.
#[derive(Debug)]
pub struct Found {
    /// Distinguishes it from others: where its locks are acquired.
    places: Vec<(SiteId, SiteId)>,
    edges: Vec<Edge>,
}

/// A thread that holds these locks acquires another one. `stack`: there, while recording.
pub fn nest<'a>(
    events: &mut Vec<Event>,
    thread: u32,
    mine: &(impl Iterator<Item = &'a Held> + Clone),
    acquires: Taken,
    stack: &[u64],
) {
    for held in mine.clone() {
        let holds = Taken::of(held);
        // In a loop the same edge comes again and again. It says no more until a thread is created
        // or joined.
        let since = events.iter().rev().map_while(|event| match event {
            Event::Nests(edge) => Some(edge),
            _ => None,
        });
        let same = |edge: &Edge| {
            (edge.thread, edge.holds, edge.acquires) == (thread, holds, acquires)
                && edge.held.iter().copied().eq(mine.clone().map(|held| held.address))
        };
        if since.take(MOST_EDGES).any(same) {
            continue;
        }
        let stacks = [held.stack.clone(), stack.to_vec()];
        let held = mine.clone().map(|held| held.address).collect();
        events.push(Event::Nests(Edge { thread, holds, acquires, held, stacks }));
    }
}

impl LockOrder {
    /// An execution is over, in which this happened: its cycles, as far as they are new.
    pub fn look(&mut self, events: &[Event]) -> Vec<Found> {
        let edges: Vec<(usize, &Edge)> = edges(events).take(MOST_EDGES).collect();
        if edges.len() < 2 {
            return Vec::new();
        }
        let seen = edges.iter().map(|(_, edge)| (edge.thread, edge.holds, edge.acquires)).collect();
        if !self.seen.insert(seen) {
            return Vec::new();
        }
        let mut new: Vec<Found> = Vec::new();
        for edges in cycles(events, &edges) {
            let mut places: Vec<(SiteId, SiteId)> =
                edges.iter().map(|edge| (edge.holds.site, edge.acquires.site)).collect();
            places.sort_unstable_by_key(|(holds, acquires)| (holds.0, acquires.0));
            let mut known = self.cycles.iter().map(|known| &known.found).chain(&new);
            if known.all(|known| known.places != places) {
                new.push(Found { places, edges });
            }
        }
        new
    }

    /// Keeps cycles, with the schedule that led to them.
    pub fn keep(&mut self, found: Vec<Found>, schedule: &Schedule) {
        let cycle = |found| Cycle { found, schedule: schedule.clone() };
        self.cycles.extend(found.into_iter().map(cycle));
    }

    /// The search is over, and has found no deadlock: its cycles as warnings.
    pub fn warnings(&self, complete: bool) -> Vec<Warning> {
        self.cycles.iter().map(|cycle| warning(cycle, complete)).collect()
    }
}

fn warning(Cycle { found, schedule }: &Cycle, complete: bool) -> Warning {
    let cycle = &found.edges;
    let ends = if complete { "no interleaving deadlocks" } else { "no deadlock was found" };
    let mut locks: Vec<usize> = Vec::new();
    let mut place = |role: Role, thread: u32, taken: Taken, stack: &[u64]| {
        let known = locks.iter().position(|lock| *lock == taken.address);
        let object = known.unwrap_or_else(|| {
            locks.push(taken.address);
            locks.len() - 1
        });
        let object = Some(object as u32);
        Place { stack: stack.to_vec(), object, ..place(role, thread, taken.site) }
    };
    let both = cycle.iter().flat_map(|edge| {
        let [holds, acquires] = &edge.stacks;
        [
            place(Role::Holds, edge.thread, edge.holds, holds),
            place(Role::Nests, edge.thread, edge.acquires, acquires),
        ]
    });
    let places: Vec<Place> = both.collect();
    let letter = |place: &Place| char::from(b'A' + place.object.unwrap_or(0) as u8);
    let takes = places.chunks_exact(2).map(|both| {
        let (holds, acquires) = (letter(&both[0]), letter(&both[1]));
        format!("thread {} acquires lock {acquires} under lock {holds}", both[0].thread)
    });
    let takes: Vec<String> = takes.collect();
    let message = format!("lock order: {}; {ends}", takes.join(", "));
    Warning {
        kind: WarningKind::LockOrder,
        message,
        site: SiteId(0),
        stack: Vec::new(),
        places,
        home: None,
        schedule: Some(schedule.clone()),
    }
}

/// The different edges with where each first is among the events.
fn edges(events: &[Event]) -> impl Iterator<Item = (usize, &Edge)> {
    let all = events.iter().enumerate().filter_map(|(index, event)| match event {
        Event::Nests(edge) => Some((index, edge)),
        _ => None,
    });
    all.clone().filter(move |(index, edge)| {
        !all.clone().take_while(|(before, _)| before < index).any(|(_, other)| other == *edge)
    })
}

/// The cycles that may come about, each once.
fn cycles(events: &[Event], edges: &[(usize, &Edge)]) -> Vec<Vec<Edge>> {
    let mut found = Vec::new();
    for (first, edge) in edges.iter().enumerate() {
        // A cycle is found from its first edge on.
        extend(events, &edges[first..], &mut vec![*edge], &mut found);
    }
    found
}

fn extend<'a>(
    events: &[Event],
    edges: &[(usize, &'a Edge)],
    path: &mut Vec<(usize, &'a Edge)>,
    found: &mut Vec<Vec<Edge>>,
) {
    let (first, last) = (path[0].1, path[path.len() - 1].1);
    if path.len() > 1 && meets(last, first) {
        return found.push(path.iter().map(|(_, edge)| (*edge).clone()).collect());
    }
    if path.len() == LONGEST {
        return;
    }
    for next in edges {
        let apart = |other: &(usize, &Edge)| {
            other.1.thread != next.1.thread
                && other.1.acquires.address != next.1.acquires.address
                && !other.1.held.iter().any(|lock| next.1.held.contains(lock))
                && !ordered(events, other.0.min(next.0), other.0.max(next.0))
        };
        if meets(last, next.1) && path.iter().all(apart) {
            path.push(*next);
            extend(events, edges, path, found);
            path.pop();
        }
    }
}

/// Whether one thread wants what the other one holds, and has to wait for it then.
fn meets(wants: &Edge, has: &Edge) -> bool {
    wants.acquires.address == has.holds.address && !(wants.acquires.shared && has.holds.shared)
}

/// Whether creating and joining threads puts one edge before a later one of another thread.
fn ordered(events: &[Event], earlier: usize, later: usize) -> bool {
    let thread = |index: usize| match &events[index] {
        Event::Nests(edge) => edge.thread,
        _ => unreachable!("only edges are compared"),
    };
    // Threads all of whose further events come after the earlier edge.
    let mut behind = HashSet::from([thread(earlier)]);
    for event in &events[earlier..later] {
        match *event {
            Event::Creates(by, created) if behind.contains(&by) => behind.insert(created),
            Event::Joins(by, ended) if behind.contains(&ended) => behind.insert(by),
            _ => false,
        };
    }
    behind.contains(&thread(later))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(lock: usize) -> Taken {
        Taken { address: lock, site: SiteId(lock as u32), shared: false }
    }

    fn nests(thread: u32, holds: usize, acquires: usize) -> Event {
        let (holds, acquires) = (taken(holds), taken(acquires));
        Event::Nests(Edge {
            thread,
            holds,
            acquires,
            held: vec![holds.address],
            stacks: Default::default(),
        })
    }

    /// The threads of the cycles.
    fn found(events: &[Event]) -> Vec<Vec<u32>> {
        let edges: Vec<_> = edges(events).collect();
        let cycles = cycles(events, &edges);
        cycles.iter().map(|cycle| cycle.iter().map(|edge| edge.thread).collect()).collect()
    }

    #[test]
    fn two_and_three_threads_in_a_cycle() {
        assert_eq!(found(&[nests(0, 1, 2), nests(1, 2, 1)]), [[0, 1]]);
        assert_eq!(found(&[nests(0, 1, 2), nests(1, 2, 3), nests(2, 3, 1)]), [[0, 1, 2]]);
        assert_eq!(found(&[nests(0, 1, 2), nests(0, 1, 2), nests(1, 2, 1)]), [[0, 1]], "once");
        assert!(found(&[nests(0, 1, 2), nests(1, 1, 2)]).is_empty());
        assert!(found(&[nests(0, 1, 2), nests(0, 2, 1)]).is_empty(), "one thread");
    }

    #[test]
    fn a_gate_keeps_them_apart() {
        let under = |event: Event, gate: usize| match event {
            Event::Nests(mut edge) => {
                edge.held.push(gate);
                Event::Nests(edge)
            }
            other => other,
        };
        let (one, other) = (nests(0, 1, 2), nests(1, 2, 1));
        assert!(found(&[under(one.clone(), 9), under(other.clone(), 9)]).is_empty());
        assert_eq!(found(&[under(one, 8), under(other, 9)]).len(), 1);
    }

    #[test]
    fn readers_do_not_wait_for_each_other() {
        let shared = |event: Event, holds: bool, acquires: bool| match event {
            Event::Nests(mut edge) => {
                (edge.holds.shared, edge.acquires.shared) = (holds, acquires);
                Event::Nests(edge)
            }
            other => other,
        };
        let (one, other) = (nests(0, 1, 2), nests(1, 2, 1));
        let cycles = |one_holds, other_wants| {
            found(&[
                shared(one.clone(), one_holds, false),
                shared(other.clone(), false, other_wants),
            ])
            .len()
        };
        assert_eq!(cycles(true, true), 0);
        assert_eq!((cycles(true, false), cycles(false, true)), (1, 1));
    }

    #[test]
    fn creating_and_joining_threads_orders_edges() {
        let (before, after) = (nests(0, 1, 2), nests(1, 2, 1));
        assert!(found(&[before.clone(), Event::Creates(0, 1), after.clone()]).is_empty());
        assert_eq!(found(&[Event::Creates(0, 1), before.clone(), after.clone()]).len(), 1);
        assert!(found(&[after.clone(), Event::Joins(0, 1), before.clone()]).is_empty());
        // By way of another one.
        let chain = [Event::Joins(2, 1), Event::Joins(0, 2)];
        assert!(
            found(&[vec![after.clone()], chain.to_vec(), vec![before.clone()]].concat()).is_empty()
        );
        assert_eq!(found(&[vec![after], chain[1..].to_vec(), vec![before]].concat()).len(), 1);
    }
}
