//! Inlining of small functions into loops with atomic operations, so that the loop is seen whole:
//! `while !self.try_lock() {}`.

use super::{calls, comes_back};
use crate::llvm::{Attribute, Context, Function, Instruction, Module, Opcode, Value};
use crate::promotion;
use std::collections::{HashMap, HashSet};

/// Instructions of a small function.
const SMALL: usize = 60;
/// Functions in functions that are inlined.
const ROUNDS: usize = 3;

/// Inlines them, except into and out of functions that are to stay as they are.
///
/// # Errors
/// When LLVM refuses the passes.
pub fn inline_into_loops(
    context: Context,
    module: &Module,
    stays: impl Fn(Function) -> bool,
) -> Result<(), String> {
    let [always, never, cold, none] =
        ["alwaysinline", "noinline", "cold", "optnone"].map(Attribute::named);
    let Some(always) = always else { return Ok(()) };
    let is_left = |function: Function| {
        let reported = [never, cold, none].into_iter().flatten();
        reported.into_iter().any(|attribute| function.has(attribute))
            || calls::is_known(&function.name())
            || stays(function)
    };
    // Which functions are looked at: those of which a call was inlined the round before, and who
    // calls them.
    let mut of_interest: Option<HashSet<String>> = None;
    for _ in 0..ROUNDS {
        let mut small: HashMap<Function, Option<bool>> = HashMap::new();
        let mut changed = HashSet::new();
        for function in module.functions() {
            if of_interest.as_ref().is_some_and(|names| !names.contains(&function.name())) {
                continue;
            }
            for call in calls_in_loops(function, |callee| {
                *small.entry(callee).or_insert_with(|| atomics_if_small(callee, is_left))
            }) {
                call.add_call_attribute(context, always);
                changed.insert(function.name());
            }
        }
        if changed.is_empty() {
            break;
        }
        promotion::inline(module, &changed)?;
        let present = changed.iter().filter_map(|name| module.function(name));
        let callers = present.flat_map(promotion::callers).map(Function::name).collect::<Vec<_>>();
        of_interest = Some(changed.into_iter().chain(callers).collect());
    }
    Ok(())
}

/// Calls of small functions in loops, where the loops or the functions have atomic operations.
/// `small` says whether a function is small, and then whether it has some.
fn calls_in_loops(
    function: Function,
    mut small: impl FnMut(Function) -> Option<bool>,
) -> Vec<Instruction> {
    let mut atomic = false;
    let mut calls = Vec::new();
    for block in function.blocks() {
        let instructions = block.instructions();
        let of_interest = |at: &Instruction| at.opcode() == Opcode::Call || is_atomic(*at);
        if !instructions.iter().any(of_interest) || !comes_back(instructions[0]) {
            continue;
        }
        for at in instructions {
            atomic |= is_atomic(at);
            let callee = at.callee().and_then(Value::as_function).filter(|&c| c != function);
            if let Some(inside) = callee.and_then(&mut small) {
                calls.push((at, inside));
            }
        }
    }
    calls.into_iter().filter(|&(_, inside)| inside || atomic).map(|(call, _)| call).collect()
}

/// Whether a function, if it is small and may be inlined, has atomic operations.
fn atomics_if_small(function: Function, is_left: impl Fn(Function) -> bool) -> Option<bool> {
    if function.is_declaration() || is_left(function) {
        return None;
    }
    let mut length = 0;
    let mut atomic = false;
    for block in function.blocks() {
        for at in block.instructions() {
            length += 1;
            atomic |= is_atomic(at);
        }
        if length > SMALL {
            return None;
        }
    }
    Some(atomic)
}

fn is_atomic(at: Instruction) -> bool {
    match at.opcode() {
        Opcode::Load | Opcode::Store => at.is_atomic(),
        Opcode::AtomicRmw | Opcode::CompareExchange => true,
        _ => false,
    }
}
