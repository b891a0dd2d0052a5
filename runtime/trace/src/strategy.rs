//! The strategies, in one table: what each is called, whether it samples, and what it needs of the
//! process that it runs in.
//!
//! The command line takes its names from here, the runtime asks what to prepare, and the search
//! matches on it. All three match exhaustively, so that a new strategy does not compile until each
//! of them knows it.

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
    pub const ALL: [Self; 8] = [
        Self::Transactions,
        Self::Stateful,
        Self::Dpor,
        // Preemptions in Musuvathi and Qadeer's experience.
        Self::Bounded { preemptions: 2 },
        Self::Naive,
        Self::Random { seed: 0 },
        // Most bugs of the paper take one or two constraints, some three.
        Self::Pct { depth: 3, seed: 0 },
        Self::Pos { seed: 0 },
    ];

    /// The strategy of this name, with the parameters that it has unless others are given.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|strategy| strategy.name() == name)
    }

    /// As typed and as printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transactions => "transactions",
            Self::Stateful => "stateful",
            Self::Dpor => "dpor",
            Self::Bounded { .. } => "bounded",
            Self::Naive => "naive",
            Self::Random { .. } => "random",
            Self::Pct { .. } => "pct",
            Self::Pos { .. } => "pos",
        }
    }

    /// In one line, for whoever chooses.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Transactions => {
                "Systematic, one interleaving of each class, by whole transactions: locks cost what their data needs"
            }
            Self::Stateful => {
                "Systematic, each state of the program once, by whole transactions: ends on programs that run for ever"
            }
            Self::Dpor => "Systematic, one interleaving of each class, by single operations",
            Self::Bounded { .. } => {
                "Systematic, every interleaving with few preemptions (see --preemptions), the fewest first, by single operations"
            }
            Self::Naive => "Systematic, every interleaving; slow, for comparison",
            Self::Random { .. } => "Random walks; never complete",
            Self::Pct { .. } => {
                "Random priorities of threads with few changes, for rare bugs of few constraints; never complete"
            }
            Self::Pos { .. } => {
                "Random priorities of operations, which spread over orders of dependent ones; never complete"
            }
        }
    }

    /// What it needs.
    #[must_use]
    pub const fn needs(self) -> Needs {
        match self {
            Self::Transactions => Needs::TRANSACTIONS,
            Self::Stateful => Needs { states: true, ..Needs::TRANSACTIONS },
            Self::Dpor | Self::Bounded { .. } | Self::Pos { .. } => Needs::OPERATIONS,
            Self::Naive | Self::Random { .. } | Self::Pct { .. } => Needs::WALK,
        }
    }

    /// Whether executions are drawn at random, so that no number of them covers everything.
    #[must_use]
    pub const fn samples(self) -> bool {
        match self {
            Self::Random { .. } | Self::Pct { .. } | Self::Pos { .. } => true,
            Self::Transactions | Self::Stateful | Self::Dpor => false,
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
            Self::Transactions | Self::Stateful | Self::Dpor | Self::Naive => self,
            Self::Bounded { .. } => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_strategy_is_found_by_its_name_and_has_one_line() {
        let names: HashSet<&str> = Strategy::ALL.iter().map(|strategy| strategy.name()).collect();
        assert_eq!(names.len(), Strategy::ALL.len());
        for strategy in Strategy::ALL {
            assert_eq!(Strategy::of(strategy.name()), Some(strategy));
            assert!(!strategy.about().contains('\n'), "{}", strategy.name());
        }
        assert_eq!(Strategy::of("clever"), None);
    }

    #[test]
    fn who_samples_has_a_seed_and_says_so() {
        for strategy in Strategy::ALL {
            let differs = strategy.seeded(7) != strategy;
            assert_eq!(differs, strategy.samples(), "{}", strategy.name());
            assert_eq!(strategy.about().ends_with("; never complete"), strategy.samples());
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
