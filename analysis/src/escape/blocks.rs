//! Where blocks of the heap come from, and where they go back to.
//!
//! In a program that uses the system's allocator, a call of `__rust_alloc` gives a block that
//! nobody else has a pointer to, and `__rust_dealloc` takes one back: it comes to the runtime,
//! which keeps what it wants in memory of its own. Where the program has an allocator of its own,
//! nothing is known of either: what is freed there is kept, and given to other threads.

use crate::llvm::{Function, Instruction, Module, Opcode};
use crate::recognise::{demangle, path_of};
use std::collections::HashSet;

/// Functions that give a block.
const ALLOCATE: &[&str] = &["__rustc::__rust_alloc", "__rustc::__rust_alloc_zeroed"];
/// Functions that take one back, their first argument.
const FREE: &[&str] = &["__rustc::__rust_dealloc"];
/// What all of them call in a program that uses the system's allocator, and nothing else.
const OF_THE_SYSTEM: &str = "__rustc::__rdl_";

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    allocating: HashSet<Function>,
    freeing: HashSet<Function>,
}

impl Blocks {
    /// The functions of a program.
    pub(super) fn of(module: &Module) -> Self {
        let mut blocks = Self::default();
        for function in module.functions() {
            let name = function.name();
            // Demangling all is not needed to know the few.
            if !name.contains("__rust_") || !is_of_the_system(function) {
                continue;
            }
            let path = path_of(&demangle(&name));
            if ALLOCATE.contains(&path.as_str()) {
                blocks.allocating.insert(function);
            } else if FREE.contains(&path.as_str()) {
                blocks.freeing.insert(function);
            }
        }
        blocks
    }

    /// Whether an instruction's result is a new block.
    pub(super) fn allocates(&self, at: Instruction) -> bool {
        at.opcode() == Opcode::Call
            && at
                .callee()
                .and_then(|callee| callee.as_function())
                .is_some_and(|f| self.allocating.contains(&f))
    }

    /// The functions that take blocks back.
    pub(super) fn freeing(&self) -> HashSet<Function> {
        self.freeing.clone()
    }
}

/// Whether a function calls one of the system's allocator, and nothing else.
fn is_of_the_system(function: Function) -> bool {
    let mut calls = function
        .blocks()
        .into_iter()
        .flat_map(|block| block.instructions())
        .filter(|at| at.opcode() == Opcode::Call)
        .peekable();
    let leads_there = |call: Instruction| {
        let callee = call.callee().and_then(|callee| callee.as_function());
        callee.is_some_and(|f| path_of(&demangle(&f.name())).starts_with(OF_THE_SYSTEM))
    };
    calls.peek().is_some() && calls.all(leads_there)
}
