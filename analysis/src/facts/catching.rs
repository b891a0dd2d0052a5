//! What catches panics, without what the same bytes held before.
//!
//! std passes one variable to what it calls under a catch: first it holds the closure, then either
//! the closure's result or the panic's payload. An analysis that does not follow the order of
//! accesses would take whatever a closure has captured for a payload, and payloads go everywhere.
//! So the variable becomes two objects, one a time: [`Side::Before`] is written by who calls and
//! read by `do_call`, [`Side::After`] is written by `do_call` and `do_catch` and read by who
//! called. Who gets the variable's address in another way sees both.

use super::{Body, Facts, Function, Operand, Register, Side, Statement};
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

/// Tells the two apart in a whole program. O(statements).
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
fn caught(body: &Body, roles: &[Option<Role>], catches: &[bool]) -> Vec<Register> {
    let mut seen: BTreeMap<Register, (bool, bool)> = BTreeMap::new();
    for statement in &body.statements {
        let Statement::Call(call) = statement else { continue };
        let Operand::Function(callee) = call.callee else { continue };
        let role = |operand: &Operand| match operand {
            Operand::Function(f) => roles[*f as usize],
            _ => None,
        };
        match call.arguments[..] {
            [ref calls, Operand::Register(data), ref catch]
                if catches[callee as usize]
                    && role(calls) == Some(Role::Calls)
                    && role(catch) == Some(Role::Catches) =>
            {
                seen.insert(data, (true, true));
            }
            [Operand::Register(data), ..] => {
                let reported = seen.entry(data).or_default();
                match roles[callee as usize] {
                    Some(Role::Calls) => reported.0 = true,
                    Some(Role::Catches) => reported.1 = true,
                    None => {}
                }
            }
            _ => {}
        }
    }
    let is_variable = |register: &Register| {
        body.statements.iter().any(|statement| matches!(statement, Statement::Variable { result, .. } if result == register))
    };
    seen.retain(|register, reported| *reported == (true, true) && is_variable(register));
    seen.into_keys().collect()
}

/// A variable becomes two.
fn make_two(body: &mut Body, variable: Register) {
    let after = body.new_registers(1);
    let mut sizes = Vec::new();
    for statement in &mut body.statements {
        if let Statement::Variable { result, size, side } = statement
            && *result == variable
        {
            *side = Some(Side::Before);
            sizes.push(*size);
        }
    }
    for size in sizes {
        body.statements.push(Statement::Variable { result: after, size, side: Some(Side::After) });
        body.statements.push(Statement::Copy { result: variable, from: Operand::Register(after) });
    }
}

/// What is loaded by an address, or computed of it alone, is of one side; what is stored is of the
/// other.
fn see_one(body: &mut Body, address: Register, loads: Side, stores: Side) {
    let derived = derived(body, address);
    let mut sided: HashMap<(Register, Side), Register> = HashMap::new();
    let Body { statements, registers } = body;
    let mut new = Vec::new();
    let mut see = |operand: &mut Operand, side| {
        if let Operand::Register(register) = operand
            && derived[*register as usize]
        {
            let from = *register;
            *register = *sided.entry((from, side)).or_insert_with(|| {
                *registers += 1;
                new.push(Statement::OfSide { result: *registers - 1, from, side });
                *registers - 1
            });
        }
    };
    for statement in statements.iter_mut() {
        match statement {
            Statement::Load { address, .. } => see(address, loads),
            Statement::Store { address, .. } => see(address, stores),
            Statement::CopyMemory { to, from, .. } => {
                see(to, stores);
                see(from, loads);
            }
            _ => {}
        }
    }
    statements.extend(new);
}

/// The registers that are computed of one, and of nothing else.
fn derived(body: &Body, of: Register) -> Vec<bool> {
    let mut derived = vec![false; body.registers as usize];
    derived[of as usize] = true;
    let mut sources: HashMap<Register, Vec<Operand>> = HashMap::new();
    for statement in &body.statements {
        if let Statement::Copy { result, from } | Statement::Offset { result, from, .. } = statement
        {
            sources.entry(*result).or_default().push(*from);
        }
    }
    loop {
        let is = |from: &Operand| matches!(from, Operand::Register(register) if derived[*register as usize]);
        let found = sources
            .iter()
            .filter(|(register, from)| !derived[**register as usize] && from.iter().all(is))
            .map(|(register, _)| *register)
            .collect::<Vec<_>>();
        if found.is_empty() {
            return derived;
        }
        found.into_iter().for_each(|register| derived[register as usize] = true);
    }
}
