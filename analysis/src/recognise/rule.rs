//! One rule of a sync model: which atomic instructions it matches, and what they then are.

use super::types;
use lockred_protocol::hooks::{Class, How, RmwOp, Test};
use serde::Deserialize;
use std::collections::HashSet;

/// What kind of atomic instruction a rule is asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Atomic load.
    Load,
    /// Atomic store.
    Store,
    /// Read-modify-write.
    Rmw(RmwOp),
    /// Compare-exchange.
    CompareExchange,
}

/// The words that rules use for instructions.
const NAMES: &[&str] = &[
    "load", "store", "cmpxchg", "rmw", "xchg", "add", "sub", "and", "nand", "or", "xor", "max",
    "min",
];

impl Kind {
    /// Whether a word is one that rules use for instructions.
    pub fn is_a_name(word: &str) -> bool {
        NAMES.contains(&word)
    }

    /// Whether the word that a rule uses for instructions means this kind.
    fn is_called(self, word: &str) -> bool {
        match self {
            Self::Load => word == "load",
            Self::Store => word == "store",
            Self::CompareExchange => word == "cmpxchg",
            Self::Rmw(op) => {
                word == "rmw"
                    || word
                        == match op {
                            RmwOp::Xchg => "xchg",
                            RmwOp::Add => "add",
                            RmwOp::Sub => "sub",
                            RmwOp::And => "and",
                            RmwOp::Nand => "nand",
                            RmwOp::Or => "or",
                            RmwOp::Xor => "xor",
                            RmwOp::Max | RmwOp::UMax => "max",
                            RmwOp::Min | RmwOp::UMin => "min",
                        }
            }
        }
    }
}

/// When a blocking operation may run: when `word & mask` and `value` pass the test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Await {
    /// Bits of the word that count.
    pub mask: u64,
    /// What they are compared with.
    pub value: u64,
    /// How.
    #[serde(default = "equal")]
    pub test: Test,
}

/// The test that a rule means when it names none.
const fn equal() -> Test {
    Test::Equal
}

/// A rule. The head of `models/std.toml` explains the fields to those who write them.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Unique in its file.
    pub name: String,
    /// The rules of a library that hold together or not at all; the empty name is one, too.
    #[serde(default)]
    pub part: String,
    /// The oldest version of the package of its functions for which the rule is.
    #[serde(default)]
    pub since: Option<String>,
    /// The oldest later version for which it is not any more.
    #[serde(default)]
    pub until: Option<String>,
    /// Paths of the function that performs the operation.
    pub function: Vec<String>,
    /// Paths of which at least one must be the function itself or lie further out in the chain;
    /// empty for no condition.
    #[serde(default)]
    pub within: Vec<String>,
    /// Chains of which one must surround the function directly, innermost first: `caller < its
    /// caller`; empty for no condition.
    #[serde(default)]
    pub called_by: Vec<String>,
    /// Types of which the first generic argument of the function must be one, as debug information
    /// writes them; empty for no condition.
    #[serde(default)]
    pub of: Vec<String>,
    /// The rule holds only for programs in which no atomic operation has one of these in its chain.
    #[serde(default)]
    pub unless: Vec<String>,
    /// Kinds of instructions; empty for all.
    #[serde(default)]
    pub instruction: Vec<String>,
    /// Bytes of the word; `None` for any.
    #[serde(default)]
    pub size: Option<u64>,
    /// What the instruction is.
    pub class: Class,
    /// When it may run; `None` when it never blocks.
    #[serde(default)]
    pub r#await: Option<Await>,
    /// Its memory order does not count: the word publishes nothing but itself.
    #[serde(default)]
    pub relaxed: bool,
    /// Opens an atomic region.
    #[serde(default)]
    pub opens: bool,
    /// A look at a clock in the region that it opens only makes the deadline of a wait.
    #[serde(default)]
    pub deadline: bool,
    /// Belongs to the region that is open, if one is.
    #[serde(default)]
    pub inside: bool,
    /// Closes the region.
    #[serde(default)]
    pub closes: bool,
    /// The reference that a thread about to be created has to what it shares with its handle.
    #[serde(default)]
    pub handle: bool,
    /// Who drops the last reference is no question.
    #[serde(default)]
    pub settled: bool,
    /// Who holds the lock acquires no other one, but for the library's own of the same kind: it is
    /// no part of the order of locks.
    #[serde(default)]
    pub innermost: bool,
    /// Why the rule is right.
    pub why: String,
    /// The rule needs not match anything in the toolchain's std (code that only some programs
    /// contain).
    #[serde(default)]
    pub optional: bool,
}

