//! Blocks, and splitting one in front of an instruction, which LLVM's C API does not offer.
//!
//! The part *before* the instruction moves to a new block, and everything that jumped to the old
//! block is led to the new one by replacing the uses of the block as a value. LLVM also rewrites
//! the phis of the successors of a block that is replaced; that must not happen here (the old block
//! keeps its terminator), so the terminator is out of the block meanwhile. Each instruction moves
//! once when a block is split from top to bottom: linear in its length.

use super::{Builder, Context, Instruction};
use llvm_sys::core::*;
use llvm_sys::prelude::*;

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Block(pub(super) LLVMBasicBlockRef);

impl Block {
    /// Its instructions, in order.
    #[must_use]
    pub fn instructions(self) -> Vec<Instruction> {
        let mut all = Vec::new();
        let mut next = self.first();
        while let Some(instruction) = next {
            all.push(instruction);
            next = instruction.next();
        }
        all
    }

    /// Its first instruction.
    #[must_use]
    pub fn first(self) -> Option<Instruction> {
        // SAFETY: valid handle (directory contract).
        let raw = unsafe { LLVMGetFirstInstruction(self.0) };
        (!raw.is_null()).then_some(Instruction(raw))
    }

    /// The instruction that ends it.
    #[must_use]
    pub fn terminator(self) -> Option<Instruction> {
        // SAFETY: valid handle.
        let raw = unsafe { LLVMGetBasicBlockTerminator(self.0) };
        (!raw.is_null()).then_some(Instruction(raw))
    }
}

/// Splits blocks, reusing one builder.
#[derive(Debug)]
pub struct BlockSplitter {
    context: Context,
    builder: Builder,
}

impl BlockSplitter {
    /// A splitter for functions of this context.
    #[must_use]
    pub fn new(context: Context) -> Self {
        Self { context, builder: Builder::new(context) }
    }

    /// Moves everything before `at` (neither a phi nor a landing pad) to a new block in front, and
    /// returns that block, which has no terminator yet: the caller must let it end in `at`'s block.
    #[must_use]
    pub fn split_before(&self, at: Instruction) -> Block {
        let block = at.block();
        let function = at.function();
        let front = function.append_block(self.context);
        // SAFETY: both blocks are of one function.
        unsafe { LLVMMoveBasicBlockBefore(front.0, block.0) };
        let terminator = block.terminator().expect("a complete block has a terminator");
        self.builder.at_end(front, None);
        let mut next = block.first().filter(|&i| i != at);
        while let Some(instruction) = next {
            next = instruction.next().filter(|&i| i != at);
            // SAFETY: taken out of one block, put into the other at once.
            unsafe {
                LLVMInstructionRemoveFromParent(instruction.0);
                LLVMInsertIntoBuilder(self.builder.0, instruction.0);
            }
        }
        // SAFETY: the terminator is out of its block only while the block's uses are replaced (see
        // the file's head).
        unsafe {
            LLVMInstructionRemoveFromParent(terminator.0);
            LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(block.0), LLVMBasicBlockAsValue(front.0));
            self.builder.at_end(block, None);
            LLVMInsertIntoBuilder(self.builder.0, terminator.0);
        }
        front
    }
}
