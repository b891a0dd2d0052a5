//! Places that a correct program never reaches become traps, as rustc itself generates them: a
//! program with undefined behaviour then dies of a signal instead of running into whatever code
//! lies behind.

use crate::llvm::{Attribute, Builder, Context, Instruction, Module, Opcode};

/// Puts a trap before every `unreachable` that is not merely the end of a call that never returns.
pub fn trap(context: Context, module: &Module) {
    let never_returns = Attribute::named("noreturn");
    let diverges = |i: Instruction| {
        let callee = i.callee().and_then(|c| c.as_function());
        never_returns.is_some_and(|n| i.has_call_attribute(n) || callee.is_some_and(|c| c.has(n)))
    };
    let trap = module.declare(context, "llvm.trap", context.void().function(&[], false));
    let builder = Builder::new(context);
    for block in module.functions().into_iter().flat_map(|f| f.blocks()) {
        let Some(end) = block.terminator().filter(|t| t.opcode() == Opcode::Unreachable) else {
            continue;
        };
        let before = block.instructions().into_iter().rev().nth(1);
        if !before.is_some_and(|i| i.opcode() == Opcode::Call && diverges(i)) {
            builder
                .before(end, end.location().or_else(|| end.function().unknown_location(context)));
            builder.call(trap, &[]);
        }
    }
}
