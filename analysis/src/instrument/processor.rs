//! Questions to the processor whose answers differ between runs: the runtime answers instead.

use super::Instrumenter;
use crate::llvm::{Function, Instruction, TypeKind, Value};
use crate::processor::{Answer, Identification, asked, identification};

/// What an intrinsic of LLVM gives.
enum Given {
    Answers(&'static [Answer]),
    /// A random number, and that there is one.
    Random,
}

fn given(name: &str) -> Option<Given> {
    Some(match name {
        "llvm.x86.rdtsc" | "llvm.readcyclecounter" | "llvm.readsteadycounter" => {
            Given::Answers(&[Answer::Time])
        }
        "llvm.x86.rdtscp" => Given::Answers(&[Answer::Time, Answer::Processor]),
        "llvm.x86.rdpid" => Given::Answers(&[Answer::Processor]),
        _ if name.starts_with("llvm.x86.rdrand.") || name.starts_with("llvm.x86.rdseed.") => {
            Given::Random
        }
        _ => return None,
    })
}

impl Instrumenter<'_> {
    /// Replaces a call of an intrinsic that asks the processor for what differs between runs.
    /// Whether it was one.
    pub(super) fn asks_by_intrinsic(
        &mut self,
        function: Function,
        at: Instruction,
        name: &str,
    ) -> bool {
        let Some(given) = given(name) else { return false };
        let location = self.location(function, at);
        self.hooks.builder.before(at, location);
        let values = match given {
            Given::Answers(answers) => self.answers(answers),
            Given::Random => {
                let number = self.hooks.builder.call(self.hooks.random_number, &[]).value();
                vec![number, self.context.integer(64).constant(1)]
            }
        };
        self.give(at, &values);
        true
    }

    /// Replaces assembly that does, or refuses it. Whether it was such.
    pub(super) fn asks(
        &mut self,
        function: Function,
        at: Instruction,
        text: &str,
        constraints: &str,
    ) -> bool {
        if let Some(identification) = identification(text, constraints) {
            self.hide_processor(function, at, &identification);
            return false;
        }
        match asked(text, constraints) {
            None => false,
            Some(Err(instruction)) => {
                let number = self.externals.number(&format!("{instruction} in inline assembly"));
                self.announce(function, at, self.hooks.unsupported_call, number);
                true
            }
            Some(Ok(answers)) => {
                let location = self.location(function, at);
                self.hooks.builder.before(at, location);
                let values = self.answers(&answers);
                self.give(at, &values);
                true
            }
        }
    }

    /// Calls the runtime for answers, which are 64-bit numbers.
    fn answers(&self, answers: &[Answer]) -> Vec<Value> {
        let builder = &self.hooks.builder;
        let asks_time = answers.iter().any(|answer| *answer != Answer::Processor);
        let time = asks_time.then(|| builder.call(self.hooks.time_stamp, &[]).value());
        let answer = |answer: &Answer| match (answer, time) {
            (Answer::Time, Some(time)) => time,
            (Answer::UpperTime, Some(time)) => builder.upper_half(self.context, time),
            _ => builder.call(self.hooks.processor, &[]).value(),
        };
        answers.iter().map(answer).collect()
    }

    /// Puts numbers in the place of an instruction's results.
    fn give(&self, at: Instruction, values: &[Value]) {
        let builder = &self.hooks.builder;
        let of = at.value().value_type();
        let result = match (of.field_types(), values) {
            (Some(fields), _) => {
                let numbered = fields.into_iter().zip(values).enumerate();
                numbered.fold(of.poison(), |result, (index, (field, &value))| {
                    let value = builder.narrow(self.context, value, field);
                    builder.insert_field(result, value, index as u32)
                })
            }
            (None, &[value]) if !of.is_void() => builder.narrow(self.context, value, of),
            _ => return at.erase(),
        };
        at.value().replace_all_uses(result);
        at.erase();
    }

    /// Takes out of the answers of `cpuid` what names the processor.
    fn hide_processor(&mut self, function: Function, at: Instruction, asked: &Identification) {
        let result = at.value();
        let fields = result.value_type().field_types().unwrap_or_default();
        let number = TypeKind::Integer(32);
        let leaf = at.arguments().get(asked.leaf).copied();
        let leaf = leaf.filter(|leaf| leaf.value_type().kind() == number);
        let (Some(leaf), Some(next)) = (leaf, at.next()) else { return };
        if fields.len() != asked.registers.len() || fields.iter().any(|f| f.kind() != number) {
            return;
        }
        let users = result.users();
        let location = self.location(function, at);
        let builder = &self.hooks.builder;
        builder.before(next, location);
        let mut hidden = result.value_type().poison();
        for (index, &register) in asked.registers.iter().enumerate() {
            let value = builder.field(result, index as u32);
            let register = self.context.integer(32).constant(register.into());
            let value = builder.call(self.hooks.cpuid, &[leaf, register, value]).value();
            hidden = builder.insert_field(hidden, value, index as u32);
        }
        for user in users {
            let uses = user.operands().into_iter().enumerate().filter(|(_, used)| *used == result);
            uses.for_each(|(index, _)| user.set_operand(index as u32, hidden));
        }
    }

    /// Reports to the runtime what a call of native code gave, if that is a number.
    pub(super) fn report_result(&mut self, function: Function, at: Instruction) {
        // What is invoked goes on elsewhere.
        let Some(next) = at.next() else { return };
        if at.value().value_type().is_void() {
            return;
        }
        let location = self.location(function, at);
        self.hooks.builder.before(next, location);
        if let Some(result) = self.hooks.builder.widen(self.context, at.value()) {
            self.hooks.builder.call(self.hooks.native_result, &[result]);
        }
    }
}
