//! Must-locksets: which locks a thread surely holds where it accesses memory (after Corbett, and
//! Flanagan and Freund's type systems).
//!
//! A forward analysis of the whole program, first from callees to callers, then back:
//! - Each function gets a [`summary`]: what it returns, writes, acquires and gives back, in terms
//!   of what it is passed. Where locks differ, states are kept apart ([`state`]), so that a
//!   `try_lock`, an `Option` of a guard, or a flag that says whether something was dropped is
//!   followed: numbers are known, and conditions of known numbers are not split.
//! - What all callers of a function hold is held at its entry, if they are known and call it
//!   directly; it is passed on in the callee's terms.
//!
//! Guards are no special thing: a guard holds the lock's address, and its drop glue comes to an
//! operation that gives back the lock at that address. So addresses are followed through memory as
//! far as only one function and those that it passes it to access it ([`aliases`]). A lock has the
//! name of its address ([`symbol`]): that of a global variable, or relative to a value of the
//! function. So it is known that `base + 8` is accessed while `base` is held, whichever of many
//! mutexes that is. What is not known is not held.

mod aliases;
mod applying;
mod body;
mod callees;
mod callers;
pub mod components;
mod fixpoint;
mod may;
mod numbers;
mod order;
mod own;
mod panics;
mod passing;
mod private;
mod state;
mod summaries;
mod summary;
mod symbol;
mod transfer;
mod work;

use crate::facts::flow::{Act, Call, Flow, Point, Step, Value};
use crate::facts::{Facts, FunctionId, GlobalId, Operand};
use crate::points_to::PointsTo;
use aliases::{Aliases, InMemory};
use body::Body;
use callees::Callees;
use callers::Callers;
use lockred_protocol::plan::Flaw;
pub use may::{Nested, Taken};
pub use own::Owner;
use panics::Panics;
pub use private::{Computed, Private};
use state::{Base, Hold, State};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use summary::Summary;
use symbol::{Known, Root, Symbol};
use transfer::Transfer;
use work::Work;

/// Blocks of a function that is looked at; nothing is known of larger ones.
const LARGEST: usize = 3000;

/// A lock, as seen from an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Lock {
    /// In a global variable, so many bytes from its beginning.
    Global(GlobalId, i64),
    /// So many bytes after the address that is accessed.
    Near(i64),
}

/// Locks that are held at an access; `true`: only with others.
pub type Held = BTreeMap<Lock, bool>;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Locksets {
    /// By point, and number of the access there.
    accesses: HashMap<(Point, usize), Held>,
    /// Locks that may be acquired under others; `None` where they are too many.
    nested: Option<Vec<Nested>>,
    /// By call under locks, or in a function that is called under some: the locks that are held, as
    /// seen from each argument.
    passed: HashMap<Point, Vec<Held>>,
    /// By point of such a function: whether all that its callers held is still held.
    keeps: HashMap<Point, bool>,
    /// Functions that are called by those of whom it is not known what they hold.
    called_by_others: Vec<bool>,
    /// What each function may call.
    calls: Vec<Vec<FunctionId>>,
    private: Private,
    /// Where std's own locks and innermost ones are acquired, which are left out.
    left_out: Vec<Point>,
    /// Calls made while holding a lock that the caller itself acquired: where it requested the
    /// lock, and where the lock is acquired.
    under_locks: BTreeMap<Point, BTreeSet<(Point, Point)>>,
}

impl Locksets {
    /// Analyses a program, with an error that a test asks for. `owners`: whose the functions are.
    /// O(steps), but for functions with many locks.
    #[must_use]
    pub fn of(
        facts: &Facts,
        flows: &[Flow],
        points_to: &PointsTo<'_>,
        owners: Vec<Owner>,
        flaw: Option<Flaw>,
    ) -> Self {
        let panics = Panics::of(facts, &owners);
        let in_memory = InMemory::of(facts, points_to, &panics);
        let work = match flaw {
            Some(Flaw::OrderIsTooMuch) => Work::of(0),
            _ => Work::default(),
        };
        let mut analysis = Analysis {
            facts,
            flows,
            points_to,
            in_memory,
            private: Private::of(facts, &panics),
            panics,
            callees: Callees::new(facts, points_to, owners, work),
            flaw,
            nested: Vec::new(),
            under_locks: BTreeMap::new(),
        };
        let callers = Callers::of(&analysis);
        for component in &callers.components {
            analysis.summarise(component, &callers);
        }
        let nested = std::mem::take(&mut analysis.nested);
        let nested = analysis.callees.work.goes_on().then_some(nested);
        // From callers to callees, only what is held surely is passed on.
        analysis.callees.work.end();
        let under_locks = std::mem::take(&mut analysis.under_locks);
        let found = analysis.locksets(&callers.components);
        Self { nested, calls: callers.callees, under_locks, ..found }
    }

