//! Flat code: statements with branches turned into jumps and loops unrolled, so that a place in it is one number.

use super::program::{Condition, Order, Statement};

/// One instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Instruction {
    /// A statement that is neither a branch nor a loop, and the ordering that it names.
    Do(Statement, Option<Order>),
    /// Goes on at the place unless the condition holds.
    Unless(Condition, usize),
    /// Goes on at the place.
    Jump(usize),
}

/// Appends the code of `statements`.
pub(super) fn flatten(statements: &[Statement], code: &mut Vec<Instruction>) {
    for statement in statements {
        match statement {
            Statement::If(condition, yes, no) => {
                let branch = code.len();
                code.push(Instruction::Unless(*condition, 0));
                flatten(yes, code);
                let end = code.len();
                if no.is_empty() {
                    code[branch] = Instruction::Unless(*condition, end);
                } else {
                    code.push(Instruction::Jump(0));
                    code[branch] = Instruction::Unless(*condition, end + 1);
                    flatten(no, code);
                    code[end] = Instruction::Jump(code.len());
                }
            }
            Statement::While(condition, body) => {
                let start = code.len();
                code.push(Instruction::Unless(*condition, 0));
                flatten(body, code);
                code.push(Instruction::Jump(start));
                code[start] = Instruction::Unless(*condition, code.len());
            }
            Statement::Repeat(times, body) => {
                for _ in 0..*times {
                    flatten(body, code);
                }
            }
            Statement::Ordered(order, access) => {
                code.push(Instruction::Do((**access).clone(), Some(*order)));
            }
            other => code.push(Instruction::Do(other.clone(), None)),
        }
    }
}

/// The threads that some `spawn` names.
pub(super) fn spawned(statements: &[Statement], names: &mut Vec<u8>) {
    for statement in statements {
        match statement {
            Statement::Spawn(body) => names.push(body.0),
            Statement::If(_, yes, no) => {
                spawned(yes, names);
                spawned(no, names);
            }
            Statement::Repeat(_, body) | Statement::While(_, body) => spawned(body, names),
            _ => {}
        }
    }
}
