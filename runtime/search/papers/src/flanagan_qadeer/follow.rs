//! The instrumentation along one execution, step by step, as section 4.3 shows it for the counter's
//! `read`.

use super::action::Guarded;
use super::phase::{Exclusive, Movers, Part, Phase};
use super::predicates::Predicates;
use super::validity::asserted;
use lockred_search::Choice;
use lockred_search::footprint::ObjectId;
use lockred_search::machine::{Chooser, Step, ThreadId};

/// A step of the execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moved {
    /// The thread.
    pub thread: ThreadId,
    /// Where in the program.
    pub site: u64,
    /// The objects to which exclusive access is asserted: those for which the action is not safe.
    pub asserted: Vec<ObjectId>,
    /// Where the thread was before: in [`Part::None`] it begins a transaction.
    pub before: Part,
    /// The thread has exclusive access to all that it accesses before the action: a left mover.
    pub left_mover: bool,
    /// It has it after the action: a right mover.
    pub right_mover: bool,
    /// The phase variable after the action.
    pub phase: bool,
}

/// Follows the schedule from the root, with the predicates as they are, and says what every step
/// is. Condition C is not looked at. Ends early if the schedule cannot be followed.
pub fn follow<M: Guarded>(
    machine: &mut M,
    predicates: &Predicates,
    movers: Movers,
    schedule: &[Choice],
) -> Vec<Moved> {
    machine.restore_root();
    let mut phases = vec![Phase::Init; machine.threads() as usize];
    let mut moves = Vec::new();
    let mut rest = schedule.iter();
    while let Some(Choice::Thread(thread)) = rest.next() {
        let Some(action) = machine.action(*thread) else { break };
        if !machine.status(*thread).can_run() {
            break;
        }
        let left_mover = predicates.before(machine, *thread, &action);
        let phase = &mut phases[thread.index()];
        let before = phase.part(left_mover, movers);
        let asserted = asserted(machine, predicates, *thread, &action);
        let mut step = Step::default();
        machine.step(*thread, &mut Values(&mut rest), &mut step);
        let ends = machine.action(*thread).is_none() && machine.is_awaited(*thread);
        let right_mover = predicates.after(machine, *thread, &action) && !ends;
        let exclusive =
            Exclusive { before: left_mover, after: right_mover, acquires: action.acquires };
        *phase = phase.next(exclusive, movers);
        moves.push(Moved {
            thread: *thread,
            site: action.site,
            asserted,
            before,
            left_mover,
            right_mover,
            phase: *phase == Phase::Right,
        });
        for wrong in step.failures.iter().filter_map(|failure| machine.wrong(failure)) {
            phases[wrong.index()] = Phase::Wrong;
        }
    }
    moves
}

/// Takes the values from the schedule.
struct Values<'a, 's>(&'a mut std::slice::Iter<'s, Choice>);

impl Chooser for Values<'_, '_> {
    fn choose(&mut self, _: u32) -> u32 {
        match self.0.next() {
            Some(&Choice::Value { picked, .. }) => picked,
            _ => 0,
        }
    }
}
