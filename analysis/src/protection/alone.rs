//! Where a program has one thread: no thread was created on any way there from where the program, or a test, begins.
//!
//! What is accessed there is accessed before anybody else can, wherever it is. A call may create a thread if `pthread_create` can be reached by it, or code
//! that is not known. Functions whose addresses are taken may be called by anybody, and have no such place; but for tests, which the harness
//! calls one by one.

use crate::facts::flow::{BlockId, Call, Flow, Point, Step};
use crate::facts::{Effect, Facts, FunctionId, Operand};
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
    /// Looks at a program. `begins`: its tests, or where it begins. O(calls and blocks).
    pub fn of(
        facts: &Facts,
        flows: &[Flow],
        points_to: &PointsTo<'_>,
        begins: &BTreeSet<FunctionId>,
    ) -> Self {
        let search = Search { facts, flows, points_to };
        let creating = search.creating();
        let first = |function: FunctionId, flow: &Flow| -> Vec<Option<Point>> {
            let blocks = flow.blocks.iter().map(|block| {
                let mut calls = calls(&block.steps);
                calls.find(|call| search.creates(function, call, &creating)).map(|c| c.point)
            });
            blocks.collect()
        };
        let creates: Vec<_> =
            flows.iter().enumerate().map(|(id, flow)| first(id as FunctionId, flow)).collect();
        let entries = flows.iter().map(|flow| vec![true; flow.blocks.len()]).collect();
        let mut alone = Self { entries, creates };
        let all = 0..flows.len() as FunctionId;
        all.clone().for_each(|function| alone.spread(&flows[function as usize], function, false));
        let mut open = search.with_others(begins);
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

    /// There may be others in a function: from its beginning on, or behind calls that create them.
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

fn calls(steps: &[Step]) -> impl Iterator<Item = &Call> {
    steps.iter().filter_map(|step| match step {
        Step::Call(call) => Some(&**call),
        _ => None,
    })
}

struct Search<'a> {
    facts: &'a Facts,
    flows: &'a [Flow],
    points_to: &'a PointsTo<'a>,
}

impl Search<'_> {
    fn reached(&self) -> impl Iterator<Item = FunctionId> {
        (0..self.flows.len() as FunctionId).filter(|&f| self.points_to.is_reached(f))
    }

    /// Functions that may create threads, by themselves or by what they call.
    fn creating(&self) -> Vec<bool> {
        let mut callers: Vec<Vec<FunctionId>> = vec![Vec::new(); self.flows.len()];
        let mut creating = vec![false; self.flows.len()];
        let mut open = Vec::new();
        for function in self.reached() {
            for call in self.flows[function as usize].blocks.iter().flat_map(|b| calls(&b.steps)) {
                let (callees, others) = self.points_to.callees(function, call.callee);
                if others && !std::mem::replace(&mut creating[function as usize], true) {
                    open.push(function);
                }
                callees.iter().for_each(|&callee| callers[callee as usize].push(function));
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

    fn creates(&self, function: FunctionId, call: &Call, creating: &[bool]) -> bool {
        let (callees, others) = self.points_to.callees(function, call.callee);
        others || callees.into_iter().any(|callee| creating[callee as usize])
    }

    /// Functions that may be called when there are others, whoever calls them.
    fn with_others(&self, begins: &BTreeSet<FunctionId>) -> Vec<FunctionId> {
        let mut taken = BTreeSet::new();
        let mut add = |operand: Operand| {
            if let Operand::Function(function) = operand {
                taken.insert(function);
            }
        };
        let globals = self.facts.globals.iter().flat_map(|global| &global.initial);
        globals.for_each(|(_, operand)| add(*operand));
        let acts = self.facts.functions.iter().flat_map(|f| &f.body).flat_map(|body| &body.acts);
        acts.for_each(|act| act.operands(&mut add));
        for (id, function) in self.facts.functions.iter().enumerate() {
            if function.is_entry {
                taken.insert(id as FunctionId);
            }
        }
        taken.difference(begins).copied().collect()
    }

    /// What a function calls where there may be others.
    fn called_with_others<'a>(
        &'a self,
        alone: &'a Alone,
        function: FunctionId,
    ) -> impl Iterator<Item = FunctionId> + 'a {
        let reached = self.points_to.is_reached(function);
        let blocks = self.flows[function as usize].blocks.iter().enumerate();
        blocks.filter(move |_| reached).flat_map(move |(block, it)| {
            let others = calls(&it.steps)
                .filter(move |call| !alone.at(function, block as BlockId, call.point));
            others.flat_map(move |call| self.points_to.callees(function, call.callee).0)
        })
    }
}
