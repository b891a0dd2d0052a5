//! The plan: what becomes of each plain access of a program, and by which rule.
//!
//! A [`Decide`] says of one access what is known of the memory that it goes to; that is the one
//! place where an analysis plugs in. What follows from the code around an access ([`repeated`]) is
//! decided here, for a function at a time, before it is changed.

mod repeated;
mod rules;
mod table;

pub use rules::{Rules, Scaled};
pub use table::Table;

use crate::facts::access::{Access, accesses};
use crate::llvm::{Function, Instruction, Module};
use lockred_protocol::plan::Reason;
use std::collections::HashMap;

/// An analysis that knows where pointers go.
///
/// An answer holds for the whole program and every execution, also where unsafe code of the program
/// is wrong about lifetimes, aliases and threads: such errors are what is looked for. It is asked
/// before anything is instrumented, once for each access.
pub trait Decide {
    /// What is known of the memory that an instruction of a function accesses; [`Reason::Shared`]
    /// if nothing is. The reason implies the decision ([`Reason::decision`]).
    fn decide(&self, function: Function, access: &Access) -> Reason;
}

/// The decisions of one function: a reason for each of the [`accesses`] of an instruction, in their
/// order.
#[derive(Debug, Default)]
pub struct Decisions(HashMap<Instruction, Vec<Reason>>);

impl Decisions {
    /// Decides about all accesses of a function that has not been instrumented yet. O(its
    /// instructions), but for what `decide` takes.
    #[must_use]
    pub fn of(module: &Module, function: Function, rules: &Rules, decide: &dyn Decide) -> Self {
        let mut decisions = HashMap::new();
        for at in function.blocks().iter().flat_map(|block| block.instructions()) {
            let accesses = accesses(module, at);
            if !accesses.is_empty() {
                let reason = |access| rules.apply(decide.decide(function, access));
                decisions.insert(at, accesses.iter().map(reason).collect());
            }
        }
        if rules.has(Reason::Repeated) {
            repeated::mark(module, function, &mut decisions);
        }
        Self(decisions)
    }

    /// The reasons for the accesses of an instruction.
    #[must_use]
    pub fn reasons(&self, at: Instruction) -> &[Reason] {
        self.0.get(&at).map_or(&[], Vec::as_slice)
    }
}
