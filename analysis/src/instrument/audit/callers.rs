//! Where the addresses come from that functions are given: what the calls give, where all of these
//! are known and agree.
//!
//! So the argument of a closure is followed to who calls that (`cell.with_mut(|value| …)`), and on
//! to who calls him.

use super::Package;
use super::names::{Names, Place};
use crate::llvm::{Context, Function, Instruction, Module};
use std::cell::RefCell;
use std::collections::HashMap;

/// Calls of one function that are looked at; of those with more, nothing is known.
const MOST: usize = 16;

/// See the module.
#[derive(Debug, Default)]
pub struct Callers {
    /// By function and number of the parameter.
    known: RefCell<HashMap<(Function, usize), Option<Place>>>,
}

/// The calls of a function, if nobody else can call it, and they are few.
fn calls(function: Function) -> Option<Vec<Instruction>> {
    function.all_calls().filter(|calls| calls.len() <= MOST)
}

impl Callers {
    /// What the argument of all calls points to, by the most doubtful way of all. Looked at are so
    /// many steps.
    pub fn argument(
        &self,
        (context, module, package): (Context, &Module, &Package),
        function: Function,
        number: usize,
        depth: u32,
    ) -> Option<Place> {
        let key = (function, number);
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        // What goes round comes back to this.
        self.known.borrow_mut().insert(key, None);
        let given = |call: Instruction| {
            let argument = *call.arguments().get(number)?;
            let mut names = Names::of(context, module, package, self, call.function());
            let place = names.at(argument, depth)?;
            names.name_of(&place).map(|name| (name, place))
        };
        let given: Option<Vec<(String, Place)>> =
            calls(function).and_then(|calls| calls.into_iter().map(given).collect());
        let found = given.and_then(|given| {
            let (name, _) = given.first()?;
            let agree = given.iter().all(|(other, _)| other == name);
            let worst = given.iter().max_by_key(|(_, place)| place.way);
            worst.filter(|_| agree).map(|(_, place)| place.clone())
        });
        self.known.borrow_mut().insert(key, found.clone());
        found
    }
}
