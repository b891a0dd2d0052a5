//! Which locks are acquired under others: what a function adds to that, and what it leaves to its
//! callers, who know more of what they pass.

use super::may::{May, Nested, Taken};
use super::state::{Hold, State};
use super::summary::Summary;
use super::symbol::Symbol;
use super::transfer::Transfer;
use crate::facts::FunctionId;
use crate::facts::flow::{Act, Call, Point, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// See the module.
#[derive(Debug)]
pub struct Order {
    function: FunctionId,
    /// Locks that are acquired by operations that wait, in the function or after its calls.
    pub acquires: BTreeSet<Taken>,
    /// Those under others.
    pub nested: BTreeSet<Nested>,
    /// Calls under locks that the function surely holds: where it has asked for each, and where
    /// that is acquired.
    pub calls: BTreeMap<Point, BTreeSet<(Point, Point)>>,
}

impl Order {
    /// Nothing so far.
    pub fn of(function: FunctionId) -> Self {
        let (acquires, nested) = Default::default();
        Self { function, acquires, nested, calls: BTreeMap::new() }
    }

    /// A step is executed in a state.
    pub fn step(&mut self, transfer: &Transfer<'_>, state: &State, step: &Step) {
        if !transfer.callees.work.goes_on() {
            return;
        }
        match step {
            Step::Synchronise { act: Act::Acquire { shared }, address, point } => {
                if let Some(mut wanted) = transfer.taken(state, *address, *shared, *point) {
                    wanted.again = wanted.lock.is_some_and(|lock| state.gave.contains(&lock));
                    self.under(transfer, &state.may, wanted, &gates(transfer, state));
                }
            }
            Step::Call(call) => {
                self.under_locks(state, call);
                self.call(transfer, state, call);
            }
            _ => {}
        }
    }

    /// Notes which locks are surely held at a call.
    fn under_locks(&mut self, state: &State, call: &Call) {
        if state.held.is_empty() {
            return;
        }
        let surely = |taken: &&Taken| taken.lock.is_some_and(|l| state.held.contains_key(&l));
        let place = |taken: &Taken| (taken.call.unwrap_or(taken.point), taken.point);
        let places: BTreeSet<_> = state.may.iter().filter(surely).map(place).collect();
        if !places.is_empty() {
            self.calls.entry(call.point).or_default().extend(places);
        }
    }

    fn call(&mut self, transfer: &Transfer<'_>, state: &State, call: &Call) {
        let summary = transfer.callees.of(transfer.aliases, call);
        if summary.acquires.is_empty() && summary.nested.is_empty() {
            return;
        }
        let arguments = transfer.arguments(state, call);
        let outward = |taken: &Taken| transfer.taken_outward(state, call, &arguments, taken);
        let here = gates(transfer, state);
        for taken in &summary.acquires {
            self.under(transfer, &state.may, outward(taken), &here);
        }
        if !transfer.callees.work.spend(summary.nested.len() * (1 + here.len())) {
            return;
        }
        for nested in &summary.nested {
            let mut nested = nested.map(outward);
            let gates: BTreeSet<&Taken> = nested.gates.iter().chain(&*here).collect();
            nested.gates = gates.into_iter().cloned().collect();
            nested.within = self.function;
            match apart(&nested.held, &nested.wanted) {
                // The function has passed one lock twice.
                Some(0) if !nested.wanted.waits_for(&nested.held) => continue,
                None => {}
                known => nested.apart = known,
            }
            self.nested.insert(nested);
        }
    }

    /// A lock is acquired where these may be held.
    fn under(&mut self, transfer: &Transfer<'_>, may: &May, wanted: Taken, gates: &Rc<[Taken]>) {
        if !transfer.callees.work.spend(1 + may.len() * (1 + gates.len())) {
            return;
        }
        for held in may.iter() {
            let apart = apart(held, &wanted);
            // The same one: its holder waits for itself, unless this is a further part of acquiring
            // it.
            if apart == Some(0) && !wanted.waits_for(held) {
                continue;
            }
            let is_held = |gate: &Taken| gate.lock.is_some() && gate.lock == held.lock;
            self.nested.insert(Nested {
                held: held.clone(),
                wanted: wanted.clone(),
                apart,
                within: self.function,
                sure: gates.iter().any(is_held),
                gates: Rc::clone(gates),
            });
        }
        self.acquires.insert(wanted);
    }

    /// A function that is too large to be followed: whatever it acquires, it may hold in all
    /// places. Gives what it may come back with.
    pub fn at_once(&mut self, transfer: &Transfer<'_>) -> May {
        let (mut may, nowhere) = (May::default(), State::default());
        let steps = || transfer.body.flow.blocks.iter().flat_map(|block| &block.steps);
        for step in steps() {
            match step {
                Step::Synchronise { act, address, point } => {
                    let shared = match act {
                        Act::Acquire { shared } | Act::Try { shared, .. } => *shared,
                        _ => continue,
                    };
                    if let Some(taken) = transfer.taken(&nowhere, *address, shared, *point) {
                        may.acquire(taken.nameless());
                    }
                }
                Step::Call(call) => {
                    let summary = transfer.callees.of(transfer.aliases, call);
                    if transfer.callees.work.spend(summary.order_size()) {
                        summary.may().iter().for_each(|more| may.unite(&more.map(Taken::nameless)));
                    }
                }
                _ => {}
            }
        }
        let state = State { may: may.clone(), ..State::default() };
        steps().for_each(|step| self.step(transfer, &state, step));
        may
    }

    /// What is said to callers, who know nothing of the function's own values.
    pub fn into_summary(self, summary: &mut Summary) {
        summary.acquires = self.acquires.iter().map(outside).collect();
        summary.nested = self.nested.iter().map(|nested| nested.map(outside)).collect();
    }
}

/// How far one lock is from the other, if both have names by one root.
fn apart(held: &Taken, wanted: &Taken) -> Option<i64> {
    let (held, wanted) = (held.lock?, wanted.lock?);
    (held.root == wanted.root).then_some(wanted.offset.wrapping_sub(held.offset))
}

/// Locks that are surely held.
fn gates(transfer: &Transfer<'_>, state: &State) -> Rc<[Taken]> {
    let taken = |(&lock, hold): (&Symbol, &Hold)| transfer.named(lock, hold.shared);
    state.held.iter().map(taken).collect()
}

/// What callers know of a lock.
fn outside(taken: &Taken) -> Taken {
    Taken { lock: taken.lock.filter(|lock| lock.is_outside()), ..taken.clone() }
}
