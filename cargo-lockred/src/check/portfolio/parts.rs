//! The parts of a portfolio, how much each may do, and with which random numbers.
//!
//! What a part may do is counted in operations, so that it depends on the program and the seed
//! alone. Where operations are slow, processor time cuts it.

use crate::cli::search::{Sample, Search};
use lockred_protocol::session::Share;

/// One kind of search in a portfolio.
#[derive(Debug)]
pub struct Part {
    /// As it would be asked for alone.
    pub search: Search,
    /// Its part of the time of a round.
    pub weight: u64,
    /// How long an operation takes in it, about: 10 in the exhaustive search.
    pub cost: u64,
    /// What is said while it runs.
    pub doing: &'static str,
}

/// The part that goes on where it stood. It begins, and ends each round.
pub const EXHAUSTIVE: usize = 0;

/// All parts. The exhaustive search has half of a round: a test that ends by it takes twice as long
/// at most as by the exhaustive search alone.
pub const PARTS: [Part; 6] = [
    Part { search: Search::Exhaustive, weight: 12, cost: 10, doing: "exhaustive" },
    Part { search: Search::Unified, weight: 6, cost: 90, doing: "states" },
    // All executions without preemptions come first in it, then those with one.
    Part {
        search: Search::Bounded { preemptions: 2 },
        weight: 3,
        cost: 10,
        doing: "few preemptions",
    },
    Part { search: Search::Sample(Sample::Pct), weight: 1, cost: 3, doing: "random walks (PCT)" },
    Part { search: Search::Sample(Sample::Pos), weight: 1, cost: 3, doing: "random walks (POS)" },
    Part { search: Search::Sample(Sample::Uniform), weight: 1, cost: 3, doing: "random walks" },
];

/// The order of a round.
const ROUND: [usize; 6] = [1, 2, 3, 4, 5, EXHAUSTIVE];

/// Operations of the first slice: about a second. Most tests end in it.
const FIRST: u64 = 1_000_000;
/// The first slice takes at most this part of the budget.
const FIRST_PART: u64 = 8;

/// What a test may take, or what is left of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Budget {
    /// Operations, if they are limited.
    pub operations: Option<u64>,
    /// Seconds of processor time, if they are limited.
    pub seconds: Option<f64>,
}

impl Budget {
    /// What is left once so much was done.
    pub fn less(self, operations: u64, seconds: f64) -> Self {
        Self {
            operations: self.operations.map(|all| all.saturating_sub(operations)),
            seconds: self.seconds.map(|all| (all - seconds).max(0.0)),
        }
    }

    /// Whether nothing is left that a process could be started for. `whole` is the budget of the
    /// test.
    pub fn is_over(self, whole: Self) -> bool {
        let few = self.seconds.zip(whole.seconds).is_some_and(|(left, all)| left < all * 0.01);
        few || self.operations == Some(0)
    }
}

/// The place of a slice: the part, and the round unless it is the first slice of all.
pub const fn place(number: u32) -> (usize, Option<u32>) {
    match number.checked_sub(1) {
        None => (EXHAUSTIVE, None),
        Some(later) => {
            let parts = ROUND.len() as u32;
            (ROUND[(later % parts) as usize], Some(later / parts))
        }
    }
}

/// A multiple of all costs.
const COSTS: u64 = 90;

impl Part {
    /// Its part of the operations of a round.
    const fn operations(&self) -> u64 {
        self.weight * COSTS / self.cost
    }
}

/// What is still to come in the round of a slice, itself included: the parts that still run.
fn to_come(number: u32, runs: &dyn Fn(usize) -> bool) -> impl Iterator<Item = &'static Part> {
    let (_, round) = place(number);
    let in_round = (number..).map(place).take_while(move |&(_, other)| other == round);
    in_round.filter(|&(part, _)| runs(part)).map(|(part, _)| &PARTS[part])
}

