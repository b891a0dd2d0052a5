//! The LLVM context: owner of types, constants and metadata.

use super::{Module, Type, copy_text, take_message};
use llvm_sys::LLVMDiagnosticSeverity;
use llvm_sys::bit_reader::{LLVMGetBitcodeModuleInContext2, LLVMParseBitcodeInContext2};
use llvm_sys::core::*;
use llvm_sys::ir_reader::LLVMParseIRInContext2;
use llvm_sys::prelude::*;
use std::cell::RefCell;
use std::ffi::{CString, c_void};
use std::ptr;

thread_local! {
    /// What LLVM's diagnostic handler got since the last look. LLVM reports why a link or
    /// a parse failed only there.
    static DIAGNOSTICS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// The remarks of the passes that were asked for them.
    static REMARKS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

extern "C" fn record_diagnostic(info: LLVMDiagnosticInfoRef, _: *mut c_void) {
    // SAFETY: LLVM passes a valid diagnostic for the time of this call.
    let severity = unsafe { LLVMGetDiagInfoSeverity(info) };
    let list = match severity {
        LLVMDiagnosticSeverity::LLVMDSError => &DIAGNOSTICS,
        LLVMDiagnosticSeverity::LLVMDSRemark => &REMARKS,
        _ => return,
    };
    // SAFETY: as above; the description is ours to free.
    let text = unsafe { take_message(LLVMGetDiagInfoDescription(info)) };
    list.with_borrow_mut(|all| all.push(text));
}

/// The remarks that LLVM made since the last call.
pub(super) fn take_remarks() -> Vec<String> {
    REMARKS.take()
}

/// The errors that LLVM reported since the last call, as one line.
pub(super) fn take_diagnostics() -> String {
    DIAGNOSTICS.with_borrow_mut(|all| std::mem::take(all).join("; "))
}

/// The context. See the directory's documentation for its lifetime.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Context(pub(super) LLVMContextRef);

impl Default for Context {
    fn default() -> Self {
        Self::new()
    }
}

impl Context {
    /// Makes a context that lives as long as the process.
    #[must_use]
    pub fn new() -> Self {
        // SAFETY: creating a context has no precondition; the handler takes no state.
        unsafe {
            let context = LLVMContextCreate();
            LLVMContextSetDiagnosticHandler(context, Some(record_diagnostic), ptr::null_mut());
            Self(context)
        }
    }

    /// Parses a whole bitcode module. `name` is for messages.
    ///
    /// # Errors
    /// When the bytes are no bitcode that this LLVM reads.
    pub fn parse_bitcode(self, bytes: &[u8], name: &str) -> Result<Module, String> {
        self.read(bytes, name, |buffer, module| {
            // SAFETY: context and buffer are valid; `module` is written on success. The parser
            // copies what it needs.
            unsafe {
                let failed = LLVMParseBitcodeInContext2(self.0, buffer, module);
                LLVMDisposeMemoryBuffer(buffer);
                failed
            }
        })
    }

    /// Opens a bitcode module whose function bodies are read only when something links them.
    ///
    /// # Errors
    /// When the bytes are no bitcode that this LLVM reads.
    pub fn parse_bitcode_lazily(self, bytes: &[u8], name: &str) -> Result<Module, String> {
        self.read(bytes, name, |buffer, module| {
            // SAFETY: context and buffer are valid; the module takes ownership of the buffer.
            unsafe { LLVMGetBitcodeModuleInContext2(self.0, buffer, module) }
        })
    }

    fn read(
        self,
        bytes: &[u8],
        name: &str,
        parse: impl FnOnce(LLVMMemoryBufferRef, *mut LLVMModuleRef) -> LLVMBool,
    ) -> Result<Module, String> {
        let label = CString::new(name.replace('\0', " ")).expect("no interior nul is left");
        take_diagnostics();
        // SAFETY: LLVM copies the given bytes.
        let buffer = unsafe {
            LLVMCreateMemoryBufferWithMemoryRangeCopy(
                bytes.as_ptr().cast(),
                bytes.len(),
                label.as_ptr(),
            )
        };
        let mut module = ptr::null_mut();
        if parse(buffer, &mut module) != 0 {
            return Err(format!("{name}: LLVM cannot read this bitcode: {}", take_diagnostics()));
        }
        Ok(Module(module))
    }

    /// Parses textual IR, for tests and for small hand-written parts.
    ///
    /// # Errors
    /// LLVM's message with line and column.
    pub fn parse_text(self, text: &str) -> Result<Module, String> {
        let mut module = ptr::null_mut();
        let mut message = ptr::null_mut();
        // SAFETY: LLVM copies the text; the buffer is freed once; outputs are valid pointers.
        unsafe {
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
                text.as_ptr().cast(),
                text.len(),
                c"text".as_ptr(),
            );
            let failed = LLVMParseIRInContext2(self.0, buffer, &mut module, &mut message);
            LLVMDisposeMemoryBuffer(buffer);
            if failed != 0 {
                return Err(take_message(message));
            }
        }
        Ok(Module(module))
    }

    /// An empty module.
    #[must_use]
    pub fn module(self, name: &str) -> Module {
        let name = CString::new(name).expect("module names have no nul");
        // SAFETY: the context is valid and LLVM copies the name.
        Module(unsafe { LLVMModuleCreateWithNameInContext(name.as_ptr(), self.0) })
    }

    /// The integer type of so many bits.
    #[must_use]
    pub fn integer(self, bits: u32) -> Type {
        // SAFETY: the context is valid.
        Type(unsafe { LLVMIntTypeInContext(self.0, bits) })
    }

    /// The pointer type of the default address space.
    #[must_use]
    pub fn pointer(self) -> Type {
        // SAFETY: the context is valid.
        Type(unsafe { LLVMPointerTypeInContext(self.0, 0) })
    }

    /// `void`.
    #[must_use]
    pub fn void(self) -> Type {
        // SAFETY: the context is valid.
        Type(unsafe { LLVMVoidTypeInContext(self.0) })
    }

    /// Text of a metadata string wrapped as a value; empty when it is none.
    pub(super) fn metadata_text(value: LLVMValueRef) -> String {
        // SAFETY: `value` is a valid metadata-as-value handle or null, both checked by the C API or
        // here.
        unsafe {
            if value.is_null() || LLVMIsAMDString(value).is_null() {
                return String::new();
            }
            let mut length = 0;
            let data = LLVMGetMDString(value, &mut length);
            copy_text(data, length as usize)
        }
    }
}
