//! Calls: memory intrinsics, spin hints, external functions, inline assembly.

use super::Instrumenter;
use super::externals::{Treatment, treatment};
use crate::assembly::{Fence, enters_kernel, fence, is_harmless};
use crate::llvm::{Function, Instruction, Value};
use crate::recognise::demangle;
use lockred_protocol::hooks::{CHANNEL_ENTER, CHANNEL_LEAVE, Order, ROUND};
use lockred_protocol::plan::Reason;

/// Intrinsics whose memory accesses the hooks cannot describe.
const UNDESCRIBED: &[&str] = &[
    "llvm.memcpy.element.unordered.atomic",
    "llvm.memmove.element.unordered.atomic",
    "llvm.memset.element.unordered.atomic",
    "llvm.masked.",
    "llvm.vp.",
    "llvm.x86.avx.mask",
    "llvm.x86.avx2.mask",
    "llvm.x86.avx2.gather",
    "llvm.x86.sse2.maskmov",
];

impl Instrumenter<'_> {
    /// Hooks a call, if it needs a hook.
    pub(super) fn call(&mut self, function: Function, at: Instruction) {
        self.plain_accesses(function, at);
        let Some(callee) = at.callee() else { return };
        if callee.is_inline_asm() {
            self.assembly(function, at, callee);
            return;
        }
        let Some(target) = callee.as_function() else { return };
        if !target.is_declaration() {
            return;
        }
        let name = target.name();
        if target.intrinsic_id() != 0 || name.starts_with("llvm.") {
            self.intrinsic(function, at, &name);
            return;
        }
        // Marks of channels and loops were inserted before there were sites: their last argument.
        if matches!(name.as_str(), CHANNEL_ENTER | CHANNEL_LEAVE | ROUND) {
            let site = self.sites.of(self.context, function, at);
            let site = self.context.integer(32).constant(site.0.into());
            let last = at.arguments().len() - 1;
            at.value().set_operand(u32::try_from(last).unwrap_or(u32::MAX), site);
            return;
        }
        if let Some(&instruction) = self.entering_kernel.get(&name) {
            let number = self.externals.number(&format!("{} ({instruction})", demangle(&name)));
            self.announce(function, at, self.hooks.unsupported_call, number);
            return;
        }
        let hook = match treatment(&name) {
            Treatment::None => return,
            Treatment::Native => self.hooks.native_call,
            Treatment::Unsupported => self.hooks.unsupported_call,
        };
        let number = self.externals.number(&name);
        self.announce(function, at, hook, number);
        if treatment(&name) == Treatment::Native {
            self.report_result(function, at);
        }
    }

    fn intrinsic(&mut self, function: Function, at: Instruction, name: &str) {
        if self.asks_by_intrinsic(function, at, name) {
        } else if UNDESCRIBED.iter().any(|prefix| name.starts_with(prefix)) {
            self.unsupported_instruction(function, at);
        } else if name == "llvm.x86.sse2.pause" {
            let site = self.sites.of(self.context, function, at);
            let location = self.location(function, at);
            self.hooks.builder.before(at, location);
            let site = self.context.integer(32).constant(site.0.into());
            self.hooks.builder.call(self.hooks.spin_hint, &[site]);
            at.erase();
        }
    }

    /// Inline assembly is native code, unless it is empty (a barrier for the optimiser), only asks
    /// the processor, or is a fence.
    fn assembly(&mut self, function: Function, at: Instruction, callee: Value) {
        let text = callee.inline_asm_text();
        if let Some(instruction) = enters_kernel(&text) {
            return self.system_call(function, at, callee, instruction);
        }
        if self.asks(function, at, &text, &callee.inline_asm_constraints()) {
            return;
        }
        let is_fence = match fence(&text) {
            None => false,
            Some(Fence::Pure) => true,
            // Of memory that others can reach it would be an atomic operation.
            Some(Fence::UpdatesOperand) => {
                let operands = at.arguments();
                let local = |&operand: &Value| self.known.privacy.is_local(operand);
                !operands.is_empty() && operands.iter().all(local)
            }
        };
        if is_fence {
            self.table.add(self.context, function, at, Reason::Operation);
            self.announce_fence(function, at, Order::SeqCst);
        } else if !is_harmless(&text) {
            let number = self.externals.number("inline assembly");
            self.announce(function, at, self.hooks.native_call, number);
        }
    }

    /// Calls a hook with the number of an external function before an instruction.
    pub(super) fn announce(
        &mut self,
        function: Function,
        at: Instruction,
        hook: Function,
        number: u32,
    ) {
        let site = self.sites.of(self.context, function, at);
        let location = self.location(function, at);
        let narrow = self.context.integer(32);
        self.hooks.builder.before(at, location);
        let arguments = [narrow.constant(number.into()), narrow.constant(site.0.into())];
        self.hooks.builder.call(hook, &arguments);
    }
}
