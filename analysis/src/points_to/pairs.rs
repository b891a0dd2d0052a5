//! Trait objects and arguments of `format!`: which method is called on what (see
//! [`super::methods`]).

use super::PointsTo;
use super::objects::{ContextId, PlaceId};
use super::solver::{Node, Rule};
use crate::facts::{FunctionId, GlobalId, Operand};

impl PointsTo<'_> {
    /// An object is put beside a function, or a table of functions.
    pub(super) fn pair(&mut self, context: ContextId, data: Operand, with: Operand) {
        if data == Operand::Nothing {
            return;
        }
        let data = self.node(context, data);
        match with {
            Operand::Function(function) => self.pair_with(data, function),
            Operand::Global(table, _) => self.pair_with_all(data, table),
            Operand::Register(_) => self.rule(Some(context), with, Rule::Table(data)),
            Operand::Nothing => {}
        }
    }

    /// The functions of a table.
    pub(super) fn pair_with_all(&mut self, data: Node, table: GlobalId) {
        let facts = self.facts;
        let global = &facts.globals[table as usize];
        for &(_, method) in global.initial.iter().filter(|_| global.is_paired) {
            if let Operand::Function(function) = method {
                self.pair_with(data, function);
            }
        }
    }

    pub(super) fn pair_with(&mut self, data: Node, function: FunctionId) {
        if self.methods.is_method(function) {
            let paired = self.paired(function);
            self.graph.copy(data, paired);
        }
    }

    /// The node of what was made an object with a method.
    pub(super) fn paired(&mut self, function: FunctionId) -> Node {
        if let Some(node) = self.methods.paired(function) {
            return node;
        }
        let node = self.graph.add(1);
        self.methods.set_paired(function, node);
        self.add_rule(node, Rule::Paired(function));
        node
    }

    /// Where the first argument of a call by pointer goes.
    pub(super) fn first_parameter(&mut self, function: FunctionId, base: Node) -> Node {
        if !self.methods.is_method(function) {
            return base;
        }
        if let Some(node) = self.methods.offered(function) {
            return node;
        }
        let node = self.graph.add(1);
        self.methods.set_offered(function, node);
        self.add_rule(node, Rule::Offered(function));
        node
    }

    /// A method is called on a place.
    pub(super) fn give_object(&mut self, function: FunctionId, place: PlaceId) {
        let context = self.common_context(function);
        let base = self.contexts[context as usize].base;
        self.graph.point(base, place);
    }
}
