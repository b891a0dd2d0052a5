//! What catches panics, without what the same bytes held before.
//!
//! std passes one variable to what it calls under a catch: first it holds the closure, then either
//! the closure's result or the panic's payload. An analysis that does not follow the order of
//! accesses would take whatever a closure has captured for a payload, and payloads go everywhere.
//! So the variable becomes two objects, one a time: [`Side::Before`] is written by who calls and
//! read by `do_call`, [`Side::After`] is written by `do_call` and `do_catch` and read by who
//! called. Who gets the variable's address in another way sees both.

use super::{Act, Body, Facts, Function, Operand, Side, Slot};
use crate::recognise::{demangle, path_of};
use std::collections::{BTreeMap, HashMap};

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
}

/// Tells the two apart in a whole program. O(acts).
pub fn split(facts: &mut Facts) {
    let roles: Vec<Option<Role>> = facts.functions.iter().map(|f| Role::of(&f.name)).collect();
    let catches: Vec<bool> = facts.functions.iter().map(|f| f.name.starts_with(CATCHES)).collect();
    for f in 0..facts.functions.len() {
        let Some(body) = &facts.functions[f].body else { continue };
        let variables = caught(body, &roles, &catches);
        let Function { parameters, body: Some(body), .. } = &mut facts.functions[f] else {
            continue;
        };
        for &variable in &variables {
            make_two(body, variable);
            see_one(body, variable, Side::After, Side::Before);
        }
        if roles[f].is_some() && *parameters > 0 {
            see_one(body, 0, Side::Before, Side::After);
        }
    }
}

/// The variables of a function that it passes to what is called under a catch, as both closure and
/// place of the result.
fn caught(body: &Body, roles: &[Option<Role>], catches: &[bool]) -> Vec<Slot> {
    let mut seen: BTreeMap<Slot, (bool, bool)> = BTreeMap::new();
    for act in &body.acts {
        let Act::Call(call) = act else { continue };
        let Operand::Function(callee) = call.callee else { continue };
        let role = |operand: &Operand| match operand {
            Operand::Function(f) => roles[*f as usize],
            _ => None,
        };
        match call.arguments[..] {
            [ref calls, Operand::Slot(data), ref catch]
                if catches[callee as usize]
                    && role(calls) == Some(Role::Calls)
                    && role(catch) == Some(Role::Catches) =>
            {
                seen.insert(data, (true, true));
            }
            [Operand::Slot(data), ..] => {
                let told = seen.entry(data).or_default();
                match roles[callee as usize] {
                    Some(Role::Calls) => told.0 = true,
                    Some(Role::Catches) => told.1 = true,
                    None => {}
                }
            }
            _ => {}
        }
    }
    let is_variable = |slot: &Slot| {
        body.acts.iter().any(|act| matches!(act, Act::Variable { result, .. } if result == slot))
    };
    seen.retain(|slot, told| *told == (true, true) && is_variable(slot));
    seen.into_keys().collect()
}

/// A variable becomes two.
fn make_two(body: &mut Body, variable: Slot) {
    let after = body.new_slots(1);
    let mut sizes = Vec::new();
    for act in &mut body.acts {
        if let Act::Variable { result, size, side } = act
            && *result == variable
        {
            *side = Some(Side::Before);
            sizes.push(*size);
        }
    }
    for size in sizes {
        body.acts.push(Act::Variable { result: after, size, side: Some(Side::After) });
        body.acts.push(Act::Copy { result: variable, from: Operand::Slot(after) });
    }
}

/// What is loaded by an address, or computed of it alone, is of one side; what is stored is of the
/// other.
fn see_one(body: &mut Body, address: Slot, loads: Side, stores: Side) {
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
    for act in acts.iter_mut() {
        match act {
            Act::Load { address, .. } => see(address, loads),
            Act::Store { address, .. } => see(address, stores),
            Act::CopyMemory { to, from, .. } => {
                see(to, stores);
                see(from, loads);
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
