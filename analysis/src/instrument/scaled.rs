//! Loops that end early (`--scale-loops`): `for` loops over a range of integers, as rustc compiles
//! them.
//!
//! Such a loop keeps its range in a variable of its own, whose address goes nowhere but into
//! `Range::next` at the beginning of each round. Before that the runtime is asked, which makes the
//! range empty when the loop has made its rounds ([`lockred_protocol::hooks`], `__lr_round`). What
//! it counts is in the frame beside the range, so that it is put back with that, and begins anew
//! wherever the range is written. Which rounds synchronise is seen while they run, and not guessed
//! from the code.

use crate::llvm::{Builder, Context, Instruction, Module, Opcode, Value};
use crate::plan::Scaled;
use crate::recognise::demangle;
use lockred_protocol::hooks::ROUND;

/// What such a loop counts, in words.
const STATE: u64 = 3;

/// `next` in the names of the two manglings.
const NEXT: [(&str, &str); 2] = [
    (
        "core::iter::range::<impl core::iter::traits::iterator::Iterator for core::ops::range::Range<",
        ">::next",
    ),
    ("<core::ops::range::Range<", " as core::iter::traits::iterator::Iterator>::next"),
];

/// A loop, by the variable that holds its range.
struct Loop {
    /// Calls of `next`.
    rounds: Vec<Instruction>,
    /// Where the range is written.
    begins: Vec<Instruction>,
}

/// Has the runtime asked at each round of the loops that may end early. Before anything is inlined:
/// `next` is then still called. The sites of these calls are made with all others.
pub fn scale_loops(context: Context, module: &Module, scaled: &Scaled) {
    let [narrow, wide] = [32, 64].map(|bits| context.integer(bits));
    let signature = context.void().function(&[wide, narrow, wide, wide, narrow], false);
    let hook = module.declare(context, ROUND, signature);
    let builder = Builder::new(context);
    for function in module.functions().into_iter().filter(|f| !f.is_declaration()) {
        let blocks = function.blocks();
        let all: Vec<Instruction> = blocks.iter().flat_map(|b| b.instructions()).collect();
        let location =
            |at: Instruction| at.location().or_else(|| function.unknown_location(context));
        for range in all.iter().filter(|at| at.opcode() == Opcode::Alloca) {
            let Some(Loop { rounds, begins }) = loop_over(range.value()) else { continue };
            let size = module.allocation_size(range.allocated_type()) / 2;
            let is_ours = |rounds: &[Instruction]| {
                !rounds.is_empty() && rounds.iter().all(|at| is_of(&scaled.package, *at))
            };
            if ![1, 2, 4, 8].contains(&size) || !is_ours(&rounds) {
                continue;
            }
            builder.before(all[0], location(all[0]));
            let state = builder.room(context, STATE);
            for begin in begins {
                builder.before(begin, location(begin));
                builder.store(wide.constant(0), state);
            }
            for round in rounds {
                builder.before(round, location(round));
                let [range, state] = [range.value(), state].map(|it| builder.address(context, it));
                let (size, limit) = (narrow.constant(size), wide.constant(scaled.rounds));
                builder.call(hook, &[range, size, state, limit, narrow.constant(0)]);
            }
        }
    }
}

/// Whether the text of an instruction is in a package.
fn is_of(package: &str, at: Instruction) -> bool {
    at.location().map_or(String::new(), |location| location.file()).starts_with(package)
}

/// What is done with a variable, if it is nothing but what a loop does with its range.
fn loop_over(range: Value) -> Option<Loop> {
    let mut found = Loop { rounds: Vec::new(), begins: Vec::new() };
    let mut open = vec![range];
    while let Some(pointer) = open.pop() {
        for user in pointer.users() {
            let user = user.as_instruction()?;
            match user.opcode() {
                Opcode::Load => {}
                Opcode::Store if user.operand(0) != pointer => found.begins.push(user),
                Opcode::Address => open.push(user.value()),
                Opcode::Call => {
                    let callee = user.callee()?.as_function()?;
                    let name = callee.name();
                    if name.starts_with("llvm.memcpy.") && user.operand(0) == pointer {
                        found.begins.push(user);
                    } else if is_next(&name) && pointer == range {
                        found.rounds.push(user);
                    } else if !name.starts_with("llvm.lifetime.") {
                        return None;
                    }
                }
                _ => return None,
            }
        }
    }
    Some(found)
}

/// Whether a function is `next` of a range.
fn is_next(symbol: &str) -> bool {
    let name = demangle(symbol);
    NEXT.iter().any(|(beginning, end)| name.starts_with(beginning) && name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::{demangle, is_next};

    #[test]
    fn next_of_a_range_is_known_in_both_manglings() {
        let legacy = "_ZN4core4iter5range101_$LT$impl$u20$core..iter..traits..iterator..Iterator$u20$for$u20$core..ops..range..\
                      Range$LT$A$GT$$GT$4next17ha03eace670cecda3E";
        assert!(is_next(legacy));
        let v0 = "_RNvXs_NtNtCs0_4core4iter5rangeINtNtNtCs0_4core3ops5range5RangejENtNtNtNtCs0_4core4iter6traits8iterator8Iterator4next";
        assert!(is_next(v0), "{}", demangle(v0));
        assert!(!is_next("_ZN4core4iter5range4next17ha03eace670cecda3E"));
    }
}
