//! What catches panics, with what the same bytes hold one after another told apart.
//!
//! std passes one variable to what it calls under a catch: first it holds the closure, then either the closure's result or the panic's payload. An analysis
//! that does not follow the order of accesses would take whatever a closure has captured, or returns, for a payload, and payloads go everywhere. So the
//! variable becomes three objects, one a time: [`Side::Before`] is written by who calls and read by `do_call`, [`Side::Result`] is written by `do_call`,
//! [`Side::Payload`] by `do_catch`. Who called reads one of these two where it has asked which it is ([`outcomes`]), and both elsewhere
//! ([`Side::After`]). Who gets the variable's address in another way sees all of them.

mod outcomes;

use super::flow::{self, Flow};
use super::{Act, Body, Function, FunctionId, Operand, Side, Slot};
use crate::recognise::{demangle, path_of};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The function of the compiler that catches, for a function, its data, and another function.
pub const CATCHES: &str = "__rust_try";

/// What a function of std's does with such a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// Calls the closure in it.
    Calls,
    /// Puts the payload into it.
    Catches,
}

impl Role {
    fn of(symbol: &str) -> Option<Self> {
        // Demangling is slow.
        if !symbol.contains("do_call") && !symbol.contains("do_catch") {
            return None;
        }
        match path_of(&demangle(symbol)).as_str() {
            "std::panicking::catch_unwind::do_call" => Some(Self::Calls),
            "std::panicking::catch_unwind::do_catch" => Some(Self::Catches),
            _ => None,
        }
    }

    /// What it leaves in the variable.
    const fn stores(self) -> Side {
        match self {
            Self::Calls => Side::Result,
            Self::Catches => Side::Payload,
        }
    }
}

/// The functions of a program that have to do with it.
#[derive(Clone, Debug, Default)]
pub struct Catching {
    roles: HashMap<FunctionId, Role>,
    /// The compiler's.
    catches: HashSet<FunctionId>,
}

impl Catching {
    /// A function has this name.
    pub fn name(&mut self, id: FunctionId, symbol: &str) {
        if let Some(role) = Role::of(symbol) {
            self.roles.insert(id, role);
        }
        if symbol.starts_with(CATCHES) {
            self.catches.insert(id);
        }
    }

    /// Tells the objects apart in a function, whose blocks' first acts are these. `flow` reads its control flow. O(acts), and O(steps) in the few that catch.
    pub fn split(
        &self,
        id: FunctionId,
        function: &mut Function,
        blocks: &[usize],
        flow: impl FnOnce() -> Flow,
    ) {
        let Function { parameters, body: Some(body), .. } = function else { return };
        if let Some(role) = self.roles.get(&id)
            && *parameters > 0
        {
            see_one(body, 0, |_| Side::Before, role.stores());
        }
        let caught = self.caught(body);
        if caught.is_empty() {
            return;
        }
        let flow = flow();
        let variables = variables(body);
        let role = |call: &flow::Call| match call.callee {
            flow::Value::Function(callee) => self.roles.get(&callee).copied(),
            _ => None,
        };
        for variable in caught {
            let sides = outcomes::sides(&flow, variable, &variables, &role);
            // What comes behind the acts of the last block was put there for others.
            let side = |act: usize| {
                let block = blocks.partition_point(|&first| first <= act);
                block.checked_sub(1).and_then(|block| sides.get(block)).copied()
            };
            make_three(body, variable);
            see_one(body, variable, |act| side(act).unwrap_or(Side::After), Side::Before);
        }
    }

