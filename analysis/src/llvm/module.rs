//! Modules: linking, passes, declarations, printing.

use super::context::take_diagnostics;
use super::{Attribute, Context, Function, Global, Type, Value, copy_text, take_message};
use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use llvm_sys::bit_writer::LLVMWriteBitcodeToMemoryBuffer;
use llvm_sys::core::*;
use llvm_sys::error::{LLVMErrorRef, LLVMGetErrorMessage};
use llvm_sys::linker::LLVMLinkModules2;
use llvm_sys::prelude::*;
use llvm_sys::transforms::pass_builder::*;
use std::ffi::CString;
use std::ptr;

/// A module. Linking it into another one consumes it.
#[derive(PartialEq, Eq, Debug)]
pub struct Module(pub(super) LLVMModuleRef);

/// Has LLVM run a pipeline, and gives its message if it is not written as it should be.
fn run(
    passes: &str,
    on: impl FnOnce(*const std::ffi::c_char, LLVMPassBuilderOptionsRef) -> LLVMErrorRef,
) -> Result<(), String> {
    let text = CString::new(passes).expect("pass names have no nul");
    // SAFETY: no target machine is needed by the passes used; the options are freed once.
    unsafe {
        let options = LLVMCreatePassBuilderOptions();
        let error = on(text.as_ptr(), options);
        LLVMDisposePassBuilderOptions(options);
        if error.is_null() {
            return Ok(());
        }
        Err(format!("{passes}: {}", take_message(LLVMGetErrorMessage(error))))
    }
}

impl Function {
    /// Runs a pipeline of passes of functions, in the notation of LLVM's `opt -passes`, on this
    /// one.
    ///
    /// # Errors
    /// LLVM's message when the notation is wrong.
    pub fn run_passes(self, passes: &str) -> Result<(), String> {
        // SAFETY: valid handle.
        run(passes, |text, options| unsafe {
            LLVMRunPassesOnFunction(self.0, text, ptr::null_mut(), options)
        })
    }
}

impl Module {
    /// Links `other` into this module.
    ///
    /// # Errors
    /// LLVM's message, for instance that a symbol is defined twice.
    pub fn link(&self, other: Module) -> Result<(), String> {
        take_diagnostics();
        // SAFETY: both handles are valid and of one context; `other` is consumed.
        if unsafe { LLVMLinkModules2(self.0, other.0) } != 0 {
            return Err(take_diagnostics());
        }
        Ok(())
    }

    /// Runs a pipeline in the notation of LLVM's `opt -passes`.
    ///
    /// # Errors
    /// LLVM's message when the notation is wrong.
    pub fn run_passes(&self, passes: &str) -> Result<(), String> {
        // SAFETY: valid handle.
        run(passes, |text, options| unsafe {
            LLVMRunPasses(self.0, text, ptr::null_mut(), options)
        })
    }

    /// Whether rustc has made it, and no other compiler.
    #[must_use]
    pub fn is_from_rustc(&self) -> bool {
        const PRODUCERS: &std::ffi::CStr = c"llvm.ident";
        // SAFETY: valid handles; LLVM fills in as many operands as it has counted before.
        let producers: Vec<Value> = unsafe {
            let count = LLVMGetNamedMetadataNumOperands(self.0, PRODUCERS.as_ptr());
            let mut nodes = vec![ptr::null_mut(); count as usize];
            LLVMGetNamedMetadataOperands(self.0, PRODUCERS.as_ptr(), nodes.as_mut_ptr());
            nodes.into_iter().map(Value).collect()
        };
        let is_rustc = |node: &Value| node.print().contains("\"rustc version");
        !producers.is_empty() && producers.iter().all(is_rustc)
    }

    /// Checks the module's consistency. Slow: for tests and debug builds.
    ///
    /// # Errors
    /// What is inconsistent.
    pub fn verify(&self) -> Result<(), String> {
        let mut message = ptr::null_mut();
        // SAFETY: valid handle; the message is ours to free.
        unsafe {
            let broken = LLVMVerifyModule(
                self.0,
                LLVMVerifierFailureAction::LLVMReturnStatusAction,
                &mut message,
            );
            let text = take_message(message);
            if broken != 0 { Err(text) } else { Ok(()) }
        }
    }

    /// All functions, declared ones included.
    #[must_use]
    pub fn functions(&self) -> Vec<Function> {
        let mut all = Vec::new();
        // SAFETY: valid handle.
        unsafe {
            let mut next = LLVMGetFirstFunction(self.0);
            while !next.is_null() {
                all.push(Function(next));
                next = LLVMGetNextFunction(next);
            }
        }
        all
    }

    /// All global variables, declared ones included.
    #[must_use]
    pub fn globals(&self) -> Vec<Global> {
        let mut all = Vec::new();
        // SAFETY: valid handle.
        unsafe {
            let mut next = LLVMGetFirstGlobal(self.0);
            while !next.is_null() {
                all.push(Global(next));
                next = LLVMGetNextGlobal(next);
            }
        }
        all
    }

    /// Makes aliases that are visible outside private, except those named, and lets them be dropped
    /// when unused.
    pub fn internalise_aliases(&self, keep: impl Fn(&str) -> bool) {
        // SAFETY: valid handles; the linkage of an alias may be set like any global value's.
        unsafe {
            let mut next = LLVMGetFirstGlobalAlias(self.0);
            while !next.is_null() {
                if !keep(&Value(next).name()) {
                    LLVMSetLinkage(next, llvm_sys::LLVMLinkage::LLVMInternalLinkage);
                }
                next = LLVMGetNextGlobalAlias(next);
            }
        }
    }