    /// Locks that may be acquired, by operations that wait, where others may be held. `None`: the
    /// program is too large for that.
    pub fn nested(&self) -> Option<&[Nested]> {
        self.nested.as_deref()
    }

    /// Where locks are acquired that are no part of that.
    pub fn left_out(&self) -> &[Point] {
        &self.left_out
    }

    /// Calls made while holding a lock that the caller itself acquired: where it requested the
    /// lock, and where the lock is acquired.
    pub fn under_locks(&self, call: Point) -> impl Iterator<Item = (Point, Point)> {
        self.under_locks.get(&call).into_iter().flatten().copied()
    }

    /// Variables whose addresses nobody keeps.
    pub fn private(&self) -> &Private {
        &self.private
    }

    /// What each function may call.
    pub fn calls(&self) -> &[Vec<FunctionId>] {
        &self.calls
    }

    /// All accesses of functions that acquire locks, or are called under some: the point of each,
    /// its number among those of the instruction, and the locks.
    pub fn accesses(&self) -> impl Iterator<Item = (Point, usize, &Held)> {
        self.accesses.iter().map(|(&(point, number), held)| (point, number, held))
    }
}

impl Locksets {
    /// The locks that are held at a call, as seen from each argument; `None`: none is.
    pub fn passed(&self, call: Point) -> Option<&[Held]> {
        self.passed.get(&call).map(Vec::as_slice)
    }

    /// Whether all that the callers of a function held is still held at a point of it.
    pub fn keeps(&self, point: Point) -> bool {
        self.keeps.get(&point).copied().unwrap_or(false)
    }

    /// By function: whether it is called by those of whom it is not known what they hold.
    pub fn called_by_others(&self) -> &[bool] {
        &self.called_by_others
    }
}

struct Analysis<'a> {
    facts: &'a Facts,
    flows: &'a [Flow],
    points_to: &'a PointsTo<'a>,
    in_memory: InMemory,
    private: Private,
    panics: Panics,
    callees: Callees<'a>,
    flaw: Option<Flaw>,
    /// What callers have nothing to add to.
    nested: Vec<Nested>,
    /// See [`Locksets::under_locks`].
    under_locks: BTreeMap<Point, BTreeSet<(Point, Point)>>,
}

