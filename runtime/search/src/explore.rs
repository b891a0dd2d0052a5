//! Searches by the strategy that is asked for: the one place that knows all searches.

use crate::core::fingerprint::Fingerprint;
use crate::discipline::Discipline;
use crate::drive::frontier::Frontier;
use crate::drive::observer::{Bound, Limits, Observer, Outcome};
use crate::drive::transactional::Transactional;
use crate::interleavings::{bounded, naive};
use crate::sampling::priorities::{self, Policy};
use crate::sampling::random;
use crate::states::{stateful, unified};
use crate::{dpor, transactions};
use lockred_protocol::strategy::Strategy;

/// Searches the interleavings of `machine`'s program by `strategy`, from the machine's root.
pub fn explore<M: Transactional + Fingerprint>(
    machine: &mut M,
    strategy: Strategy,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    explore_from(None, machine, strategy, limits, observer)
}

/// The same, going on from where another search stood that had the same strategy and program. (Only
/// the search by transactions says where it stands.)
pub fn explore_from<M: Transactional + Fingerprint>(
    frontier: Option<Frontier>,
    machine: &mut M,
    strategy: Strategy,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    match strategy {
        Strategy::Transactions => {
            let mut discipline = Discipline::default();
            transactions::explore_from(frontier, machine, &mut discipline, limits, observer)
        }
        Strategy::Stateful => {
            stateful::explore(machine, &mut Discipline::by_locks(), limits, observer)
        }
        Strategy::Unified => {
            let (discipline, settings) = (&mut Discipline::hybrid(), unified::Settings::default());
            unified::explore(machine, discipline, settings, limits, observer).0
        }
        Strategy::Dpor => dpor::explore(machine, limits, observer),
        Strategy::Bounded { preemptions } => {
            bounded::explore(machine, Bound::Preemptions(preemptions), limits, observer)
        }
        Strategy::Naive => naive::explore(machine, limits, observer),
        Strategy::Random { seed } => random::explore(machine, seed, limits, observer),
        Strategy::Pct { depth, seed } => {
            priorities::explore(machine, Policy::Pct { depth }, seed, limits, observer)
        }
        Strategy::Pos { seed } => priorities::explore(machine, Policy::Pos, seed, limits, observer),
    }
}
