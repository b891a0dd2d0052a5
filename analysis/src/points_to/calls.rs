//! Calls: of known functions, by pointer, and by those who are outside of the program.

use super::objects::ContextId;
use super::solver::{Node, Rule};
use super::{ENTRIES, Pending, PointsTo};
use crate::facts::{Call, FunctionId, Operand};

impl PointsTo<'_> {
    /// Those who are not known call a function.
    pub(super) fn enter_from_outside(&mut self, function: FunctionId) {
        let it = &self.facts.functions[function as usize];
        if it.body.is_none() {
            return;
        }
        let context = self.common_context(function);
        let base = self.contexts[context as usize].base;
        // What `main` is given is the C library's.
        let given = if ENTRIES.contains(&it.name.as_str()) { self.library } else { self.foreign };
        for parameter in 0..it.parameters {
            self.graph.copy(given, base + parameter);
        }
        let results = base + it.body.as_ref().map_or(0, |b| b.registers);
        for result in 0..it.results {
            self.graph.copy(results + result, self.foreign);
        }
    }

    pub(super) fn call(&mut self, context: ContextId, call: &Call) {
        let id = self.calls.len() as u32;
        self.calls.push(Pending {
            context: Some(context),
            arguments: call.arguments.clone(),
            result: call.result,
            gives_address: call.gives_address,
            signature: Some(call.signature),
            nodes: None,
            returned: None,
            bound: Vec::new(),
        });
        match call.callee {
            Operand::Function(function) => self.enter(id, function, true),
            callee => self.rule(Some(context), callee, Rule::Call(id)),
        }
    }

    /// A call by someone outside of a function that the operand may point to.
    pub(super) fn call_back(
        &mut self,
        context: ContextId,
        callee: Operand,
        arguments: Vec<Option<Node>>,
    ) {
        self.call_back_for(context, callee, arguments, None);
    }

    /// The same, of one whose result goes somewhere.
    pub(super) fn call_back_for(
        &mut self,
        context: ContextId,
        callee: Operand,
        arguments: Vec<Option<Node>>,
        returned: Option<Node>,
    ) {
        let call = self.call_from_outside(arguments, returned);
        self.rule(Some(context), callee, Rule::Call(call));
    }

    /// A call by someone outside of a function whose address is in memory. Returned what holds that
    /// address.
    pub(super) fn call_stored(
        &mut self,
        context: ContextId,
        at: Operand,
        offset: u32,
        arguments: Vec<Option<Node>>,
    ) -> Node {
        let callee = self.graph.add(1);
        self.rule(Some(context), at, Rule::Load { to: callee, offset, size: 8 });
        let call = self.call_from_outside(arguments, None);
        self.add_rule(callee, Rule::Call(call));
        callee
    }

    fn call_from_outside(&mut self, arguments: Vec<Option<Node>>, returned: Option<Node>) -> u32 {
        self.calls.push(Pending {
            context: None,
            arguments: Vec::new(),
            result: (0, 0),
            gives_address: false,
            signature: None,
            nodes: Some(arguments),
            returned,
            bound: Vec::new(),
        });
        self.calls.len() as u32 - 1
    }

    /// A call has one more callee.
    pub(super) fn enter(&mut self, call: u32, function: FunctionId, direct: bool) {
        let pending = &mut self.calls[call as usize];
        if pending.bound.contains(&function) {
            return;
        }
        pending.bound.push(function);
        let Pending {
            context,
            arguments,
            result: (first, results),
            nodes,
            returned,
            gives_address,
            signature,
            ..
        } = pending.clone();
        let it = &self.facts.functions[function as usize];
        if it.is_harness {
            if let Some(context) = context {
                for argument in arguments {
                    self.flow(context, argument, self.tests);
                }
            }
            return;
        }
        if !direct && signature.is_some() && it.signature.is_some() && signature != it.signature {
            return;
        }
        let Some(body) = &it.body else {
            if let Some(context) = context {
                self.external(
                    context,
                    function,
                    &arguments,
                    (results > 0).then_some(first),
                    gives_address,
                );
            } else if let Some(arguments) = nodes {
                for argument in arguments.into_iter().flatten() {
                    self.graph.copy(argument, self.foreign);
                }
                returned.into_iter().for_each(|node| self.graph.copy(self.foreign, node));
            }
            return;
        };
        if let Some(arguments) = nodes {
            let callee = self.common_context(function);
            let base = self.contexts[callee as usize].base;
            for (i, argument) in arguments.into_iter().enumerate().take(it.parameters as usize) {
                if let Some(argument) = argument {
                    self.graph.copy(argument, base + i as u32);
                }
            }
            if let Some(returned) = returned {
                (0..it.results).for_each(|i| self.graph.copy(base + body.registers + i, returned));
            }
            return;
        }
        let Some(context) = context else { return };
        let callee = if direct {
            self.context_of_call(context, first, function)
        } else {
            self.common_context(function)
        };
        let base = self.contexts[callee as usize].base;
        for (i, &argument) in arguments.iter().enumerate().take(it.parameters as usize) {
            let to = match i {
                0 if !direct => self.first_parameter(function, base),
                _ => base + i as u32,
            };
            self.flow(context, argument, to);
        }
        for &argument in arguments.iter().skip(it.parameters as usize) {
            self.flow(context, argument, self.foreign);
        }
        let own = self.contexts[context as usize].base;
        for i in 0..results.min(it.results) {
            self.graph.copy(base + body.registers + i, own + first + i);
        }
    }

    /// A call goes to a function of those who are not known.
    pub(super) fn leave(&mut self, call: u32) {
        let Pending {
            context,
            arguments,
            result: (first, results),
            nodes,
            returned,
            gives_address,
            ..
        } = self.calls[call as usize].clone();
        if let Some(arguments) = nodes {
            for argument in arguments.into_iter().flatten() {
                self.graph.copy(argument, self.foreign);
            }
            returned.into_iter().for_each(|node| self.graph.copy(self.foreign, node));
        }
        let Some(context) = context else { return };
        for argument in arguments {
            self.flow(context, argument, self.foreign);
        }
        if gives_address && results > 0 {
            let base = self.contexts[context as usize].base;
            self.graph.copy(self.foreign, base + first);
        }
    }
}
