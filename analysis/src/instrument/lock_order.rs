//! The order of locks, with sites and names, as the executable holds it.

use super::sites::Sites;
use crate::facts::flow::{Flow, Points};
use crate::facts::{Facts, FunctionId};
use crate::llvm::{Context, Instruction};
use crate::lock_order::{End, Graph, Lock, Origin, Origins, Threads, circles};
use crate::locksets::Locksets;
use crate::points_to::PointsTo;
use crate::recognise::{demangle, path_of};
use lockred_trace::lock_order::{Circle, LockOrder, Nesting, Taken};
use lockred_trace::sites::SiteId;
use std::collections::{BTreeSet, VecDeque};

/// What is known of a program.
pub struct Input<'a> {
    pub facts: &'a Facts,
    pub flows: &'a [Flow],
    pub points_to: &'a PointsTo<'a>,
    pub locksets: &'a Locksets,
    /// Whether a function is not one of std's.
    pub is_users: &'a dyn Fn(FunctionId) -> bool,
}

/// The order of locks in a program that has not been changed yet.
#[derive(Debug, Default)]
pub struct Order {
    known: bool,
    /// By their number.
    nestings: Vec<([(Instruction, End); 2], Nesting)>,
    left_out: Vec<Instruction>,
    locks: Vec<String>,
    threads: Vec<String>,
    circles: Vec<Circle>,
}

/// Crates whose functions are nobody's own.
const LIBRARIES: &[&str] = &["std::", "core::", "alloc::", "test::"];

impl Order {
    /// Makes it.
    pub fn of(context: Context, input: &Input<'_>, points: &Points) -> Self {
        let Input { facts, flows, points_to, locksets, is_users } = *input;
        let graph = Graph::of(locksets.nested(), points_to);
        let threads = Threads::of(facts, flows, points_to, locksets.calls());
        let origins = Origins::of(&graph.locks, flows, points_to, is_users);
        let names = Names { context, input, points };
        let found = circles(&graph.nestings, &threads);
        let nesting = |nesting: &crate::lock_order::Nesting| {
            let ends = [&nesting.held, &nesting.wanted];
            let none = || Taken { locks: Vec::new(), site: Default::default(), shared: false };
            let ends = ends.map(|end| (points.instruction(end.point), end.clone()));
            let told = Nesting {
                held: none(),
                wanted: none(),
                apart: nesting.apart,
                within: names.function(nesting.within),
                gates: nesting.gates.iter().copied().collect(),
                threads: threads.of_function(nesting.within).iter().copied().collect(),
            };
            (ends, told)
        };
        let circle = |circle: crate::lock_order::Circle| Circle {
            kind: circle.kind,
            nestings: circle.nestings,
            locks: circle.locks,
        };
        Self {
            known: true,
            nestings: graph.nestings.iter().map(nesting).collect(),
            left_out: locksets.left_out().iter().map(|&p| points.instruction(p)).collect(),
            locks: graph.locks.iter().map(|&lock| names.lock(lock, origins.origin(lock))).collect(),
            threads: threads.entries().iter().map(|&f| names.thread(f)).collect(),
            circles: found.into_iter().map(circle).collect(),
        }
    }

    /// With the sites of the operations.
    pub fn placed(self, context: Context, sites: &mut Sites) -> LockOrder {
        let mut left_out: Vec<SiteId> =
            self.left_out.iter().map(|at| sites.of(context, at.function(), *at)).collect();
        left_out.sort_unstable_by_key(|site| site.0);
        left_out.dedup();
        let mut taken = |(at, end): &(Instruction, End)| Taken {
            locks: end.locks.clone(),
            site: sites.of(context, at.function(), *at),
            shared: end.shared,
        };
        let nestings = self.nestings.into_iter().map(|([held, wanted], nesting)| Nesting {
            held: taken(&held),
            wanted: taken(&wanted),
            ..nesting
        });
        LockOrder {
            nestings: nestings.collect(),
            left_out,
            known: self.known,
            locks: self.locks,
            threads: self.threads,
            circles: self.circles,
        }
    }
}

/// What people call things.
struct Names<'a> {
    context: Context,
    input: &'a Input<'a>,
    points: &'a Points,
}

impl Names<'_> {
    fn function(&self, id: FunctionId) -> String {
        demangle(&self.input.facts.functions[id as usize].name)
    }

    fn lock(&self, lock: Lock, origin: Origin) -> String {
        let place = match lock.offset {
            None | Some(0) => String::new(),
            Some(offset) => format!(" + {offset}"),
        };
        match origin {
            Origin::Global(id) => {
                format!("{}{place}", demangle(&self.input.facts.globals[id as usize].name))
            }
            Origin::Variable(function) => {
                format!("a variable of {}{place}", self.function(function))
            }
            Origin::Call(point) => {
                let at = self.points.instruction(point);
                format!("what {} allocates{place}", self.place(at))
            }
            Origin::Heap => format!("a block of the heap{place}"),
        }
    }

    /// The outermost line of source that an instruction was inlined at, and its function.
    fn place(&self, at: Instruction) -> String {
        let mut location = at.location();
        while let Some(outer) = location.and_then(|location| location.inlined_at()) {
            location = Some(outer);
        }
        let Some(location) = location else { return demangle(&at.function().name()) };
        let symbol = location.subprogram(self.context).map(|s| s.symbol(self.context));
        let function = demangle(&symbol.unwrap_or_else(|| at.function().name()));
        format!("{function} ({}:{})", location.file(), location.line())
    }

    /// A thread by the first function of the user's own that it calls.
    fn thread(&self, entry: FunctionId) -> String {
        let calls = self.input.locksets.calls();
        let is_own = |&id: &FunctionId| {
            let path = path_of(&self.function(id));
            (self.input.is_users)(id)
                && !LIBRARIES.iter().any(|library| path.starts_with(library))
                && !path.starts_with("__")
        };
        let mut seen = BTreeSet::from([entry]);
        let mut open = VecDeque::from([entry]);
        while let Some(id) = open.pop_front() {
            if is_own(&id) {
                return self.function(id);
            }
            open.extend(calls[id as usize].iter().copied().filter(|&callee| seen.insert(callee)));
        }
        self.function(entry)
    }
}
