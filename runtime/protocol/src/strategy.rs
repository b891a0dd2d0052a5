//! The strategies, in one table: what each is called, whether it samples, and what it needs of the
//! process that it runs in.
//!
//! The runtime asks what to prepare, and the search matches on it. Both match exhaustively, so that
//! a new strategy does not compile until they know it; a test of the command line fails until some
//! `--search` leads to it.

use serde::{Deserialize, Serialize};

/// A search strategy with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Dynamic partial-order reduction over transactions, under a discipline that the search
    /// learns.
    Transactions,
    /// Each state of the program once, by transactions: ends where states recur.
    Stateful,
    /// Each state once, by transactions, and from a state only the threads that race with what was
    /// explored after it.
    Unified,
    /// Dynamic partial-order reduction over visible operations.
    Dpor,
    /// All executions with at most so many preemptions, those with fewer first.
    Bounded {
        /// Switches away from a thread that could have gone on.
        preemptions: u32,
    },
    /// Every visible operation a scheduling point, nothing reduced.
    Naive,
    /// Uniform random walks.
    Random {
        /// Seed of the walks.
        seed: u64,
    },
    /// Random priorities of threads, which change a few times in an execution (probabilistic
    /// concurrency testing).
    Pct {
        /// Ordering constraints that a bug takes which is to be found with the promised
        /// probability; at least 1.
        depth: u32,
        /// Seed of the walks.
        seed: u64,
    },
    /// Random priorities of operations, drawn anew where they depend on what ran (partial-order
    /// sampling).
    Pos {
        /// Seed of the walks.
        seed: u64,
    },
}

/// What a strategy needs of the process that it runs in. What it does not need is not prepared, so
/// that it costs nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needs {
    /// Operations and accesses are reported one by one, as parts of transactions.
    pub transactions: bool,
    /// States are compared, so leftovers are cleared.
    pub states: bool,
    /// The search asks what steps touch, and what threads are about to touch.
    pub footprints: bool,
    /// The race detector watches each execution. (A search by transactions judges races itself.)
    pub detector: bool,
    /// An act on a channel is executed step by step, as it is written. (Else it is one operation.)
    pub channels_step_by_step: bool,
}

impl Needs {
    /// What an execution needs whose schedule nobody derives from what earlier ones touched.
    pub const WALK: Self = Self {
        transactions: false,
        states: false,
        footprints: false,
        detector: true,
        channels_step_by_step: true,
    };

    /// What a search by single operations needs that asks which of them depend on each other.
    pub const OPERATIONS: Self = Self { footprints: true, ..Self::WALK };

    /// What a search by transactions needs.
    pub const TRANSACTIONS: Self = Self {
        transactions: true,
        states: false,
        footprints: false,
        detector: false,
        channels_step_by_step: false,
    };
}

impl Strategy {
    /// Each strategy once, with the parameters that it has unless others are given.
    pub const ALL: [Self; 9] = [
        Self::Transactions,
        Self::Stateful,
        Self::Unified,
        Self::Dpor,
        // Preemptions in Musuvathi and Qadeer's experience.
        Self::Bounded { preemptions: 2 },
        Self::Naive,
        Self::Random { seed: 0 },
        // Most bugs of the paper take one or two constraints, some three.
        Self::Pct { depth: 3, seed: 0 },
        Self::Pos { seed: 0 },
    ];

    /// In a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transactions => "transactions",
            Self::Stateful => "stateful",
            Self::Unified => "unified",
            Self::Dpor => "dpor",
            Self::Bounded { .. } => "bounded",
            Self::Naive => "naive",
            Self::Random { .. } => "random",
            Self::Pct { .. } => "pct",
            Self::Pos { .. } => "pos",
        }
    }

    /// What it needs.
    #[must_use]
    pub const fn needs(self) -> Needs {
        match self {
            Self::Transactions => Needs::TRANSACTIONS,
            Self::Stateful | Self::Unified => Needs { states: true, ..Needs::TRANSACTIONS },
            Self::Dpor | Self::Bounded { .. } | Self::Pos { .. } => Needs::OPERATIONS,
            Self::Naive | Self::Random { .. } | Self::Pct { .. } => Needs::WALK,
        }
    }

    /// Whether executions are drawn at random, so that no number of them covers everything.
    #[must_use]
    pub const fn samples(self) -> bool {
        match self {
            Self::Random { .. } | Self::Pct { .. } | Self::Pos { .. } => true,
            Self::Transactions | Self::Stateful | Self::Unified | Self::Dpor => false,
            Self::Bounded { .. } | Self::Naive => false,
        }
    }

    /// The same strategy with this seed, where it has one.
    #[must_use]
    pub const fn seeded(self, seed: u64) -> Self {
        match self {
            Self::Random { .. } => Self::Random { seed },
            Self::Pct { depth, .. } => Self::Pct { depth, seed },
            Self::Pos { .. } => Self::Pos { seed },
            Self::Transactions | Self::Stateful | Self::Unified | Self::Dpor => self,
            Self::Bounded { .. } | Self::Naive => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_strategy_has_a_name_of_its_own() {
        let names: HashSet<&str> = Strategy::ALL.iter().map(|strategy| strategy.name()).collect();
        assert_eq!(names.len(), Strategy::ALL.len());
    }

    #[test]
    fn who_samples_has_a_seed() {
        for strategy in Strategy::ALL {
            let differs = strategy.seeded(7) != strategy;
            assert_eq!(differs, strategy.samples(), "{}", strategy.name());
        }
    }

    #[test]
    fn races_are_judged_by_the_search_or_by_the_detector() {
        for needs in Strategy::ALL.map(Strategy::needs) {
            assert_eq!(needs.detector, !needs.transactions);
            assert!(needs.transactions || !needs.states);
        }
    }
}
