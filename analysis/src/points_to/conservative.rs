//! What was not followed, counted: for people who want to know what the answers rest on.
//!
//! Unions need no such count: objects are told apart by bytes, whatever types are there.

use super::PointsTo;
use super::objects::{ANYWHERE, Kind};
use crate::facts::{Call, Distance, Effect, FunctionId, Operand, Statement};
use lockred_protocol::addresses::{Addresses, Followed};

impl PointsTo<'_> {
    /// Counts it. O(statements and objects).
    #[must_use]
    pub fn conservative(&self) -> Addresses {
        let own = |kind| matches!(kind, Kind::Variable(..) | Kind::Heap(..) | Kind::Global(_));
        let objects = self.objects.objects.iter().filter(|object| own(object.kind));
        let mut counts = Addresses {
            followed: Followed::Whole,
            copies: self.copies.len() as u64,
            mixed: self.copies.iter().filter(|copy| copy.mixed.is_some()).count() as u64,
            undescribed: self.facts.undescribed as u64,
            ..Addresses::default()
        };
        for object in objects {
            let holds = |place: u32| self.objects.places[place as usize].content.is_some();
            let anywhere = object.places.iter().find(|(offset, _)| *offset == ANYWHERE);
            counts.objects += 1;
            counts.merged += u64::from(anywhere.is_some_and(|(_, place)| holds(*place)));
        }
        let functions = self.facts.functions.iter().enumerate();
        for (function, it) in functions.filter(|(id, _)| self.is_reached(*id as FunctionId)) {
            for statement in it.body.iter().flat_map(|body| &body.statements) {
                self.count(function as FunctionId, statement, &mut counts);
            }
        }
        counts
    }

    fn count(&self, function: FunctionId, statement: &Statement, counts: &mut Addresses) {
        match statement {
            Statement::Load { address, .. }
            | Statement::Store { address, .. }
            | Statement::Access(address) => {
                counts.accesses += 1;
                counts.anywhere += u64::from(self.may_be_foreign(function, *address));
            }
            Statement::Offset { distance: Distance::Restored, .. } => counts.restored += 1,
            Statement::Call(call) => self.count_call(function, call, counts),
            _ => {}
        }
    }

    fn count_call(&self, function: FunctionId, call: &Call, counts: &mut Addresses) {
        let Operand::Function(callee) = call.callee else {
            counts.unresolved += u64::from(self.may_be_foreign(function, call.callee));
            return;
        };
        let callee = &self.facts.functions[callee as usize];
        counts.variadic += u64::from(call.arguments.len() > callee.parameters as usize);
        let is_foreign = callee.body.is_none() && Effect::of(&callee.name) == Effect::Anything;
        counts.foreign += u64::from(is_foreign);
    }

    fn may_be_foreign(&self, function: FunctionId, operand: Operand) -> bool {
        let Operand::Register(register) = operand else { return false };
        let is_foreign = |&object: &u32| self.kind(object) == Kind::Foreign;
        self.is_unknown(function, register)
            || self.objects_of(function, register).iter().any(is_foreign)
    }
}
