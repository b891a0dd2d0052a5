//! Types as the debug information has them, and which values have them: what names of fields are
//! made of.
//!
//! The C API has few getters; what there is none for is found among the generic operands of the
//! metadata: 1 is the scope, 2 the name, and the others are told apart by their kind, as their
//! numbers differ between versions.

use super::debug_info::{Subprogram, operands};
use super::{Context, Function, Global, Instruction, Module, Value, copy_text};
use llvm_sys::LLVMDbgRecordKind::{LLVMDbgRecordDeclare, LLVMDbgRecordValue};
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use std::collections::HashMap;

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DebugType(LLVMMetadataRef);

/// What a type is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// An address of this.
    Pointer(DebugType),
    /// Fields: name, offset in bytes, type.
    Fields(Vec<(String, u64, DebugType)>),
    /// So many of these, or of a number that is not known.
    Array(DebugType),
    /// Anything else.
    Other,
}

const POINTER: u16 = 0x0f;
const REFERENCE: u16 = 0x10;
const STRUCTURE: u16 = 0x13;
const ARRAY: u16 = 0x01;
const UNION: u16 = 0x17;
const MEMBER: u16 = 0x0d;

/// Whether a metadata node is a type.
fn is_type(node: LLVMMetadataRef) -> bool {
    use LLVMMetadataKind::*;
    // SAFETY: valid handle, here and below (directory contract).
    let kind = unsafe { LLVMGetMetadataKind(node) };
    matches!(
        kind,
        LLVMDIBasicTypeMetadataKind
            | LLVMDIDerivedTypeMetadataKind
            | LLVMDICompositeTypeMetadataKind
            | LLVMDISubroutineTypeMetadataKind
    )
}

/// Whether a metadata node is a plain list of others.
fn is_list(node: LLVMMetadataRef) -> bool {
    // SAFETY: valid handle.
    let kind = unsafe { LLVMGetMetadataKind(node) };
    matches!(kind, LLVMMetadataKind::LLVMMDTupleMetadataKind)
}

fn nodes(context: Context, of: LLVMMetadataRef) -> impl Iterator<Item = LLVMMetadataRef> {
    let values = operands(context, of).into_iter();
    // SAFETY: the values are metadata that is not null.
    values.filter(|value| !value.is_null()).map(|value| unsafe { LLVMValueAsMetadata(value) })
}

/// The first type among the operands after the name.
fn base(context: Context, of: LLVMMetadataRef) -> Option<DebugType> {
    let operands = operands(context, of).into_iter().skip(3).filter(|value| !value.is_null());
    // SAFETY: as above.
    let mut nodes = operands.map(|value| unsafe { LLVMValueAsMetadata(value) });
    nodes.find(|&node| is_type(node)).map(DebugType)
}

impl DebugType {
    /// Its name.
    #[must_use]
    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: valid handle of a type; LLVM returns a pointer to `length` bytes.
        unsafe {
            let data = LLVMDITypeGetName(self.0, &mut length);
            copy_text(data, length)
        }
    }

    /// Its size in bytes.
    #[must_use]
    pub fn size(self) -> u64 {
        // SAFETY: valid handle of a type.
        unsafe { LLVMDITypeGetSizeInBits(self.0) / 8 }
    }

    /// The names of the modules that it is in, outermost first; the first is the crate.
    #[must_use]
    pub fn modules(self, context: Context) -> Vec<String> {
        let mut modules = Vec::new();
        let mut node = self.0;
        loop {
            let scope = operands(context, node).get(1).copied().unwrap_or(std::ptr::null_mut());
            if scope.is_null() {
                break;
            }
            // SAFETY: metadata that is not null.
            node = unsafe { LLVMValueAsMetadata(scope) };
            // SAFETY: as above.
            match unsafe { LLVMGetMetadataKind(node) } {
                LLVMMetadataKind::LLVMDINamespaceMetadataKind
                | LLVMMetadataKind::LLVMDICompositeTypeMetadataKind => {
                    let name = operands(context, node).get(2).copied();
                    modules.push(name.map(Context::metadata_text).unwrap_or_default());
                }
                _ => break,
            }
        }
        modules.reverse();
        modules
    }

    /// What it is made of.
    #[must_use]
    pub fn shape(self, context: Context) -> Shape {
        // SAFETY: valid handle of a node.
        match unsafe { LLVMGetDINodeTag(self.0) } {
            POINTER | REFERENCE => base(context, self.0).map_or(Shape::Other, Shape::Pointer),
            STRUCTURE | UNION => Shape::Fields(self.fields(context)),
            ARRAY => base(context, self.0).map_or(Shape::Other, Shape::Array),
            _ => Shape::Other,
        }
    }

    fn fields(self, context: Context) -> Vec<(String, u64, DebugType)> {
        let Some(elements) = nodes(context, self.0).find(|&node| is_list(node)) else {
            return Vec::new();
        };
        let members = nodes(context, elements).filter(|&node| {
            // SAFETY: elements of a type are nodes.
            is_type(node) && unsafe { LLVMGetDINodeTag(node) } == MEMBER
        });
        let field = |node| {
            // SAFETY: a member is a type.
            let offset = unsafe { LLVMDITypeGetOffsetInBits(node) } / 8;
            Some((DebugType(node).name(), offset, base(context, node)?))
        };
        members.filter_map(field).collect()
    }
}

