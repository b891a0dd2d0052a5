//! What functions outside of the program do ([`Effect`]), as edges and rules.

use super::PointsTo;
use super::objects::ContextId;
use super::solver::Rule;
use crate::facts::{Distance, Effect, FunctionId, Operand, Register};

impl PointsTo<'_> {
    pub(super) fn external(
        &mut self,
        context: ContextId,
        function: FunctionId,
        arguments: &[Operand],
        result: Option<Register>,
        gives_address: bool,
    ) {
        let base = self.contexts[context as usize].base;
        let result_node = result.map(|r| base + r);
        let argument = |i: usize| arguments.get(i).copied().unwrap_or(Operand::Nothing);
        let fresh = |this: &mut Self| {
            let object = this.heap_object(context, result.unwrap_or(0));
            this.objects.place(object, Some(0))
        };
        for &argument in arguments {
            // It may be freed, or accessed.
            self.want(context, argument);
        }
        let effect = Effect::of(&self.facts.functions[function as usize].name);
        match effect {
            Effect::Nothing => {
                if let Some(result) = result_node.filter(|_| gives_address) {
                    self.graph.copy(self.library, result);
                }
            }
            Effect::Bytes => {
                let place = self.objects.place(self.bytes, None);
                if let Some(result) = result_node {
                    self.graph.point(result, place);
                }
            }
            Effect::Fresh => {
                let place = fresh(self);
                if let Some(result) = result_node {
                    self.graph.point(result, place);
                }
            }
            Effect::FreshOr(of) => {
                let place = fresh(self);
                if let Some(result) = result_node {
                    self.graph.point(result, place);
                    let offset = Rule::Offset(result, Distance::Unknown);
                    self.rule(Some(context), argument(of.into()), offset);
                }
            }
            Effect::FreshAtFirst => {
                let place = fresh(self);
                let from = self.graph.add(1);
                self.graph.point(from, place);
                self.rule(Some(context), argument(0), Rule::Store { from, offset: 0, size: 8 });
            }
            Effect::Moves => {
                let place = fresh(self);
                let Some(result) = result else { return };
                self.graph.point(base + result, place);
                self.copy_memory(context, Operand::Register(result), argument(0), Some(u64::MAX));
            }
            Effect::SameAsFirst => {
                if let Some(result) = result_node {
                    self.rule(Some(context), argument(0), Rule::Offset(result, Distance::Unknown));
                }
            }
            Effect::EndAtSecond => {
                let end = self.graph.add(1);
                self.rule(Some(context), argument(0), Rule::Offset(end, Distance::Unknown));
                let store = Rule::Store { from: end, offset: 0, size: 8 };
                self.rule(Some(context), argument(1), store);
            }
            Effect::Copies => {
                self.copy_memory(context, argument(0), argument(1), None);
                if let Some(result) = result_node {
                    self.rule(Some(context), argument(0), Rule::Offset(result, Distance::Unknown));
                }
            }
            Effect::StartsThread => {
                self.flow(context, argument(3), self.threads);
                let passed = self.node(context, argument(3));
                let given_back = Some(self.returned);
                self.call_back_for(context, argument(2), vec![Some(passed)], given_back);
            }
            Effect::Joins => {
                let store = Rule::Store { from: self.returned, offset: 0, size: 8 };
                self.rule(Some(context), argument(1), store);
            }
            Effect::CallsFirst | Effect::CallsAtExit => {
                if effect == Effect::CallsAtExit {
                    self.flow(context, argument(1), self.threads);
                }
                let passed = self.node(context, argument(1));
                self.call_back(context, argument(0), vec![Some(passed)]);
            }
            Effect::Visits => {
                let passed = self.node(context, argument(1));
                let library = Some(self.library);
                // The visitors have two or three parameters; what is passed on comes last.
                self.call_back(context, argument(0), vec![library, Some(passed)]);
                self.call_back(context, argument(0), vec![library, None, Some(passed)]);
            }
            Effect::CallsSecond => {
                self.call_back(context, argument(1), vec![None]);
                self.flow(context, argument(1), self.handlers);
                if let Some(result) = result_node {
                    self.graph.copy(self.handlers, result);
                }
            }
            Effect::MakesKey => {
                self.call_back(context, argument(1), vec![Some(self.keys)]);
            }
            Effect::KeepsForThread => self.flow(context, argument(1), self.keys),
            Effect::KeptForThread => {
                if let Some(result) = result_node {
                    self.graph.copy(self.keys, result);
                }
            }
            Effect::Throws => self.flow(context, argument(0), self.thrown),
            Effect::DropsException => {
                let exception = self.node(context, argument(0));
                self.call_stored(context, argument(0), 8, vec![None, Some(exception)]);
            }
            Effect::Handles => {
                let library = Some(self.library);
                let handler =
                    self.call_stored(context, argument(1), 0, vec![None, library, library]);
                self.graph.copy(handler, self.handlers);
                let store = Rule::Store { from: self.handlers, offset: 0, size: 8 };
                self.rule(Some(context), argument(2), store);
            }
            Effect::Keeps | Effect::Anything => {
                for &argument in arguments {
                    self.flow(context, argument, self.foreign);
                }
                if let Some(result) = result_node {
                    self.graph.copy(self.foreign, result);
                }
            }
        }
    }
}
