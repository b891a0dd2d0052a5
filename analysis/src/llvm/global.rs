//! Functions and global variables.

use super::Instruction;
use super::{Block, Context, Type, Value};
use llvm_sys::LLVMLinkage;
use llvm_sys::comdat::LLVMSetComdat;
use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMGetSubprogram;
use llvm_sys::prelude::*;
use std::ffi::{CStr, CString};
use std::ptr;

/// A function, declared or defined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Function(pub(super) LLVMValueRef);

/// A global variable, declared or defined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Global(pub(super) LLVMValueRef);

/// Linkages, as far as they are told apart here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linkage {
    /// Visible to other modules.
    External,
    /// One definition of many equal ones; dropped when nobody uses it.
    LinkOnceOdr,
    /// Of this module only (`internal` and `private`).
    Internal,
    /// A definition whose body is only for optimisation; the symbol comes from elsewhere.
    AvailableExternally,
    /// Merged by concatenation (`llvm.used` and its kind).
    Appending,
    /// A declaration that may stay undefined.
    ExternWeak,
    /// Other external definitions (weak, common, …).
    OtherDefinition,
}

impl Linkage {
    fn of(raw: LLVMValueRef) -> Self {
        use LLVMLinkage::*;
        // SAFETY: only called with a global value.
        match unsafe { LLVMGetLinkage(raw) } {
            LLVMExternalLinkage | LLVMDLLImportLinkage | LLVMDLLExportLinkage => Self::External,
            LLVMLinkOnceODRLinkage => Self::LinkOnceOdr,
            LLVMInternalLinkage | LLVMPrivateLinkage => Self::Internal,
            LLVMAvailableExternallyLinkage => Self::AvailableExternally,
            LLVMAppendingLinkage => Self::Appending,
            LLVMExternalWeakLinkage => Self::ExternWeak,
            _ => Self::OtherDefinition,
        }
    }
}

macro_rules! global_value {
    ($name:ident) => {
        impl $name {
            /// As a value.
            #[must_use]
            pub fn value(self) -> Value {
                Value(self.0)
            }

            /// Its symbol name.
            #[must_use]
            pub fn name(self) -> String {
                self.value().name()
            }

            /// Whether it is only declared.
            #[must_use]
            pub fn is_declaration(self) -> bool {
                // SAFETY: valid handle.
                unsafe { LLVMIsDeclaration(self.0) != 0 }
            }

            /// Its linkage.
            #[must_use]
            pub fn linkage(self) -> Linkage {
                Linkage::of(self.0)
            }

            /// Puts it into a section.
            pub fn set_section(self, name: &str) {
                let text = CString::new(name).expect("section names have no nul");
                // SAFETY: valid handle; LLVM copies the name.
                unsafe { LLVMSetSection(self.0, text.as_ptr()) };
            }

            /// Makes it private to its module, outside any comdat.
            pub fn internalise(self) {
                // SAFETY: valid handle; a null comdat means none.
                unsafe {
                    LLVMSetComdat(self.0, ptr::null_mut());
                    LLVMSetLinkage(self.0, LLVMLinkage::LLVMInternalLinkage);
                }
            }

            /// Makes it visible to the linker.
            pub fn externalise(self) {
                // SAFETY: valid handle.
                unsafe {
                    LLVMSetLinkage(self.0, LLVMLinkage::LLVMExternalLinkage);
                    LLVMSetVisibility(self.0, llvm_sys::LLVMVisibility::LLVMDefaultVisibility);
                }
            }

            /// Lets a definition elsewhere take its place.
            pub fn weaken(self) {
                // SAFETY: valid handle; a null comdat means none.
                unsafe {
                    LLVMSetComdat(self.0, ptr::null_mut());
                    LLVMSetLinkage(self.0, LLVMLinkage::LLVMWeakAnyLinkage);
                    LLVMSetVisibility(self.0, llvm_sys::LLVMVisibility::LLVMDefaultVisibility);
                }
            }

            /// Lets the linker drop it where nobody uses it: the way to link only what is needed.
            pub fn make_droppable(self) {
                // SAFETY: valid handle.
                unsafe { LLVMSetLinkage(self.0, LLVMLinkage::LLVMLinkOnceODRLinkage) };
            }
        }
    };
}
global_value!(Function);
global_value!(Global);

impl Function {
    /// Its calls, if nobody else can call it: it is the module's own, and its address is used for
    /// nothing else.
    #[must_use]
    pub fn all_calls(self) -> Option<Vec<Instruction>> {
        if self.linkage() != Linkage::Internal {
            return None;
        }
        let count = self.parameters().len();
        let call = |user: &Value| {
            let call = user.as_instruction().filter(|at| at.callee() == Some(self.value()))?;
            let arguments = call.arguments();
            let fits = arguments.len() == count && !arguments.contains(&self.value());
            fits.then_some(call)
        };
        self.value().users().iter().map(call).collect()
    }

