//! What may have synchronised before a point of a function, or may do so after it.

use crate::llvm::{Block, Function, Instruction, Module, Opcode};
use crate::recognise::{demangle, path_of};
use lockred_protocol::hooks::Order;
use std::collections::{HashMap, HashSet};

/// Functions that synchronise only for themselves.
const ASIDE: &[&str] = &["core::fmt::", "core::panicking::", "std::panicking::", "alloc::fmt::"];

/// Whether a function is one of those.
pub fn is_aside(function: Function) -> bool {
    let path = path_of(&demangle(&function.name()));
    ASIDE.iter().any(|aside| path.starts_with(aside))
}

/// What a function does, itself or by what it calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Does {
    /// It may acquire.
    pub acquires: bool,
    /// It may release.
    pub releases: bool,
}

impl Does {
    fn of(order: Order) -> Self {
        Self {
            acquires: matches!(order, Order::Acquire | Order::AcqRel | Order::SeqCst),
            releases: matches!(order, Order::Release | Order::AcqRel | Order::SeqCst),
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            acquires: self.acquires || other.acquires,
            releases: self.releases || other.releases,
        }
    }
}

/// Calls of a function's callers that are looked at.
const DEPTH: u32 = 3;

/// By function.
#[derive(Debug, Default)]
pub struct Synchronises {
    does: HashMap<Function, Does>,
    /// What is around the calls of a function that only direct calls lead to.
    outside: HashMap<Function, Does>,
}

/// What an instruction does by itself.
fn own(at: Instruction) -> Does {
    match at.opcode() {
        Opcode::Load => Does { releases: false, ..atomic(at) },
        Opcode::Store => Does { acquires: false, ..atomic(at) },
        Opcode::AtomicRmw | Opcode::Fence => Does::of(at.order()),
        Opcode::CompareExchange => {
            let (success, failure) = at.compare_exchange_orders();
            Does::of(success).or(Does { releases: false, ..Does::of(failure) })
        }
        _ => Does::default(),
    }
}

fn atomic(at: Instruction) -> Does {
    if at.is_atomic() { Does::of(at.order()) } else { Does::default() }
}

fn callee(at: Instruction) -> Option<Function> {
    at.callee()?.as_function()
}

impl Synchronises {
    /// Of all functions of a program. O(instructions · length of the longest chain of calls).
    pub fn of(module: &Module) -> Self {
        let mut does: HashMap<Function, Does> = HashMap::new();
        let mut callers: HashMap<Function, Vec<Function>> = HashMap::new();
        for function in module.functions() {
            if is_aside(function) {
                continue;
            }
            let mut all = Does::default();
            for at in function.blocks().iter().flat_map(|block| block.instructions()) {
                all = all.or(own(at));
                if let Some(callee) = callee(at) {
                    callers.entry(callee).or_default().push(function);
                }
            }
            does.insert(function, all);
        }
        let mut open: Vec<Function> =
            does.iter().filter(|(_, d)| **d != Does::default()).map(|(f, _)| *f).collect();
        while let Some(function) = open.pop() {
            let by_this = does[&function];
            for caller in callers.get(&function).into_iter().flatten() {
                let Some(known) = does.get_mut(caller) else { continue };
                let more = known.or(by_this);
                if more != *known {
                    *known = more;
                    open.push(*caller);
                }
            }
        }
        Self { does, outside: HashMap::new() }
    }

    /// What an instruction does, itself or by what it calls.
    pub fn does(&self, at: Instruction) -> Does {
        let called = callee(at).and_then(|callee| self.does.get(&callee)).copied();
        own(at).or(called.unwrap_or_default())
    }

    /// Of each instruction of a function: whether something may have acquired before, and whether
    /// something may release after it; in the function, or around one of its calls, where all of
    /// these are known.
    pub fn around(&mut self, function: Function) -> HashMap<Instruction, Does> {
        let outside = self.outside(function, DEPTH);
        let mut around = self.inside(function);
        around.values_mut().for_each(|does| *does = does.or(outside));
        around
    }

    fn outside(&mut self, function: Function, depth: u32) -> Does {
        let Some(calls) = function.all_calls().filter(|_| depth > 0) else {
            return Does::default();
        };
        if let Some(&known) = self.outside.get(&function) {
            return known;
        }
        // Of a cycle, nothing more is asked.
        self.outside.insert(function, Does::default());
        let mut found = Does::default();
        for call in calls {
            let caller = call.function();
            let here = self.inside(caller).get(&call).copied().unwrap_or_default();
            found = found.or(here).or(self.outside(caller, depth - 1));
        }
        self.outside.insert(function, found);
        found
    }

    fn inside(&self, function: Function) -> HashMap<Instruction, Does> {
        let blocks = function.blocks();
        let all: HashMap<Block, Vec<(Instruction, Does)>> = blocks
            .iter()
            .map(|&block| {
                let of = |at| (at, self.does(at));
                (block, block.instructions().into_iter().map(of).collect())
            })
            .collect();
        let mut next: HashMap<Block, Vec<Block>> = HashMap::new();
        let mut before: HashMap<Block, Vec<Block>> = HashMap::new();
        for &block in &blocks {
            for to in block.terminator().map(|at| at.successors()).unwrap_or_default() {
                next.entry(block).or_default().push(to);
                before.entry(to).or_default().push(block);
            }
        }
        let blocks_that = |what: fn(&Does) -> bool| {
            let does = |block: &&Block| all[block].iter().any(|(_, does)| what(does));
            blocks.iter().filter(does).copied().collect::<Vec<_>>()
        };
        let acquired = behind(&next, blocks_that(|does| does.acquires));
        let releasing = behind(&before, blocks_that(|does| does.releases));
        let mut around: HashMap<Instruction, Does> = HashMap::new();
        for (block, instructions) in &all {
            let mut seen = acquired.contains(block);
            for (at, does) in instructions {
                around.entry(*at).or_default().acquires = seen;
                seen |= does.acquires;
            }
            let mut seen = releasing.contains(block);
            for (at, does) in instructions.iter().rev() {
                around.entry(*at).or_default().releases = seen;
                seen |= does.releases;
            }
        }
        around
    }
}

/// The blocks after these.
fn behind(edges: &HashMap<Block, Vec<Block>>, from: Vec<Block>) -> HashSet<Block> {
    let mut found = HashSet::new();
    let mut open = from;
    while let Some(block) = open.pop() {
        for &to in edges.get(&block).into_iter().flatten() {
            if found.insert(to) {
                open.push(to);
            }
        }
    }
    found
}
