//! Building instructions.

use super::{Block, Context, Function, Instruction, Location, Type, TypeKind, Value};
use llvm_sys::LLVMIntPredicate;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

/// Inserts instructions at a place.
#[derive(Debug)]
pub struct Builder(pub(super) LLVMBuilderRef);

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

impl Builder {
    /// A builder without a place.
    #[must_use]
    pub fn new(context: Context) -> Self {
        // SAFETY: valid handle.
        Self(unsafe { LLVMCreateBuilderInContext(context.0) })
    }

    /// From here on, inserts before an instruction, with this debug location.
    pub fn before(&self, instruction: Instruction, location: Option<Location>) {
        // SAFETY: valid handles; a null location clears it.
        unsafe {
            LLVMPositionBuilderBefore(self.0, instruction.0);
            LLVMSetCurrentDebugLocation2(self.0, Location::raw(location));
        }
    }

    /// From here on, inserts at the end of a block, with this debug location.
    pub fn at_end(&self, block: Block, location: Option<Location>) {
        // SAFETY: as above.
        unsafe {
            LLVMPositionBuilderAtEnd(self.0, block.0);
            LLVMSetCurrentDebugLocation2(self.0, Location::raw(location));
        }
    }

    /// Calls a function by its own type.
    pub fn call(&self, function: Function, arguments: &[Value]) -> Instruction {
        let mut raw: Vec<_> = arguments.iter().map(|v| v.0).collect();
        // SAFETY: valid handles; the arguments fit the function's type.
        Instruction(unsafe {
            LLVMBuildCall2(
                self.0,
                function.function_type().0,
                function.0,
                raw.as_mut_ptr(),
                raw.len() as u32,
                NO_NAME,
            )
        })
    }

    /// A pointer as a 64-bit number.
    pub fn address(&self, context: Context, pointer: Value) -> Value {
        // SAFETY: valid handles.
        Value(unsafe { LLVMBuildPtrToInt(self.0, pointer.0, context.integer(64).0, NO_NAME) })
    }

    /// A scalar of at most 64 bits as a zero-extended 64-bit number; `None` for another type.
    pub fn widen(&self, context: Context, value: Value) -> Option<Value> {
        let wide = context.integer(64);
        // SAFETY: valid handles; each cast fits the kind.
        unsafe {
            Some(Value(match value.value_type().kind() {
                TypeKind::Integer(64) => value.0,
                TypeKind::Integer(bits) if bits < 64 => {
                    LLVMBuildZExt(self.0, value.0, wide.0, NO_NAME)
                }
                TypeKind::Pointer => LLVMBuildPtrToInt(self.0, value.0, wide.0, NO_NAME),
                TypeKind::Double => LLVMBuildBitCast(self.0, value.0, wide.0, NO_NAME),
                TypeKind::Float => {
                    let narrow = LLVMBuildBitCast(self.0, value.0, context.integer(32).0, NO_NAME);
                    LLVMBuildZExt(self.0, narrow, wide.0, NO_NAME)
                }
                _ => return None,
            }))
        }
    }

    /// The way back from [`Builder::widen`].
    pub fn narrow(&self, context: Context, value: Value, to: Type) -> Value {
        // SAFETY: valid handles; each cast fits the kind, which `widen` accepted.
        unsafe {
            Value(match to.kind() {
                TypeKind::Integer(64) => value.0,
                TypeKind::Pointer => LLVMBuildIntToPtr(self.0, value.0, to.0, NO_NAME),
                TypeKind::Double => LLVMBuildBitCast(self.0, value.0, to.0, NO_NAME),
                TypeKind::Float => {
                    let bits = LLVMBuildTrunc(self.0, value.0, context.integer(32).0, NO_NAME);
                    LLVMBuildBitCast(self.0, bits, to.0, NO_NAME)
                }
                _ => LLVMBuildTrunc(self.0, value.0, to.0, NO_NAME),
            })
        }
    }