impl Analysis<'_> {
    fn aliases(&self, function: FunctionId) -> Aliases<'_> {
        Aliases::of(self.points_to, &self.in_memory, &self.private, function)
    }

    fn flow(&self, function: FunctionId) -> &Flow {
        &self.flows[function as usize]
    }

    fn calls(&self, function: FunctionId) -> impl Iterator<Item = &Call> {
        self.flow(function).blocks.iter().flat_map(|block| &block.steps).filter_map(|step| {
            match step {
                Step::Call(call) => Some(&**call),
                _ => None,
            }
        })
    }

    /// Whether a function may be executed, and is not the harness.
    fn is_looked_at(&self, function: FunctionId) -> bool {
        !self.flow(function).blocks.is_empty() && self.points_to.is_reached(function)
    }

    fn transfer<'a>(&'a self, body: &'a Body<'a>, aliases: &'a Aliases<'a>) -> Transfer<'a> {
        Transfer { body, aliases, callees: &self.callees, flaw: self.flaw }
    }

    /// Goes through a function from what is known at its entry; `None` if that takes too long.
    fn summary(
        &self,
        function: FunctionId,
        initial: State,
        visit: &mut dyn FnMut(&State, &Step),
    ) -> Option<Summary> {
        let flow = self.flow(function);
        if flow.blocks.len() > LARGEST {
            return None;
        }
        let body = Body::of(flow, self.facts.functions[function as usize].parameters);
        let aliases = self.aliases(function);
        let transfer = self.transfer(&body, &aliases);
        let solution = transfer.solve(initial)?;
        Some(transfer.visit(&solution, visit))
    }

    /// From callers to callees.
    fn locksets(self, components: &[Vec<FunctionId>]) -> Locksets {
        let called_by_others = self.called_by_others();
        let mut found = Locksets { called_by_others, ..Locksets::default() };
        let mut under = vec![false; self.flows.len()];
        let mut entries: Vec<Option<BTreeMap<Symbol, Hold>>> = vec![None; self.flows.len()];
        for (function, called) in found.called_by_others.iter().enumerate() {
            if *called {
                entries[function] = Some(BTreeMap::new());
            }
        }
        for component in components.iter().rev() {
            let cycle = self.calls_itself(component);
            for &function in component.iter().filter(|&&f| self.is_looked_at(f)) {
                let entry = match entries[function as usize].clone() {
                    _ if cycle => BTreeMap::new(),
                    Some(entry) => entry,
                    // Nobody calls it.
                    None => continue,
                };
                self.visit(function, entry, &mut found, &mut entries, &mut under);
            }
        }
        for function in (0..self.flows.len() as FunctionId).filter(|&f| self.is_looked_at(f)) {
            let aliases = self.aliases(function);
            let own = &self.callees.own;
            found.left_out.extend(own.points(
                self.flow(function),
                &aliases,
                self.callees.owners[function as usize],
                self.points_to,
            ));
        }
        Locksets { private: self.private, ..found }
    }

    /// Functions that are called by those of whom it is not known what they hold.
    fn called_by_others(&self) -> Vec<bool> {
        let mut called: Vec<bool> = self.facts.functions.iter().map(|f| f.is_entry).collect();
        let mut add = |operand: Operand| {
            if let Operand::Function(function) = operand {
                called[function as usize] = true;
            }
        };
        for global in &self.facts.globals {
            global.initial.iter().for_each(|(_, operand)| add(*operand));
        }
        for statement in
            self.facts.functions.iter().flat_map(|f| &f.body).flat_map(|b| &b.statements)
        {
            statement.operands(&mut add);
        }
        called
    }

    /// Goes through a function that is called with these locks. `under`: functions that may be
    /// called under some.
    fn visit(
        &self,
        function: FunctionId,
        entry: BTreeMap<Symbol, Hold>,
        found: &mut Locksets,
        entries: &mut [Option<BTreeMap<Symbol, Hold>>],
        under: &mut [bool],
    ) {
        let mut pass = |callee: FunctionId, held: BTreeMap<Symbol, Hold>| {
            let known = &mut entries[callee as usize];
            match known {
                None => *known = Some(held),
                Some(known) => known.retain(|lock, hold| {
                    held.get(lock).is_some_and(|theirs| {
                        hold.shared |= theirs.shared;
                        true
                    })
                }),
            }
        };
        let callees = |call: &Call| match call.callee {
            Value::Function(callee) if self.is_looked_at(callee) => Some(callee),
            _ => None,
        };
        let state = State { held: entry.clone(), ..State::default() };
        let is_under = under[function as usize];
        let nothing = state.held.is_empty() && !is_under && !self.acquires(function);
        let body =
            Body::of(self.flow(function), self.facts.functions[function as usize].parameters);
        let aliases = self.aliases(function);
        let mut visit = |state: &State, step: &Step| {
            if let Step::Call(call) = step
                && let Some(callee) = callees(call)
            {
                pass(callee, inward(state, call, &body, &aliases));
                if is_under || !state.held.is_empty() {
                    under[callee as usize] = true;
                    let seen = call.arguments.iter().map(|&a| self.seen(state, &body, a));
                    let seen: Vec<Held> = seen.collect();
                    let known = found.passed.entry(call.point);
                    known
                        .and_modify(|known| {
                            known.iter_mut().zip(&seen).for_each(|(k, s)| meet(k, s))
                        })
                        .or_insert(seen);
                }
            }
            if let Some(point) = point_of(step).filter(|_| is_under) {
                let keeps = |(lock, hold): (&Symbol, &Hold)| {
                    state.held.get(lock).is_some_and(|now| hold.shared || !now.shared)
                };
                *found.keeps.entry(point).or_insert(true) &=
                    state.released.is_none() && entry.iter().all(keeps);
            }
            for (point, number, address) in accesses(step) {
                let held = self.seen(state, &body, address);
                let known = found.accesses.entry((point, number));
                known.and_modify(|known| meet(known, &held)).or_insert(held);
            }
        };
        let looked_at = !nothing && self.summary(function, state, &mut visit).is_some();
        if !looked_at {
            for call in self.calls(function) {
                if let Some(callee) = callees(call) {
                    pass(callee, BTreeMap::new());
                }
            }
        }
    }

    /// Whether a function acquires locks, or calls one that comes back with a lock.
    fn acquires(&self, function: FunctionId) -> bool {
        let mut steps = self.flow(function).blocks.iter().flat_map(|block| &block.steps);
        steps.any(|step| match step {
            Step::Synchronise { act, .. } => !matches!(act, Act::Other(_)),
            Step::Call(call) => match call.callee {
                Value::Function(callee) => {
                    let summary = self.callees.summaries[callee as usize].as_ref();
                    summary.is_some_and(|summary| {
                        let exits = summary.returns.iter().chain(&summary.unwinds);
                        exits.into_iter().any(|exit| !exit.held.is_empty())
                    })
                }
                _ => false,
            },
            _ => false,
        })
    }

    /// The locks that are held, as seen from an address.
    fn seen(&self, state: &State, body: &Body<'_>, address: Value) -> Held {
        if state.held.is_empty() {
            return Held::new();
        }
        let address = body.known(state, address).and_then(Known::symbol);
        let lock = |symbol: &Symbol| match (symbol.root, address) {
            (Root::Global(id), _) => {
                let global = &self.facts.globals[id as usize];
                (!global.is_thread_local).then_some(Lock::Global(id, symbol.offset))
            }
            (root, Some(at)) if root == at.root => Some(Lock::Near(symbol.offset - at.offset)),
            _ => None,
        };
        state.held.iter().filter_map(|(held, hold)| Some((lock(held)?, hold.shared))).collect()
    }
}