    /// The function with this name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<Function> {
        let text = CString::new(name).ok()?;
        // SAFETY: valid handle.
        let raw = unsafe { LLVMGetNamedFunction(self.0, text.as_ptr()) };
        (!raw.is_null()).then_some(Function(raw))
    }

    /// The global variable with this name.
    #[must_use]
    pub fn global(&self, name: &str) -> Option<Global> {
        let text = CString::new(name).ok()?;
        // SAFETY: valid handle.
        let raw = unsafe { LLVMGetNamedGlobal(self.0, text.as_ptr()) };
        (!raw.is_null()).then_some(Global(raw))
    }

    /// Declares (or finds) a function that never unwinds.
    #[must_use]
    pub fn declare(&self, context: Context, name: &str, signature: Type) -> Function {
        if let Some(function) = self.function(name) {
            return function;
        }
        let function = self.add_function(name, signature);
        if let Some(nounwind) = Attribute::named("nounwind") {
            function.add(context, nounwind);
        }
        function
    }

    /// Adds a function without a body.
    #[must_use]
    pub fn add_function(&self, name: &str, signature: Type) -> Function {
        let text = CString::new(name).expect("symbol names have no nul");
        // SAFETY: valid handles; LLVM copies the name.
        Function(unsafe { LLVMAddFunction(self.0, text.as_ptr(), signature.0) })
    }

    /// Replaces a function that returns nothing by one that does nothing.
    pub fn make_empty(&self, context: Context, function: Function) {
        let name = function.name();
        let empty = self.add_function("", function.function_type());
        let builder = super::Builder::new(context);
        builder.at_end(empty.append_block(context), None);
        builder.ret(None);
        function.value().replace_all_uses(empty.value());
        // SAFETY: valid handle; nothing uses the function any more, and its handle is not used
        // again.
        unsafe { LLVMDeleteFunction(function.0) };
        empty.value().set_name(&name);
    }

    /// Adds a global variable without an initial value.
    #[must_use]
    pub fn add_global(&self, name: &str, value_type: Type) -> Global {
        let text = CString::new(name).expect("symbol names have no nul");
        // SAFETY: valid handles; LLVM copies the name.
        Global(unsafe { LLVMAddGlobal(self.0, value_type.0, text.as_ptr()) })
    }

    /// Replaces the list `llvm.used` or adds to it: globals that must survive to the executable.
    pub fn keep(&self, context: Context, globals: &[Value]) {
        let mut all: Vec<Value> = Vec::new();
        if let Some(old) = self.global("llvm.used") {
            all.extend(old.initialiser().map(Value::operands).unwrap_or_default());
            old.delete();
        }
        all.extend(globals);
        let list = context.constant_array(context.pointer(), &all);
        let used = self.add_global("llvm.used", list.value_type());
        used.set_initialiser(list);
        used.set_section("llvm.metadata");
        // SAFETY: valid handle.
        unsafe { LLVMSetLinkage(used.0, llvm_sys::LLVMLinkage::LLVMAppendingLinkage) };
    }

    /// Size in bytes of what a store of the type writes.
    #[must_use]
    pub fn store_size(&self, of: Type) -> u64 {
        // SAFETY: valid handles; every loaded or stored type is sized.
        unsafe {
            llvm_sys::target::LLVMStoreSizeOfType(
                llvm_sys::target::LLVMGetModuleDataLayout(self.0),
                of.0,
            )
        }
    }

    /// Size in bytes of a variable of the type, padding at its end included.
    #[must_use]
    pub fn allocation_size(&self, of: Type) -> u64 {
        // SAFETY: valid handles; every variable's type is sized.
        unsafe {
            llvm_sys::target::LLVMABISizeOfType(
                llvm_sys::target::LLVMGetModuleDataLayout(self.0),
                of.0,
            )
        }
    }

    /// Alignment in bytes that the type has by itself.
    #[must_use]
    pub fn natural_alignment(&self, of: Type) -> u64 {
        // SAFETY: valid handles; every variable's type is sized.
        u64::from(unsafe {
            llvm_sys::target::LLVMABIAlignmentOfType(
                llvm_sys::target::LLVMGetModuleDataLayout(self.0),
                of.0,
            )
        })
    }

    /// Whether the module has assembly outside functions.
    #[must_use]
    pub fn has_global_assembly(&self) -> bool {
        !self.global_assembly().is_empty()
    }

    /// Assembly that is in no function.
    #[must_use]
    pub fn global_assembly(&self) -> String {
        let mut length = 0;
        // SAFETY: valid handle; LLVM returns a pointer to `length` bytes.
        unsafe {
            let data = LLVMGetModuleInlineAsm(self.0, &mut length);
            copy_text(data, length)
        }
    }

    /// The module as bitcode.
    #[must_use]
    pub fn bitcode(&self) -> Vec<u8> {
        // SAFETY: valid handle; the buffer is copied before it is freed.
        unsafe {
            let buffer = LLVMWriteBitcodeToMemoryBuffer(self.0);
            let bytes = std::slice::from_raw_parts(
                LLVMGetBufferStart(buffer).cast::<u8>(),
                LLVMGetBufferSize(buffer),
            )
            .to_vec();
            LLVMDisposeMemoryBuffer(buffer);
            bytes
        }
    }

    /// The module as text.
    #[must_use]
    pub fn print(&self) -> String {
        // SAFETY: valid handle; the string is ours to free.
        unsafe { take_message(LLVMPrintModuleToString(self.0)) }
    }
}
