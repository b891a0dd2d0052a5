//! Calls as facts: of functions, of intrinsics, of assembly.

use super::read::Reader;
use super::{Body, Call, Register, Signature, Statement};
use crate::assembly::is_harmless;
use crate::llvm::{Distance, Instruction, Module, Type, Value};
use lockred_protocol::libc_functions::keeps_nothing;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The function that makes the system call of the number that it is given.
const SYSTEM_CALL: &str = "syscall";

/// The widths of parameters and result, hashed.
pub(super) fn signature(module: &Module, parameters: &[Type], result: Type) -> Signature {
    let mut hasher = DefaultHasher::new();
    let width = |of: &Type| {
        if of.is_void() { 0 } else { module.store_size(*of) }
    };
    parameters.iter().map(width).collect::<Vec<u64>>().hash(&mut hasher);
    width(&result).hash(&mut hasher);
    hasher.finish()
}

impl Reader<'_> {
    pub(super) fn signature(&self, parameters: &[Type], result: Type) -> Signature {
        signature(self.module, parameters, result)
    }

    pub(super) fn call(&mut self, body: &mut Body, at: Instruction, result: Register) {
        let value = at.value();
        let Some(callee) = at.callee() else { return };
        let arguments = at.arguments();
        if callee.is_inline_asm() && is_harmless(&callee.inline_asm_text()) {
            for argument in arguments {
                if !value.value_type().is_void() {
                    self.computed(body, value, argument, Distance::Unknown);
                }
            }
            return;
        }
        if callee.is_inline_asm() {
            return self.anything(body, value, &arguments, result);
        }
        if let Some(function) = callee.as_function()
            && function.name().starts_with("llvm.")
        {
            self.intrinsic(body, at, &function.name(), result);
            return;
        }
        if callee.as_function().is_some_and(|function| function.name() == SYSTEM_CALL)
            && !keeps_nothing(arguments.first().and_then(|number| number.as_integer()))
        {
            return self.anything(body, value, &arguments, result);
        }
        let count = match value.value_type().is_void() {
            true => 0,
            false => self.scalars(value.value_type()).len() as u32,
        };
        let types: Vec<Type> = arguments.iter().map(|a| a.value_type()).collect();
        let signature = self.signature(&types, value.value_type());
        let arguments =
            arguments.into_iter().flat_map(|a| self.operands(body, a)).collect::<Vec<_>>();
        let addresses = self.addresses(&types);
        self.pairs(body, &arguments, &addresses);
        let callee = self.operand(body, callee);
        let gives_address = value.value_type().is_pointer();
        let call = Call { callee, arguments, result: (result, count), signature, gives_address };
        body.statements.push(Statement::Call(Box::new(call)));
    }

    /// A call of what keeps all that it is given, and may give anything.
    fn anything(&mut self, body: &mut Body, value: Value, arguments: &[Value], result: Register) {
        for &argument in arguments {
            for operand in self.operands(body, argument) {
                self.unpaired(operand);
                body.statements.push(Statement::Escape(operand));
            }
        }
        self.unknown(body, value, result);
    }

    pub(super) fn intrinsic(
        &mut self,
        body: &mut Body,
        at: Instruction,
        name: &str,
        result: Register,
    ) {
        /// What touches no address, or only the memory after it.
        const HARMLESS: &[&str] = &[
            "llvm.lifetime.",
            "llvm.dbg.",
            "llvm.memset.",
            "llvm.assume",
            "llvm.prefetch",
            "llvm.va_end",
            "llvm.experimental.noalias",
            "llvm.trap",
            "llvm.expect.with",
            "llvm.donothing",
            "llvm.invariant.end",
        ];
        let arguments = at.arguments();
        if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
            let to = self.operand(body, arguments[0]);
            let from = self.operand(body, arguments[1]);
            let bytes = arguments[2].as_integer();
            if bytes != Some(0) {
                body.statements.push(Statement::CopyMemory { to, from, bytes });
            }
        } else if HARMLESS.iter().any(|prefix| name.starts_with(prefix)) {
        } else if name.starts_with("llvm.threadlocal.address")
            || name.starts_with("llvm.launder.")
            || name.starts_with("llvm.strip.")
        {
            let operand = self.operand(body, arguments[0]);
            self.unpaired(operand);
            self.copy(body, result, arguments[0]);
        } else if name.starts_with("llvm.va_")
            || name.starts_with("llvm.masked.")
            || name.starts_with("llvm.vp.")
            || name.contains(".gather")
        {
            self.facts.undescribed += 1;
            for argument in arguments {
                for operand in self.operands(body, argument) {
                    self.unpaired(operand);
                    body.statements.push(Statement::Escape(operand));
                }
            }
            self.unknown(body, at.value(), result);
        } else if !at.value().value_type().is_void()
            && !name.contains(".umul.")
            && !name.contains(".smul.")
        {
            // A function of numbers: minima, sums with overflow, masks of addresses.
            for argument in arguments {
                self.computed(body, at.value(), argument, Distance::Number);
            }
        }
    }
}
