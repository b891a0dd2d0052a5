//! Methods: what is called by way of an address that was put beside an object is called on that
//! object.
//!
//! A trait object is two addresses, and so is an argument of `format!`. Taken one by one, every
//! method would be called on every object that some trait object is made of. So a function whose
//! address is only ever beside objects, or in tables that are, gets as its first argument, when it
//! is called by pointer, what is *offered* to it by a call and was *paired* with it.

use super::bits::Bits;
use super::objects::ObjectId;
use super::solver::Node;
use crate::facts::{Facts, FunctionId};
use std::collections::HashMap;

/// What is known of a method.
#[derive(Clone, Debug, Default)]
struct Method {
    objects: Bits,
    paired: Option<Node>,
    offered: Option<Node>,
    /// It may be called on whatever is unknown.
    anything: bool,
}

/// Methods, and what is known of them.
#[derive(Clone, Debug)]
pub(super) struct Methods(HashMap<FunctionId, Method>);

impl Methods {
    /// Of a program. O(functions).
    pub fn of(facts: &Facts) -> Self {
        let ids = 0..facts.functions.len() as FunctionId;
        let is_method = |&id: &FunctionId| {
            let it = &facts.functions[id as usize];
            it.is_method && it.body.is_some() && it.parameters > 0
        };
        Self(ids.filter(is_method).map(|id| (id, Method::default())).collect())
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

    pub fn set_anything(&mut self, function: FunctionId) {
        self.0.entry(function).or_default().anything = true;
    }

    pub fn is_paired(&self, function: FunctionId, object: ObjectId) -> bool {
        self.0.get(&function).is_some_and(|m| m.anything || m.objects.contains(object))
    }

    /// An object is paired with a table of the method; whether that is new.
    pub fn pair(&mut self, function: FunctionId, object: ObjectId) -> bool {
        self.0.entry(function).or_default().objects.insert(object)
    }
}
