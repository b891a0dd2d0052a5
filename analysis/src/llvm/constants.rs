//! Constants.

use super::{Context, Type, Value};
use llvm_sys::core::*;

impl Type {
    /// The integer constant of this (integer) type.
    #[must_use]
    pub fn constant(self, value: u64) -> Value {
        // SAFETY: valid handle of an integer type.
        Value(unsafe { LLVMConstInt(self.0, value, 0) })
    }

    /// A value of which nothing is known or needed.
    #[must_use]
    pub fn poison(self) -> Value {
        // SAFETY: valid handle.
        Value(unsafe { LLVMGetPoison(self.0) })
    }

    /// All bytes zero.
    #[must_use]
    pub fn zero(self) -> Value {
        // SAFETY: valid handle.
        Value(unsafe { LLVMConstNull(self.0) })
    }

    /// An array type of this element type.
    #[must_use]
    pub fn array(self, length: u64) -> Type {
        // SAFETY: valid handle.
        Type(unsafe { LLVMArrayType2(self.0, length) })
    }
}

impl Context {
    /// A constant array.
    #[must_use]
    pub fn constant_array(self, element: Type, values: &[Value]) -> Value {
        let mut raw: Vec<_> = values.iter().map(|v| v.0).collect();
        // SAFETY: valid handles of constants of one type.
        Value(unsafe { LLVMConstArray2(element.0, raw.as_mut_ptr(), raw.len() as u64) })
    }

    /// A constant structure without padding.
    #[must_use]
    pub fn packed_struct(self, values: &[Value]) -> Value {
        let mut raw: Vec<_> = values.iter().map(|v| v.0).collect();
        // SAFETY: valid handles of constants.
        Value(unsafe { LLVMConstStructInContext(self.0, raw.as_mut_ptr(), raw.len() as u32, 1) })
    }

    /// A constant byte array.
    #[must_use]
    pub fn bytes(self, bytes: &[u8]) -> Value {
        // SAFETY: LLVM copies the bytes; no nul is added.
        Value(unsafe { LLVMConstStringInContext2(self.0, bytes.as_ptr().cast(), bytes.len(), 1) })
    }
}
