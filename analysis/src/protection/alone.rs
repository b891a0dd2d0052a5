//! Where a program has one thread: no thread was created on any way there from where the program,
//! or a test, begins.
//!
//! What is accessed there is accessed before anybody else can, wherever it is. A call may create a
//! thread if `pthread_create` can be reached by it, or code that is not known. Functions whose
//! addresses are taken may be called by anybody, and have no such place; but for tests, which the
//! harness calls one by one.

use crate::facts::flow::{BlockId, Flow, Point, Step};
use crate::facts::{Effect, Facts, FunctionId};
use crate::points_to::PointsTo;
use std::collections::BTreeSet;

/// See the module.
#[derive(Debug)]
pub struct Alone {
    /// By function and block: whether there is one thread at its beginning.
    entries: Vec<Vec<bool>>,
    /// By function and block: its first call that may create a thread.
    creates: Vec<Vec<Option<Point>>>,
}

impl Alone {
    /// Looks at a program. `begins`: its tests, or where it begins. `called_by_others`: by
    /// function, whether its address is taken. O(calls and blocks).
    pub fn of(
        facts: &Facts,
        flows: &[Flow],
        points_to: &PointsTo<'_>,
        begins: &BTreeSet<FunctionId>,
        called_by_others: &[bool],
    ) -> Self {
        let search = Search { facts, calls: resolved(flows, points_to) };
        let creating = search.creating();
        let first = |(flow, calls): (&Flow, &Vec<Resolved>)| {
            let mut first = vec![None; flow.blocks.len()];
            for call in calls.iter().filter(|call| call.creates(&creating)) {
                first[call.block as usize].get_or_insert(call.point);
            }
            first
        };
        let creates: Vec<_> = flows.iter().zip(&search.calls).map(first).collect();
        let entries = flows.iter().map(|flow| vec![true; flow.blocks.len()]).collect();
        let mut alone = Self { entries, creates };
        let all = 0..flows.len() as FunctionId;
        all.clone().for_each(|function| alone.spread(&flows[function as usize], function, false));
        let others = all.clone().filter(|&f| called_by_others[f as usize] && !begins.contains(&f));
        let mut open: Vec<FunctionId> = others.collect();
        open.extend(all.flat_map(|function| search.called_with_others(&alone, function)));
        let mut done = vec![false; flows.len()];
        while let Some(function) = open.pop() {
            if !std::mem::replace(&mut done[function as usize], true) {
                alone.spread(&flows[function as usize], function, true);
                open.extend(search.called_with_others(&alone, function));
            }
        }
        alone
    }

    /// Whether there is one thread at a point of a block.
    pub fn at(&self, function: FunctionId, block: BlockId, point: Point) -> bool {
        let (function, block) = (function as usize, block as usize);
        self.entries[function][block] && self.creates[function][block].is_none_or(|c| point <= c)
    }

    /// There may be others in a function: from its beginning on, or after calls that create them.
    fn spread(&mut self, flow: &Flow, function: FunctionId, from_the_beginning: bool) {
        let entries = &mut self.entries[function as usize];
        let creates = &self.creates[function as usize];
        let mut open: Vec<BlockId> = Vec::new();
        if from_the_beginning && !entries.is_empty() {
            entries[0] = false;
            open.push(0);
        }
        open.extend((0..flow.blocks.len() as BlockId).filter(|&b| creates[b as usize].is_some()));
        while let Some(block) = open.pop() {
            for next in flow.blocks[block as usize].end.successors() {
                if std::mem::replace(&mut entries[next as usize], false) {
                    open.push(next);
                }
            }
        }
    }
}

/// A call, and what it may be of.
struct Resolved {
    block: BlockId,
    point: Point,
    callees: Vec<FunctionId>,
    /// It may be of those who are not known.
    others: bool,
}

impl Resolved {
    fn creates(&self, creating: &[bool]) -> bool {
        self.others || self.callees.iter().any(|&callee| creating[callee as usize])
    }
}

/// The calls of each function that may be executed, in the order of blocks and points.
fn resolved(flows: &[Flow], points_to: &PointsTo<'_>) -> Vec<Vec<Resolved>> {
    let of = |(function, flow): (usize, &Flow)| {
        let function = function as FunctionId;
        let blocks = flow.blocks.iter().enumerate().filter(|_| points_to.is_reached(function));
        let steps = blocks.flat_map(|(block, it)| it.steps.iter().map(move |step| (block, step)));
        let calls = steps.filter_map(|(block, step)| {
            let Step::Call(call) = step else { return None };
            let (callees, others) = points_to.callees(function, call.callee);
            Some(Resolved { block: block as BlockId, point: call.point, callees, others })
        });
        calls.collect()
    };
    flows.iter().enumerate().map(of).collect()
}

struct Search<'a> {
    facts: &'a Facts,
    calls: Vec<Vec<Resolved>>,
}

impl Search<'_> {
    /// Functions that may create threads, by themselves or by what they call.
    fn creating(&self) -> Vec<bool> {
        let mut callers: Vec<Vec<FunctionId>> = vec![Vec::new(); self.calls.len()];
        let mut creating = vec![false; self.calls.len()];
        let mut open = Vec::new();
        for (function, calls) in self.calls.iter().enumerate() {
            for call in calls {
                if call.others && !std::mem::replace(&mut creating[function], true) {
                    open.push(function as FunctionId);
                }
                let function = function as FunctionId;
                call.callees.iter().for_each(|&callee| callers[callee as usize].push(function));
            }
        }
        for (id, function) in self.facts.functions.iter().enumerate() {
            let effect = Effect::of(&function.name);
            if function.body.is_none()
                && matches!(effect, Effect::StartsThread | Effect::Anything)
                && !std::mem::replace(&mut creating[id], true)
            {
                open.push(id as FunctionId);
            }
        }
        while let Some(function) = open.pop() {
            for &caller in &callers[function as usize] {
                if !std::mem::replace(&mut creating[caller as usize], true) {
                    open.push(caller);
                }
            }
        }
        creating
    }

    /// What a function calls where there may be others.
    fn called_with_others<'a>(
        &'a self,
        alone: &'a Alone,
        function: FunctionId,
    ) -> impl Iterator<Item = FunctionId> + 'a {
        let calls = self.calls[function as usize].iter();
        let others = calls.filter(move |call| !alone.at(function, call.block, call.point));
        others.flat_map(|call| call.callees.iter().copied())
    }
}
