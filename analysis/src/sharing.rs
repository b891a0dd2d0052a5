//! Thread escape: which objects more than one thread can reach.
//!
//! An object is shared if its address is in something that every thread can reach: a global variable, what a thread was started with, memory of
//! those who are not known, or an object that is shared itself. A variable that each thread has one of, and
//! memory on a thread's stack, is shared only if its address is.

use crate::facts::{Facts, FunctionId, Index, Operand};
use crate::llvm::{Constant, Module, Value};
use crate::points_to::{Kind, ObjectId, PointsTo};

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

/// Which objects are shared.
#[derive(Debug)]
pub struct Sharing<'f> {
    facts: &'f Facts,
    points_to: PointsTo<'f>,
    shared: Vec<bool>,
}

impl<'f> Sharing<'f> {
    /// Analyses a program. O(objects and the addresses in them), beside the analysis of where addresses point to.
    #[must_use]
    pub fn of(facts: &'f Facts) -> Self {
        let points_to = PointsTo::of(facts);
        let mut shared = vec![false; points_to.object_count()];
        let mut open: Vec<ObjectId> = points_to.foreign();
        open.extend(points_to.given_to_threads());
        let globals = facts.globals.iter().enumerate().filter(|(_, g)| !g.is_thread_local);
        open.extend(globals.filter_map(|(id, _)| points_to.object_of_global(id as u32)));
        while let Some(object) = open.pop() {
            if !std::mem::replace(&mut shared[object as usize], true) {
                open.extend(points_to.held_by(object));
            }
        }
        Self { facts, points_to, shared }
    }

    /// Where addresses point to.
    #[must_use]
    pub fn points_to(&self) -> &PointsTo<'f> {
        &self.points_to
    }

    /// Whether more than one thread can reach an object.
    #[must_use]
    pub fn is_shared(&self, object: ObjectId) -> bool {
        self.shared[object as usize]
    }

    /// What an operand of a function may point into.
    #[must_use]
    pub fn reach(&self, function: FunctionId, operand: Operand) -> Reach {
        match operand {
            Operand::Nothing | Operand::Function(_) => Reach::Shared,
            Operand::Global(id, _) => self.reach_of_global(id),
            Operand::Slot(slot) => {
                let objects = self.points_to.objects_of(function, slot);
                objects.into_iter().map(|o| self.reach_of(o)).max().unwrap_or(Reach::Shared)
            }
        }
    }

    fn reach_of_global(&self, id: u32) -> Reach {
        let global = &self.facts.globals[id as usize];
        if global.is_constant && !global.is_foreign {
            return Reach::Constant;
        }
        self.points_to.object_of_global(id).map_or(Reach::Shared, |object| self.reach_of(object))
    }

    /// What an object is to other threads.
    #[must_use]
    pub fn reach_of(&self, object: ObjectId) -> Reach {
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
    #[must_use]
    pub fn reach_of_value(&self, module: &Module, index: &Index, value: Value) -> Reach {
        if let Some((function, slot)) = index.slot(value) {
            return self.reach(function, Operand::Slot(slot));
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
