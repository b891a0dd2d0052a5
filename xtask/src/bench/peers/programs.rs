//! The pairs of programs, as `xtask/peers` lists them.

#[path = "../../../peers/src/list.rs"]
mod list;

/// The bug of a wrong program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bug {
    /// A check fails.
    Panic,
    /// Threads wait for ever.
    Deadlock,
    /// Plain memory is accessed without an order. A check may fail, too, where that has
    /// consequences.
    Race,
    /// Freed memory is used.
    Freed,
}

impl Bug {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Bug::Panic => "panic",
            Bug::Deadlock => "deadlock",
            Bug::Race => "data race",
            Bug::Freed => "use after free",
        }
    }
}

/// A wrong program and its right twin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    pub family: &'static str,
    pub name: &'static str,
    pub bug: Bug,
    /// What a checker must know of.
    pub needs: Option<&'static str>,
}

impl Pair {
    /// `locks::lost_update`.
    pub fn path(&self) -> String {
        format!("{}::{}", self.family, self.name)
    }
}

/// Which of a pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Twin {
    Wrong,
    Right,
}

impl Twin {
    /// As tests and runners spell it.
    pub fn name(self) -> &'static str {
        match self {
            Twin::Wrong => "wrong",
            Twin::Right => "right",
        }
    }
}

/// All of them.
pub fn pairs() -> Vec<Pair> {
    /// No need, or the one that is named.
    fn need(needs: &[&'static str]) -> Option<&'static str> {
        needs.first().copied()
    }
    macro_rules! pairs {
        ($($family:ident::$name:ident $bug:ident $(needs $need:tt)?,)*) => {
            vec![$(Pair {
                family: stringify!($family),
                name: stringify!($name),
                bug: Bug::$bug,
                needs: need(&[$($need)?]),
            },)*]
        };
    }
    list::each_program!(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_as_the_tests_are_named_by_them_alone() {
        let names: BTreeSet<_> = pairs().iter().map(|pair| pair.name).collect();
        assert_eq!(names.len(), pairs().len());
    }

    #[test]
    fn there_are_enough_of_every_bug() {
        let of = |bug| pairs().iter().filter(|pair| pair.bug == bug).count();
        assert!(2 * pairs().len() >= 100);
        assert!([Bug::Panic, Bug::Deadlock, Bug::Race].into_iter().all(|bug| of(bug) >= 10));
    }
}
