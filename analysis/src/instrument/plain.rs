//! Hooks of plain accesses, called only while the runtime watches (`__lr_watch` is not 0), as the
//! plan has them.

use super::Instrumenter;
use super::hooks::Hooks;
use crate::facts::access::{Access, Direction, Length, accesses};
use crate::llvm::{Function, Instruction, Location, Value};
use lockred_protocol::plan::{Decision, Reason};

impl Instrumenter<'_> {
    /// Hooks the plain accesses of an instruction, as far as the plan says that they need it.
    pub(super) fn plain_accesses(&mut self, function: Function, at: Instruction) {
        let accesses = accesses(self.module, at).into_iter();
        let reasons = self.decisions.reasons(at).iter().copied();
        let all: Vec<(Access, Reason)> = accesses.zip(reasons).collect();
        for &(_, reason) in &all {
            self.table.add(self.context, function, at, reason);
        }
        let hooked: Vec<_> = if self.rules.checked {
            self.announce_claims(function, &all);
            let whole = |&(access, _): &(Access, Reason)| (access, Decision::Track);
            all.iter().filter(|(_, reason)| *reason != Reason::Harness).map(whole).collect()
        } else {
            let decided = |&(access, reason): &(Access, Reason)| (access, reason.decision());
            all.iter().map(decided).filter(|(_, decision)| *decision != Decision::Skip).collect()
        };
        self.hooks_before(function, at, &hooked);
    }

    /// Puts hooks before an instruction: one test of the watch flag for all of them.
    fn hooks_before(
        &mut self,
        function: Function,
        at: Instruction,
        accesses: &[(Access, Decision)],
    ) {
        if accesses.is_empty() {
            return;
        }
        let ranges: Vec<_> = accesses
            .iter()
            .map(|&(access, decision)| (access, decision, self.length(function, access)))
            .collect();
        let site = self.sites.of(self.context, function, at);
        let location = self.location(function, at);
        let Hooks { builder, splitter, watch, read, write, check, .. } = &self.hooks;
        let narrow = self.context.integer(32);
        let site = narrow.constant(site.0.into());
        let watched = function.append_block(self.context);
        let front = splitter.split_before(at);
        builder.at_end(front, location);
        let flag = builder.load(narrow, watch.value());
        builder.branch_if_set(self.context, flag, watched, at.block());
        builder.at_end(watched, location);
        for (access, decision, length) in ranges {
            let start = builder.address(self.context, access.start);
            let writes = access.direction == Direction::Write;
            if decision == Decision::Check {
                let writes = narrow.constant(writes.into());
                builder.call(*check, &[start, length, writes, site]);
            } else {
                builder.call(if writes { *write } else { *read }, &[start, length, site]);
            }
        }
        builder.jump(at.block());
    }

    /// Bytes of an access, as a 64-bit value that is there before its instruction.
    fn length(&self, function: Function, access: Access) -> Value {
        match access.length {
            Length::Known(bytes) => self.context.integer(64).constant(bytes),
            Length::Value(bytes) => {
                self.hooks.builder.before(access.at, self.location(function, access.at));
                self.hooks.builder.widen(self.context, bytes).unwrap_or(bytes)
            }
        }
    }

    /// Reports to the runtime, before an instruction, its accesses and what the plan claims of
    /// them.
    fn announce_claims(&mut self, function: Function, accesses: &[(Access, Reason)]) {
        for (number, &(access, reason)) in accesses.iter().enumerate() {
            if reason == Reason::Harness {
                continue;
            }
            let length = self.length(function, access);
            let site = self.sites.of(self.context, function, access.at);
            let location = self.location(function, access.at);
            let narrow = |value: u32| self.context.integer(32).constant(value.into());
            let writes = u32::from(access.direction == Direction::Write) << 8;
            let is_locked = reason == Reason::Locked;
            let reason = narrow(reason as u32 | writes);
            self.hooks.builder.before(access.at, location);
            self.announce_locks(access, number, site.0);
            let Hooks { builder, claim, .. } = &self.hooks;
            let start = builder.address(self.context, access.start);
            builder.call(*claim, &[start, length, reason, narrow(site.0)]);
            if is_locked {
                self.announce_protection(access, length);
            }
        }
    }

    /// Reports to the runtime that a stack variable begins to live: what was said of its memory
    /// before is of another one.
    pub(super) fn announce_variable(&mut self, function: Function, at: Instruction) {
        // A variable whose number of elements is computed lies where no other has been in this
        // function.
        let Some(count) = at.operand(0).as_integer() else { return };
        let size = self.module.allocation_size(at.allocated_type()) * count;
        let Some(behind) = at.next() else { return };
        let location = self.location(function, behind);
        let Hooks { builder, fresh, .. } = &self.hooks;
        builder.before(behind, location);
        let start = builder.address(self.context, at.value());
        builder.call(*fresh, &[start, self.context.integer(64).constant(size)]);
    }

    /// Reports to the runtime, at the beginning of a function that is called when the last
    /// reference to a block was dropped, which block that is.
    pub(super) fn announce_end(&self, function: Function, first: Instruction) {
        let Hooks { builder, ended, .. } = &self.hooks;
        builder.before(first, self.location(function, first));
        let block = builder.load(self.context.integer(64), function.parameters()[0]);
        builder.call(*ended, &[block]);
    }

    /// The debug location for calls inserted before an instruction. A call in a function with debug
    /// information must have one.
    pub(super) fn location(&self, function: Function, at: Instruction) -> Option<Location> {
        at.location().or_else(|| function.unknown_location(self.context))
    }
}
