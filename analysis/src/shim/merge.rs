//! Merging: the user's modules into one, what it needs of std into that, and everything private but the entry.

use super::inputs::Bitcode;
use crate::llvm::{Context, Linkage, Module};
use std::collections::HashSet;

/// Links the modules of the user's crates and dependencies into one.
///
/// # Errors
/// Which module cannot be read or linked, and why.
pub fn merge(context: Context, parts: &[Bitcode]) -> Result<Module, String> {
    let program = context.module("program");
    add(context, &program, parts)?;
    Ok(program)
}

/// Links whole modules into the program.
///
/// # Errors
/// Which module cannot be read or linked, and why.
pub fn add(context: Context, program: &Module, parts: &[Bitcode]) -> Result<(), String> {
    for part in parts {
        let module = context.parse_bitcode(&part.bytes, &part.name)?;
        program.link(module).map_err(|e| format!("{}: {e}", part.name))?;
    }
    Ok(())
}

/// Links what the program needs out of a library module. LLVM's C API cannot say "only what is needed"; a definition
/// that is `linkonce_odr` is pulled in only where it is used, and its body is read only then.
///
/// # Errors
/// When the library cannot be read or linked.
pub fn pull(context: Context, program: &Module, library: &[u8], name: &str) -> Result<(), String> {
    let library = context.parse_bitcode_lazily(library, name)?;
    for function in library.functions() {
        if !function.is_declaration() && function.linkage() == Linkage::External {
            function.make_droppable();
        }
    }
    for global in library.globals() {
        if !global.is_declaration() && global.linkage() == Linkage::External {
            global.make_droppable();
        }
    }
    program.link(library).map_err(|e| format!("{name}: {e}"))
}

/// The unwinder calls it by way of every function's unwind table. Native parts of the toolchain refer to it by name, and the runtime
/// has one of its own, which then takes the place of the program's.
const PERSONALITY: &str = "rust_eh_personality";

/// Makes everything private but `main` and what native code wants, and drops what is not used.
///
/// # Errors
/// When LLVM refuses the clean-up pass.
pub fn close(program: &Module, wanted: &HashSet<String>) -> Result<(), String> {
    let keep = |name: &str| name == "main" || name.starts_with("llvm.") || wanted.contains(name);
    let open = |linkage| {
        matches!(linkage, Linkage::External | Linkage::LinkOnceOdr | Linkage::OtherDefinition)
    };
    for function in program.functions() {
        let name = function.name();
        if function.is_declaration() || !open(function.linkage()) {
            continue;
        }
        if name == PERSONALITY {
            function.weaken();
        } else if !keep(&name) {
            function.internalise();
        }
    }
    for global in program.globals() {
        if !global.is_declaration() && open(global.linkage()) && !keep(&global.name()) {
            global.internalise();
        }
    }
    program.internalise_aliases(keep);
    program.run_passes("globaldce")
}
