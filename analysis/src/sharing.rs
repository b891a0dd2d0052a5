//! Thread escape: which objects more than one thread can reach.
//!
//! An object is shared if its address is in something that every thread can reach: a global
//! variable, what a thread was started with, memory of those who are not known or of the C library,
//! or an object that is shared itself. A variable that each thread has one of, and memory on a
//! thread's stack, is shared only if its address is.

use crate::facts::access::accesses;
use crate::facts::{Facts, FunctionId, Index, Operand};
use crate::llvm::{Constant, Module, Value};
use crate::points_to::{Bounds, Kind, ObjectId, PointsTo};
use lockred_protocol::plan::Flaw;
use std::collections::HashMap;

/// What an address may point into, as far as other threads are concerned.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reach {
    /// Variables of the program's that are never written.
    Constant,
    /// Stack and thread-local variables of the running thread alone.
    Variables,
    /// Memory of an allocator, too, that only the running thread has.
    Unshared,
    /// Memory that other threads can reach, or nothing that is known.
    Shared,
}

/// What the plain accesses of a program may touch, by the address that they use. Those that are not
/// known are shared.
#[derive(Clone, Debug, Default)]
pub struct Reaches(HashMap<Value, Reach>);

impl Reaches {
    /// Of the accesses of a program, whose facts have this index. O(instructions).
    pub(crate) fn of(module: &Module, index: &Index, sharing: &Sharing) -> Self {
        let mut reaches = HashMap::new();
        let functions = module.functions().into_iter();
        for at in functions.flat_map(|f| f.blocks()).flat_map(|b| b.instructions()) {
            for access in accesses(module, at) {
                reaches
                    .entry(access.start)
                    .or_insert_with(|| sharing.reach_of_value(module, index, access.start));
            }
        }
        Self(reaches)
    }

    /// What an address may point into.
    #[must_use]
    pub fn reach(&self, address: Value) -> Reach {
        self.0.get(&address).copied().unwrap_or(Reach::Shared)
    }
}

/// Which objects are shared.
#[derive(Debug)]
pub(crate) struct Sharing<'f> {
    facts: &'f Facts,
    pub(crate) points_to: PointsTo<'f>,
    shared: Vec<bool>,
}

impl<'f> Sharing<'f> {
    /// Analyses a program, with an error that a test asks for. `None` where the analysis of where
    /// addresses point to takes too long. O(objects and the addresses in them), beside the analysis
    /// of where addresses point to.
    pub(crate) fn of(facts: &'f Facts, bounds: Bounds, flaw: Option<Flaw>) -> Option<Self> {
        let points_to = PointsTo::of(facts, bounds)?;
        let mut shared = vec![false; points_to.object_count()];
        let mut open: Vec<ObjectId> = points_to.foreign();
        open.extend(points_to.in_the_library());
        if flaw != Some(Flaw::ThreadsShareNothing) {
            open.extend(points_to.given_to_threads());
        }
        let globals = facts.globals.iter().enumerate().filter(|(_, g)| !g.is_thread_local);
        open.extend(globals.filter_map(|(id, _)| points_to.object_of_global(id as u32)));
        while let Some(object) = open.pop() {
            if !std::mem::replace(&mut shared[object as usize], true) {
                open.extend(points_to.held_by(object));
            }
        }
        Some(Self { facts, points_to, shared })
    }

    /// What an operand of a function may point into.
    pub(crate) fn reach(&self, function: FunctionId, operand: Operand) -> Reach {
        match operand {
            Operand::Nothing | Operand::Function(_) => Reach::Shared,
            Operand::Global(id, _) => self.reach_of_global(id),
            Operand::Register(register) => {
                let objects = self.points_to.objects_of(function, register);
                let mut most = None;
                for object in objects {
                    most = most.max(Some(self.reach_of(object)));
                    if most == Some(Reach::Shared) {
                        break;
                    }
                }
                most.unwrap_or(Reach::Shared)
            }
        }
    }

    /// Whether more than one thread can reach an object.
    pub(crate) fn is_shared(&self, object: ObjectId) -> bool {
        self.shared[object as usize]
    }

    /// Whether an object is never written.
    pub(crate) fn is_constant(&self, object: ObjectId) -> bool {
        self.reach_of(object) == Reach::Constant
    }

    fn reach_of_global(&self, id: u32) -> Reach {
        let global = &self.facts.globals[id as usize];
        if global.is_constant && !global.is_foreign {
            return Reach::Constant;
        }
        self.points_to.object_of_global(id).map_or(Reach::Shared, |object| self.reach_of(object))
    }

    /// What an object is to other threads.
    fn reach_of(&self, object: ObjectId) -> Reach {
        match self.points_to.kind(object) {
            Kind::Function(_) | Kind::Data => Reach::Constant,
            Kind::Global(id) if self.facts.globals[id as usize].is_constant => Reach::Constant,
            _ if self.shared[object as usize] => Reach::Shared,
            Kind::Variable(..) | Kind::Global(_) => Reach::Variables,
            Kind::Heap(..) => Reach::Unshared,
            Kind::Foreign | Kind::Library => Reach::Shared,
        }
    }

    /// What the address in an LLVM value may point into.
    pub(crate) fn reach_of_value(&self, module: &Module, index: &Index, value: Value) -> Reach {
        if let Some((function, register)) = index.register(value) {
            return self.reach(function, Operand::Register(register));
        }
        match value.constant(module) {
            Constant::Address(of, bytes) => of
                .as_global()
                .and_then(|g| index.global(g))
                .map_or(Reach::Shared, |id| self.reach(0, Operand::Global(id, Some(bytes)))),
            _ => Reach::Shared,
        }
    }
}
