//! Calls of a run: of functions of the program, of the C library, and by those outside.

use super::machine::{Machine, Returns};
use super::memory::{Address, Block, NUMBER, Origin, Scalar, ThreadId};
use crate::facts::{Call, Effect, FunctionId, Operand};
use std::collections::HashSet;

impl Machine<'_, '_> {
    pub fn call(&mut self, thread: ThreadId, call: &Call) {
        let facts = self.facts;
        let Some(callee) = self.place(thread, call.callee) else { return };
        let function = match self.blocks[callee.block].origin {
            Origin::Function(function) => function,
            Origin::Foreign => {
                for &argument in &call.arguments {
                    let value = self.value(thread, argument);
                    self.expose(&value);
                }
                if call.gives_address && call.result.1 > 0 {
                    let value = self.random.pick(&self.outside);
                    self.set(thread, call.result.0, vec![value]);
                }
                return;
            }
            _ => return,
        };
        let it = &facts.functions[function as usize];
        let by_pointer = !matches!(call.callee, Operand::Function(_));
        if by_pointer && it.signature.is_some_and(|s| s != call.signature) {
            return;
        }
        let arguments: Vec<Scalar> =
            call.arguments.iter().map(|&a| self.value(thread, a)).collect();
        if it.is_harness {
            return self.run_tests(thread, &arguments);
        }
        if it.body.is_none() {
            return self.external(thread, function, call);
        }
        if by_pointer && !self.may_be_called_on(function, arguments.first()) {
            return;
        }
        // What a function takes beyond its parameters it reads in ways that are not described.
        arguments.iter().skip(it.parameters as usize).for_each(|value| self.expose(value));
        self.enter(thread, function, arguments, Returns::To(call.result.0, call.result.1));
    }

    /// The harness calls a function that can be reached from what it is given.
    fn run_tests(&mut self, thread: ThreadId, given: &[Scalar]) {
        let mut open: Vec<Address> = given.iter().flatten().flatten().copied().collect();
        let mut seen = HashSet::new();
        let mut tests = Vec::new();
        while let Some(at) = open.pop() {
            let block = &self.blocks[at.block];
            if at.offset != NUMBER && !block.is_outside() && seen.insert(at.block) {
                open.extend(block.addresses());
                if let Origin::Function(function) = block.origin {
                    tests.push(function);
                }
            }
        }
        tests.sort_unstable();
        if let Some(test) = self.random.pick(&tests) {
            self.enter(thread, test, Vec::new(), Returns::Nowhere);
        }
    }

    /// The function at an address is called by the C library, now or later.
    fn call_back(&mut self, thread: Option<ThreadId>, at: Option<Address>, given: Vec<Scalar>) {
        let Some(at) = at.filter(|at| at.offset != NUMBER) else { return };
        match self.blocks[at.block].origin {
            Origin::Function(function)
                if self.facts.functions[function as usize].body.is_some()
                    && !self.facts.functions[function as usize].is_harness =>
            {
                self.later.push((thread, function, given));
            }
            Origin::Foreign => given.iter().for_each(|value| self.expose(value)),
            _ => {}
        }
    }

