//! Which functions are analysed once for every call, so that what they allocate and pass on is
//! told apart.
//!
//! Rust's abstractions are small functions: `Vec::push` goes through three of them before something
//! is allocated, and all vectors of a program would be one object if each was analysed once. A
//! direct call of a small function that gives its caller something ([`Returned`]), or of a middling
//! one that gives it new memory, gets a context of its own, unless the chain of such calls is long
//! or recursive, or the program has had its share of them. What only drops something gives nothing.

use super::returned::Returned;
use crate::facts::{Facts, FunctionId};

/// Statements of a function that is small.
const SMALL: usize = 30;
/// Statements of a function that gets contexts of its own if it gives new memory.
const MIDDLING: usize = 200;
/// Contexts inside each other.
pub(super) const DEPTH: u32 = 10;

/// Which functions may get contexts of their own.
#[derive(Clone, Debug)]
pub(super) struct Cloned {
    may: Vec<bool>,
    wraps: Vec<bool>,
    returns_memory: Vec<bool>,
}

impl Cloned {
    /// Decides for all functions. O(statements), times a few.
    pub fn of(facts: &Facts) -> Self {
        let returned = Returned::of(facts);
        let size = |f: usize| facts.functions[f].body.as_ref().map_or(0, |b| b.statements.len());
        let has_body = |f: usize| facts.functions[f].body.is_some();
        let may = |f: usize| {
            let small = size(f) <= SMALL || size(f) <= MIDDLING && returned.memory(f);
            has_body(f) && returned.anything(f) && small
        };
        let wraps = |f: usize| has_body(f) && returned.returns_memory(f) && size(f) <= SMALL;
        let all = 0..facts.functions.len();
        Self {
            may: all.clone().map(may).collect(),
            wraps: all.clone().map(wraps).collect(),
            returns_memory: all.map(|f| returned.returns_memory(f)).collect(),
        }
    }

    /// Whether a function is small and returns the memory that it gets from an allocator: each of
    /// its calls has a context.
    pub fn wraps(&self, function: FunctionId) -> bool {
        self.wraps[function as usize]
    }

    /// Whether a function returns memory that it gets from an allocator.
    pub fn returns_memory(&self, function: FunctionId) -> bool {
        self.returns_memory[function as usize]
    }

    /// Whether a direct call of the function may get a context.
    pub fn may(&self, function: FunctionId) -> bool {
        self.may[function as usize]
    }
}
