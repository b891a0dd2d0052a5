//! Hooks of plain accesses, called only while the runtime watches (`__lr_watch` is not 0).

use super::Instrumenter;
use super::hooks::Hooks;
use crate::llvm::{Function, Instruction, Location, Opcode, Value};

/// What a plain access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    Read,
    Write,
}

/// One range of memory that an instruction accesses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub direction: Direction,
    pub start: Value,
    /// Bytes, as a 64-bit value.
    pub length: Value,
}

impl Instrumenter<'_> {
    /// Hooks a plain load or store, unless its memory is private or never written.
    pub(super) fn plain_access(&mut self, function: Function, at: Instruction) {
        if !self.privacy.may_be_shared(at.address()) || at.has_metadata("invariant.load") {
            return;
        }
        let direction =
            if at.opcode() == Opcode::Store { Direction::Write } else { Direction::Read };
        let size = at.access_size(self.module);
        let length = self.context.integer(64).constant(size);
        let range = Range { direction, start: at.address(), length };
        self.ranges(function, at, &[range]);
    }

    /// Puts, before an instruction, hooks of the ranges that it accesses: one test of the watch flag for all of them.
    pub(super) fn ranges(&mut self, function: Function, at: Instruction, ranges: &[Range]) {
        if ranges.is_empty() || self.trusted {
            return;
        }
        let site = self.sites.of(self.context, function, at);
        let location = self.location(function, at);
        let Hooks { builder, splitter, watch, read, write, .. } = &self.hooks;
        let narrow = self.context.integer(32);
        let watched = function.append_block(self.context);
        let front = splitter.split_before(at);
        builder.at_end(front, location);
        let flag = builder.load(narrow, watch.value());
        builder.branch_if_set(self.context, flag, watched, at.block());
        builder.at_end(watched, location);
        for range in ranges {
            let hook = if range.direction == Direction::Read { read } else { write };
            let start = builder.address(self.context, range.start);
            builder.call(*hook, &[start, range.length, narrow.constant(site.0.into())]);
        }
        builder.jump(at.block());
    }

    /// The debug location for calls inserted before an instruction. A call in a function with debug information must have one.
    pub(super) fn location(&self, function: Function, at: Instruction) -> Option<Location> {
        at.location().or_else(|| function.unknown_location(self.context))
    }
}