    fn external(&mut self, thread: ThreadId, function: FunctionId, call: &Call) {
        let name = self.facts.functions[function as usize].name.as_str();
        let argument = |i: usize| call.arguments.get(i).copied().unwrap_or(Operand::Nothing);
        let library = vec![Some(Address { block: self.library, offset: 0 })];
        let Some(caller) = self.threads[thread].last().map(|frame| frame.function) else { return };
        let (first, results) = call.result;
        let fresh = |this: &mut Self| {
            let size = 8 * (1 + this.random.below(6));
            let register = if results > 0 { first } else { 0 };
            this.blocks.push(Block::new(Origin::Heap(caller, register), size));
            Address { block: this.blocks.len() - 1, offset: 0 }
        };
        let mut result = Scalar::new();
        let at = |this: &mut Self, i: usize| this.place(thread, argument(i));
        match Effect::of(name) {
            Effect::Nothing if call.gives_address => result = library,
            // Nothing of the program's is in there.
            Effect::Nothing | Effect::Bytes => {}
            Effect::Fresh => result = vec![Some(fresh(self))],
            Effect::FreshOr(of) => {
                let other = at(self, of.into()).filter(|_| self.random.once_in(2));
                result = vec![Some(match other {
                    Some(other) => self.anywhere(other.block),
                    None => fresh(self),
                })];
            }
            Effect::EndAtSecond => {
                let (Some(text), Some(to)) = (at(self, 0), at(self, 1)) else { return };
                if self.touch_unseen(thread, to, 8, true) {
                    let end = vec![Some(self.anywhere(text.block))];
                    self.store(to, 8, &end);
                }
            }
            Effect::Joins => {
                let Some(to) = at(self, 1) else { return };
                let returned = self.random.pick(&self.returned).unwrap_or_default();
                if self.touch_unseen(thread, to, 8, true) {
                    self.store(to, 8, &returned);
                }
            }
            Effect::FreshAtFirst => {
                let new = fresh(self);
                if let Some(to) = at(self, 0)
                    && self.touch_unseen(thread, to, 8, true)
                {
                    self.store(to, 8, &vec![Some(new)]);
                }
            }
            Effect::Moves => {
                let Some(old) = at(self, 0) else { return };
                // Only what an allocator gave can be moved.
                let is_heap = matches!(self.blocks[old.block].origin, Origin::Heap(..));
                if results == 0 || !is_heap || old.offset != 0 {
                    return;
                }
                let new = fresh(self);
                let bytes = self.blocks[old.block].size().min(self.blocks[new.block].size());
                if self.touch_unseen(thread, old, bytes, false) {
                    self.copy(new, old, bytes);
                    self.blocks[old.block].is_dead = true;
                    result = vec![Some(new)];
                }
            }
            Effect::SameAsFirst => {
                let Some(first) = at(self, 0) else { return };
                result = vec![Some(self.anywhere(first.block))];
            }
            Effect::Copies => {
                result = vec![at(self, 0)];
                self.copy_memory(thread, [argument(0), argument(1)], None);
            }
            Effect::StartsThread => {
                let (runs, passed) = (at(self, 2), self.value(thread, argument(3)));
                let Some(runs) = runs else { return };
                match self.blocks[runs.block].origin {
                    Origin::Function(function)
                        if !self.facts.functions[function as usize].is_harness =>
                    {
                        self.start(function, passed);
                    }
                    Origin::Foreign => self.expose(&passed),
                    _ => {}
                }
            }
            effect @ (Effect::CallsFirst | Effect::CallsAtExit) => {
                let (callee, passed) = (at(self, 0), self.value(thread, argument(1)));
                let by = (effect == Effect::CallsFirst).then_some(thread);
                self.call_back(by, callee, vec![passed]);
            }
            Effect::Visits => {
                let (callee, passed) = (at(self, 0), self.value(thread, argument(1)));
                let given = match name {
                    "dl_iterate_phdr" => vec![library, Scalar::new(), passed],
                    _ => vec![library, passed],
                };
                self.call_back(Some(thread), callee, given);
            }
            Effect::CallsSecond => {
                let callee = at(self, 1);
                self.call_back(None, callee, vec![Scalar::new()]);
                result = vec![self.random.pick(&self.handlers)];
                self.handlers.extend(callee);
            }
            Effect::MakesKey => {
                let callee = at(self, 1);
                let kept = self.kept.get(&thread).copied();
                self.call_back(Some(thread), callee, vec![vec![kept]]);
            }
            Effect::KeepsForThread => {
                if let Some(kept) = at(self, 1) {
                    self.kept.insert(thread, kept);
                }
            }
            Effect::KeptForThread => result = vec![self.kept.get(&thread).copied()],
            Effect::Throws => {
                let thrown = self.value(thread, argument(0));
                return self.throw(thread, thrown);
            }
            Effect::DropsException => {
                let Some(exception) = at(self, 0) else { return };
                let place = Address { offset: exception.offset + 8, ..exception };
                if self.touch_unseen(thread, place, 8, false) {
                    let callee = self.load(place, 8)[0];
                    let given = vec![Scalar::new(), vec![Some(exception)]];
                    self.call_back(Some(thread), callee, given);
                }
            }
            Effect::Handles => {
                let Some(place) = at(self, 1) else { return };
                if self.touch_unseen(thread, place, 8, false) {
                    let callee = self.load(place, 8)[0];
                    self.call_back(None, callee, vec![Scalar::new(), library.clone(), library]);
                    let before = vec![self.random.pick(&self.handlers)];
                    if let Some(to) = at(self, 2)
                        && self.touch_unseen(thread, to, 8, true)
                    {
                        self.store(to, 8, &before);
                    }
                    self.handlers.extend(callee);
                }
            }
            Effect::Keeps | Effect::Anything => {
                for &argument in &call.arguments {
                    let value = self.value(thread, argument);
                    self.expose(&value);
                }
                result = vec![self.random.pick(&self.outside)];
            }
        }
        if results > 0 {
            self.set(thread, first, result);
        }
    }

    /// Those outside do something with what they know.
    pub fn act_outside(&mut self) {
        let entries = 1..self.facts.functions.len();
        let entries: Vec<usize> = entries.filter(|&f| self.facts.functions[f].is_entry).collect();
        let known = match self.random.pick(&entries) {
            Some(entry) if self.random.once_in(4) => Some(Address { block: entry, offset: 0 }),
            _ => self.random.pick(&self.outside),
        };
        let Some(known) = known else { return };
        if let Origin::Function(function) = self.blocks[known.block].origin {
            let it = &self.facts.functions[function as usize];
            let given = (0..it.parameters).map(|_| vec![self.random.pick(&self.outside)]).collect();
            if !it.is_harness {
                self.enter(0, function, given, Returns::Outside);
            }
            return;
        }
        let at = self.anywhere(known.block);
        let writes = self.random.once_in(2);
        if self.touch_unseen(0, at, 8, writes) {
            if writes {
                let value = vec![self.random.pick(&self.outside)];
                self.store(at, 8, &value);
            } else {
                let value = self.load(at, 8);
                self.expose(&value);
            }
        }
    }
}
