//! Contexts as the analysis makes them: which body a call runs.

use super::contexts::DEPTH;
use super::objects::{ContextId, Kind, ObjectId};
use super::{Context, PointsTo};
use crate::facts::{FunctionId, Register};

impl PointsTo<'_> {
    pub(super) fn common_context(&mut self, function: FunctionId) -> ContextId {
        if let Some(context) = self.common[function as usize] {
            return context;
        }
        let context = self.add_context(function, None, 0, 0);
        self.common[function as usize] = Some(context);
        context
    }

    pub(super) fn add_context(
        &mut self,
        function: FunctionId,
        caller: Option<ContextId>,
        results: Register,
        depth: u32,
    ) -> ContextId {
        let it = &self.facts.functions[function as usize];
        let registers = it.body.as_ref().map_or(0, |b| b.registers);
        let base = self.graph.add(registers + it.results);
        let id = self.contexts.len() as ContextId;
        self.contexts.push(Context { function, base, caller, results, depth });
        self.of_function[function as usize].push(id);
        self.to_generate.push(id);
        id
    }

    /// The context in which a direct call runs its callee.
    pub(super) fn context_of_call(
        &mut self,
        caller: ContextId,
        results: Register,
        function: FunctionId,
    ) -> ContextId {
        let Context { depth, .. } = self.contexts[caller as usize];
        let statements =
            self.facts.functions[function as usize].body.as_ref().map_or(0, |b| b.statements.len());
        // Such functions do not call each other in long chains, and what they return would be one
        // object.
        let wraps = self.cloned.wraps(function) && depth < 2 * DEPTH;
        if (wraps || depth < DEPTH && self.cloned.may(function) && statements <= self.budget)
            && !self.runs(caller, function)
        {
            if !wraps {
                self.budget -= statements;
            }
            return self.add_context(function, Some(caller), results, depth + 1);
        }
        self.common_context(function)
    }

    /// The memory that a call of an allocator returned. What one call gives to who made it is one
    /// object, however many ways there are to get it.
    pub(super) fn heap_object(&mut self, context: ContextId, result: Register) -> ObjectId {
        let (mut of, mut at) = (context, result);
        while let Context { function, caller: Some(caller), results, .. } =
            self.contexts[of as usize]
            && self.cloned.returns_memory(function)
        {
            (of, at) = (caller, results);
        }
        let objects = &mut self.objects;
        let object =
            self.heap.entry((of, at)).or_insert_with(|| objects.add(Kind::Heap(of, at), None));
        #[cfg(test)]
        {
            let allocator = (self.contexts[context as usize].function, result);
            objects.objects[*object as usize].allocators.push(allocator);
        }
        *object
    }

    /// Whether a function is being called in this chain of contexts.
    pub(super) fn runs(&self, context: ContextId, function: FunctionId) -> bool {
        let mut at = Some(context);
        while let Some(context) = at {
            let it = &self.contexts[context as usize];
            if it.function == function {
                return true;
            }
            at = it.caller;
        }
        false
    }
}
