//! Every interleaving, without any reduction: what the other strategies are compared with.
//!
//! For machines that can tell their state ([`Fingerprint`]), [`explore_states`] visits each state
//! once.

use crate::core::fingerprint::{Fingerprint, Fingerprints};
use crate::core::machine::Machine;
use crate::drive::Drive;
use crate::drive::observer::{Bound, Covered, Limits, Observer, Outcome, Stop};
use crate::interleavings::depth_first::{self, Arrival, Known};

/// Explores every interleaving.
pub fn explore<M: Machine>(
    machine: &mut M,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    let outcome = search(machine, limits, observer, &mut Nothing);
    match (outcome.stop, u32::try_from(limits.operations)) {
        (Stop::Operations, Ok(most)) => {
            Outcome { covered: Covered::Within(Bound::Operations(most)), ..outcome }
        }
        _ => outcome,
    }
}

/// Explores every state once, by any interleaving that leads to it. Memory grows with the number of
/// states.
pub fn explore_states<M: Fingerprint>(
    machine: &mut M,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    search(machine, limits, observer, &mut States::default())
}

fn search<M: Machine>(
    machine: &mut M,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
    known: &mut dyn Known<M>,
) -> Outcome {
    let mut drive = Drive::new(machine, limits, observer);
    let result = depth_first::explore(&mut drive, None, known);
    drive.outcome(result.map(|_| ()))
}

/// Every way counts.
struct Nothing;

impl<M: Machine> Known<M> for Nothing {
    fn is_new(&mut self, _: &mut Drive<'_, M>, _: &Arrival<'_>) -> bool {
        true
    }
}

/// The states themselves.
#[derive(Default)]
struct States(Fingerprints);

impl<M: Fingerprint> Known<M> for States {
    fn is_new(&mut self, drive: &mut Drive<'_, M>, _: &Arrival<'_>) -> bool {
        self.0.insert(drive.machine.fingerprint())
    }
}
