//! Who runs what: the threads of a program, and, where a harness runs tests, which threads each of
//! those may start.
//!
//! A thread begins where the function that `pthread_create` is given calls by pointer: at a closure
//! of the program's. Where nothing is known of that pointer, as in large programs, it is any method
//! of a trait that is called with as much. A test may start those threads whose closures it refers
//! to, by itself or through what it refers to. What nobody is seen to run (destructors, handlers),
//! anybody may; and so may any thread, beside the one that is seen to, what is after a function
//! whose address is in hands that are not known.

use super::cycles::Runs;
use super::program::Program;
use crate::facts::flow::Flow;
use crate::facts::{Facts, FunctionId};
use crate::points_to::PointsTo;
use std::collections::{BTreeMap, BTreeSet};
use std::slice::from_ref;

/// See the module.
#[derive(Debug)]
pub struct Threads {
    /// What a harness runs.
    tests: BTreeSet<FunctionId>,
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
    /// By run in which threads are started, and function: whether threads that are not seen to may
    /// execute it.
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
        Self { tests, entries, first, groups, by, runs, unseen }
    }

    /// What a harness runs.
    #[must_use]
    pub const fn tests(&self) -> &BTreeSet<FunctionId> {
        &self.tests
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