/// What the slice with this number may take, of what is left of the whole. Slices double from round
/// to round. No slice takes more of what is left than its part of the round, so that the last round
/// is shared as the others are.
pub fn slice(number: u32, left: Budget, whole: Budget, runs: &dyn Fn(usize) -> bool) -> Share {
    let first = Share {
        operations: Some(whole.operations.map_or(FIRST, |all| FIRST.min(all / FIRST_PART).max(1))),
        seconds: whole.seconds.map(|all| all / FIRST_PART as f64),
    };
    let (part, Some(round)) = place(number) else { return first };
    let (part, largest) = (&PARTS[part], &PARTS[EXHAUSTIVE]);
    let weights: u64 = to_come(number, runs).map(|part| part.weight).sum();
    let all_operations: u64 = to_come(number, runs).map(Part::operations).sum();
    let doubled = 2_u64.saturating_pow(round + 1);
    let operations = first.operations.unwrap_or(FIRST).saturating_mul(doubled);
    let operations = operations.saturating_mul(part.operations()) / largest.operations();
    let most = left.operations.map(|left| left.saturating_mul(part.operations()) / all_operations);
    let operations = most.map_or(operations, |most| operations.min(most)).max(1);
    let seconds = first.seconds.zip(left.seconds).map(|(first, left)| {
        let seconds = first * doubled as f64 * part.weight as f64 / largest.weight as f64;
        seconds.min(left * part.weight as f64 / weights as f64)
    });
    Share { operations: Some(operations), seconds }
}

/// The seed of random parts in a round: others in each, all of the seed that was asked for.
pub const fn seed(asked: u64, round: u32) -> u64 {
    // The increment of splitmix64, by which no two rounds come to the same.
    asked.wrapping_add((round as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Budget = Budget { operations: Some(80_000_000), seconds: Some(80.0) };

    #[test]
    fn rounds_follow_the_first_slice_and_each_ends_with_the_exhaustive_search() {
        assert_eq!(place(0), (EXHAUSTIVE, None));
        let round: Vec<_> = (1..=6).map(place).collect();
        assert_eq!(round, [1, 2, 3, 4, 5, EXHAUSTIVE].map(|part| (part, Some(0))));
        assert_eq!(place(7), (1, Some(1)));
        assert_eq!(ROUND.len(), PARTS.len());
    }

    #[test]
    fn slices_double_and_the_exhaustive_search_has_half_of_the_time() {
        let slice = |number| slice(number, WHOLE, WHOLE, &|_| true).operations.unwrap();
        assert_eq!(slice(0), FIRST);
        assert_eq!([1, 2, 3, 6].map(slice), [111_111, 500_000, 555_555, 2_000_000]);
        assert_eq!([7, 12].map(slice), [222_222, 4_000_000]);
        let others: u64 = PARTS.iter().skip(1).map(|part| part.weight).sum();
        assert_eq!(others, PARTS[EXHAUSTIVE].weight);
        assert!(PARTS.iter().all(|part| COSTS.is_multiple_of(part.cost)));
    }

    #[test]
    fn the_last_round_is_shared_like_the_others_and_leaves_nothing() {
        let mut left = Budget { operations: Some(23_100), seconds: Some(2.4) };
        let mut taken = Vec::new();
        for number in 13..19 {
            let share = slice(number, left, WHOLE, &|_| true);
            let (operations, seconds) = (share.operations.unwrap(), share.seconds.unwrap());
            left = left.less(operations, seconds);
            taken.push((operations, (seconds * 10.0).round() as u32));
        }
        let walks = (3000, 1);
        assert_eq!(taken, [(600, 6), (2700, 3), walks, walks, walks, (10_800, 12)]);
        assert!(left.is_over(WHOLE) && left.seconds.unwrap() < 1e-9);
        // Those that are left out have no part of it.
        let left = Budget { operations: Some(1900), seconds: None };
        let share = slice(13, left, WHOLE, &|part| part == EXHAUSTIVE || part == 1);
        assert_eq!((share.operations, share.seconds), (Some(100), None));
    }

    #[test]
    fn a_small_budget_has_rounds_too() {
        let whole = Budget { operations: Some(800), seconds: None };
        assert_eq!(slice(0, whole, whole, &|_| true).operations, Some(100));
        assert_eq!(slice(1, whole.less(100, 0.0), whole, &|_| true).operations, Some(11));
        let tiny = Budget { operations: Some(3), seconds: None };
        assert_eq!(slice(0, tiny, tiny, &|_| true).operations, Some(1));
    }

    #[test]
    fn each_round_has_other_random_numbers() {
        let seeds = [seed(7, 0), seed(7, 1), seed(7, 2), seed(8, 0), seed(8, 1)];
        assert_eq!(seeds[0], 7);
        for (index, one) in seeds.iter().enumerate() {
            assert!(!seeds[..index].contains(one));
        }
    }
}
