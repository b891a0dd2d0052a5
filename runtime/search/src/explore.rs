//! Searches by the strategy that is asked for: the one place that knows all that do without transactions.

use crate::core::machine::Machine;
use crate::drive::observer::{Bound, Limits, Observer, Outcome};
use crate::sampling::priorities::{self, Policy};
use crate::sampling::targeted::{self, Aim};
use crate::{dpor, interleavings::bounded, interleavings::naive, sampling::random};

/// How to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// Every trace (class of interleavings that only differ in the order of independent runs) once: see [`dpor`].
    Dpor,
    /// Every interleaving: see [`naive`].
    Naive,
    /// Every interleaving with at most so many of something, the smallest numbers first: see [`bounded`].
    Bounded(Bound),
    /// Random interleavings by priorities, until a limit or the observer stops it: see [`priorities`].
    Priorities {
        /// How priorities change.
        policy: Policy,
        /// Equal seeds give equal searches.
        seed: u64,
    },
    /// Random interleavings, until a limit or the observer stops it: see [`random`].
    Random {
        /// Equal seeds give equal searches.
        seed: u64,
    },
    /// Random interleavings towards what the machine has for targets: see [`targeted`].
    Targeted(Aim),
}

/// Searches the interleavings of `machine`'s program, from its root.
pub fn explore<M: Machine>(
    machine: &mut M,
    strategy: Strategy,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    match strategy {
        Strategy::Dpor => dpor::explore(machine, limits, observer),
        Strategy::Naive => naive::explore(machine, limits, observer),
        Strategy::Bounded(bound) => bounded::explore(machine, bound, limits, observer),
        Strategy::Priorities { policy, seed } => {
            priorities::explore(machine, policy, seed, limits, observer)
        }
        Strategy::Random { seed } => random::explore(machine, seed, limits, observer),
        Strategy::Targeted(aim) => targeted::explore(machine, aim, limits, observer),
    }
}
