//! Code generation: a module to an ELF object file.

use super::{Module, take_message};
use llvm_sys::core::LLVMSetTarget;
use llvm_sys::target::LLVMSetModuleDataLayout;
use llvm_sys::target_machine::*;
use std::ffi::CString;
use std::path::Path;
use std::ptr;
use std::sync::Once;

/// Where the code may be loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relocation {
    /// At a fixed address: executables linked with `-no-pie`.
    Fixed,
    /// Anywhere: shared libraries.
    Anywhere,
}

/// A code generator without optimisation for one target.
#[derive(Debug)]
pub struct Codegen(LLVMTargetMachineRef);

/// The target that the whole back end is for.
pub const TRIPLE: &str = "x86_64-unknown-linux-gnu";

impl Codegen {
    /// A generator of unoptimised code (`std` comes optimised, and user code must keep its memory
    /// accesses).
    ///
    /// # Errors
    /// When this LLVM cannot generate code for the target.
    pub fn new(relocation: Relocation) -> Result<Self, String> {
        let triple = CString::new(TRIPLE).expect("no nul");
        // SAFETY: initialisation has no precondition; strings are valid; outputs are valid
        // pointers.
        unsafe {
            llvm_sys::target::LLVMInitializeX86TargetInfo();
            llvm_sys::target::LLVMInitializeX86Target();
            llvm_sys::target::LLVMInitializeX86TargetMC();
            llvm_sys::target::LLVMInitializeX86AsmParser();
            llvm_sys::target::LLVMInitializeX86AsmPrinter();
            let mut target = ptr::null_mut();
            let mut message = ptr::null_mut();
            if LLVMGetTargetFromTriple(triple.as_ptr(), &mut target, &mut message) != 0 {
                return Err(take_message(message));
            }
            let machine = LLVMCreateTargetMachine(
                target,
                triple.as_ptr(),
                c"x86-64".as_ptr(),
                c"".as_ptr(),
                LLVMCodeGenOptLevel::LLVMCodeGenLevelNone,
                match relocation {
                    Relocation::Fixed => LLVMRelocMode::LLVMRelocStatic,
                    Relocation::Anywhere => LLVMRelocMode::LLVMRelocPIC,
                },
                LLVMCodeModel::LLVMCodeModelSmall,
            );
            if machine.is_null() {
                return Err(format!("LLVM cannot generate code for {TRIPLE}"));
            }
            Ok(Self(machine))
        }
    }

    /// Has generators report from now on how they lay out the frames of functions.
    pub fn report_frames() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let options = [c"lockred-shim", c"-pass-remarks-analysis=stack-frame-layout"];
            let options = options.map(std::ffi::CStr::as_ptr);
            // SAFETY: valid strings, of which LLVM keeps nothing.
            unsafe {
                llvm_sys::support::LLVMParseCommandLineOptions(2, options.as_ptr(), ptr::null());
            }
        });
    }

    /// How the frames of the functions that were written since the last call are laid out, a text
    /// of LLVM's for each.
    #[must_use]
    pub fn take_frames() -> Vec<String> {
        super::context::take_remarks()
    }

    /// Writes the module as an object file.
    ///
    /// # Errors
    /// LLVM's message: the file cannot be written, or some construct cannot be generated.
    pub fn write_object(&self, module: &Module, path: &Path) -> Result<(), String> {
        let file = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| format!("{}: the path contains a nul byte", path.display()))?;
        let triple = CString::new(TRIPLE).expect("no nul");
        let mut message = ptr::null_mut();
        super::context::take_diagnostics();
        // SAFETY: valid handles and strings.
        unsafe {
            LLVMSetTarget(module.0, triple.as_ptr());
            let layout = LLVMCreateTargetDataLayout(self.0);
            LLVMSetModuleDataLayout(module.0, layout);
            llvm_sys::target::LLVMDisposeTargetData(layout);
            if LLVMTargetMachineEmitToFile(
                self.0,
                module.0,
                file.as_ptr(),
                LLVMCodeGenFileType::LLVMObjectFile,
                &mut message,
            ) != 0
            {
                return Err(take_message(message));
            }
        }
        // Some errors (bad inline assembly) are only reported to the diagnostic handler.
        let reported = super::context::take_diagnostics();
        if reported.is_empty() { Ok(()) } else { Err(reported) }
    }
}

impl Drop for Codegen {
    fn drop(&mut self) {
        // SAFETY: made by `new`, freed once.
        unsafe { LLVMDisposeTargetMachine(self.0) };
    }
}