/// The types of a function's values: of a variable's memory for one that has an address, else of
/// the value itself.
#[derive(Debug, Default)]
pub struct ValueTypes(HashMap<Value, Vec<(DebugType, bool)>>);

impl ValueTypes {
    /// Of one function. O(its instructions).
    #[must_use]
    pub fn of(context: Context, module: &Module, function: Function) -> Self {
        let as_it_is = nothing(module);
        let mut types: HashMap<Value, Vec<(DebugType, bool)>> = HashMap::new();
        let mut add = |value, of, in_memory| {
            let known = types.entry(value).or_default();
            if !known.contains(&(of, in_memory)) {
                known.push((of, in_memory));
            }
        };
        for at in function.blocks().iter().flat_map(|block| block.instructions()) {
            at.records(as_it_is, &mut |value, variable, in_memory| {
                if let Some(of) = base(context, variable) {
                    add(value, of, in_memory);
                }
            });
        }
        // The environment of a closure is no variable. Without hidden parameters, all of them are
        // as they are declared.
        let (parameters, declared) = (function.parameters(), function.declared_types(context));
        if declared.len() == parameters.len() + 1 {
            for (parameter, declared) in parameters.into_iter().zip(&declared[1..]) {
                if let Some(of) = declared {
                    add(parameter, *of, false);
                }
            }
        }
        Self(types)
    }

    /// What a value is, by the variables that hold it: several, where one is made of another
    /// without a change.
    pub fn value(&self, value: Value) -> impl Iterator<Item = DebugType> {
        self.all(value, false)
    }

    /// What is in the memory at an address, if that is a variable.
    #[must_use]
    pub fn memory(&self, address: Value) -> Option<DebugType> {
        self.all(address, true).next()
    }

    fn all(&self, value: Value, in_memory: bool) -> impl Iterator<Item = DebugType> {
        let known = self.0.get(&value).into_iter().flatten();
        known.filter(move |(_, is)| *is == in_memory).map(|(of, _)| *of)
    }
}

impl Instruction {
    /// The records of variables in front of it: value, variable, and whether the value is the
    /// variable's address.
    fn records(
        self,
        as_it_is: LLVMMetadataRef,
        visit: &mut dyn FnMut(Value, LLVMMetadataRef, bool),
    ) {
        // SAFETY: valid handles; the list is walked without changing it, and each question is asked
        // of records of variables only.
        unsafe {
            let mut record = LLVMGetFirstDbgRecord(self.0);
            while !record.is_null() {
                let kind = LLVMDbgRecordGetKind(record);
                if matches!(kind, LLVMDbgRecordDeclare | LLVMDbgRecordValue) {
                    let value = LLVMDbgVariableRecordGetValue(record, 0);
                    let expression = LLVMDbgVariableRecordGetExpression(record);
                    if !value.is_null() && expression == as_it_is {
                        let variable = LLVMDbgVariableRecordGetVariable(record);
                        visit(Value(value), variable, kind == LLVMDbgRecordDeclare);
                    }
                }
                record = LLVMGetNextDbgRecord(record);
            }
        }
    }
}

/// The expression which says that a value is as it is. There is one of each in a context.
fn nothing(module: &Module) -> LLVMMetadataRef {
    // SAFETY: valid handle; an expression of no operations reads nothing, and stays when its
    // builder is gone.
    unsafe {
        let builder = LLVMCreateDIBuilder(module.0);
        let expression = LLVMDIBuilderCreateExpression(builder, std::ptr::null_mut(), 0);
        LLVMDisposeDIBuilder(builder);
        expression
    }
}

impl Function {
    /// The types of what it returns and of its parameters, as far as the debug information has
    /// them: of a function of the source, which may have other parameters as it is compiled.
    #[must_use]
    pub fn declared_types(self, context: Context) -> Vec<Option<DebugType>> {
        let subprogram = self.subprogram();
        let Some(types) = (!subprogram.is_null()).then(|| base(context, subprogram)).flatten()
        else {
            return Vec::new();
        };
        let Some(list) = nodes(context, types.0).find(|&node| is_list(node)) else {
            return Vec::new();
        };
        let declared = operands(context, list).into_iter().map(|value| {
            // SAFETY: metadata that is not null.
            let node = (!value.is_null()).then(|| unsafe { LLVMValueAsMetadata(value) })?;
            is_type(node).then_some(DebugType(node))
        });
        declared.collect()
    }

    /// The file and line of its name, as the debug information has them.
    #[must_use]
    pub fn place(self) -> Option<(String, u32)> {
        let subprogram = self.subprogram();
        (!subprogram.is_null()).then(|| Subprogram(subprogram).place())
    }
}

impl Global {
    /// Its type, if the debug information has it.
    #[must_use]
    pub fn debug_type(self, context: Context) -> Option<DebugType> {
        // SAFETY: valid handles; the entries are freed here and not used after that.
        let nodes: Vec<LLVMMetadataRef> = unsafe {
            let mut count = 0;
            let entries = LLVMGlobalCopyAllMetadata(self.0, &mut count);
            let nodes = (0..count as u32)
                .map(|index| LLVMValueMetadataEntriesGetMetadata(entries, index))
                .collect();
            LLVMDisposeValueMetadataEntries(entries);
            nodes
        };
        let variables = nodes.into_iter().flat_map(|node| self::nodes(context, node));
        variables.into_iter().find_map(|variable| base(context, variable))
    }
}
