//! Values: what instructions, constants, globals and arguments have in common.

use super::{Function, Global, Instruction, Type, copy_text, take_message};
use llvm_sys::LLVMValueKind;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use std::ffi::CString;

/// Any value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value(pub(super) LLVMValueRef);

impl Value {
    pub(super) fn kind(self) -> LLVMValueKind {
        // SAFETY: the handle is valid (directory contract), here and in every method below.
        unsafe { LLVMGetValueKind(self.0) }
    }

    /// Its type.
    #[must_use]
    pub fn value_type(self) -> Type {
        // SAFETY: valid handle.
        Type(unsafe { LLVMTypeOf(self.0) })
    }

    /// Its name; empty when it has none.
    #[must_use]
    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: valid handle; LLVM returns a pointer to `length` bytes.
        unsafe {
            let data = LLVMGetValueName2(self.0, &mut length);
            copy_text(data, length)
        }
    }

    /// Renames it. LLVM adds a suffix when the name is taken.
    pub fn set_name(self, name: &str) {
        let text = CString::new(name).expect("symbol names have no nul");
        // SAFETY: valid handle; LLVM copies the name.
        unsafe { LLVMSetValueName2(self.0, text.as_ptr(), name.len()) };
    }

    /// As an instruction, if it is one.
    #[must_use]
    pub fn as_instruction(self) -> Option<Instruction> {
        (self.kind() == LLVMValueKind::LLVMInstructionValueKind).then_some(Instruction(self.0))
    }

    /// The function that it is a parameter of, if it is one.
    #[must_use]
    pub fn parameter_of(self) -> Option<Function> {
        let is_parameter = self.kind() == LLVMValueKind::LLVMArgumentValueKind;
        // SAFETY: valid handle of a parameter.
        is_parameter.then(|| Function(unsafe { LLVMGetParamParent(self.0) }))
    }

    /// As a function, if it is one.
    #[must_use]
    pub fn as_function(self) -> Option<Function> {
        (self.kind() == LLVMValueKind::LLVMFunctionValueKind).then_some(Function(self.0))
    }

    /// As a global variable, if it is one.
    #[must_use]
    pub fn as_global(self) -> Option<Global> {
        (self.kind() == LLVMValueKind::LLVMGlobalVariableValueKind).then_some(Global(self.0))
    }

    /// Whether it is a constant expression (of which only address computations matter here).
    #[must_use]
    pub fn is_constant_expression(self) -> bool {
        self.kind() == LLVMValueKind::LLVMConstantExprValueKind
    }

    /// Whether it is an inline assembly callee.
    #[must_use]
    pub fn is_inline_asm(self) -> bool {
        self.kind() == LLVMValueKind::LLVMInlineAsmValueKind
    }

    /// Whether it is a constant of any kind.
    #[must_use]
    pub fn is_constant(self) -> bool {
        // SAFETY: valid handle.
        unsafe { LLVMIsConstant(self.0) != 0 }
    }

    /// The number, if it is an integer constant of at most 64 bits.
    #[must_use]
    pub fn as_integer(self) -> Option<u64> {
        // SAFETY: valid handle; the value is read of integer constants only.
        unsafe {
            if LLVMIsAConstantInt(self.0).is_null() {
                return None;
            }
            match self.value_type().kind() {
                super::TypeKind::Integer(bits) if bits <= 64 => {
                    Some(LLVMConstIntGetZExtValue(self.0))
                }
                _ => None,
            }
        }
    }

    /// Whether it is the constant whose bits are all 0.
    #[must_use]
    pub fn is_null(self) -> bool {
        // SAFETY: valid handle.
        unsafe { LLVMIsNull(self.0) != 0 }
    }

    /// Assembly text of an inline assembly callee.
    #[must_use]
    pub fn inline_asm_text(self) -> String {
        let mut length = 0;
        // SAFETY: only called for inline assembly.
        unsafe {
            let data = LLVMGetInlineAsmAsmString(self.0, &mut length);
            copy_text(data, length)
        }
    }

    /// Constraints of an inline assembly callee: what its operands are.
    #[must_use]
    pub fn inline_asm_constraints(self) -> String {
        let mut length = 0;
        // SAFETY: only called for inline assembly.
        unsafe {
            let data = LLVMGetInlineAsmConstraintString(self.0, &mut length);
            copy_text(data, length)
        }
    }

    /// Operands of an instruction or constant expression.
    #[must_use]
    pub fn operands(self) -> Vec<Value> {
        // SAFETY: valid handle; indices are in range.
        unsafe {
            let count = LLVMGetNumOperands(self.0).max(0) as u32;
            (0..count).map(|i| Value(LLVMGetOperand(self.0, i))).collect()
        }
    }

    /// Replaces one operand.
    pub fn set_operand(self, index: u32, value: Value) {
        // SAFETY: valid handles; the callers take the index from `operands`.
        unsafe { LLVMSetOperand(self.0, index, value.0) };
    }

    /// Everything that uses it, once per use.
    #[must_use]
    pub fn users(self) -> Vec<Value> {
        let mut users = Vec::new();
        // SAFETY: valid handle; the list is walked without changing it.
        unsafe {
            let mut next = LLVMGetFirstUse(self.0);
            while !next.is_null() {
                users.push(Value(LLVMGetUser(next)));
                next = LLVMGetNextUse(next);
            }
        }
        users
    }

    /// Whether nothing uses it.
    #[must_use]
    pub fn is_unused(self) -> bool {
        // SAFETY: valid handle.
        unsafe { LLVMGetFirstUse(self.0).is_null() }
    }

    /// Makes every user use `other` instead.
    pub fn replace_all_uses(self, other: Value) {
        // SAFETY: valid handles of one type.
        unsafe { LLVMReplaceAllUsesWith(self.0, other.0) };
    }

    /// Its textual form, for messages and tests.
    #[must_use]
    pub fn print(self) -> String {
        // SAFETY: valid handle; the string is ours to free.
        unsafe { take_message(LLVMPrintValueToString(self.0)) }
    }
}
