//! Methods of trait objects: whatever is called through a table of methods is called on what was put beside that table.
//!
//! A trait object is two addresses. Taken one by one, every method would be called on every object that some trait object is
//! made of. So a function whose address is in tables of methods only gets as its first argument, when it is called by pointer, what is
//! *offered* to it by a call and was *paired* with one of its tables.

use super::bits::Bits;
use super::objects::ObjectId;
use super::solver::Node;
use crate::facts::{Act, Facts, FunctionId, Operand};
use std::collections::HashMap;

/// What is known of a method.
#[derive(Clone, Debug, Default)]
struct Method {
    objects: Bits,
    paired: Option<Node>,
    offered: Option<Node>,
}

/// The functions whose addresses are in tables of methods only.
#[derive(Clone, Debug)]
pub(super) struct Methods(HashMap<FunctionId, Method>);

impl Methods {
    /// Finds them. O(acts).
    pub fn of(facts: &Facts) -> Self {
        let mut methods = HashMap::new();
        for table in facts.globals.iter().filter(|g| g.is_paired) {
            for (_, operand) in &table.initial {
                if let Operand::Function(function) = operand {
                    methods.insert(*function, Method::default());
                }
            }
        }
        let mut forget = |operand: Operand| {
            if let Operand::Function(function) = operand {
                methods.remove(&function);
            }
        };
        let others = facts.globals.iter().filter(|g| !g.is_paired);
        others.flat_map(|g| &g.initial).for_each(|(_, operand)| forget(*operand));
        for act in facts.functions.iter().flat_map(|f| &f.body).flat_map(|b| &b.acts) {
            match act {
                Act::Copy { from, .. } | Act::Offset { from, .. } => forget(*from),
                Act::Store { parts, .. } => parts.iter().for_each(|p| forget(p.operand)),
                Act::Call(call) => call.arguments.iter().copied().for_each(&mut forget),
                Act::Return(values) => values.iter().copied().for_each(&mut forget),
                Act::Throw(value) | Act::Escape(value) => forget(*value),
                Act::Variable { .. } | Act::Load { .. } | Act::CopyMemory { .. } | Act::Pair { .. } | Act::Catch(_)
                | Act::Unknown(_) => {}
            }
        }
        Self(methods)
    }

    pub fn is_method(&self, function: FunctionId) -> bool {
        self.0.contains_key(&function)
    }

    pub fn paired(&self, function: FunctionId) -> Option<Node> {
        self.0.get(&function)?.paired
    }

    pub fn offered(&self, function: FunctionId) -> Option<Node> {
        self.0.get(&function)?.offered
    }

    pub fn set_paired(&mut self, function: FunctionId, node: Node) {
        self.0.entry(function).or_default().paired = Some(node);
    }

    pub fn set_offered(&mut self, function: FunctionId, node: Node) {
        self.0.entry(function).or_default().offered = Some(node);
    }

    pub fn is_paired(&self, function: FunctionId, object: ObjectId) -> bool {
        self.0.get(&function).is_some_and(|m| m.objects.contains(object))
    }

    /// An object is paired with a table of the method; whether that is new.
    pub fn pair(&mut self, function: FunctionId, object: ObjectId) -> bool {
        self.0.entry(function).or_default().objects.insert(object)
    }
}
