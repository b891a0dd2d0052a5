//! What a package does with memory that threads share, for `cargo lockred audit`: plain accesses,
//! atomic operations, locks, and calls under locks.
//!
//! Reported is what is compiled of the package's files; code of std that is inlined into them
//! counts as theirs. Nothing of it decides about instrumentation.

mod behind;
mod callers;
mod names;
mod order;
mod package;
mod reached;

pub use callers::Callers;
pub use names::Names;
pub use package::Package;

use super::sites::Sites;
use crate::facts::Index;
use crate::facts::access::{Direction, accesses};
use crate::facts::flow::{Point, Points};
use crate::llvm::{Context, Function, Instruction, Module, Opcode, Subprogram};
use crate::locksets::{Lock, Locksets, Taken};
use crate::recognise::{demangle, path_of};
use crate::sharing::{Reach, Sharing};
use lockred_protocol::audit::{Access, Acquire, Atomic, Audit, Call, Held, Kind, Order};
use lockred_protocol::audit::{Function as Compiled, Way};
use lockred_protocol::hooks;
use order::Synchronises;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What the analyses of the whole program know.
pub struct Input<'a> {
    pub index: &'a Index,
    pub sharing: &'a Sharing<'a>,
    pub points: &'a Points,
    pub locksets: &'a Locksets,
}

/// Functions whose path begins so do nothing by themselves that is reported; they may call what
/// they are given.
const QUIET: &[&str] = &["core::", "alloc::", "hashbrown::", "llvm.", "[", "(", "&", "*", "<*"];

/// What these call is called by another thread.
const ELSEWHERE: &[&str] = &["std::thread::"];

/// Of a program that has not been changed yet; without `input`, if that takes too long to analyse.
pub fn audit(
    context: Context,
    module: &Module,
    package: &Package,
    input: Option<&Input<'_>>,
    sites: &mut Sites,
) -> Audit {
    let points = input.map(|input| input.points.iter().map(|(point, at)| (at, point)).collect());
    let functions: Vec<Function> =
        module.functions().into_iter().filter(|f| !f.is_declaration()).collect();
    let own: Vec<Function> = functions.iter().copied().filter(|f| package.has(*f)).collect();
    let numbers = own.iter().enumerate().map(|(number, &f)| (f, number as u32)).collect();
    let callers = Callers::default();
    let mut auditor = Auditor {
        callers: &callers,
        behind: behind::Accesses::default(),
        context,
        module,
        package,
        input,
        sites,
        points: points.unwrap_or_default(),
        numbers,
        called_back: HashMap::new(),
        asked: HashMap::new(),
        synchronises: Synchronises::of(module),
        locks: HashMap::new(),
        audit: Audit { known: input.is_some(), ..Audit::default() },
    };
    if let Some(input) = input {
        for (point, number, held) in input.locksets.accesses() {
            let at = input.points.instruction(point);
            auditor.locks.insert((at, number), held.keys().copied().collect());
        }
    }
    for &function in &own {
        let (file, line) = function.place().unwrap_or_default();
        let name = demangle(&function.name());
        auditor.audit.functions.push(Compiled { name, file, line });
    }
    auditor.inlined(&functions);
    for function in functions {
        auditor.function(function);
    }
    auditor.acquires();
    let mut audit = auditor.audit;
    audit.accesses.iter_mut().for_each(|access| access.locks.dedup());
    audit.accesses.sort_unstable();
    audit.accesses.dedup();
    audit.atomics.sort_unstable();
    audit.atomics.dedup();
    audit.acquires.sort_unstable();
    audit.acquires.dedup();
    audit.calls.sort_unstable();
    audit.calls.dedup();
    audit
}