    /// Its function type.
    #[must_use]
    pub fn function_type(self) -> Type {
        // SAFETY: valid handle.
        Type(unsafe { LLVMGlobalGetValueType(self.0) })
    }

    /// LLVM's number of the intrinsic, 0 for an ordinary function.
    #[must_use]
    pub fn intrinsic_id(self) -> u32 {
        // SAFETY: valid handle.
        unsafe { LLVMGetIntrinsicID(self.0) }
    }

    /// Its parameters.
    #[must_use]
    pub fn parameters(self) -> Vec<Value> {
        // SAFETY: valid handle, indices in range.
        unsafe { (0..LLVMCountParams(self.0)).map(|i| Value(LLVMGetParam(self.0, i))).collect() }
    }

    /// Its blocks, in order.
    #[must_use]
    pub fn blocks(self) -> Vec<Block> {
        let mut blocks = Vec::new();
        // SAFETY: valid handle.
        unsafe {
            let mut next = LLVMGetFirstBasicBlock(self.0);
            while !next.is_null() {
                blocks.push(Block(next));
                next = LLVMGetNextBasicBlock(next);
            }
        }
        blocks
    }

    /// Appends an empty block.
    #[must_use]
    pub fn append_block(self, context: Context) -> Block {
        // SAFETY: valid handles.
        Block(unsafe { LLVMAppendBasicBlockInContext(context.0, self.0, c"".as_ptr()) })
    }

    /// The subprogram that describes it in the debug information.
    pub(super) fn subprogram(self) -> LLVMMetadataRef {
        // SAFETY: valid handle.
        unsafe { LLVMGetSubprogram(self.0) }
    }

    /// The number of bytes of its personality function's name is not 0: whether it has landing pads
    /// or clean-ups.
    #[must_use]
    pub fn has_personality(self) -> bool {
        // SAFETY: valid handle.
        unsafe { LLVMHasPersonalityFn(self.0) != 0 }
    }
}

impl Global {
    /// The type of its value.
    #[must_use]
    pub fn value_type(self) -> Type {
        // SAFETY: valid handle.
        Type(unsafe { LLVMGlobalGetValueType(self.0) })
    }

    /// Whether it is a constant.
    #[must_use]
    pub fn is_constant(self) -> bool {
        // SAFETY: valid handle.
        unsafe { LLVMIsGlobalConstant(self.0) != 0 }
    }

    /// Declares it constant, or not.
    pub fn set_constant(self, constant: bool) {
        // SAFETY: valid handle.
        unsafe { LLVMSetGlobalConstant(self.0, i32::from(constant)) };
    }

    /// Whether each thread has its own.
    #[must_use]
    pub fn is_thread_local(self) -> bool {
        // SAFETY: valid handle.
        unsafe { LLVMIsThreadLocal(self.0) != 0 }
    }

    /// Its initial value.
    #[must_use]
    pub fn initialiser(self) -> Option<Value> {
        // SAFETY: valid handle.
        let raw = unsafe { LLVMGetInitializer(self.0) };
        (!raw.is_null()).then_some(Value(raw))
    }

    /// Sets its initial value.
    pub fn set_initialiser(self, value: Value) {
        // SAFETY: valid handles; the caller gives a constant of the global's type.
        unsafe { LLVMSetInitializer(self.0, value.0) };
    }

    /// Its alignment in bytes, 0 when unspecified.
    #[must_use]
    pub fn alignment(self) -> u64 {
        // SAFETY: valid handle.
        u64::from(unsafe { LLVMGetAlignment(self.0) })
    }

    /// Sets its alignment in bytes, a power of two.
    pub fn set_alignment(self, bytes: u32) {
        // SAFETY: valid handle.
        unsafe { LLVMSetAlignment(self.0, bytes) };
    }

    /// Its section, if one is given.
    #[must_use]
    pub fn section(self) -> Option<String> {
        // SAFETY: valid handle; the result is null or a C string.
        unsafe {
            let raw = LLVMGetSection(self.0);
            if raw.is_null() {
                return None;
            }
            let text = CStr::from_ptr(raw).to_string_lossy().into_owned();
            (!text.is_empty()).then_some(text)
        }
    }

    /// Removes it from its module. Nothing may use it any more, nor this handle.
    pub fn delete(self) {
        // SAFETY: valid handle, without users by the caller's word.
        unsafe { LLVMDeleteGlobal(self.0) };
    }
}
