//! Who runs what: the threads of a program, and, where a harness runs tests, which threads each of those may start.
//!
//! A thread begins where the function that `pthread_create` is given calls by pointer: at a closure of the program's. Where nothing is known of that pointer, as
//! in large programs, it is any method of a trait that is called with as much. A test may start those threads whose
//! closures it refers to, by itself or through what it refers to. What nobody is seen to run (destructors, handlers), anybody may; and so may
//! any thread, beside the one that is seen to, what is behind a function whose address is in hands that are not known.

use super::circles::Runs;
use crate::facts::flow::{Call, Flow, Step, Value};
use crate::facts::{Act, Facts, Function, FunctionId, GlobalId, Operand};
use crate::points_to::{Kind, PointsTo};
use std::collections::{BTreeMap, BTreeSet};
use std::slice::from_ref;

/// Functions that are called one by another until a thread's closure is.
const DEPTH: u32 = 3;

/// See the module.
#[derive(Debug)]
pub struct Threads {
    /// Where threads begin: first those that each run begins with, then those that are started.
    entries: Vec<FunctionId>,
    /// How many entries begin a run.
    first: usize,
    /// By run: numbers of the entries that may be started in it, itself included.
    groups: Vec<BTreeSet<u32>>,
    /// By function: numbers of the entries that may execute it.
    by: Vec<BTreeSet<u32>>,
    /// By function: numbers of the runs.
    runs: Vec<BTreeSet<u32>>,
    /// By run in which threads are started, and function: whether threads that are not seen to may execute it.
    unseen: BTreeMap<u32, Vec<bool>>,
}

impl Threads {
    /// Looks for them. `calls`: what each function may call. O(threads · functions).
    pub fn of(
        facts: &Facts,
        flows: &[Flow],
        points_to: &PointsTo<'_>,
        calls: &[Vec<FunctionId>],
    ) -> Self {
        let program = Program { facts, flows, points_to, calls };
        let tests = program.tests();
        let is_main = |f: &FunctionId| facts.functions[*f as usize].is_entry;
        let mut entries: Vec<FunctionId> = match tests.is_empty() {
            true => (0..calls.len() as FunctionId).filter(is_main).collect(),
            false => tests.iter().copied().collect(),
        };
        let first = entries.len();
        entries.extend(program.started().into_iter().filter(|f| !tests.contains(f)));
        let references = program.references();
        let group = |number: usize| -> BTreeSet<u32> {
            let reached = reach(&references, &entries[number..=number]);
            let started = first..entries.len();
            let started = started.filter(|&e| tests.is_empty() || reached[entries[e] as usize]);
            started.chain([number]).map(|e| e as u32).collect()
        };
        // Without tests, all that begins is of one run.
        let groups: Vec<BTreeSet<u32>> = match tests.is_empty() {
            true => vec![(0..entries.len() as u32).collect()],
            false => (0..first).map(group).collect(),
        };
        let mut by = vec![BTreeSet::new(); calls.len()];
        for (number, entry) in entries.iter().enumerate() {
            for (function, reached) in reach(calls, from_ref(entry)).into_iter().enumerate() {
                if reached {
                    by[function].insert(number as u32);
                }
            }
        }
        let runs = by.iter().map(|by: &BTreeSet<u32>| {
            let group = |&run: &u32| by.is_empty() || !groups[run as usize].is_disjoint(by);
            (0..groups.len() as u32).filter(group).collect()
        });
        let runs = runs.collect();
        let known_outside = program.known_outside();
        let unseen = groups.iter().enumerate().filter(|(_, group)| group.len() > 1);
        let unseen = unseen.map(|(run, _)| {
            let begins = match tests.is_empty() {
                true => &entries[..first],
                false => &entries[run..=run],
            };
            let refers = reach(&references, begins);
            let from = known_outside.iter().copied();
            let from: Vec<FunctionId> =
                from.filter(|f| refers[*f as usize] && !entries[..first].contains(f)).collect();
            (run as u32, reach(calls, &from))
        });
        let unseen = unseen.collect();
        Self { entries, first, groups, by, runs, unseen }
    }

    /// Where threads begin.
    #[must_use]
    pub fn entries(&self) -> &[FunctionId] {
        &self.entries
    }

