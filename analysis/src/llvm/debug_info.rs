//! Debug locations with their inlining chain, and the functions they lie in.
//!
//! The C API has no getters for a subprogram's names and a lexical block's parent; they are read as
//! generic metadata operands (`DISubprogram`: operand 2 the name, 3 the linkage name;
//! `DILexicalBlock` and `DILexicalBlockFile`: operand 1 the scope).

use super::{Context, Function, Instruction, copy_text};
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use std::ptr;

/// A debug location: line, column, scope, and where it was inlined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Location(LLVMMetadataRef);

/// A function as the debug information knows it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Subprogram(pub(super) LLVMMetadataRef);

impl Location {
    pub(super) fn raw(location: Option<Self>) -> LLVMMetadataRef {
        location.map_or(ptr::null_mut(), |l| l.0)
    }

    /// Source line, from 1; 0 when unknown.
    #[must_use]
    pub fn line(self) -> u32 {
        // SAFETY: valid handle of a location (directory contract), here and below.
        unsafe { LLVMDILocationGetLine(self.0) }
    }

    /// Source column in bytes, from 1; 0 when unknown.
    #[must_use]
    pub fn column(self) -> u32 {
        // SAFETY: as above.
        unsafe { LLVMDILocationGetColumn(self.0) }
    }

    /// The call that it was inlined at.
    #[must_use]
    pub fn inlined_at(self) -> Option<Location> {
        // SAFETY: as above.
        let raw = unsafe { LLVMDILocationGetInlinedAt(self.0) };
        (!raw.is_null()).then_some(Location(raw))
    }

    /// The source file of its scope: absolute where the compiler gave its directory, else as the
    /// compiler wrote it.
    #[must_use]
    pub fn file(self) -> String {
        // SAFETY: as above.
        let scope = unsafe { LLVMDILocationGetScope(self.0) };
        if scope.is_null() { String::new() } else { file_of(scope) }
    }

    /// The function whose text it is in.
    #[must_use]
    pub fn subprogram(self, context: Context) -> Option<Subprogram> {
        // SAFETY: as above; the loop ends at a subprogram, or at metadata without a scope.
        unsafe {
            let mut scope = LLVMDILocationGetScope(self.0);
            while !scope.is_null() {
                match LLVMGetMetadataKind(scope) {
                    LLVMMetadataKind::LLVMDISubprogramMetadataKind => {
                        return Some(Subprogram(scope));
                    }
                    LLVMMetadataKind::LLVMDILexicalBlockMetadataKind
                    | LLVMMetadataKind::LLVMDILexicalBlockFileMetadataKind => {
                        let parent = operand(context, scope, 1);
                        if parent.is_null() {
                            return None;
                        }
                        scope = LLVMValueAsMetadata(parent);
                    }
                    _ => return None,
                }
            }
        }
        None
    }
}

impl Subprogram {
    /// Its plain name, with generic arguments.
    #[must_use]
    pub fn name(self, context: Context) -> String {
        Context::metadata_text(operand(context, self.0, 2))
    }

    /// Its mangled name, or its plain name when it has no mangled one.
    #[must_use]
    pub fn symbol(self, context: Context) -> String {
        let linkage_name = Context::metadata_text(operand(context, self.0, 3));
        if linkage_name.is_empty() { self.name(context) } else { linkage_name }
    }

    /// The file and line of its name.
    #[must_use]
    pub fn place(self) -> (String, u32) {
        // SAFETY: valid handle of a subprogram (directory contract).
        (file_of(self.0), unsafe { LLVMDISubprogramGetLine(self.0) })
    }
}

/// The source file of a scope: absolute where the compiler gave its directory, else as the compiler
/// wrote it.
pub(super) fn file_of(scope: LLVMMetadataRef) -> String {
    let mut length = 0;
    // SAFETY: valid handle of a scope; its file is checked for null; LLVM returns pointers to
    // `length` bytes.
    let (directory, name) = unsafe {
        let file = LLVMDIScopeGetFile(scope);
        if file.is_null() {
            return String::new();
        }
        let data = LLVMDIFileGetFilename(file, &mut length);
        let name = copy_text(data, length as usize);
        let data = LLVMDIFileGetDirectory(file, &mut length);
        (copy_text(data, length as usize), name)
    };
    if directory.starts_with('/') && !name.starts_with('/') && !name.is_empty() {
        return format!("{}/{name}", directory.trim_end_matches('/'));
    }
    name
}

/// The generic operands of a metadata node; null for those that are not there.
pub(super) fn operands(context: Context, node: LLVMMetadataRef) -> Vec<LLVMValueRef> {
    // SAFETY: `node` is a metadata node; LLVM writes exactly the announced number of operands.
    unsafe {
        let value = LLVMMetadataAsValue(context.0, node);
        let count = LLVMGetMDNodeNumOperands(value) as usize;
        let mut operands = vec![ptr::null_mut(); count];
        LLVMGetMDNodeOperands(value, operands.as_mut_ptr());
        operands
    }
}

/// A generic metadata operand, null when there is none.
fn operand(context: Context, node: LLVMMetadataRef, index: usize) -> LLVMValueRef {
    operands(context, node).get(index).copied().unwrap_or(ptr::null_mut())
}

impl Instruction {
    /// Its debug location.
    #[must_use]
    pub fn location(self) -> Option<Location> {
        // SAFETY: valid handle.
        let raw = unsafe { LLVMInstructionGetDebugLoc(self.0) };
        (!raw.is_null()).then_some(Location(raw))
    }
}

impl Function {
    /// A location of line 0 in this function: what an inserted call must have when the code around
    /// it has none.
    #[must_use]
    pub fn unknown_location(self, context: Context) -> Option<Location> {
        let scope = self.subprogram();
        if scope.is_null() {
            return None;
        }
        // SAFETY: valid handles.
        Some(Location(unsafe {
            LLVMDIBuilderCreateDebugLocation(context.0, 0, 0, scope, ptr::null_mut())
        }))
    }
}
