//! Operands: how what an statement takes becomes an edge, a node or a rule.

use super::PointsTo;
use super::objects::{ContextId, Kind, PlaceId};
use super::solver::{Node, Rule};
use crate::facts::{FunctionId, GlobalId, Operand};

impl PointsTo<'_> {
    /// An operand goes to a node.
    pub(super) fn flow(&mut self, context: ContextId, from: Operand, to: Node) {
        match from {
            Operand::Nothing => {}
            Operand::Register(register) => {
                let base = self.contexts[context as usize].base;
                self.graph.copy(base + register, to);
            }
            _ => {
                let place = self.place_of_constant(from);
                self.graph.point(to, place);
            }
        }
    }

    /// A node that points where an operand does.
    pub(super) fn node(&mut self, context: ContextId, operand: Operand) -> Node {
        if let Operand::Register(register) = operand {
            return self.contexts[context as usize].base + register;
        }
        let node = self.graph.add(1);
        self.flow(context, operand, node);
        node
    }

    /// Where an operand points to will be asked.
    pub(super) fn want(&mut self, context: ContextId, operand: Operand) {
        if let Operand::Register(register) = operand {
            let base = self.contexts[context as usize].base;
            self.graph.want(base + register);
        }
    }

    /// A rule of an operand.
    pub(super) fn rule(&mut self, context: Option<ContextId>, operand: Operand, rule: Rule) {
        match (operand, context) {
            (Operand::Nothing, _) => {}
            (Operand::Register(register), Some(context)) => {
                let base = self.contexts[context as usize].base;
                self.add_rule(base + register, rule);
            }
            _ => {
                let place = self.place_of_constant(operand);
                self.apply(rule, place);
            }
        }
    }

    pub(super) fn add_rule(&mut self, node: Node, rule: Rule) {
        for place in self.graph.rule(node, rule) {
            self.apply(rule, place);
        }
    }

    pub(super) fn place_of_constant(&mut self, operand: Operand) -> PlaceId {
        match operand {
            Operand::Global(id, bytes) => self.place_of_global(id, bytes),
            Operand::Function(id) => self.place_of_function(id),
            Operand::Nothing | Operand::Register(_) => unreachable!("not a constant"),
        }
    }

    pub(super) fn place_of_function(&mut self, id: FunctionId) -> PlaceId {
        if let Some(place) = self.function_places[id as usize] {
            return place;
        }
        let object = self.objects.add(Kind::Function(id), None);
        let place = self.objects.place(object, None);
        self.function_places[id as usize] = Some(place);
        place
    }

    pub(super) fn place_of_global(&mut self, id: GlobalId, bytes: Option<i64>) -> PlaceId {
        if let Some(object) = self.global_objects[id as usize] {
            return self.objects.place(object, bytes);
        }
        let global = &self.facts.globals[id as usize];
        if self.is_data[id as usize] {
            self.global_objects[id as usize] = Some(self.data);
            return self.objects.place(self.data, None);
        }
        // What is declared here may be larger where it is defined.
        let size = (!global.is_foreign).then_some(global.size);
        let object = self.objects.add(Kind::Global(id), size);
        self.global_objects[id as usize] = Some(object);
        for &(offset, operand) in &global.initial {
            let place = self.objects.place(object, Some(offset as i64));
            let content = self.content(place);
            let address = self.place_of_constant(operand);
            self.graph.point(content, address);
        }
        self.objects.place(object, bytes)
    }
}