    /// Numbers of the entries that may execute a function.
    #[must_use]
    pub fn of_function(&self, function: FunctionId) -> &BTreeSet<u32> {
        &self.by[function as usize]
    }
}

impl Runs for Threads {
    fn runs(&self, function: FunctionId) -> &BTreeSet<u32> {
        &self.runs[function as usize]
    }

    fn one_thread(&self, functions: &[FunctionId]) -> bool {
        let mut groups = self.groups.iter().enumerate().filter(|(run, _)| {
            functions.iter().all(|&f| self.runs[f as usize].contains(&(*run as u32)))
        });
        groups.all(|(run, group)| {
            let unseen = self.unseen.get(&(run as u32));
            if unseen.is_some_and(|unseen| functions.iter().any(|&f| unseen[f as usize])) {
                return false;
            }
            let all = functions.iter().flat_map(|&f| {
                let by = &self.by[f as usize];
                let any = by.is_empty();
                group.iter().filter(move |entry| any || by.contains(entry))
            });
            let all: BTreeSet<&u32> = all.collect();
            all.len() == 1 && all.iter().all(|&&entry| (entry as usize) < self.first)
        })
    }
}

struct Program<'a> {
    facts: &'a Facts,
    flows: &'a [Flow],
    points_to: &'a PointsTo<'a>,
    calls: &'a [Vec<FunctionId>],
}

