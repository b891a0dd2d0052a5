//! Inlining of what is marked for it, and promotion of the local variables that it brings together.
//!
//! rustc has promoted the local variables of each crate when it compiled that (see cargo-lockred's
//! wrapper): only functions that inlining changes are gone through again, which is a tenth of them.

use crate::llvm::{Attribute, Context, Function, Module, Value};
use std::collections::HashSet;

/// What is done to functions: promotion of local variables that never escape, and propagation of
/// constants.
const PASSES: &str = "sroa,sccp";

/// The attribute that keeps promotion from reading after one of several pointers before it is
/// known which of them the program follows: such a read may race where the program has none. rustc
/// gives it to all functions under the wrapper.
pub const NO_SPECULATION: &str = "sanitize_thread";

/// Promotes the local variables of a module that rustc has not made, or not under the wrapper.
///
/// # Errors
/// When LLVM refuses the passes.
pub fn promote(context: Context, module: &Module) -> Result<(), String> {
    if let Some(reported) = Attribute::named(NO_SPECULATION) {
        for function in module.functions() {
            function.add(context, reported);
        }
    }
    module.run_passes(&format!("function({PASSES})"))
}

/// The names of the functions that call one which is inlined wherever it is called.
#[must_use]
pub fn callers_of_inlined(module: &Module) -> HashSet<String> {
    let Some(always) = Attribute::named("alwaysinline") else { return HashSet::new() };
    let inlined = module.functions().into_iter().filter(|f| !f.is_declaration() && f.has(always));
    inlined.flat_map(callers).map(Function::name).collect()
}

/// The functions that call a function.
pub fn callers(function: Function) -> impl Iterator<Item = Function> {
    let users = function.value().users().into_iter().filter_map(Value::as_instruction);
    users.filter(move |at| at.callee() == Some(function.value())).map(|at| at.function())
}

/// Inlines every call that is marked, or whose callee is, and promotes in the functions that were
/// named for having such calls.
///
/// # Errors
/// When LLVM refuses the passes.
pub fn inline(module: &Module, changed: &HashSet<String>) -> Result<(), String> {
    module.run_passes("always-inline")?;
    // By name: functions that were inlined everywhere are gone.
    let changed = |function: &Function| changed.contains(&function.name());
    let defined = module.functions().into_iter().filter(|function| !function.is_declaration());
    defined.filter(changed).try_for_each(|function| function.run_passes(PASSES))
}
