//! Happens-before by its definition: a graph of events and its transitive closure. Slow, and simple
//! enough to be believed.
//!
//! C++20 [intro.races] and [atomics.fences], for an interleaved execution in which every read of a
//! byte reads the last write to that byte; with the rule of the detector for commuting operations.

use super::trace::{Act, Event};
use lockred_search::footprint::Access;

/// Bit `i` of `before[j]`: event `i` happens before event `j`. Traces have at most 64 events.
pub struct Order {
    pub before: Vec<u64>,
}

/// The event whose value event `reader` sees in a byte: the last write before it, if the byte had
/// one in its present life.
fn read_from(trace: &[Event], reader: usize, byte: usize) -> Option<usize> {
    for i in (0..reader).rev() {
        match trace[i].act {
            Act::Allocated { addr, size } if (addr..addr + size).contains(&byte) => return None,
            act if act.writes() && act.range().is_some_and(|r| r.contains(&byte)) => {
                return Some(i);
            }
            _ => {}
        }
    }
    None
}

/// Whether operations of this kind depend on every other kind.
fn universal(access: Access) -> bool {
    use Access::*;
    matches!(access, Write | RefDecLast | Lock | TryLock | Unlock)
}

/// Events from which a release of the atomic write `head` comes: itself, and release fences before
/// it in its thread.
fn sources(trace: &[Event], head: usize) -> Vec<usize> {
    let Event { thread, act } = trace[head];
    let mut from = Vec::new();
    if act.atomic().is_some_and(|op| op.order.releases()) {
        from.push(head);
    }
    from.extend((0..head).filter(|&i| {
        trace[i].thread == thread && matches!(trace[i].act, Act::Fence(order) if order.releases())
    }));
    from
}

/// Events at which an acquire of the atomic read `reader` arrives: itself, and acquire fences
/// after it in its thread.
fn targets(trace: &[Event], reader: usize) -> Vec<usize> {
    let Event { thread, act } = trace[reader];
    let mut to = Vec::new();
    if act.atomic().is_some_and(|op| op.order.acquires()) {
        to.push(reader);
    }
    to.extend((reader + 1..trace.len()).filter(|&i| {
        trace[i].thread == thread && matches!(trace[i].act, Act::Fence(order) if order.acquires())
    }));
    to
}

/// Synchronises-with edges that reading `byte` gives to the atomic read `reader`.
fn edges(trace: &[Event], reader: usize, byte: usize, add: &mut impl FnMut(usize, usize)) {
    let access = trace[reader].act.atomic().expect("an atomic read").access;
    let size = |event: usize| trace[event].act.range().expect("an access").len();
    let mut everybody = false;
    let mut next = read_from(trace, reader, byte);
    while let Some(head) = next {
        let Some(op) = trace[head].act.atomic() else { return };
        let continues = matches!(trace[head].act, Act::Update { .. });
        if size(head) != size(reader) {
            // An operation on another object, which happens to share a byte.
            next = if continues { read_from(trace, head, byte) } else { None };
            continue;
        }
        // After a read-modify-write that depends on all, order is forced, whoever released before
        // it.
        everybody |= continues && universal(op.access);
        if everybody || access.depends_on(op.access) {
            for from in sources(trace, head) {
                for to in targets(trace, reader) {
                    add(from, to);
                }
            }
        }
        next = if continues { read_from(trace, head, byte) } else { None };
    }
}

impl Order {
    /// Computes it.
    pub fn of(trace: &[Event]) -> Self {
        assert!(trace.len() <= 64);
        let mut before = vec![0u64; trace.len()];
        let mut add = |from: usize, to: usize| {
            if from < to {
                before[to] |= 1 << from;
            }
        };
        for (i, event) in trace.iter().enumerate() {
            for (j, later) in trace.iter().enumerate().skip(i + 1) {
                let child = if let Act::Spawn(child) = event.act { Some(child) } else { None };
                // A thread that does nothing still begins and ends: its spawn comes before its
                // join.
                let joins = |ended| ended == event.thread || child == Some(ended);
                let joins = matches!(later.act, Act::Join(ended) if joins(ended));
                let spawned = child == Some(later.thread);
                if event.thread == later.thread || joins || spawned {
                    add(i, j);
                }
            }
            if matches!(event.act, Act::Load { .. } | Act::Update { .. }) {
                for byte in event.act.range().expect("an access") {
                    edges(trace, i, byte, &mut add);
                }
            }
        }
        // Edges only go forward, so one pass closes them.
        for j in 0..trace.len() {
            for i in 0..j {
                if before[j] & (1 << i) != 0 {
                    before[j] |= before[i];
                }
            }
        }
        Self { before }
    }

    /// Whether event `i` happens before event `j`.
    pub fn orders(&self, i: usize, j: usize) -> bool {
        self.before[j] & (1 << i) != 0
    }
}

/// Bytes that both access, with no new life between them.
fn common(trace: &[Event], i: usize, j: usize) -> bool {
    let (Some(a), Some(b)) = (trace[i].act.range(), trace[j].act.range()) else { return false };
    (a.start.max(b.start)..a.end.min(b.end)).any(|byte| {
        !trace[i..j].iter().any(|event| {
            matches!(event.act, Act::Allocated { addr, size } if (addr..addr + size).contains(&byte))
        })
    })
}

/// Whether two accesses are of different sizes.
fn is_mixed(a: Act, b: Act) -> bool {
    a.range().map(|range| range.len()) != b.range().map(|range| range.len())
}

/// Whether the accesses `i` and `j > i` race.
pub fn races(trace: &[Event], order: &Order, i: usize, j: usize) -> bool {
    let (a, b) = (trace[i].act, trace[j].act);
    // Who allocates a block again has freed it, and that races with uses that are not before it.
    !order.orders(i, j)
        && !matches!(b, Act::Born(_))
        && (a.writes() || b.writes())
        && (a.atomic().is_none() || b.atomic().is_none() || is_mixed(a, b))
        && common(trace, i, j)
}

/// Whether two operations can tell nobody in which order they came.
fn commute(a: Access, b: Access) -> bool {
    use Access::*;
    match (a, b) {
        (
            RefInc | RefDec | RefDecToOne | RefDecLast,
            RefInc | RefDec | RefDecToOne | RefDecLast,
        ) => true,
        (ReadLock | ReadUnlock, ReadLock | ReadUnlock) => true,
        (Update { family: f, .. }, Update { family: g, .. }) => f == g,
        _ => false,
    }
}

/// Whether the accesses `i` and `j > i` are an unordered weak pair.
pub fn weak_pair(trace: &[Event], order: &Order, i: usize, j: usize) -> bool {
    let (Some(a), Some(b)) = (trace[i].act.atomic(), trace[j].act.atomic()) else { return false };
    let seq_cst = |op: crate::detect::Atomic| op.order == lockred_protocol::hooks::Order::SeqCst;
    !order.orders(i, j)
        && (trace[i].act.writes() || trace[j].act.writes())
        && !(seq_cst(a) && seq_cst(b))
        && !(a.trusted && b.trusted)
        && !commute(a.access, b.access)
        && common(trace, i, j)
}
