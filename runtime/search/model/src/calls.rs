//! Procedures: calls, returns, and the frames in between.
//!
//! Every thread's code is its own statements and, after them, a copy of all procedures, so that a
//! place tells thread and instruction. Calls and returns are local.

use super::code::{Instruction, flatten};
use super::machine::Failure;
use super::program::{Body, DEEPEST, Operand, Program, Register, Statement};
use super::state::{Phase, Registers, Thread};

/// What a call interrupted.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Frame {
    /// Where it goes on.
    pub(super) place: usize,
    registers: Registers,
    /// Where the result goes.
    result: Option<Register>,
}

/// A call with the place of the procedure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Call {
    /// Where the procedure begins.
    pub(super) entry: usize,
    operands: Vec<(Register, Operand)>,
    result: Option<Register>,
}

/// The code of a thread.
pub(super) fn link(program: &Program, statements: &[Statement]) -> Vec<Instruction> {
    let mut code = Vec::new();
    flatten(statements, &mut code);
    let mut entries = Vec::new();
    for definition in &program.procedures {
        code.push(Instruction::Return(Operand::Constant(0)));
        entries.push(code.len());
        flatten(&definition.body, &mut code);
    }
    if !entries.is_empty() {
        code.push(Instruction::Return(Operand::Constant(0)));
    }
    for instruction in &mut code {
        if let Instruction::Do(Statement::Call(result, procedure, operands), _) = instruction {
            let number = usize::from(procedure.0);
            let parameters = program.procedures[number].parameters.iter().copied();
            let operands = parameters.zip(operands.iter().copied()).collect();
            let call = Call { entry: entries[number], operands, result: *result };
            *instruction = Instruction::Call(call);
        }
    }
    code
}

impl Thread {
    /// Enters a procedure. Returns whether the thread goes on.
    pub(super) fn call(&mut self, call: &Call, name: Body, failures: &mut Vec<Failure>) -> bool {
        if self.frames.len() >= DEEPEST {
            failures.push(Failure::Overflow { thread: name, place: self.place });
            self.phase = Phase::Ended;
            return false;
        }
        let value = |&(register, operand): &(_, Operand)| (register, self.compute(operand));
        let values: Vec<(Register, i32)> = call.operands.iter().map(value).collect();
        let registers = std::mem::take(&mut self.registers);
        self.frames.push(Frame { place: self.place + 1, registers, result: call.result });
        values.into_iter().for_each(|(register, value)| self.set(register, value));
        self.place = call.entry;
        true
    }

    /// Leaves a procedure, or ends. Returns whether the thread goes on.
    pub(super) fn leave(&mut self, operand: Operand) -> bool {
        let value = self.compute(operand);
        let Some(frame) = self.frames.pop() else {
            self.phase = Phase::Ended;
            return false;
        };
        self.registers = frame.registers;
        self.place = frame.place;
        if let Some(register) = frame.result {
            self.set(register, value);
        }
        true
    }
}
