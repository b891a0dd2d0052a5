//! The order of locks, with sites and names, as the executable holds it.

use super::Program;
use super::audit::{self, Callers, Package};
use super::sites::Sites;
use crate::facts::flow::{Flow, Point, Points};
use crate::facts::{Facts, FunctionId};
use crate::llvm::{Context, Instruction, Module};
use crate::lock_order::{End, Graph, Lock, LockId, Origin, Origins, Threads, cycles};
use crate::locksets::{Locksets, Owner};
use crate::points_to::{Kind, PointsTo};
use crate::recognise::{demangle, is_of_std, path_of};
use lockred_protocol::lock_order::{Cycle, LockOrder, Nesting, Taken};
use lockred_protocol::sites::SiteId;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What is known of a program.
pub struct Input<'a> {
    pub facts: &'a Facts,
    pub flows: &'a [Flow],
    pub points_to: &'a PointsTo<'a>,
    pub locksets: &'a Locksets,
    /// By function: whose it is.
    pub owners: &'a [Owner],
    /// Who runs what, once somebody asks.
    pub threads: OnceCell<Threads>,
}

impl Input<'_> {
    pub(super) fn threads(&self) -> &Threads {
        let Self { facts, flows, points_to, locksets, .. } = *self;
        self.threads.get_or_init(|| Threads::of(facts, flows, points_to, locksets.calls()))
    }

    pub(super) fn is_users(&self, function: FunctionId) -> bool {
        self.owners[function as usize] == Owner::User
    }
}

/// The order of locks in a program that has not been changed yet; nothing of it is known where the
/// program is too large.
pub fn order(
    context: Context,
    module: &Module,
    input: &Input<'_>,
    points: &Points,
    sites: &mut Sites,
) -> LockOrder {
    let Input { facts, flows, points_to, locksets, .. } = *input;
    let Some(nested) = locksets.nested() else { return LockOrder::default() };
    let graph = Graph::of(nested, facts, points_to);
    let threads = input.threads();
    let names = Names { context, input, points };
    let by_type = names.by_type(module, &graph);
    let origins = Origins::of(&graph.locks, flows, points_to, &|id| input.is_users(id));
    let origin = |id: LockId| origins.origin(graph.locks[id as usize]);
    let locks = 0..graph.locks.len() as LockId;
    let channels = locks.filter(|&id| names.is_of_channel(origin(id))).collect();
    let Some(found) = cycles(&graph.nestings, &channels, threads) else {
        return LockOrder::default();
    };
    let mut place = |point: Point| {
        let at = points.instruction(point);
        sites.of(context, at.function(), at)
    };
    let mut left_out: Vec<SiteId> = locksets.left_out().iter().map(|&p| place(p)).collect();
    left_out.sort_unstable_by_key(|site| site.0);
    left_out.dedup();
    let mut taken = |end: &End| Taken {
        locks: end.locks.clone(),
        site: place(end.point),
        call: place(end.call),
        shared: end.shared,
    };
    let nesting = |nesting: &crate::lock_order::Nesting| Nesting {
        held: taken(&nesting.held),
        wanted: taken(&nesting.wanted),
        apart: nesting.apart,
        within: names.function(nesting.within),
        gates: nesting.gates.iter().copied().collect(),
        sure: nesting.sure,
        threads: threads.of_function(nesting.within).iter().copied().collect(),
    };
    let cycle = |cycle: crate::lock_order::Cycle| Cycle {
        kind: cycle.kind,
        nestings: cycle.nestings,
        locks: cycle.locks,
    };
    LockOrder {
        known: true,
        nestings: graph.nestings.iter().map(nesting).collect(),
        left_out,
        locks: (0..)
            .zip(&graph.locks)
            .map(|(id, &lock)| match by_type.get(&id) {
                Some(name) => name.clone(),
                None => names.lock(lock, origins.origin(lock)),
            })
            .collect(),
        threads: threads.entries().iter().map(|&f| names.thread(f)).collect(),
        cycles: found.into_iter().map(cycle).collect(),
    }
}

