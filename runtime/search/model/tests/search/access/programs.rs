//! Programs of Flanagan and Qadeer's paper, and what the machine says along their executions.

use lockred_model::{ModelMachine, Program};
use lockred_papers::flanagan_qadeer::follow::{Moved, follow};
use lockred_papers::flanagan_qadeer::{Movers, Predicates};
use lockred_search::Choice;
use lockred_search::machine::ThreadId;

/// The predicates that section 2 gives.
pub const GIVEN: &str = "exclusive x when held mx; exclusive y when held my;
    exclusive mx when held mx; exclusive my when held my; exclusive count when never;";

/// The counter of section 2 with these threads. `read` ends with an action of its own, as in
/// section 4.3; its assertion is part of the action that reads `count`.
pub fn counter(predicates: &str, threads: &str) -> String {
    format!(
        "plain x y; atomic count; mutex mx my; {predicates}
        proc incr() {{ lock mx; tx = x; count += 1; x = tx + 1; unlock mx }}
        proc decr() {{ lock my; ty = y; count += -1; y = ty + 1; unlock my }}
        proc read() {{ lock mx; tx = x; lock my; ty = y; c = count;
            while ty != 0 {{ ty = ty + -1; c = c + 1 }}
            while tx != 0 {{ tx = tx + -1; c = c + -1 }}
            assert c == 0; unlock my; unlock mx; r = any 1 }}
        {threads}"
    )
}

/// A thread that calls so many methods, one after another, any of the three.
pub fn any_methods(number: u32) -> String {
    format!(
        "{{ repeat {number} {{ m = any 3;
            if m == 0 {{ call incr() }} if m == 1 {{ call decr() }} if m == 2 {{ call read() }} }} }}"
    )
}

/// What the first thread's steps are when it runs alone, so many of them.
pub fn alone(
    program: &Program,
    predicates: &Predicates,
    movers: Movers,
    steps: usize,
) -> Vec<Moved> {
    in_turn(program, predicates, movers, &vec![0; steps])
}

/// What the steps are when these threads run in this order. (Where a value is chosen, it is the
/// first one.)
pub fn in_turn(
    program: &Program,
    predicates: &Predicates,
    movers: Movers,
    threads: &[u32],
) -> Vec<Moved> {
    let schedule: Vec<Choice> = threads.iter().map(|&t| Choice::Thread(ThreadId(t))).collect();
    let moves = follow(&mut ModelMachine::new(program), predicates, movers, &schedule);
    assert_eq!(moves.len(), threads.len(), "the threads cannot run in this order");
    moves
}
