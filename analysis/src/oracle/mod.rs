//! The oracle of the analyses of addresses: random programs are run, and nothing may happen that
//! the analyses exclude.
//!
//! A program is facts ([`programs`]), so neither LLVM nor its reader is part of it. [`machine`]
//! runs it many times, its threads in any order. Every address in a register has to be in what
//! [`crate::points_to`] says of it. Memory that several threads touch must not be accessed by an
//! address that [`crate::sharing`] takes for one thread's.

mod calls;
mod expected;
mod machine;
mod memory;
mod programs;
mod random;

use crate::facts::Facts;
use crate::points_to::Bounds;
use expected::Expected;
use machine::Machine;
use random::Random;

/// Runs of each program.
const RUNS: u64 = 12;
/// Steps of each run.
const STEPS: usize = 250;

/// Everything is told apart; large sets are unknown at once.
const BOUNDS: [Bounds; 2] =
    [Bounds { work: usize::MAX, places: None }, Bounds { work: 0, places: Some(2) }];

/// What refutes the analyses, if something does.
fn refutation(facts: &Facts) -> Option<String> {
    BOUNDS.into_iter().find_map(|bounds| {
        let mut expected = Expected::of(facts, bounds)?;
        (0..RUNS).find_map(|seed| {
            let mut machine = Machine::new(facts, &mut expected, seed);
            machine.run(STEPS);
            machine.refuted
        })
    })
}

/// Leaves out statements and initial values as long as the analyses are still refuted.
fn shrunk(mut facts: Facts) -> Facts {
    loop {
        let before = facts.clone();
        for function in 0..facts.functions.len() {
            let mut at = 0;
            while let Some(body) = facts.functions[function].body.as_mut()
                && at < body.statements.len()
            {
                let statement = body.statements.remove(at);
                if refutation(&facts).is_none()
                    && let Some(body) = facts.functions[function].body.as_mut()
                {
                    body.statements.insert(at, statement);
                    at += 1;
                }
            }
        }
        for global in 0..facts.globals.len() {
            let initial = std::mem::take(&mut facts.globals[global].initial);
            if refutation(&facts).is_none() {
                facts.globals[global].initial = initial;
            }
        }
        if facts == before {
            return facts;
        }
    }
}

#[test]
fn nothing_happens_that_the_analyses_exclude() {
    let programs: u64 = if std::env::var_os("LOCKRED_DEEP").is_some() { 200_000 } else { 3_000 };
    for seed in 0..programs {
        let facts = programs::program(&mut Random::new(seed));
        if refutation(&facts).is_some() {
            let mut facts = shrunk(facts);
            let why = refutation(&facts);
            let mut text = String::new();
            for (id, global) in facts.globals.iter().enumerate() {
                text += &format!("global {id}: {global:?}\n");
            }
            for (id, function) in facts.functions.iter_mut().enumerate() {
                let Some(body) = function.body.take() else { continue };
                text += &format!("function {id}: {function:?}\n");
                for statement in body.statements {
                    text += &format!("    {statement:?}\n");
                }
            }
            panic!("program {seed}: {why:?}\n{text}");
        }
    }
}