struct Auditor<'a> {
    callers: &'a Callers,
    behind: behind::Accesses,
    context: Context,
    module: &'a Module,
    package: &'a Package,
    input: Option<&'a Input<'a>>,
    sites: &'a mut Sites,
    points: HashMap<Instruction, Point>,
    /// Functions of the package, by their number.
    numbers: HashMap<Function, u32>,
    /// Functions of the package that functions of others call.
    called_back: HashMap<Function, Vec<u32>>,
    synchronises: Synchronises,
    /// Where locks are asked for.
    asked: HashMap<Instruction, Held>,
    /// Locks that are surely held at accesses.
    locks: HashMap<(Instruction, usize), Vec<Lock>>,
    audit: Audit,
}

impl Auditor<'_> {
    /// Functions of the package of which only what was inlined is left.
    fn inlined(&mut self, functions: &[Function]) {
        let mut known: HashSet<Subprogram> = HashSet::new();
        let mut places: BTreeSet<(String, u32)> =
            self.audit.functions.iter().map(|it| (it.file.clone(), it.line)).collect();
        let blocks = functions.iter().flat_map(|function| function.blocks());
        for at in blocks.flat_map(|block| block.instructions()) {
            let mut location = at.location();
            while let Some(inner) = location {
                location = inner.inlined_at();
                let subprogram = inner.subprogram(self.context).filter(|it| known.insert(*it));
                let Some(subprogram) = subprogram else { continue };
                let (file, line) = subprogram.place();
                if self.package.has_file(&file) && places.insert((file.clone(), line)) {
                    let name = demangle(&subprogram.symbol(self.context));
                    self.audit.functions.push(Compiled { name, file, line });
                }
            }
        }
    }

    fn function(&mut self, function: Function) {
        let blocks = reached::blocks(function);
        let all: Vec<Instruction> = blocks.iter().flat_map(|block| block.instructions()).collect();
        let all: Vec<Instruction> =
            all.into_iter().filter(|&at| self.package.has_instruction(at)).collect();
        if all.is_empty() {
            return;
        }
        let (context, module, package) = (self.context, self.module, self.package);
        let mut names = Names::of(context, module, package, self.callers, function);
        let around = self.synchronises.around(function);
        for at in all {
            let around = around.get(&at).copied().unwrap_or_default();
            self.accesses(&mut names, function, at, around);
            self.positions(at);
            match at.opcode() {
                Opcode::Load | Opcode::Store if at.is_atomic() => {
                    self.atomic(&mut names, function, at);
                }
                Opcode::AtomicRmw | Opcode::CompareExchange | Opcode::Fence => {
                    self.atomic(&mut names, function, at);
                }
                Opcode::Call => {
                    self.called(&mut names, function, at, around);
                    self.call(function, at);
                }
                _ => {}
            }
        }
    }

    fn accesses(
        &mut self,
        names: &mut Names<'_>,
        function: Function,
        at: Instruction,
        around: order::Does,
    ) {
        for (number, access) in accesses(self.module, at).into_iter().enumerate() {
            if !self.is_shared(access.start) {
                continue;
            }
            let (object, mut way) = names.name(access.start);
            if access.direction == Direction::Write && is_of_box(at) {
                way = Way::Exclusive;
            }
            if object.is_empty() && way == Way::Exclusive {
                continue;
            }
            let held = self.locks.get(&(at, number)).cloned().unwrap_or_default();
            let mut locks: Vec<String> =
                held.into_iter().map(|lock| self.held(names, lock, access.start)).collect();
            locks.sort_unstable();
            self.audit.accesses.push(Access {
                site: self.sites.of(self.context, function, at),
                object,
                write: access.direction == Direction::Write,
                way,
                locks,
                acquired: around.acquires,
                released: around.releases,
            });
        }
    }

    /// Notes which calls and atomic operations of the source an instruction is of.
    fn positions(&mut self, at: Instruction) {
        let mut next = at.location();
        if at.opcode() != Opcode::Call && !at.is_atomic() {
            next = next.and_then(|location| location.inlined_at());
        }
        while let Some(location) = next {
            let file = location.file();
            if self.package.has_file(&file) {
                let at = (location.line(), location.column());
                self.audit.positions.entry(file).or_default().insert(at);
            }
            next = location.inlined_at();
        }
    }

    /// Whether threads may share what an address points to.
    fn is_shared(&self, address: crate::llvm::Value) -> bool {
        let reach =
            |input: &Input<'_>| input.sharing.reach_of_value(self.module, input.index, address);
        self.input.is_none_or(|input| reach(input) == Reach::Shared)
    }

    /// What a function of another crate accesses for the package, where it is called.
    fn called(
        &mut self,
        names: &mut Names<'_>,
        function: Function,
        at: Instruction,
        around: order::Does,
    ) {
        let behind = self.behind.through(self.module, self.package, at);
        if behind.is_empty() {
            return;
        }
        let does = self.synchronises.does(at);
        let locks: Vec<String> = self.under(at).into_iter().map(|held| held.lock).collect();
        for (access, argument) in behind {
            if !self.is_shared(argument) {
                continue;
            }
            let (object, way) = names.behind_address(argument, access.offset);
            if object.is_empty() {
                continue;
            }
            self.audit.accesses.push(Access {
                site: self.sites.of(self.context, function, at),
                object,
                write: access.write,
                way,
                locks: locks.clone(),
                acquired: around.acquires || does.acquires,
                released: around.releases || does.releases,
            });
        }
    }

    /// Locks that are surely held at a call, as far as the caller has acquired them.
    fn under(&mut self, at: Instruction) -> BTreeSet<Held> {
        let mut held = BTreeSet::new();
        if let (Some(input), Some(&point)) = (self.input, self.points.get(&at)) {
            for (place, acquired) in input.locksets.under_locks(point) {
                if !self.is_own(input.points.instruction(acquired)) {
                    held.insert(self.asked(input.points.instruction(place)));
                }
            }
        }
        held
    }

    fn held(&self, names: &mut Names<'_>, lock: Lock, address: crate::llvm::Value) -> String {
        let name = match lock {
            Lock::Near(bytes) => names.near(address, bytes),
            Lock::Global(id, _) => {
                let globals = self.module.globals();
                globals.get(id as usize).map(|g| path_of(&demangle(&g.name()))).unwrap_or_default()
            }
        };
        if name.is_empty() { "a lock".into() } else { name }
    }

    fn atomic(&mut self, names: &mut Names<'_>, function: Function, at: Instruction) {
        if at.is_single_thread() {
            return;
        }
        let kind = match at.opcode() {
            Opcode::Load => Kind::Load,
            Opcode::Store => Kind::Store,
            Opcode::AtomicRmw => Kind::Update,
            Opcode::CompareExchange => Kind::Exchange,
            _ => Kind::Fence,
        };
        let (order, failure) = match kind {
            Kind::Exchange => {
                let (success, failure) = at.compare_exchange_orders();
                (success, Some(to_wire(failure)))
            }
            _ => (at.order(), None),
        };
        let object = match kind {
            Kind::Fence => String::new(),
            _ => names.name(at.address()).0,
        };
        let site = self.sites.of(self.context, function, at);
        self.audit.atomics.push(Atomic { site, object, kind, order: to_wire(order), failure });
    }

    fn call(&mut self, function: Function, at: Instruction) {
        let Some(&from) = self.numbers.get(&function) else { return };
        let callee = at.callee().and_then(|callee| callee.as_function());
        if callee.is_none() && at.callee().is_some_and(|callee| callee.is_inline_asm()) {
            return;
        }
        let to = callee.and_then(|callee| self.numbers.get(&callee)).copied();
        let name = callee.map(|callee| demangle(&callee.name())).unwrap_or_default();
        let path = path_of(&name);
        let held: Vec<Held> = self.under(at).into_iter().collect();
        let site = self.sites.of(self.context, function, at);
        let given_back = match (callee, to) {
            (Some(callee), None) => self.called_back(callee, &path),
            _ => Vec::new(),
        };
        for to in given_back {
            let (callee, held) = (String::new(), held.clone());
            self.audit.calls.push(Call { site, from, to: Some(to), callee, held });
        }
        // Methods of pointers are called by what these point to in plain paths.
        let is_quiet = |quiet: &&str| path.starts_with(quiet) || name.starts_with(quiet);
        if to.is_some() || !QUIET.iter().any(is_quiet) {
            self.audit.calls.push(Call { site, from, to, callee: path, held });
        }
    }

    /// Functions of the package that one of another crate calls: closures that it is given.
    fn called_back(&mut self, callee: Function, path: &str) -> Vec<u32> {
        if ELSEWHERE.iter().any(|elsewhere| path.starts_with(elsewhere)) {
            return Vec::new();
        }
        if let Some(known) = self.called_back.get(&callee) {
            return known.clone();
        }
        let mut found = BTreeSet::new();
        let mut seen = HashSet::from([callee]);
        let mut open = vec![callee];
        while let Some(function) = open.pop() {
            for at in function.blocks().iter().flat_map(|block| block.instructions()) {
                let Some(next) = at.callee().and_then(|callee| callee.as_function()) else {
                    continue;
                };
                match self.numbers.get(&next) {
                    Some(&number) => _ = found.insert(number),
                    None if !order::is_aside(next) && seen.insert(next) => open.push(next),
                    None => {}
                }
            }
        }
        let found: Vec<u32> = found.into_iter().collect();
        self.called_back.insert(callee, found.clone());
        found
    }

    /// Whether an operation that acquires a lock is written in the package: then the package is the
    /// library that has the lock, and what it does about that is not as the sync model has it.
    fn is_own(&self, at: Instruction) -> bool {
        let mut next = at.location();
        while let Some(location) = next {
            let file = location.file();
            if !file.ends_with("core/src/sync/atomic.rs") {
                return self.package.has_file(&file);
            }
            next = location.inlined_at();
        }
        false
    }

    /// Where a lock is asked for, with its name.
    fn asked(&mut self, at: Instruction) -> Held {
        if let Some(known) = self.asked.get(&at) {
            return known.clone();
        }
        let function = at.function();
        let mut names = Names::of(self.context, self.module, self.package, self.callers, function);
        let held = Held { lock: names.lock(at), site: self.sites.of(self.context, function, at) };
        self.asked.insert(at, held.clone());
        held
    }

    /// Locks that are acquired in the package.
    fn acquires(&mut self) {
        let Some(input) = self.input else { return };
        let Some(nested) = input.locksets.nested() else { return };
        self.audit.ordered = true;
        let place = |taken: &Taken| taken.call.unwrap_or(taken.point);
        for nested in nested {
            let points = [nested.wanted.point, nested.held.point];
            if points.into_iter().any(|point| self.is_own(input.points.instruction(point))) {
                continue;
            }
            let wanted = input.points.instruction(place(&nested.wanted));
            let held = input.points.instruction(place(&nested.held));
            if !self.package.has_instruction(wanted) || !self.package.has_instruction(held) {
                continue;
            }
            let Held { lock, site } = self.asked(wanted);
            let held = Some(self.asked(held));
            let shared = nested.wanted.shared;
            let sure = nested.sure;
            let alike =
                nested.apart.is_none_or(|apart| apart == 0) && !(shared && nested.held.shared);
            self.audit.acquires.push(Acquire { site, lock, shared, held, sure, alike });
        }
    }
}

/// Whether an instruction is a part of `Box::new` and its kind: nobody else has what they write.
fn is_of_box(at: Instruction) -> bool {
    at.location().is_some_and(|location| location.file().ends_with("alloc/src/boxed.rs"))
}

/// The order as it is reported.
const fn to_wire(order: hooks::Order) -> Order {
    match order {
        hooks::Order::Relaxed => Order::Relaxed,
        hooks::Order::Acquire => Order::Acquire,
        hooks::Order::Release => Order::Release,
        hooks::Order::AcqRel => Order::AcqRel,
        hooks::Order::SeqCst => Order::SeqCst,
    }
}
