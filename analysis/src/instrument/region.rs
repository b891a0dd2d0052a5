//! Marks of functions that are atomic regions, set before anything is inlined: where they begin, and everywhere they are left.

use crate::llvm::{Builder, Context, Function, Module, Opcode};

/// Inserts the marks.
pub struct Marker {
    builder: Builder,
    enter: Function,
    leave: Function,
}

impl Marker {
    /// Declares the hooks.
    pub fn new(context: Context, module: &Module) -> Self {
        let signature = context.void().function(&[], false);
        let [enter, leave] = ["__lr_region_enter", "__lr_region_leave"]
            .map(|name| module.declare(context, name, signature));
        Self { builder: Builder::new(context), enter, leave }
    }

    /// Marks a function with a body.
    pub fn mark(&self, context: Context, function: Function) {
        let unknown = function.unknown_location(context);
        let blocks = function.blocks();
        let Some(first) = blocks.first().and_then(|block| block.instructions().first().copied())
        else {
            return;
        };
        self.builder.before(first, unknown);
        self.builder.call(self.enter, &[]);
        for at in blocks.iter().flat_map(|block| block.instructions()) {
            if matches!(at.opcode(), Opcode::Return | Opcode::Resume) {
                self.builder.before(at, at.location().or(unknown));
                self.builder.call(self.leave, &[]);
            }
        }
    }
}