/// What an instruction was recognised as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recognised {
    /// Class and flags.
    pub how: How,
    /// When it may run.
    pub awaits: Option<Await>,
    /// Its memory order does not count.
    pub relaxed: bool,
    /// See [`Rule::innermost`].
    pub innermost: bool,
}

/// Paths of code that only wraps an atomic instruction: the operation belongs to whoever called it.
const WRAPPERS: &[&str] = &["core::sync::atomic::", "core::intrinsics::"];

impl Rule {
    /// Whether the rule matches an instruction of this size in bytes with this chain of plain
    /// paths, innermost first, and first generic arguments of the functions.
    #[must_use]
    pub fn matches(&self, kind: Kind, size: u64, chain: &[&str], arguments: &[&str]) -> bool {
        let Some(owner) = owner(chain) else { return false };
        self.size.is_none_or(|bytes| bytes == size)
            && (self.instruction.is_empty()
                || self.instruction.iter().any(|word| kind.is_called(word)))
            && self.function.iter().any(|pattern| fits(pattern, chain[owner]))
            && (self.of.is_empty()
                || arguments
                    .get(owner)
                    .is_some_and(|of| self.of.iter().any(|named| types::is(of, named))))
            && (self.called_by.is_empty()
                || self.called_by.iter().any(|callers| surround(callers, &chain[owner + 1..])))
            && (self.within.is_empty()
                || chain[owner..].iter().any(|p| self.within.iter().any(|w| fits(w, p))))
    }

    /// The crate of its functions, as packages are named but for `_` and `-`.
    pub fn of_crate(&self) -> &str {
        let first = self.function.first().map_or("", String::as_str);
        first.split_once("::").map_or(first, |(name, _)| name)
    }

    /// The functions in which it must match something, in a program that has these functions,
    /// because all that it asks of callers is there. A rule that asks for types, or matches
    /// whatever is below a path, may always find nothing; and bookkeeping that no rule makes
    /// invisible is explored, which is slow but not wrong.
    pub fn expected(&self, present: &HashSet<String>) -> impl Iterator<Item = &str> {
        let within = |path: &String| match path.strip_suffix('*') {
            Some(prefix) => present.iter().any(|p| p.starts_with(prefix)),
            None => present.contains(path),
        };
        let called = |callers: &String| callers.split(" < ").all(|caller| present.contains(caller));
        let any = !self.optional
            && self.class != Class::Invisible
            && self.of.is_empty()
            && (self.within.is_empty() || self.within.iter().any(within))
            && (self.called_by.is_empty() || self.called_by.iter().any(called));
        let functions = self.function.iter().filter(move |path| any && present.contains(*path));
        functions.map(String::as_str)
    }

    /// Whether the rule holds for a program whose atomic operations have these plain paths in their
    /// chains.
    pub fn holds_beside(&self, paths: &HashSet<String>) -> bool {
        !paths.iter().any(|path| self.unless.iter().any(|pattern| fits(pattern, path)))
    }

    /// What a matched instruction is.
    #[must_use]
    pub fn verdict(&self) -> Recognised {
        let flag = |set: bool, flag: u32| if set { flag } else { 0 };
        let how = How::of(self.class).0
            | How::PRIMITIVE
            | flag(self.opens, How::OPENS_REGION)
            | flag(self.deadline, How::DEADLINE)
            | flag(self.inside, How::IN_REGION)
            | flag(self.closes, How::CLOSES_REGION)
            | flag(self.handle, How::HANDLE)
            | flag(self.settled, How::SETTLED);
        Recognised {
            how: How(how),
            awaits: self.r#await,
            relaxed: self.relaxed,
            innermost: self.innermost,
        }
    }
}

