//! Random programs that use the rarer members of the lock family: any program, with declarations
//! changed and statements added.

use lockred_model::Program;
use lockred_model::program::{Barrier, Condvar, Mutex, Once, Register, Statement};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{access, around, flat, is};

/// The mutex that is re-entrant in half of the programs.
const REENTRANT: Mutex = Mutex(1);

/// The barrier.
const BARRIER: Barrier = Barrier(0);

/// Any program over re-entrant mutexes.
pub fn program() -> impl Strategy<Value = Program> {
    let addition = (0..4usize, 0..8usize, addition());
    (super::any_program(), any::<[bool; 3]>(), 0..4u8, vec(addition, 0..4), meetings()).prop_map(
        |(mut program, [reentrant, fifo, timed], spurious, additions, (barrier, meetings))| {
            if reentrant {
                program.reentrant.push(REENTRANT);
            }
            if fifo {
                program.fifo.push(Condvar(0));
            }
            program.spurious = spurious / 3;
            if timed {
                // The first two threads wait with a timeout, the others without.
                program.threads.iter_mut().take(2).for_each(|body| set_timeouts(body));
            }
            program.once();
            program.barrier(barrier);
            meet(&mut program, &meetings);
            for (thread, place, statements) in additions {
                let number = program.threads.len();
                let body = &mut program.threads[thread % number];
                let place = place.min(body.len());
                body.splice(place..place, statements);
            }
            program
        },
    )
}

/// For how many threads the barrier waits, and where in their bodies all threads come to it.
fn meetings() -> impl Strategy<Value = (u8, Vec<prop::sample::Index>)> {
    let none = (1..4u8).prop_map(|threads| (threads, Vec::new()));
    prop_oneof![3 => none, 1 => (2..5u8, vec(any::<prop::sample::Index>(), 1..3))]
}

fn meet(program: &mut Program, places: &[prop::sample::Index]) {
    for place in places {
        for body in &mut program.threads {
            body.insert(place.index(body.len() + 1), Statement::Arrive(BARRIER));
        }
    }
}

fn set_timeouts(statements: &mut [Statement]) {
    for statement in statements {
        match statement {
            Statement::Wait(c, a) => *statement = Statement::WaitFor(Register(1), *c, *a),
            Statement::If(_, yes, no) => {
                set_timeouts(yes);
                set_timeouts(no);
            }
            Statement::Repeat(_, body) => set_timeouts(body),
            _ => {}
        }
    }
}

fn addition() -> impl Strategy<Value = Vec<Statement>> {
    let again = access().prop_map(|inner| around(REENTRANT, around(REENTRANT, vec![inner])));
    let once = vec(flat(), 1..3).prop_map(|body| vec![Statement::Once(Once(0), body)]);
    let then = (access(), access())
        .prop_map(|(inside, behind)| vec![Statement::Once(Once(0), vec![inside]), behind]);
    let a = Mutex(0);
    let waits = Just(around(a, vec![Statement::Wait(Condvar(0), a)]));
    let tells = any::<bool>().prop_map(move |holds| {
        let notify = vec![Statement::NotifyOne(Condvar(0))];
        if holds { around(a, notify) } else { notify }
    });
    let arrives = Just(vec![Statement::Arrive(BARRIER)]);
    let between = (access(), access())
        .prop_map(|(before, behind)| vec![before, Statement::Arrive(BARRIER), behind]);
    let within = Just(around(a, vec![Statement::Arrive(BARRIER)]));
    let leads = access().prop_map(|inner| {
        let leader = Statement::If(is(Register(0), 1), vec![inner], vec![]);
        vec![Statement::ArriveAsking(Register(0), BARRIER), leader]
    });
    prop_oneof![
        2 => again,
        1 => once,
        1 => then,
        2 => waits,
        2 => tells,
        3 => arrives,
        2 => between,
        1 => within,
        1 => leads,
    ]
}
