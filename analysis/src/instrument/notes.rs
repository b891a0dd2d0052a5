//! Notes of the crate `lockred`: constants that its attributes have made, put together where `cargo
//! lockred` looks for them.

use crate::llvm::{Context, Module, Value};
use crate::recognise::demangle;
use lockred_protocol::notes::{SECTION, STATIC};

/// Puts all notes of a program into their section.
pub fn place(context: Context, module: &Module) {
    let end = format!("::{STATIC}");
    let mut notes: Vec<Value> = Vec::new();
    for global in module.globals() {
        let name = global.name();
        if !global.is_declaration() && name.contains(STATIC) && demangle(&name).ends_with(&end) {
            global.set_section(SECTION);
            global.set_alignment(1);
            notes.push(global.value());
        }
    }
    if !notes.is_empty() {
        module.keep(context, &notes);
    }
}