    /// The variables of a function that it passes to what is called under a catch, as both closure and place of the result.
    fn caught(&self, body: &Body) -> Vec<Slot> {
        let mut seen: BTreeMap<Slot, (bool, bool)> = BTreeMap::new();
        for act in &body.acts {
            let Act::Call(call) = act else { continue };
            let Operand::Function(callee) = call.callee else { continue };
            let role = |operand: &Operand| match operand {
                Operand::Function(f) => self.roles.get(f).copied(),
                _ => None,
            };
            match call.arguments[..] {
                [ref calls, Operand::Slot(data), ref catch]
                    if self.catches.contains(&callee)
                        && role(calls) == Some(Role::Calls)
                        && role(catch) == Some(Role::Catches) =>
                {
                    seen.insert(data, (true, true));
                }
                [Operand::Slot(data), ..] => {
                    let told = seen.entry(data).or_default();
                    match self.roles.get(&callee) {
                        Some(Role::Calls) => told.0 = true,
                        Some(Role::Catches) => told.1 = true,
                        None => {}
                    }
                }
                _ => {}
            }
        }
        seen.retain(|_, told| *told == (true, true));
        if seen.is_empty() {
            return Vec::new();
        }
        let variables = variables(body);
        seen.into_keys().filter(|slot| variables.contains(slot)).collect()
    }
}

/// The variables of a function.
fn variables(body: &Body) -> BTreeSet<Slot> {
    let variable = |act: &Act| match act {
        Act::Variable { result, .. } => Some(*result),
        _ => None,
    };
    body.acts.iter().filter_map(variable).collect()
}

/// A variable becomes three.
fn make_three(body: &mut Body, variable: Slot) {
    let mut sizes = Vec::new();
    for act in &mut body.acts {
        if let Act::Variable { result, size, side } = act
            && *result == variable
        {
            *side = Some(Side::Before);
            sizes.push(*size);
        }
    }
    for side in [Side::Result, Side::Payload] {
        let after = body.new_slots(1);
        for &size in &sizes {
            body.acts.push(Act::Variable { result: after, size, side: Some(side) });
            body.acts.push(Act::Copy { result: variable, from: Operand::Slot(after) });
        }
    }
}

/// What an act loads by an address, or by one that is computed of it alone, is of the side that is said for the act; what is stored is of another one.
fn see_one(body: &mut Body, address: Slot, loads: impl Fn(usize) -> Side, stores: Side) {
    let derived = derived(body, address);
    let mut sided: HashMap<(Slot, Side), Slot> = HashMap::new();
    let Body { acts, slots } = body;
    let mut new = Vec::new();
    let mut see = |operand: &mut Operand, side| {
        if let Operand::Slot(slot) = operand
            && derived[*slot as usize]
        {
            let from = *slot;
            *slot = *sided.entry((from, side)).or_insert_with(|| {
                *slots += 1;
                new.push(Act::OfSide { result: *slots - 1, from, side });
                *slots - 1
            });
        }
    };
    for (number, act) in acts.iter_mut().enumerate() {
        match act {
            Act::Load { address, .. } => see(address, loads(number)),
            Act::Store { address, .. } => see(address, stores),
            Act::CopyMemory { to, from, .. } => {
                see(to, stores);
                see(from, loads(number));
            }
            _ => {}
        }
    }
    acts.extend(new);
}

/// The slots that are computed of one, and of nothing else.
fn derived(body: &Body, of: Slot) -> Vec<bool> {
    let mut derived = vec![false; body.slots as usize];
    derived[of as usize] = true;
    let mut sources: HashMap<Slot, Vec<Operand>> = HashMap::new();
    for act in &body.acts {
        if let Act::Copy { result, from } | Act::Offset { result, from, .. } = act {
            sources.entry(*result).or_default().push(*from);
        }
    }
    loop {
        let is = |from: &Operand| matches!(from, Operand::Slot(slot) if derived[*slot as usize]);
        let found = sources
            .iter()
            .filter(|(slot, from)| !derived[**slot as usize] && from.iter().all(is))
            .map(|(slot, _)| *slot)
            .collect::<Vec<_>>();
        if found.is_empty() {
            return derived;
        }
        found.into_iter().for_each(|slot| derived[slot as usize] = true);
    }
}
