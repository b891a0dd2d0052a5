//! Writable globals: put into the one section that the runtime saves and restores.

use super::Program;
use crate::llvm::{Context, Linkage, Module};
use lockred_protocol::hooks::{DATA_SECTION, PREFIX};

/// Places every writable global of the program. One that insists on a section of its own stays
/// there, outside what is restored between executions, and is reported like native code.
pub fn place(context: Context, module: &Module, program: &mut Program) {
    for global in module.globals() {
        let name = global.name();
        if global.is_declaration()
            || global.is_constant()
            || global.is_thread_local()
            || name.starts_with("llvm.")
            || name.starts_with(PREFIX)
            || matches!(global.linkage(), Linkage::Appending | Linkage::AvailableExternally)
        {
            continue;
        }
        match global.section() {
            None => global.set_section(DATA_SECTION),
            Some(section) if section.starts_with(".data") || section.starts_with(".bss") => {
                global.set_section(DATA_SECTION);
            }
            Some(section) => {
                program.native_objects.push(format!("static {name} in section {section}"));
            }
        }
    }
    // The runtime refers to the section's bounds, so it must exist in a program without writable
    // globals too.
    let anchor = module.add_global("__lr_data_anchor", context.integer(64));
    anchor.set_initialiser(context.integer(64).zero());
    anchor.set_section(DATA_SECTION);
    module.keep(context, &[anchor.value()]);
}
