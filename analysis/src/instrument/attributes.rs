//! Removing promises about functions that instrumentation breaks: after it, every function may read
//! and write the runtime's memory, synchronise, and not return. Code generation drops unused calls
//! that promise the contrary. And of what only promotion has to know.

use crate::llvm::{Attribute, Module, Opcode};
use crate::promotion::NO_SPECULATION;

/// The promises, by LLVM's names.
const BROKEN: &[&str] = &["memory", "nosync", "nofree", "willreturn", "speculatable"];

/// Removes them from all functions but intrinsics, and from all calls of others than intrinsics.
pub fn strip(module: &Module) {
    let broken: Vec<Attribute> = BROKEN.iter().filter_map(|name| Attribute::named(name)).collect();
    let reported = Attribute::named(NO_SPECULATION);
    for function in module.functions() {
        if let Some(reported) = reported {
            function.remove(reported);
        }
        if function.intrinsic_id() != 0 {
            continue;
        }
        for &attribute in &broken {
            function.remove(attribute);
        }
        for instruction in function.blocks().into_iter().flat_map(|b| b.instructions()) {
            if instruction.opcode() != Opcode::Call {
                continue;
            }
            let callee = instruction.callee().and_then(|c| c.as_function());
            if callee.is_some_and(|c| c.intrinsic_id() != 0) {
                continue;
            }
            for &attribute in &broken {
                instruction.remove_call_attribute(attribute);
            }
        }
    }
}
