//! Random programs with loops that wait: any program, with such loops and what they may wait for
//! put in.

use lockred_model::Program;
use lockred_model::program::{
    Comparison, Condition, Mutex, Operand, Register, Statement, Variable,
};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{access, around, atomic, is, mutex, variable};

/// Any program with up to three loops.
pub fn program() -> impl Strategy<Value = Program> {
    let bodies = prop_oneof![
        (vec(parts(), 2), Just(12_usize)),
        (vec(parts(), 3), Just(8)),
        (vec(parts(), 4), Just(6)),
    ];
    bodies.prop_map(|(bodies, length)| {
        let mut program = Program::default();
        for is_atomic in [false, false, true, true] {
            program.variable(is_atomic);
        }
        program.mutex();
        program.mutex();
        for parts in bodies {
            program.thread(super::cut(parts, length));
        }
        program
    })
}

fn parts() -> impl Strategy<Value = Vec<Vec<Statement>>> {
    let one = access().prop_map(|statement| vec![statement]);
    let section = (mutex(), vec(access(), 1..3)).prop_map(|(a, inner)| around(a, inner));
    let tried = (mutex(), access()).prop_map(|(a, inner)| {
        let section = vec![inner, Statement::Unlock(a)];
        let tried = Register(1);
        vec![Statement::TryLock(tried, a), Statement::If(is(tried, 1), section, vec![])]
    });
    let reported = (variable(), 0..2)
        .prop_map(|(x, value)| vec![Statement::Store(x, Operand::Constant(value))]);
    let checked = (0..2).prop_map(|value| vec![Statement::Assert(is(Register(0), value))]);
    let leaked = mutex().prop_map(|a| vec![Statement::Lock(a)]);
    let part = prop_oneof![
        4 => one,
        3 => section,
        1 => tried,
        3 => reported,
        1 => checked,
        1 => leaked,
        5 => waiting(),
        1 => (mutex(), waiting()).prop_map(|(a, inner)| around(a, inner)),
    ];
    vec(part, 1..5)
}

/// A loop that waits.
fn waiting() -> impl Strategy<Value = Vec<Statement>> {
    (0..2_u8, 0..2, round()).prop_map(|(register, value, round)| {
        let comparison = if value == 0 { Comparison::Equal } else { Comparison::Unequal };
        let condition = Condition { register: Register(register), comparison, value };
        vec![Statement::While(condition, round)]
    })
}

fn load() -> impl Strategy<Value = Statement> {
    (0..2_u8, variable()).prop_map(|(r, x)| Statement::Load(Register(r), x))
}

fn exchange() -> impl Strategy<Value = Statement> {
    (0..2_u8, atomic(), 0..2, any::<bool>()).prop_map(|(r, x, from, weak)| {
        let to = Operand::Constant(1 - from);
        let register = Register(r);
        if weak {
            Statement::CompareExchangeWeak(register, x, from, to)
        } else {
            Statement::CompareExchange(register, x, from, to)
        }
    })
}

/// One round. What it does has no effect, or not again and again.
fn round() -> impl Strategy<Value = Vec<Statement>> {
    let section = (mutex(), vec(load(), 1..3)).prop_map(|(a, inner)| around(a, inner));
    let nested =
        (mutex(), mutex(), load()).prop_map(|(a, b, inner)| around(a, around(b, vec![inner])));
    let let_go = (mutex(), load())
        .prop_map(|(a, load)| vec![Statement::Unlock(a), Statement::Lock(a), load]);
    let stored = (atomic(), load())
        .prop_map(|(x, load)| vec![Statement::Store(x, Operand::Constant(1)), load]);
    let tried = mutex().prop_map(|a: Mutex| vec![Statement::TryLock(Register(0), a)]);
    let guarded = (0..2_u8, 0..2_u8).prop_map(|(r, q)| {
        let then = Statement::Load(Register(r), Variable(2));
        vec![
            Statement::Load(Register(q), Variable(3)),
            Statement::If(is(Register(q), 1), vec![then], vec![]),
        ]
    });
    prop_oneof![
        4 => load().prop_map(|load| vec![load]),
        3 => vec(load(), 2..4),
        3 => exchange().prop_map(|exchange| vec![exchange]),
        1 => (load(), exchange()).prop_map(|(load, exchange)| vec![load, exchange]),
        4 => section,
        1 => nested,
        1 => let_go,
        1 => stored,
        1 => tried,
        1 => guarded,
    ]
}
