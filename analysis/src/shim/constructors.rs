//! Constructors and destructors of C code: LLVM's C API generates them for `.ctors`, which no
//! loader of today reads, so their tables are written out as the pointers of `.init_array` and
//! `.fini_array` that they should become.

use crate::llvm::{Context, Global, Module, Value};

/// Priority of a constructor that has none.
const NO_PRIORITY: u64 = 65535;

/// Replaces `llvm.global_ctors` and `llvm.global_dtors`.
pub fn spell_out(context: Context, module: &Module) {
    let mut pointers = Vec::new();
    for (list, section) in
        [("llvm.global_ctors", ".init_array"), ("llvm.global_dtors", ".fini_array")]
    {
        let Some(table) = module.global(list) else { continue };
        let entries = table.initialiser().map(Value::operands).unwrap_or_default();
        for entry in entries {
            if let [priority, function, ..] = entry.operands()[..]
                && function.as_function().is_some()
            {
                let section = match priority.as_integer() {
                    None | Some(NO_PRIORITY) => section.to_owned(),
                    Some(priority) => format!("{section}.{priority:05}"),
                };
                pointers.push(pointer(context, module, function, &section).value());
            }
        }
        table.delete();
    }
    if !pointers.is_empty() {
        module.keep(context, &pointers);
    }
}

/// A constant pointer to a function in a section.
fn pointer(context: Context, module: &Module, function: Value, section: &str) -> Global {
    let global = module.add_global("__lr_constructor", context.pointer());
    global.set_initialiser(function);
    global.set_constant(true);
    global.set_section(section);
    global.internalise();
    global
}