/// What is held in both ways that lead here; with others if it is so in one of them.
pub fn meet<L: Ord>(known: &mut BTreeMap<L, bool>, other: &BTreeMap<L, bool>) {
    known.retain(|lock, shared| {
        other.get(lock).is_some_and(|theirs| {
            *shared |= theirs;
            true
        })
    });
}

/// What is held at a call, in the callee's terms. Each lock has one name there, as it was acquired
/// once.
fn inward(
    state: &State,
    call: &Call,
    body: &Body<'_>,
    aliases: &Aliases<'_>,
) -> BTreeMap<Symbol, Hold> {
    let mut held = BTreeMap::new();
    if state.held.is_empty() {
        return held;
    }
    let arguments: Vec<Option<Symbol>> = call
        .arguments
        .iter()
        .map(|&argument| body.known(state, argument).and_then(Known::symbol))
        .collect();
    for (&lock, &hold) in &state.held {
        let hold = Hold { point: None, ..hold };
        let passed = arguments.iter().enumerate().find_map(|(register, argument)| {
            let argument = (*argument).filter(|argument| argument.root == lock.root)?;
            let root = Root::Parameter(register as u32);
            Some(Symbol { root, offset: lock.offset - argument.offset })
        });
        let in_memory = || {
            arguments.iter().enumerate().find_map(|(register, argument)| {
                let argument = (*argument)?;
                let base = Base::of(argument.root).filter(|&base| aliases.follows(base))?;
                let cells = state.cells.range((base, i64::MIN)..=(base, i64::MAX));
                cells.into_iter().find_map(|(&(_, at), cell)| {
                    let inside = cell.known?.symbol().filter(|s| s.root == lock.root)?;
                    let root = Root::Content(register as u32, at - argument.offset);
                    Some(Symbol { root, offset: lock.offset - inside.offset })
                })
            })
        };
        let name = match lock.root {
            Root::Global(_) => Some(lock),
            _ => passed.or_else(in_memory),
        };
        if let Some(name) = name {
            held.insert(name, hold);
        }
    }
    held
}

/// Where a step is, if it accesses memory, synchronises or calls.
pub fn point_of(step: &Step) -> Option<Point> {
    match step {
        Step::Load { point, .. } | Step::Store { point, .. } => *point,
        Step::Copy { point, .. } | Step::Synchronise { point, .. } => Some(*point),
        Step::Call(call) => Some(call.point),
        _ => None,
    }
}

/// The accesses of a step: point, number among those of the instruction, and address.
pub fn accesses(step: &Step) -> Vec<(Point, usize, Value)> {
    match step {
        Step::Load { address, point: Some(point), .. }
        | Step::Store { address, point: Some(point), .. } => vec![(*point, 0, *address)],
        Step::Copy { to, from, point, .. } => vec![(*point, 0, *from), (*point, 1, *to)],
        _ => Vec::new(),
    }
}
