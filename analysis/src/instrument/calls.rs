//! Calls: memory intrinsics, spin hints, external functions, inline assembly.

use super::Instrumenter;
use super::externals::{Treatment, treatment};
use super::plain::{Direction, Range};
use crate::llvm::{Attribute, Function, Instruction, Value};
use lockred_trace::hooks::{CHANNEL_ENTER, CHANNEL_LEAVE};

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

/// Assembly instructions that only read processor registers and identification.
const HARMLESS_ASSEMBLY: &[&str] =
    &["cpuid", "xgetbv", "rdtsc", "rdtscp", "rdrand", "rdseed", "pause"];

impl Instrumenter<'_> {
    /// Hooks a call, if it needs a hook.
    pub(super) fn call(&mut self, function: Function, at: Instruction) {
        self.by_value_arguments(function, at);
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
        // The marks of channels are older than the sites.
        if let Some(operand) = match name.as_str() {
            CHANNEL_ENTER => Some(3),
            CHANNEL_LEAVE => Some(2),
            _ => None,
        } {
            let site = self.sites.of(self.context, function, at);
            let site = self.context.integer(32).constant(site.0.into());
            at.value().set_operand(operand, site);
            return;
        }
        let hook = match treatment(&name) {
            Treatment::None => return,
            Treatment::Native => self.hooks.native_call,
            Treatment::Unsupported => self.hooks.unsupported_call,
        };
        let number = self.externals.number(&name);
        self.announce(function, at, hook, number);
    }

    fn intrinsic(&mut self, function: Function, at: Instruction, name: &str) {
        if UNDESCRIBED.iter().any(|prefix| name.starts_with(prefix)) {
            self.unsupported_instruction(function, at);
        } else if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
            let length = self.byte_count(function, at);
            let source = Range { direction: Direction::Read, start: at.operand(1), length };
            let target = Range { direction: Direction::Write, start: at.operand(0), length };
            self.shared_ranges(function, at, &[source, target]);
        } else if name.starts_with("llvm.memset.") {
            let length = self.byte_count(function, at);
            let target = Range { direction: Direction::Write, start: at.operand(0), length };
            self.shared_ranges(function, at, &[target]);
        } else if name == "llvm.x86.sse2.pause" {
            let site = self.sites.of(self.context, function, at);
            let location = self.location(function, at);
            self.hooks.builder.before(at, location);
            let site = self.context.integer(32).constant(site.0.into());
            self.hooks.builder.call(self.hooks.spin_hint, &[site]);
            at.erase();
        }
    }

    /// The length of a memory intrinsic as a 64-bit value.
    fn byte_count(&self, function: Function, at: Instruction) -> Value {
        self.hooks.builder.before(at, self.location(function, at));
        self.hooks.builder.widen(self.context, at.operand(2)).unwrap_or_else(|| at.operand(2))
    }

    /// Hooks those ranges that may be shared.
    fn shared_ranges(&mut self, function: Function, at: Instruction, ranges: &[Range]) {
        let shared: Vec<Range> =
            ranges.iter().copied().filter(|r| self.privacy.may_be_shared(r.start)).collect();
        self.ranges(function, at, &shared);
    }

    /// A structure passed by hidden copy is read at the call.
    fn by_value_arguments(&mut self, function: Function, at: Instruction) {
        let Some(byval) = Attribute::named("byval") else { return };
        let mut ranges = Vec::new();
        for (index, start) in at.arguments().into_iter().enumerate() {
            if let Some(copied) = at.by_value_argument(index as u32, byval) {
                let length = self.context.integer(64).constant(self.module.store_size(copied));
                ranges.push(Range { direction: Direction::Read, start, length });
            }
        }
        self.shared_ranges(function, at, &ranges);
    }

    /// Inline assembly is native code, unless it is empty (a barrier for the optimiser) or only asks the processor.
    fn assembly(&mut self, function: Function, at: Instruction, callee: Value) {
        let text = callee.inline_asm_text();
        let harmless = text.trim().is_empty()
            || HARMLESS_ASSEMBLY.iter().any(|mnemonic| {
                text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == *mnemonic)
            });
        if !harmless {
            let number = self.externals.number("inline assembly");
            self.announce(function, at, self.hooks.native_call, number);
        }
    }

    /// Calls a hook with the number of an external function before an instruction.
    fn announce(&mut self, function: Function, at: Instruction, hook: Function, number: u32) {
        let site = self.sites.of(self.context, function, at);
        let location = self.location(function, at);
        let narrow = self.context.integer(32);
        self.hooks.builder.before(at, location);
        let arguments = [narrow.constant(number.into()), narrow.constant(site.0.into())];
        self.hooks.builder.call(hook, &arguments);
    }
}
