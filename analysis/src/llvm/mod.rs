//! The one directory that touches LLVM: thin handles over its C API, with plain Rust types at the
//! border.
//!
//! Contract of the handles. There is one [`Context`] a process, made by the shim's only thread, and
//! neither it nor a linked module is ever freed: the process is short-lived, and so every handle
//! stays valid for good, with one exception: an instruction that was [`Instruction::erase`]d must
//! not be used again. That is the caller's duty, and the reason why the passes over a module
//! collect their work first and change it afterwards. Handles are neither `Send` nor `Sync` (they
//! hold raw pointers), as LLVM's context requires.

mod attributes;
mod builder;
mod codegen;
mod constants;
mod context;
mod debug_info;
mod debug_types;
mod global;
mod instruction;
mod layout;
mod module;
mod movement;
mod shape;
mod split;
mod types;
mod value;

pub use attributes::Attribute;
pub use builder::Builder;
pub use codegen::{Codegen, Relocation, TRIPLE};
pub use context::Context;
pub use debug_info::{Location, Subprogram};
pub use debug_types::{DebugType, Shape as DebugShape, ValueTypes};
pub use global::{Function, Global, Linkage};
pub use instruction::{Instruction, Opcode};
pub(crate) use layout::gcd;
pub use layout::{Constant, Distance, Scalar};
pub use module::Module;
pub use movement::Movement;
pub use shape::{Flow, Predicate, Shape};
pub use split::{Block, BlockSplitter};
pub use types::{Type, TypeKind};
pub use value::Value;

use std::ffi::{CStr, c_char};

/// Copies a message that LLVM allocated, and frees it.
///
/// # Safety
/// `message` is null or a C string made by LLVM that nobody else frees.
unsafe fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: not null, and a C string by this function's contract.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    // SAFETY: LLVM allocated it, and it is not used again.
    unsafe { llvm_sys::core::LLVMDisposeMessage(message) };
    text
}

/// Copies bytes that LLVM owns into a string, replacing what is not UTF-8.
///
/// # Safety
/// `data` is null or points to `length` readable bytes.
unsafe fn copy_text(data: *const c_char, length: usize) -> String {
    if data.is_null() || length == 0 {
        return String::new();
    }
    // SAFETY: readable by this function's contract.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}