    /// `value & mask`.
    pub fn and(&self, value: Value, mask: Value) -> Value {
        // SAFETY: valid handles of one integer type.
        Value(unsafe { LLVMBuildAnd(self.0, value.0, mask.0, NO_NAME) })
    }

    /// Whether two numbers are equal.
    pub fn equal(&self, left: Value, right: Value) -> Value {
        // SAFETY: valid handles of one integer type.
        Value(unsafe {
            LLVMBuildICmp(self.0, LLVMIntPredicate::LLVMIntEQ, left.0, right.0, NO_NAME)
        })
    }

    /// A field of a structure value.
    pub fn field(&self, structure: Value, index: u32) -> Value {
        // SAFETY: valid handles; the index fits.
        Value(unsafe { LLVMBuildExtractValue(self.0, structure.0, index, NO_NAME) })
    }

    /// The upper half of a 64-bit number.
    pub fn upper_half(&self, context: Context, number: Value) -> Value {
        let half = context.integer(64).constant(32);
        // SAFETY: valid handles of one integer type.
        Value(unsafe { LLVMBuildLShr(self.0, number.0, half.0, NO_NAME) })
    }

    /// Puts a field into a structure value.
    pub fn insert_field(&self, structure: Value, field: Value, index: u32) -> Value {
        // SAFETY: valid handles; the index fits.
        Value(unsafe { LLVMBuildInsertValue(self.0, structure.0, field.0, index, NO_NAME) })
    }

    /// A plain load of a variable that the shim and the runtime share.
    pub fn load(&self, of: Type, pointer: Value) -> Value {
        // SAFETY: valid handles.
        Value(unsafe { LLVMBuildLoad2(self.0, of.0, pointer.0, NO_NAME) })
    }

    /// A pointer moved by a number of bytes.
    pub fn offset(&self, context: Context, pointer: Value, bytes: u64) -> Value {
        let mut index = [context.integer(64).constant(bytes).0];
        // SAFETY: valid handles; bytes are indexed as `i8`.
        Value(unsafe {
            LLVMBuildGEP2(self.0, context.integer(8).0, pointer.0, index.as_mut_ptr(), 1, NO_NAME)
        })
    }

    /// Goes to `then` when the 32-bit number is not 0, else to `otherwise`.
    pub fn branch_if_set(&self, context: Context, number: Value, then: Block, otherwise: Block) {
        // SAFETY: valid handles.
        unsafe {
            let zero = context.integer(32).constant(0);
            let set = LLVMBuildICmp(self.0, LLVMIntPredicate::LLVMIntNE, number.0, zero.0, NO_NAME);
            LLVMBuildCondBr(self.0, set, then.0, otherwise.0);
        }
    }

    /// Goes to a block.
    pub fn jump(&self, to: Block) {
        // SAFETY: valid handles.
        unsafe { LLVMBuildBr(self.0, to.0) };
    }

    /// Room on the stack for so many 64-bit numbers.
    pub fn room(&self, context: Context, numbers: u64) -> Value {
        let number = context.integer(64);
        let count = number.constant(numbers);
        // SAFETY: valid handles.
        Value(unsafe { LLVMBuildArrayAlloca(self.0, number.0, count.0, NO_NAME) })
    }

    /// Writes a value.
    pub fn store(&self, value: Value, pointer: Value) {
        // SAFETY: valid handles.
        unsafe { LLVMBuildStore(self.0, value.0, pointer.0) };
    }

    /// Returns a value, or nothing.
    pub fn ret(&self, value: Option<Value>) {
        // SAFETY: valid handles.
        unsafe {
            match value {
                Some(value) => LLVMBuildRet(self.0, value.0),
                None => LLVMBuildRetVoid(self.0),
            };
        }
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        // SAFETY: made by `new`, freed once.
        unsafe { LLVMDisposeBuilder(self.0) };
    }
}
