//! `--search`: how interleavings are chosen, as it is typed and as it is printed.

use lockred_protocol::session::Strategy;
use serde::{Deserialize, Serialize};
use std::fmt::{Display, Formatter};

/// What `--search` takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Search {
    /// Every interleaving, up to equivalence; where that does not end soon, other searches as well.
    Exhaustive,
    /// Every interleaving, up to equivalence, and nothing else: to compare with.
    Alone,
    /// Every state once.
    States,
    /// Every state once, and only the threads whose order matters: to compare with.
    Unified,
    /// Every interleaving with few preemptions.
    Bounded {
        /// At most so many.
        preemptions: u32,
    },
    /// Some interleavings, drawn at random.
    Sample(Sample),
    /// Every interleaving, up to equivalence of single operations: to compare with.
    Dpor,
    /// Every interleaving: to compare with.
    Naive,
}

/// How interleavings are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Sample {
    /// The next thread by chance.
    Uniform,
    /// Random priorities of threads, which change a few times.
    Pct,
    /// Random priorities of operations.
    Pos,
}

/// Preemptions of a bounded search, unless others are given.
const PREEMPTIONS: u32 = 2;

/// Ordering constraints of a bug that PCT finds with the promised probability: most bugs of the
/// paper take one or two, some three.
const DEPTH: u32 = 3;

/// What a search was called as long as the option was `--strategy`, where that was another name.
pub const RENAMED: [(&str, &str); 5] = [
    ("transactions", "exhaustive"),
    ("stateful", "states"),
    ("random", "sample"),
    ("pct", "sample=pct"),
    ("pos", "sample=pos"),
];

impl Search {
    /// From what was typed.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let search = match (name, value) {
            ("bounded", None) => Self::Bounded { preemptions: PREEMPTIONS },
            ("bounded", Some(number)) => match number.parse() {
                Ok(preemptions) => Self::Bounded { preemptions },
                Err(_) => return Err("expected a number of preemptions, as in bounded=2".into()),
            },
            ("sample", None | Some("uniform")) => Self::Sample(Sample::Uniform),
            ("sample", Some("pct")) => Self::Sample(Sample::Pct),
            ("sample", Some("pos")) => Self::Sample(Sample::Pos),
            ("sample", Some(_)) => {
                return Err("expected sample=uniform, sample=pct or sample=pos".into());
            }
            ("exhaustive", None) => Self::Exhaustive,
            ("exhaustive", Some("alone")) => Self::Alone,
            ("states", None) => Self::States,
            ("unified", None) => Self::Unified,
            ("dpor", None) => Self::Dpor,
            ("naive", None) => Self::Naive,
            ("exhaustive" | "states" | "unified" | "dpor" | "naive", Some(_)) => {
                return Err(format!("{name} takes no value"));
            }
            _ => {
                return Err(match RENAMED.iter().find(|(old, _)| *old == text) {
                    Some((old, new)) => format!("{old} is now {new}"),
                    None => "expected exhaustive, bounded[=N], sample[=uniform|pct|pos] or states"
                        .into(),
                });
            }
        };
        Ok(search)
    }

    /// Whether it draws interleavings at random, so that no number of them covers everything.
    pub const fn samples(self) -> bool {
        matches!(self, Self::Sample(_))
    }

    /// What the runtime does for it.
    pub const fn strategy(self, seed: u64) -> Strategy {
        match self {
            Self::Exhaustive | Self::Alone => Strategy::Transactions,
            Self::States => Strategy::Stateful,
            Self::Unified => Strategy::Unified,
            Self::Bounded { preemptions } => Strategy::Bounded { preemptions },
            Self::Sample(Sample::Uniform) => Strategy::Random { seed },
            Self::Sample(Sample::Pct) => Strategy::Pct { depth: DEPTH, seed },
            Self::Sample(Sample::Pos) => Strategy::Pos { seed },
            Self::Dpor => Strategy::Dpor,
            Self::Naive => Strategy::Naive,
        }
    }
}

impl Display for Search {
    /// As it is typed.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Bounded { preemptions } => return write!(f, "bounded={preemptions}"),
            Self::Exhaustive => "exhaustive",
            Self::Alone => "exhaustive=alone",
            Self::States => "states",
            Self::Unified => "unified",
            Self::Sample(Sample::Uniform) => "sample=uniform",
            Self::Sample(Sample::Pct) => "sample=pct",
            Self::Sample(Sample::Pos) => "sample=pos",
            Self::Dpor => "dpor",
            Self::Naive => "naive",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Search; 10] = [
        Search::Exhaustive,
        Search::Alone,
        Search::States,
        Search::Unified,
        Search::Bounded { preemptions: 0 },
        Search::Sample(Sample::Uniform),
        Search::Sample(Sample::Pct),
        Search::Sample(Sample::Pos),
        Search::Dpor,
        Search::Naive,
    ];

    #[test]
    fn each_form_is_parsed() {
        for (text, search) in [
            ("bounded", Search::Bounded { preemptions: 2 }),
            ("bounded=5", Search::Bounded { preemptions: 5 }),
            ("sample", Search::Sample(Sample::Uniform)),
        ] {
            assert_eq!(Search::parse(text), Ok(search), "{text}");
        }
        for search in ALL {
            assert_eq!(Search::parse(&search.to_string()), Ok(search), "{search}");
        }
    }

    #[test]
    fn what_is_no_search_is_refused() {
        for (text, said) in [
            ("clever", "expected exhaustive, bounded[=N], sample[=uniform|pct|pos] or states"),
            ("", "expected exhaustive, bounded[=N], sample[=uniform|pct|pos] or states"),
            ("bounded=", "expected a number of preemptions, as in bounded=2"),
            ("bounded=-1", "expected a number of preemptions, as in bounded=2"),
            ("bounded=few", "expected a number of preemptions, as in bounded=2"),
            ("sample=luck", "expected sample=uniform, sample=pct or sample=pos"),
            ("exhaustive=3", "exhaustive takes no value"),
            ("naive=", "naive takes no value"),
            ("random", "random is now sample"),
        ] {
            assert_eq!(Search::parse(text), Err(said.into()), "{text}");
        }
    }

    #[test]
    fn what_was_renamed_leads_to_a_search() {
        for (old, new) in RENAMED {
            assert_eq!(Search::parse(old), Err(format!("{old} is now {new}")));
            assert!(Search::parse(new).is_ok(), "{new}");
        }
    }

    #[test]
    fn each_strategy_is_the_one_of_a_search() {
        let alone = |search: &Search| *search != Search::Alone;
        let strategies: Vec<_> =
            ALL.into_iter().filter(alone).map(|search| search.strategy(7)).collect();
        for strategy in Strategy::ALL {
            let same = |other: &Strategy| other.name() == strategy.name();
            let [one] = strategies.iter().copied().filter(same).collect::<Vec<_>>()[..] else {
                panic!("{strategy:?}: {strategies:?}");
            };
            assert_eq!(one.samples(), one == one.seeded(7) && one != one.seeded(8));
        }
    }

    #[test]
    fn attributes_take_the_same_searches() {
        // The attributes are compiled into programs of users, and so depend on nothing.
        let source = include_str!("../../../runtime/annotations/macros/src/search.rs");
        for text in ALL.map(|search| search.to_string()) {
            let words = text.split('=').filter(|word| word.parse::<u32>().is_err());
            words.for_each(|word| assert!(source.contains(&format!("\"{word}\"")), "{word}"));
        }
        for (old, new) in RENAMED {
            assert!(source.contains(&format!("(\"{old}\", \"{new}\")")), "{old}");
        }
    }
}