/// Whether the outer frames of a chain begin with these callers.
fn surround(callers: &str, outer: &[&str]) -> bool {
    let mut outer = outer.iter();
    callers.split(" < ").all(|caller| outer.next() == Some(&caller))
}

/// The place in a chain of plain paths, innermost first, of the function to which the atomic
/// operation belongs.
fn owner(chain: &[&str]) -> Option<usize> {
    chain.iter().position(|path| !WRAPPERS.iter().any(|wrapper| path.starts_with(wrapper)))
}

/// Whether a path fits a pattern: equal, or below it when the pattern ends in `::*`.
pub(super) fn fits(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => path.starts_with(prefix),
        None => path == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> Rule {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn the_owner_is_the_function_after_the_wrappers() {
        let rule = rule(
            "name='x'\nfunction=['a::Mutex::lock']\ninstruction=['cmpxchg']\nclass='lock'\nwhy='.'",
        );
        let chain = ["core::sync::atomic::AtomicU32::compare_exchange", "a::Mutex::lock", "main"];
        assert!(rule.matches(Kind::CompareExchange, 4, &chain, &[]));
        assert!(!rule.matches(Kind::Load, 4, &chain, &[]));
        // Merely further out is not enough: the drop of a value inside an Arc is not the Arc's.
        assert!(!rule.matches(Kind::CompareExchange, 4, &["b::f", "a::Mutex::lock"], &[]));
        assert!(!rule.matches(Kind::CompareExchange, 4, &["core::sync::atomic::x"], &[]));
    }

    #[test]
    fn callers_are_the_next_frames_and_no_others() {
        let rule =
            rule("name='x'\nfunction=['f']\ncalled_by=['g', 'h < i']\nclass='wait'\nwhy='.'");
        let matches = |chain: &[&str]| rule.matches(Kind::Load, 4, chain, &[]);
        assert!(matches(&["core::sync::atomic::x", "f", "g"]) && matches(&["f", "h", "i", "j"]));
        // The initialiser that `i` calls is not `i` itself.
        assert!(!matches(&["f", "h", "closure", "i"]) && !matches(&["f", "h"]) && !matches(&["f"]));
    }

    #[test]
    fn a_rule_does_not_hold_beside_what_it_excludes() {
        let rule = rule("name='x'\nfunction=['a']\nunless=['b::*']\nclass='lock'\nwhy='.'");
        let owners = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
        assert!(rule.holds_beside(&owners(&["a", "bb"])));
        assert!(!rule.holds_beside(&owners(&["a", "b::bump"])));
    }

    #[test]
    fn a_rule_for_some_types_leaves_others_alone() {
        let rule = rule("name='x'\nfunction=['f']\nof=['A<()>']\nclass='ref-inc'\nwhy='.'");
        let matches = |types: &[&str]| {
            rule.matches(Kind::Rmw(RmwOp::Add), 8, &["core::sync::atomic::x", "f", "g"], types)
        };
        assert!(matches(&["", "A<()>", ""]));
        assert!(!matches(&["", "A<B>", ""]) && !matches(&["A<()>", "", "A<()>"]) && !matches(&[]));
    }

    #[test]
    fn every_kind_has_a_name() {
        let operations = (0..=10).filter_map(RmwOp::from_code).map(Kind::Rmw);
        for kind in operations.chain([Kind::Load, Kind::Store, Kind::CompareExchange]) {
            assert!(NAMES.iter().any(|name| *name != "rmw" && kind.is_called(name)), "{kind:?}");
        }
    }

    #[test]
    fn within_looks_outwards() {
        let rule =
            rule("name='x'\nfunction=['a::*']\nwithin=['c::d::*']\nclass='invisible'\nwhy='.'");
        assert!(rule.matches(Kind::Store, 1, &["a::b", "e", "c::d::f"], &[]));
        assert!(!rule.matches(Kind::Store, 1, &["a::b", "c::dd"], &[]));
    }
}
