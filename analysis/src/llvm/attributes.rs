//! Function, parameter and call-site attributes.

use super::{Context, Function, Instruction};
use llvm_sys::core::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMAttributeIndex};

/// An enum attribute, by LLVM's name for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attribute(u32);

impl Attribute {
    /// The attribute with this name, `None` when this LLVM has none such.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        // SAFETY: LLVM reads `len` bytes.
        let kind = unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) };
        (kind != 0).then_some(Self(kind))
    }
}

const FUNCTION: LLVMAttributeIndex = LLVMAttributeFunctionIndex as LLVMAttributeIndex;

/// LLVM's index of the attributes of parameter `index`.
const fn parameter(index: u32) -> LLVMAttributeIndex {
    index as LLVMAttributeIndex + 1
}

impl Function {
    /// Adds a function attribute with value 0 (plain flags such as `nounwind`).
    pub fn add(self, context: Context, attribute: Attribute) {
        // SAFETY: valid handles.
        unsafe {
            let made = LLVMCreateEnumAttribute(context.0, attribute.0, 0);
            LLVMAddAttributeAtIndex(self.0, FUNCTION, made);
        }
    }

    /// Whether the function has it.
    #[must_use]
    pub fn has(self, attribute: Attribute) -> bool {
        // SAFETY: valid handle.
        unsafe { !LLVMGetEnumAttributeAtIndex(self.0, FUNCTION, attribute.0).is_null() }
    }

    /// Whether one of its parameters has it.
    #[must_use]
    pub fn parameter_has(self, index: u32, attribute: Attribute) -> bool {
        // SAFETY: valid handle, the index of a parameter.
        unsafe { !LLVMGetEnumAttributeAtIndex(self.0, parameter(index), attribute.0).is_null() }
    }

    /// Removes it, if it is there.
    pub fn remove(self, attribute: Attribute) {
        // SAFETY: valid handle.
        unsafe { LLVMRemoveEnumAttributeAtIndex(self.0, FUNCTION, attribute.0) };
    }
}

impl Function {
    /// Gives another function of the same type, and a call of such a function, what the calling
    /// convention needs to know: the attributes of parameters and result.
    pub fn copy_signature_attributes(self, function: Function, call: Instruction) {
        for index in 0..=self.function_type().parameter_count() as LLVMAttributeIndex {
            // SAFETY: valid handles, indices of the result (0) and of parameters; LLVM fills
            // exactly `count` places.
            unsafe {
                let count = LLVMGetAttributeCountAtIndex(self.0, index) as usize;
                let mut attributes = vec![std::ptr::null_mut(); count];
                LLVMGetAttributesAtIndex(self.0, index, attributes.as_mut_ptr());
                for attribute in attributes {
                    LLVMAddAttributeAtIndex(function.0, index, attribute);
                    LLVMAddCallSiteAttribute(call.0, index, attribute);
                }
            }
        }
    }
}

impl Function {
    /// The type of the result, if it is written where the first parameter says (the attribute
    /// `sret`).
    #[must_use]
    pub fn written_result(self, sret: Attribute) -> Option<super::Type> {
        if self.function_type().parameter_count() == 0 {
            return None;
        }
        // SAFETY: valid handle, the index of a parameter that there is; the value is asked of a
        // type attribute.
        unsafe {
            let here = LLVMGetEnumAttributeAtIndex(self.0, parameter(0), sret.0);
            (!here.is_null()).then(|| super::Type(LLVMGetTypeAttributeValue(here)))
        }
    }
}

impl Instruction {
    /// Of a call: adds a function attribute with value 0 to the call site.
    pub fn add_call_attribute(self, context: Context, attribute: Attribute) {
        // SAFETY: valid handles; only called for calls.
        unsafe {
            let made = LLVMCreateEnumAttribute(context.0, attribute.0, 0);
            LLVMAddCallSiteAttribute(self.0, FUNCTION, made);
        }
    }

    /// Of a call: whether the call site has a function attribute.
    #[must_use]
    pub fn has_call_attribute(self, attribute: Attribute) -> bool {
        // SAFETY: only called for calls.
        unsafe { !LLVMGetCallSiteEnumAttribute(self.0, FUNCTION, attribute.0).is_null() }
    }

    /// Of a call: removes a function attribute of the call site, if it is there.
    pub fn remove_call_attribute(self, attribute: Attribute) {
        // SAFETY: only called for calls.
        unsafe { LLVMRemoveCallSiteEnumAttribute(self.0, FUNCTION, attribute.0) };
    }

    /// Of a call: the value of an enum attribute of argument `index`, from the call site or from
    /// the called function.
    #[must_use]
    pub fn argument_attribute(self, index: u32, attribute: Attribute) -> Option<u64> {
        // SAFETY: only called for calls, with the index of an argument.
        unsafe {
            let here = LLVMGetCallSiteEnumAttribute(self.0, parameter(index), attribute.0);
            if !here.is_null() {
                return Some(LLVMGetEnumAttributeValue(here));
            }
            let callee = self.callee()?.as_function()?;
            let there = LLVMGetEnumAttributeAtIndex(callee.0, parameter(index), attribute.0);
            (!there.is_null()).then(|| LLVMGetEnumAttributeValue(there))
        }
    }

    /// Of a call: the type of the argument that is passed as a hidden copy (`byval`).
    #[must_use]
    pub fn by_value_argument(self, index: u32, byval: Attribute) -> Option<super::Type> {
        // SAFETY: only called for calls, with the index of an argument; the value is asked of type
        // attributes only.
        unsafe {
            let here = LLVMGetCallSiteEnumAttribute(self.0, parameter(index), byval.0);
            (!here.is_null()).then(|| super::Type(LLVMGetTypeAttributeValue(here)))
        }
    }
}
