//! What every search takes and gives: the observer, limits, counts and the outcome.

use crate::core::choice::Choice;
use crate::drive::frontier::Frontier;
use serde::{Deserialize, Serialize};

/// The policy of a search's caller: notified of what happens, and asked whether to go on.
pub trait Observer<F> {
    /// `choice` is about to be made at this index of the schedule under way; later ones of the
    /// schedule are void. Prefixes that are run again are not announced again: whoever keeps the
    /// last announcement of every index has the schedule under way even if the process dies in the
    /// middle of a run.
    fn on_choice(&mut self, depth: usize, choice: Choice) {
        let _ = (depth, choice);
    }

    /// A run has ended (a heartbeat, called for prefixes as well). Returns whether to go on.
    fn on_step(&mut self, counts: &Counts) -> bool {
        let _ = counts;
        true
    }

    /// The search stands between two executions. Whether it is to report where
    /// ([`Observer::on_frontier`]).
    fn wants_frontier(&mut self) -> bool {
        false
    }

    /// The search stands between two executions. Whether it has taken its share and stops here
    /// ([`Stop::Total`]). Between two executions the response stays the same.
    fn is_spent(&mut self, counts: &Counts) -> bool {
        let _ = counts;
        false
    }

    /// What it takes to go on from here, perhaps in another process.
    fn on_frontier(&mut self, frontier: &Frontier) {
        let _ = frontier;
    }

    /// The search stands between two executions. Whether it is to report how far it is
    /// ([`Observer::on_share`]).
    fn wants_share(&mut self) -> bool {
        false
    }

    /// About the share of everything that was explored, from 0 to 1, going by the branches that are
    /// known of so far. Only the search by transactions reports it.
    fn on_share(&mut self, share: f64) {
        let _ = share;
    }

    /// A bounded search begins with all executions that have at most so many of what it counts.
    fn on_bound(&mut self, most: u32) {
        let _ = most;
    }

    /// A failure showed; `schedule` leads to it, its last run included. Returns whether to go on.
    fn on_failure(&mut self, failure: F, schedule: &[Choice]) -> bool;
}

/// How much was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Executions that ran to an end, or were cut at the limit of operations.
    pub executions: u64,
    /// Executions given up because they could only repeat others (all threads that could run were
    /// asleep, or the state was visited before).
    pub blocked: u64,
    /// Restarts because an assumption was refuted.
    pub refinements: u64,
    /// Runs of threads from boundary to boundary, prefixes that are run again left out.
    pub transactions: u64,
    /// Runs of threads, prefixes that are run again included.
    pub operations: u64,
}

/// Why a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// Everything was explored (a replay: the execution ended).
    Complete,
    /// The observer wanted to stop at a failure.
    Failure,
    /// The limit of executions was reached.
    Executions,
    /// The share of the search was taken, which is looked at between executions
    /// ([`Observer::is_spent`]).
    Total,
    /// As `Complete`, but at least one execution was cut at the limit of operations.
    Operations,
    /// As `Complete`, but the bound left something out.
    Bound,
    /// The observer wanted to stop, without a failure.
    Interrupted,
    /// The machine met something that it cannot model.
    Unsupported,
    /// The same choices did not give the same runs.
    Nondeterminism {
        /// The run, counted from 0 at the root, that differed.
        step: usize,
    },
}

/// Which executions of the program a search covered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Covered {
    /// All, up to equivalence.
    Everything,
    /// All with at most so many preemptions, switches or operations (those that are longer up to
    /// there).
    Within(Bound),
    /// So many, drawn at random from this seed, some perhaps more than once.
    Sampled {
        /// How many.
        executions: u64,
        /// Where the random numbers began.
        seed: u64,
    },
    /// Some; which ones cannot be said in a word.
    Some,
}

/// What a search gives back. Failures and the schedules that lead to them went to the observer
/// ([`crate::drive::findings::Findings`] collects them); what was learned of the discipline is in
/// the [`crate::discipline::Discipline`] that was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Why it ended.
    pub stop: Stop,
    /// What it covered until then.
    pub covered: Covered,
    /// How much it did.
    pub counts: Counts,
}

/// What a bounded search counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Switches away from a thread that could have gone on.
    Preemptions(u32),
    /// Switches of any kind.
    Switches(u32),
    /// Runs of threads.
    Operations(u32),
}

/// Limits of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Executions in all, blocked ones included.
    pub executions: Option<u64>,
    /// Runs of threads in one execution; a longer one is cut.
    pub operations: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { executions: None, operations: u64::MAX }
    }
}
