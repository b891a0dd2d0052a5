//! Flat code: statements with branches turned into jumps and loops unrolled, so that a place in it
//! is one number.

use super::calls::Call;
use super::program::{Condition, Definition, Operand, Order, Procedure, Statement};
use lockred_search::discipline::Ordering;

/// The orderings that an access to an atomic names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Orders {
    pub(super) order: Option<Order>,
    /// Of a compare-exchange that fails.
    pub(super) failure: Option<Order>,
}

impl Order {
    pub(super) const fn ordering(self) -> Ordering {
        match self {
            Self::Relaxed => Ordering { weak: true, ..Ordering::RELAXED },
            Self::Acquire => Ordering { weak: true, ..Ordering::ACQUIRE },
            Self::Release => Ordering { weak: true, ..Ordering::RELEASE },
            Self::AcqRel => Ordering { weak: true, ..Ordering::ACQ_REL },
            Self::SeqCst => Ordering::ACQ_REL,
        }
    }
}

impl Orders {
    /// The ordering that is named, or else this one.
    pub(super) fn or(self, default: Ordering) -> Ordering {
        self.order.map_or(default, Order::ordering)
    }

    /// The ordering of a compare-exchange that fails (a read, which releases nothing whatever it
    /// says).
    pub(super) fn failing(self) -> Ordering {
        self.failure.map_or(self.or(Ordering::ACQ_REL), Order::ordering)
    }
}

/// One instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Instruction {
    /// A statement that is neither a branch nor a loop, and the orderings that it names.
    Do(Statement, Orders),
    /// Goes on at the place unless the condition holds.
    Unless(Condition, usize),
    /// Goes on at the place.
    Jump(usize),
    /// Enters a procedure.
    Call(Call),
    /// Leaves it, or ends the thread.
    Return(Operand),
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
            Statement::Once(once, body) => {
                code.push(Instruction::Do(Statement::Once(*once, Vec::new()), Orders::default()));
                // Who runs the body goes on after the jump.
                let pass = code.len();
                code.push(Instruction::Jump(0));
                flatten(body, code);
                code.push(Instruction::Do(Statement::OnceDone(*once), Orders::default()));
                code[pass] = Instruction::Jump(code.len());
            }
            Statement::Repeat(times, body) => {
                for _ in 0..*times {
                    flatten(body, code);
                }
            }
            Statement::Return(operand) => code.push(Instruction::Return(*operand)),
            Statement::Ordered(order, access) => {
                let mut orders = Orders { order: Some(*order), failure: None };
                let mut access = &**access;
                while let Statement::Ordered(order, inner) = access {
                    orders.failure = Some(*order);
                    access = inner;
                }
                code.push(Instruction::Do(access.clone(), orders));
            }
            other => code.push(Instruction::Do(other.clone(), Orders::default())),
        }
    }
}

/// Whether the code has fences that acquire, and that release.
pub(super) fn fences(code: &[Vec<Instruction>]) -> Ordering {
    let mut all = Ordering::RELAXED;
    for instruction in code.iter().flatten() {
        if let Instruction::Do(Statement::Fence(order), _) = instruction {
            let ordering = order.ordering();
            all.acquires |= ordering.acquires;
            all.releases |= ordering.releases;
        }
    }
    all
}

/// The threads that some `spawn` names, in these statements or the procedures that they call.
pub(super) fn spawned(
    statements: &[Statement],
    procedures: &[Definition],
    called: &mut Vec<Procedure>,
    names: &mut Vec<u8>,
) {
    for statement in statements {
        match statement {
            Statement::Spawn(body) => names.push(body.0),
            Statement::If(_, yes, no) => {
                spawned(yes, procedures, called, names);
                spawned(no, procedures, called, names);
            }
            Statement::Repeat(_, body) | Statement::While(_, body) | Statement::Once(_, body) => {
                spawned(body, procedures, called, names);
            }
            Statement::Call(_, procedure, _) if !called.contains(procedure) => {
                called.push(*procedure);
                let body = &procedures[usize::from(procedure.0)].body;
                spawned(body, procedures, called, names);
            }
            _ => {}
        }
    }
}
