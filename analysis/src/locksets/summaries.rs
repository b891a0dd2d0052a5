//! Summaries of all functions, from callees to callers: those of functions that call each other say
//! little of memory, but all of the order of locks.

use super::body::Body;
use super::callers::Callers;
use super::may::{Nested, Taken};
use super::order::Order;
use super::state::{Released, State};
use super::summary::Summary;
use super::{Analysis, LARGEST};
use crate::facts::FunctionId;
use crate::facts::flow::{Act, Call, Point, Step, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Pairs of nested locks of a function that its callers tell apart.
const MOST_PASSED: usize = 500;

impl Analysis<'_> {
    /// Whether functions call each other, or the only one itself.
    pub fn calls_itself(&self, component: &[FunctionId]) -> bool {
        let [only] = component else { return true };
        let is_itself = |call: &Call| match call.callee {
            Value::Function(function) => function == *only,
            // It may be: its own component does not tell.
            _ => false,
        };
        self.calls(*only).any(is_itself)
    }

    /// Summaries of functions that call each other.
    pub fn summarise(&mut self, component: &[FunctionId], callers: &Callers) {
        let members: Vec<FunctionId> =
            component.iter().copied().filter(|&f| self.is_looked_at(f)).collect();
        if self.calls_itself(component) {
            let released = match members.iter().all(|&f| self.is_harmless(f, &members)) {
                true => Released::default(),
                false => Released::Anything,
            };
            for &member in &members {
                let parameters = self.facts.functions[member as usize].parameters;
                let mut summary = Summary::unknown(parameters, released.clone());
                self.panics.correct(member, &mut summary);
                self.callees.summaries[member as usize] = Some(Rc::new(summary));
            }
            return self.order_of_cycle(&members);
        }
        for function in members {
            let mut summary = self.summarise_alone(function);
            self.panics.correct(function, &mut summary);
            let (passed, rest): (BTreeSet<_>, BTreeSet<_>) =
                std::mem::take(&mut summary.nested).into_iter().partition(Nested::is_passed);
            self.nested.extend(rest);
            if callers.others[function as usize] || passed.len() > MOST_PASSED {
                self.nested.extend(passed.iter().cloned());
            }
            if passed.len() <= MOST_PASSED {
                summary.nested = passed;
            }
            self.callees.summaries[function as usize] = Some(Rc::new(summary));
        }
    }

    /// The summary of a function, by those of what it calls.
    fn summarise_alone(&mut self, function: FunctionId) -> Summary {
        let (summary, calls) = self.summarised(function);
        self.under_locks.extend(calls);
        summary
    }

    /// The same, with the calls under locks.
    fn summarised(
        &self,
        function: FunctionId,
    ) -> (Summary, BTreeMap<Point, BTreeSet<(Point, Point)>>) {
        let parameters = self.facts.functions[function as usize].parameters;
        let body = Body::of(self.flow(function), parameters);
        let aliases = self.aliases(function);
        let transfer = self.transfer(&body, &aliases);
        let mut order = Order::of(function);
        let fits = body.flow.blocks.len() <= LARGEST;
        let mut summary = match fits.then(|| transfer.solve(State::default())).flatten() {
            Some(solution) => {
                transfer.visit(&solution, &mut |state, step| order.step(&transfer, state, step))
            }
            None => {
                let mut summary = Summary::unknown(parameters, Released::Anything);
                let may = order.at_once(&transfer);
                summary.may_hold(&[may.clone(), may]);
                summary
            }
        };
        let calls = std::mem::take(&mut order.calls);
        order.into_summary(&mut summary);
        (summary, calls)
    }

    /// The order of locks in functions that call each other: until nothing is added. No address of
    /// theirs has a name that the others know.
    fn order_of_cycle(&mut self, members: &[FunctionId]) {
        if !members.iter().any(|&f| self.acquires_something(f)) {
            return;
        }
        let mut nested = BTreeSet::new();
        loop {
            let mut changed = false;
            for &member in members {
                let found = self.summarise_alone(member);
                let may = found.may().map(|may| may.map(Taken::nameless));
                nested.extend(found.nested.iter().map(|nested| nested.map(Taken::nameless)));
                let known = &mut self.callees.summaries[member as usize];
                let Some(known) = known.as_mut().map(Rc::make_mut) else { continue };
                let before = (known.may(), known.acquires.len());
                known.may_hold(&may);
                known.acquires.extend(found.acquires.iter().map(Taken::nameless));
                changed |= before != (known.may(), known.acquires.len());
            }
            if !changed || !self.callees.work.goes_on() {
                break;
            }
        }
        self.nested.extend(nested);
    }

    /// Whether a function acquires a lock, or calls one that does, as far as that is known.
    fn acquires_something(&self, function: FunctionId) -> bool {
        let aliases = self.aliases(function);
        let mut steps = self.flow(function).blocks.iter().flat_map(|block| &block.steps);
        steps.any(|step| match step {
            Step::Synchronise { act, .. } => matches!(act, Act::Acquire { .. } | Act::Try { .. }),
            Step::Call(call) => {
                let summary = self.callees.of(&aliases, call);
                !summary.acquires.is_empty() || summary.may().iter().any(|may| !may.is_empty())
            }
            _ => false,
        })
    }

    /// Whether nothing in a function gives back a lock, as far as it does not call these others.
    fn is_harmless(&self, function: FunctionId, others: &[FunctionId]) -> bool {
        let steps = self.flow(function).blocks.iter().flat_map(|block| &block.steps);
        let aliases = self.aliases(function);
        steps.into_iter().all(|step| match step {
            Step::Synchronise { act, .. } => matches!(act, Act::Other(_)),
            Step::Call(call) => {
                let (callees, unknown) = self.callees.candidates(&aliases, call);
                !unknown
                    && callees
                        .iter()
                        .all(|f| others.contains(f) || self.callees.releases_nothing(*f))
            }
            _ => true,
        })
    }
}