impl Program<'_> {
    /// The functions that a value may be.
    fn functions(&self, function: FunctionId, value: Value) -> Vec<FunctionId> {
        match value {
            Value::Function(function) => vec![function],
            Value::Slot(slot) => {
                let objects = self.points_to.objects_of(function, slot).into_iter();
                let kinds = objects.map(|object| self.points_to.kind(object));
                let functions = kinds.filter_map(|kind| match kind {
                    Kind::Function(function) => Some(function),
                    _ => None,
                });
                functions.collect()
            }
            _ => Vec::new(),
        }
    }

    fn calls_of(&self) -> impl Iterator<Item = (FunctionId, &Call)> {
        let reached = self.flows.iter().enumerate().map(|(id, flow)| (id as FunctionId, flow));
        let reached = reached.filter(|(id, _)| self.points_to.is_reached(*id));
        reached.flat_map(|(id, flow)| {
            let steps = flow.blocks.iter().flat_map(|block| &block.steps);
            steps.filter_map(move |step| match step {
                Step::Call(call) => Some((id, &**call)),
                _ => None,
            })
        })
    }

    /// What the harness is given to run.
    fn tests(&self) -> BTreeSet<FunctionId> {
        let mut found = BTreeSet::new();
        for (function, call) in self.calls_of() {
            let is_harness = |f: FunctionId| self.facts.functions[f as usize].is_harness;
            if !matches!(call.callee, Value::Function(f) if is_harness(f)) {
                continue;
            }
            for &argument in &call.arguments {
                let globals: Vec<GlobalId> = match argument {
                    Value::Global(id, _) => vec![id],
                    Value::Slot(slot) => {
                        let objects = self.points_to.objects_of(function, slot).into_iter();
                        let kinds = objects.map(|object| self.points_to.kind(object));
                        let globals = kinds.filter_map(|kind| match kind {
                            Kind::Global(id) => Some(id),
                            _ => None,
                        });
                        globals.collect()
                    }
                    _ => Vec::new(),
                };
                for global in globals {
                    self.in_global(global, &mut BTreeSet::new(), &mut found);
                }
            }
        }
        found.retain(|&f| !self.flows[f as usize].blocks.is_empty());
        found
    }

    /// The functions whose addresses a global variable leads to.
    fn in_global(
        &self,
        global: GlobalId,
        seen: &mut BTreeSet<GlobalId>,
        found: &mut BTreeSet<FunctionId>,
    ) {
        let mut open = vec![global];
        while let Some(global) = open.pop() {
            if !seen.insert(global) {
                continue;
            }
            for (_, operand) in &self.facts.globals[global as usize].initial {
                match *operand {
                    Operand::Function(function) => {
                        found.insert(function);
                    }
                    Operand::Global(id, _) => open.push(id),
                    _ => {}
                }
            }
        }
    }

    /// Where threads that are started begin.
    fn started(&self) -> Vec<FunctionId> {
        let mut starts = BTreeSet::new();
        for (function, call) in self.calls_of() {
            let is_start =
                |f: FunctionId| self.facts.functions[f as usize].name == "pthread_create";
            if matches!(call.callee, Value::Function(f) if is_start(f))
                && let Some(&start) = call.arguments.get(2)
            {
                starts.extend(self.functions(function, start));
            }
        }
        let mut found = BTreeSet::new();
        for start in starts {
            let mut closures = BTreeSet::new();
            let mut level = BTreeSet::from([start]);
            for _ in 0..DEPTH {
                for &function in &level {
                    closures.extend(self.called_by_pointer(function));
                }
                if !closures.is_empty() {
                    break;
                }
                level = level.iter().flat_map(|&f| self.calls[f as usize].clone()).collect();
            }
            if closures.is_empty() {
                closures.insert(start);
            }
            found.extend(closures);
        }
        found.into_iter().collect()
    }

    fn called_by_pointer(&self, function: FunctionId) -> Vec<FunctionId> {
        let steps = self.flows[function as usize].blocks.iter().flat_map(|block| &block.steps);
        let calls = steps.filter_map(|step| match step {
            Step::Call(call) => Some(&**call),
            _ => None,
        });
        let by_pointer = calls.filter(|call| matches!(call.callee, Value::Slot(_)));
        let called = by_pointer.flat_map(|call| {
            let known = self.functions(function, call.callee);
            match known.is_empty() {
                true => self.methods(call),
                false => known
                    .into_iter()
                    .filter(|f| self.calls[function as usize].contains(f))
                    .collect(),
            }
        });
        called.collect()
    }

    /// The methods that a call of what is not known may be of. What is first in a table is no method: it drops an object.
    fn methods(&self, call: &Call) -> Vec<FunctionId> {
        let tables = self.facts.globals.iter().filter(|global| global.is_constant);
        let methods = tables.flat_map(|global| &global.initial).filter_map(|entry| match *entry {
            (1.., Operand::Function(function)) => Some(function),
            _ => None,
        });
        let fits = |&function: &FunctionId| {
            let it = &self.facts.functions[function as usize];
            it.is_method && it.body.is_some() && it.signature == Some(call.signature)
        };
        let fitting: BTreeSet<FunctionId> = methods.filter(fits).collect();
        fitting.into_iter().collect()
    }

    /// Functions whose addresses are in hands that are not known.
    fn known_outside(&self) -> Vec<FunctionId> {
        let objects = self.points_to.foreign().into_iter();
        let functions = objects.filter_map(|object| match self.points_to.kind(object) {
            Kind::Function(function) => Some(function),
            _ => None,
        });
        functions.collect()
    }

    /// What each function refers to: what it calls, and whose address it takes, also through tables.
    fn references(&self) -> Vec<Vec<FunctionId>> {
        let of = |function: &Function| {
            let mut found = BTreeSet::new();
            let mut globals = BTreeSet::new();
            for act in function.body.iter().flat_map(|body| &body.acts) {
                if let Act::Call(call) = act
                    && let Operand::Function(callee) = call.callee
                {
                    found.insert(callee);
                }
                act.operands(&mut |operand| match operand {
                    Operand::Function(function) => {
                        found.insert(function);
                    }
                    Operand::Global(id, _) => {
                        globals.insert(id);
                    }
                    _ => {}
                });
            }
            let mut seen = BTreeSet::new();
            globals.into_iter().for_each(|id| self.in_global(id, &mut seen, &mut found));
            found.into_iter().collect()
        };
        self.facts.functions.iter().map(of).collect()
    }
}

/// Whether each function is reached from one of these.
fn reach(edges: &[Vec<FunctionId>], from: &[FunctionId]) -> Vec<bool> {
    let mut reached = vec![false; edges.len()];
    let mut open = from.to_vec();
    while let Some(function) = open.pop() {
        if !std::mem::replace(&mut reached[function as usize], true) {
            open.extend(&edges[function as usize]);
        }
    }
    reached
}