/// Whose a function is.
pub fn owner(program: &Program, symbol: &str) -> Owner {
    if !program.user_functions.contains(symbol) {
        return Owner::Library;
    }
    let path = path_of(&demangle(symbol));
    match is_libraries(&path) {
        true => Owner::Generic,
        false => Owner::User,
    }
}

/// Whether a path is nobody's own.
pub(super) fn is_libraries(path: &str) -> bool {
    is_of_std(path) || path.starts_with("__")
}

/// What people call things.
pub(super) struct Names<'a> {
    pub context: Context,
    pub input: &'a Input<'a>,
    pub points: &'a Points,
}

impl Names<'_> {
    fn function(&self, id: FunctionId) -> String {
        demangle(&self.input.facts.functions[id as usize].name)
    }

    /// Locks by the fields that they are in, as the code says that asks for them:
    /// `Account.balance`.
    fn by_type(&self, module: &Module, graph: &Graph) -> BTreeMap<LockId, String> {
        let (package, callers) = (Package::of_all(), Callers::default());
        let mut at_points: BTreeMap<Point, Option<String>> = BTreeMap::new();
        let mut names: BTreeMap<LockId, BTreeMap<String, usize>> = BTreeMap::new();
        let ends = graph.nestings.iter().flat_map(|nesting| [&nesting.held, &nesting.wanted]);
        for end in ends {
            let name = at_points.entry(end.call).or_insert_with(|| {
                let at = self.points.instruction(end.call);
                let context = self.context;
                let mut names =
                    audit::Names::of(context, module, &package, &callers, at.function());
                Some(names.lock(at)).filter(|name| name.contains('.'))
            });
            let Some(name) = name else { continue };
            for &lock in &end.locks {
                *names.entry(lock).or_default().entry(name.clone()).or_default() += 1;
            }
        }
        let is_anonymous = |id: &LockId| {
            let objects = self.input.points_to;
            !matches!(objects.kind(graph.locks[*id as usize].object), Kind::Global(..))
        };
        let most = |names: BTreeMap<String, usize>| {
            names.into_iter().max_by_key(|(_, count)| *count).map(|(name, _)| name)
        };
        let named = names.into_iter().filter(|(id, _)| is_anonymous(id));
        named.filter_map(|(id, names)| Some((id, most(names)?))).collect()
    }

    pub(super) fn lock(&self, lock: Lock, origin: Origin) -> String {
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
                format!("what {} allocates at {}{place}", self.callee(point), self.place(at))
            }
            Origin::Heap => format!("a block of the heap{place}"),
        }
    }

    /// What a call calls.
    fn callee(&self, point: Point) -> String {
        let callee = self.points.instruction(point).callee();
        let function = callee.and_then(|callee| callee.as_function());
        function.map_or_else(|| "a call".into(), |f| path_of(&demangle(&f.name())))
    }

    /// Whether a lock is a channel's, which nobody else acquires.
    fn is_of_channel(&self, origin: Origin) -> bool {
        match origin {
            Origin::Call(point) => is_of_channels(&self.callee(point)),
            Origin::Variable(function) => is_of_channels(&self.function(function)),
            Origin::Global(_) | Origin::Heap => false,
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
        format!("{}:{} in {function}", location.file(), location.line())
    }

    /// A thread by the first function of the user's own that it calls; a test by its own name,
    /// without what the harness wraps it in.
    pub(super) fn thread(&self, entry: FunctionId) -> String {
        let calls = self.input.locksets.calls();
        let mut seen = BTreeSet::from([entry]);
        let mut open = VecDeque::from([entry]);
        while let Some(id) = open.pop_front() {
            if self.input.is_users(id) {
                let name = self.function(id);
                let wrapped = name.strip_suffix("::{{closure}}");
                let mut inner = calls[id as usize].iter().map(|&callee| self.function(callee));
                return inner.find(|inner| Some(&**inner) == wrapped).unwrap_or(name);
            }
            open.extend(calls[id as usize].iter().copied().filter(|&callee| seen.insert(callee)));
        }
        self.function(entry)
    }
}

/// Whether a function is of std's channels.
fn is_of_channels(name: &str) -> bool {
    let path = path_of(name);
    path.starts_with("std::sync::mpsc::") || path.starts_with("std::sync::mpmc::")
}
