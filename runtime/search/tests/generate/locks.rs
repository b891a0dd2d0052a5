//! Random programs that use the rarer members of the lock family: any program, with declarations changed and statements added.

use lockred_search::model::Program;
use lockred_search::model::program::{Mutex, Once, Statement};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{access, around, flat};

/// The mutex that is re-entrant in half of the programs.
const REENTRANT: Mutex = Mutex(1);

/// Any program over re-entrant mutexes.
pub fn program() -> impl Strategy<Value = Program> {
    let addition = (0..4usize, 0..8usize, addition());
    (super::any_program(), any::<bool>(), vec(addition, 0..4)).prop_map(
        |(mut program, reentrant, additions)| {
            if reentrant {
                program.reentrant.push(REENTRANT);
            }
            program.once();
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

fn addition() -> impl Strategy<Value = Vec<Statement>> {
    let again = access().prop_map(|inner| around(REENTRANT, around(REENTRANT, vec![inner])));
    let once = vec(flat(), 1..3).prop_map(|body| vec![Statement::Once(Once(0), body)]);
    let then = (access(), access())
        .prop_map(|(inside, behind)| vec![Statement::Once(Once(0), vec![inside]), behind]);
    prop_oneof![again, once, then]
}
