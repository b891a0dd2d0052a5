//! Which functions are analysed once for every call, so that what they allocate and pass on is told apart.
//!
//! Rust's abstractions are small functions: `Vec::push` goes through three of them before something is allocated, and all vectors of a
//! program would be one object if each was analysed once. A direct call of a small function, or of a middling one that allocates, gets a context of
//! its own, unless the chain of such calls is long or recursive, or the program has had its share of them.

use crate::facts::{Act, Effect, Facts, FunctionId, Operand};

/// Acts of a function that is small.
const SMALL: usize = 30;
/// Acts of a function that gets contexts of its own if it allocates.
const MIDDLING: usize = 200;
/// Calls between such a function and the allocation.
const DISTANCE: u32 = 8;
/// Contexts inside each other.
pub(super) const DEPTH: u32 = 10;

/// Which functions may get contexts of their own.
#[derive(Clone, Debug)]
pub(super) struct Cloned(Vec<bool>);

impl Cloned {
    /// Decides for all functions. O(calls).
    pub fn of(facts: &Facts) -> Self {
        let callees = |f: usize| {
            let acts = facts.functions[f].body.iter().flat_map(|b| &b.acts);
            acts.filter_map(|act| match act {
                Act::Call(call) => match call.callee {
                    Operand::Function(id) => Some(id),
                    _ => None,
                },
                _ => None,
            })
        };
        let size = |f: usize| facts.functions[f].body.as_ref().map_or(0, |b| b.acts.len());
        let count = facts.functions.len();
        let mut callers: Vec<Vec<FunctionId>> = vec![Vec::new(); count];
        for f in 0..count {
            for callee in callees(f) {
                callers[callee as usize].push(f as FunctionId);
            }
        }
        let allocates = |f: &usize| {
            let function = &facts.functions[*f];
            function.body.is_none()
                && matches!(
                    Effect::of(&function.name),
                    Effect::Fresh | Effect::FreshAtFirst | Effect::Moves
                )
        };
        let mut level: Vec<usize> = (0..count).filter(allocates).collect();
        let mut allocating = vec![false; count];
        for _ in 0..DISTANCE {
            let mut next = Vec::new();
            for f in level {
                for &caller in &callers[f] {
                    let caller = caller as usize;
                    if !allocating[caller] && size(caller) <= MIDDLING {
                        allocating[caller] = true;
                        next.push(caller);
                    }
                }
            }
            level = next;
        }
        let decide = |f: usize| {
            let body = facts.functions[f].body.as_ref();
            // What never returns gives nobody anything: it panics.
            let returns = |act: &Act| matches!(act, Act::Return(_));
            body.is_some_and(|b| b.acts.iter().any(returns)) && (size(f) <= SMALL || allocating[f])
        };
        Self((0..count).map(decide).collect())
    }

    /// Whether a direct call of the function may get a context.
    pub fn may(&self, function: FunctionId) -> bool {
        self.0[function as usize]
    }
}
