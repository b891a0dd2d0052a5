//! Numbers and searches in sentences.

use crate::cli::search::{Sample, Search};

/// `1 test`, `2 tests`.
pub fn count(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// A bound on preemptions.
pub fn at_most(preemptions: u64) -> String {
    match preemptions {
        0 => "no preemptions".into(),
        most => format!("at most {}", count(most, "preemption")),
    }
}

/// How interleavings are chosen.
pub fn search(search: Search) -> String {
    let words = match search {
        Search::Exhaustive => "exhaustive search",
        Search::Alone => "exhaustive search alone",
        Search::States => "search over states",
        Search::Unified => "search over states and partial orders",
        Search::Bounded { preemptions } => {
            return format!("bounded search, {}", at_most(preemptions.into()));
        }
        Search::Sample(Sample::Uniform) => "uniform sample",
        Search::Sample(Sample::Pct) => "PCT sample",
        Search::Sample(Sample::Pos) => "POS sample",
        Search::Dpor => "exhaustive search by single operations",
        Search::Naive => "exhaustive search without reduction",
    };
    words.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounded_search_says_its_bound() {
        let words = |preemptions| search(Search::Bounded { preemptions });
        assert_eq!(words(0), "bounded search, no preemptions");
        assert_eq!(words(1), "bounded search, at most 1 preemption");
        assert_eq!(words(2), "bounded search, at most 2 preemptions");
    }
}
