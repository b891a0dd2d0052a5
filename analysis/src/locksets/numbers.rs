//! What conditions say of the values that they ask: a tag that was 1 here is 1 where it is asked
//! again.
//!
//! So an error that holds a guard is not dropped where there is none, and is dropped where there is
//! one, though the ways of both meet in between.

use super::body::Body;
use super::state::State;
use super::symbol::{Known, Root, Symbol};
use crate::facts::flow::{BlockId, End, Step, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Steps that a condition is followed back through.
const DEEPEST: u32 = 10;

/// Numbers of one value that are known to be others.
const MOST: usize = 8;

/// What is known of the number that a root stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Number {
    /// It is this one.
    Is(u64),
    /// It is none of these.
    IsNot(BTreeSet<u64>),
}

impl Number {
    /// Whether it may be this one.
    pub fn may_be(&self, number: u64) -> bool {
        match self {
            Self::Is(it) => *it == number,
            Self::IsNot(others) => !others.contains(&number),
        }
    }

    /// What is known where one of both is so.
    fn or(&self, other: &Self) -> Option<Self> {
        let others = match (self, other) {
            (Self::Is(one), Self::Is(other)) => return (one == other).then_some(Self::Is(*one)),
            (Self::IsNot(one), Self::IsNot(other)) => one.intersection(other).copied().collect(),
            (Self::Is(it), Self::IsNot(others)) | (Self::IsNot(others), Self::Is(it)) => {
                others.iter().copied().filter(|number| number != it).collect()
            }
        };
        let others: BTreeSet<u64> = others;
        (!others.is_empty()).then_some(Self::IsNot(others))
    }
}

/// Of roots.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Numbers(BTreeMap<Root, Number>);

impl Numbers {
    /// Of one root.
    pub fn of(&self, root: Root) -> Option<&Number> {
        self.0.get(&root)
    }

    /// The number that something is, if that is known.
    pub fn resolve(&self, known: Known) -> Known {
        match known {
            Known::At(Symbol { root, offset: 0 }) => match self.of(root) {
                Some(Number::Is(number)) => Known::Number(*number),
                _ => known,
            },
            _ => known,
        }
    }

    /// What some roots stand for is computed again.
    pub fn renew(&mut self, renewed: impl Fn(Root) -> bool) {
        self.0.retain(|root, _| !renewed(*root));
    }

    /// Another way leads here.
    pub fn merge(&mut self, other: &Self) {
        let both = |(root, one): (&Root, &Number)| Some((*root, one.or(other.of(*root)?)?));
        self.0 = self.0.iter().filter_map(both).collect();
    }

    /// Those of roots that callers know.
    pub fn outside(&self) -> Self {
        let outside = self.0.iter().filter(|(root, _)| Symbol::of(**root).is_outside());
        Self(outside.map(|(root, number)| (*root, number.clone())).collect())
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (Root, &Number)> {
        self.0.iter().map(|(root, number)| (*root, number))
    }

    fn learn(&mut self, root: Root, number: u64, equal: bool) {
        if equal {
            self.0.insert(root, Number::Is(number));
            return;
        }
        let known = self.0.entry(root).or_insert_with(|| Number::IsNot(BTreeSet::new()));
        if let Number::IsNot(others) = known
            && others.len() < MOST
        {
            others.insert(number);
        }
    }
}

impl State {
    /// Whether something that is known may be a number: what is at an address that a lock was
    /// acquired after is not 0.
    pub fn may_be(&self, known: Known, number: u64) -> bool {
        match known {
            Known::Number(it) => it == number,
            Known::At(Symbol { root, offset }) => {
                let by_itself =
                    || offset != 0 || self.numbers.of(root).is_none_or(|n| n.may_be(number));
                let is_lock = || {
                    let of_root = |symbol: &Symbol| symbol.root == root;
                    self.held.keys().any(of_root)
                        || self.may.iter().any(|taken| taken.lock.as_ref().is_some_and(of_root))
                };
                let is_address =
                    || matches!(root, Root::Global(_) | Root::Variable(_)) || is_lock();
                by_itself() && !(number == 0 && offset >= 0 && is_address())
            }
        }
    }
}

impl Body<'_> {
    /// What is known in addition where control goes on to a block.
    pub fn learn(&self, state: &mut State, end: &End, to: BlockId) {
        match end {
            End::Branch(condition, one, other) if one != other => {
                self.is(state, *condition, 1, to == *one, 0);
            }
            End::Switch(value, cases, default) => {
                let mut here = cases.iter().filter(|case| case.1 == to);
                match (here.next(), here.next(), *default == to) {
                    (Some((number, _)), None, false) => self.is(state, *value, *number, true, 0),
                    (None, _, true) => {
                        cases.iter().for_each(|case| self.is(state, *value, case.0, false, 0));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// A value is a number, or is not.
    fn is(&self, state: &mut State, value: Value, number: u64, equal: bool, depth: u32) {
        let Value::Register(register) = value else { return };
        if depth == DEEPEST {
            return;
        }
        let mut of = |value, number, equal| self.is(state, value, number, equal, depth + 1);
        match self.computed(register) {
            Some(Step::Same(_, from)) => return of(*from, number, equal),
            Some(Step::Narrow { from, exact: true, .. }) => return of(*from, number, equal),
            Some(Step::Not(_, from)) => return of(*from, 0, equal == (number == 1)),
            Some(Step::Compare { equal: asks, left, right, .. }) => {
                let same = (equal == (number == 1)) == *asks;
                match (*left, *right) {
                    (value, Value::Number(with)) | (Value::Number(with), value) => {
                        return of(value, with, same);
                    }
                    _ => return,
                }
            }
            Some(Step::Choose {
                condition,
                values: [Value::Number(one), Value::Number(other)],
                ..
            }) if one != other => match (number == *one, number == *other) {
                (true, false) => of(*condition, 1, equal),
                (false, true) => of(*condition, 1, !equal),
                _ => {}
            },
            _ => {}
        }
        if let Some(Known::At(Symbol { root, offset: 0 })) = self.known(state, value) {
            state.numbers.learn(root, number, equal);
        }
    }
}
