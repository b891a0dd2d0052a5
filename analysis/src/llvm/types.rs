//! Types.

use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

/// A type of the context.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Type(pub(super) LLVMTypeRef);

/// What the instrumentation must tell apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeKind {
    /// An integer of so many bits.
    Integer(u32),
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// A pointer.
    Pointer,
    /// Everything else.
    Other,
}

impl Type {
    /// Its kind.
    #[must_use]
    pub fn kind(self) -> TypeKind {
        // SAFETY: the handle is valid (directory contract); the width is asked of integers only.
        unsafe {
            match LLVMGetTypeKind(self.0) {
                LLVMTypeKind::LLVMIntegerTypeKind => TypeKind::Integer(LLVMGetIntTypeWidth(self.0)),
                LLVMTypeKind::LLVMFloatTypeKind => TypeKind::Float,
                LLVMTypeKind::LLVMDoubleTypeKind => TypeKind::Double,
                LLVMTypeKind::LLVMPointerTypeKind => TypeKind::Pointer,
                _ => TypeKind::Other,
            }
        }
    }

    /// Whether this is an integer as wide as an address.
    #[must_use]
    pub fn is_word(self) -> bool {
        // SAFETY: valid handle (directory contract); the width is asked of integers only.
        unsafe {
            LLVMGetTypeKind(self.0) == LLVMTypeKind::LLVMIntegerTypeKind
                && LLVMGetIntTypeWidth(self.0) == 64
        }
    }

    /// Whether it is a pointer.
    #[must_use]
    pub fn is_pointer(self) -> bool {
        self.kind() == TypeKind::Pointer
    }

    /// Of a structure: the types of its fields.
    #[must_use]
    pub fn field_types(self) -> Option<Vec<Type>> {
        // SAFETY: the handle is valid (directory contract); fields are asked of structures only,
        // and the indices are in range.
        unsafe {
            if LLVMGetTypeKind(self.0) != LLVMTypeKind::LLVMStructTypeKind {
                return None;
            }
            let count = LLVMCountStructElementTypes(self.0);
            Some((0..count).map(|i| Type(LLVMStructGetTypeAtIndex(self.0, i))).collect())
        }
    }

    /// A function type with this return type.
    #[must_use]
    pub fn function(self, parameters: &[Type], variadic: bool) -> Type {
        let mut raw: Vec<_> = parameters.iter().map(|t| t.0).collect();
        // SAFETY: the handles are valid and LLVM copies the list.
        Type(unsafe {
            LLVMFunctionType(self.0, raw.as_mut_ptr(), raw.len() as u32, i32::from(variadic))
        })
    }

    /// Of a function type: what it returns.
    #[must_use]
    pub fn return_type(self) -> Type {
        // SAFETY: only called for function types.
        Type(unsafe { LLVMGetReturnType(self.0) })
    }

    /// Of a function type: the number of declared parameters.
    #[must_use]
    pub fn parameter_count(self) -> u32 {
        // SAFETY: only called for function types.
        unsafe { LLVMCountParamTypes(self.0) }
    }

    /// Of a function type: whether it takes `...`.
    #[must_use]
    pub fn is_variadic(self) -> bool {
        // SAFETY: only called for function types.
        unsafe { LLVMIsFunctionVarArg(self.0) != 0 }
    }

    /// Whether it is `void`.
    #[must_use]
    pub fn is_void(self) -> bool {
        // SAFETY: the handle is valid.
        unsafe { LLVMGetTypeKind(self.0) == LLVMTypeKind::LLVMVoidTypeKind }
    }
}
