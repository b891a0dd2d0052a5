//! What instructions compute, and where control goes: as plain data, for analyses.

use super::{Block, Instruction, Type, TypeKind, Value};
use llvm_sys::core::*;
use llvm_sys::{LLVMIntPredicate, LLVMOpcode};

/// What an instruction computes. All but [`Shape::Other`] and [`Shape::Phi`] depend on nothing but
/// their operands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// The same number or address, truncated or zero-extended to the result's type, or neither.
    Resize(Value),
    /// Bitwise and.
    And(Value, Value),
    /// Bitwise exclusive or.
    Xor(Value, Value),
    /// Comparison of numbers or addresses.
    Compare(Predicate, Value, Value),
    /// One of two values, by a condition.
    Select(Value, Value, Value),
    /// A field of a structure value.
    Field(Value, u32),
    /// A structure value with another field: structure, field, its index.
    WithField(Value, Value, u32),
    /// What depends on where control came from.
    Phi(Vec<(Value, Block)>),
    /// Another function of the operands.
    Arithmetic,
    /// Everything else.
    Other,
}

/// How numbers are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Predicate {
    /// They are equal.
    Equal,
    /// They differ.
    NotEqual,
    /// The left one is smaller, unsigned.
    Below,
    /// The left one is smaller or equal, unsigned.
    BelowOrEqual,
    /// The right one is smaller, unsigned.
    Above,
    /// The right one is smaller or equal, unsigned.
    AboveOrEqual,
    /// As signed numbers.
    Signed,
}

/// Where control goes after a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Flow {
    /// To a block; after an `invoke`, where it goes when the call returns.
    Jump(Block),
    /// By a condition: if it holds, or not.
    Branch(Value, Block, Block),
    /// By a number, and where its value is none of those listed.
    Switch(Value, Vec<(u64, Block)>, Block),
    /// Out of the function, or in ways that are not described here.
    Leaves,
}

const fn predicate(raw: LLVMIntPredicate) -> Predicate {
    match raw {
        LLVMIntPredicate::LLVMIntEQ => Predicate::Equal,
        LLVMIntPredicate::LLVMIntNE => Predicate::NotEqual,
        LLVMIntPredicate::LLVMIntULT => Predicate::Below,
        LLVMIntPredicate::LLVMIntULE => Predicate::BelowOrEqual,
        LLVMIntPredicate::LLVMIntUGT => Predicate::Above,
        LLVMIntPredicate::LLVMIntUGE => Predicate::AboveOrEqual,
        _ => Predicate::Signed,
    }
}

/// Whether values of a type are numbers or addresses of at most 64 bits.
fn is_scalar(of: Type) -> bool {
    match of.kind() {
        TypeKind::Integer(bits) => bits <= 64,
        TypeKind::Pointer => true,
        _ => false,
    }
}

impl Instruction {
    /// Of a [`Shape::Resize`]: whether the result is the same number, by LLVM's word.
    #[must_use]
    pub fn keeps_all(self) -> bool {
        // SAFETY: valid handle (directory contract); only truncations are asked whether they wrap.
        unsafe {
            match LLVMGetInstructionOpcode(self.0) {
                LLVMOpcode::LLVMTrunc => LLVMGetNUW(self.0) != 0,
                _ => true,
            }
        }
    }

    /// What it computes.
    #[must_use]
    pub fn shape(self) -> Shape {
        use LLVMOpcode::*;
        // SAFETY: valid handle (directory contract), here and below; each question is asked of its
        // own kind of instruction only.
        unsafe {
            match LLVMGetInstructionOpcode(self.0) {
                LLVMTrunc | LLVMZExt | LLVMPtrToInt | LLVMIntToPtr | LLVMFreeze
                    if is_scalar(self.value().value_type())
                        && is_scalar(self.operand(0).value_type()) =>
                {
                    Shape::Resize(self.operand(0))
                }
                LLVMAnd => Shape::And(self.operand(0), self.operand(1)),
                LLVMXor => Shape::Xor(self.operand(0), self.operand(1)),
                LLVMICmp => {
                    let predicate = predicate(LLVMGetICmpPredicate(self.0));
                    Shape::Compare(predicate, self.operand(0), self.operand(1))
                }
                LLVMSelect => Shape::Select(self.operand(0), self.operand(1), self.operand(2)),
                LLVMExtractValue if LLVMGetNumIndices(self.0) == 1 => {
                    Shape::Field(self.operand(0), *LLVMGetIndices(self.0))
                }
                LLVMInsertValue if LLVMGetNumIndices(self.0) == 1 => {
                    let index = *LLVMGetIndices(self.0);
                    Shape::WithField(self.operand(0), self.operand(1), index)
                }
                LLVMPHI => {
                    let incoming = |i| {
                        let value = Value(LLVMGetIncomingValue(self.0, i));
                        (value, Block(LLVMGetIncomingBlock(self.0, i)))
                    };
                    Shape::Phi((0..LLVMCountIncoming(self.0)).map(incoming).collect())
                }
                LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem
                | LLVMShl | LLVMLShr | LLVMAShr | LLVMOr | LLVMTrunc | LLVMZExt | LLVMSExt
                | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast | LLVMFreeze | LLVMGetElementPtr
                | LLVMExtractValue | LLVMInsertValue => Shape::Arithmetic,
                _ => Shape::Other,
            }
        }
    }

    /// Whether it computes the same function of its operands as another one.
    #[must_use]
    pub fn computes_like(self, other: Self) -> bool {
        // SAFETY: valid handles; details are asked for only where both are of the kind that has
        // them.
        unsafe {
            let opcode = LLVMGetInstructionOpcode(self.0);
            if opcode != LLVMGetInstructionOpcode(other.0)
                || self.value().value_type() != other.value().value_type()
            {
                return false;
            }
            match opcode {
                LLVMOpcode::LLVMGetElementPtr => {
                    LLVMGetGEPSourceElementType(self.0) == LLVMGetGEPSourceElementType(other.0)
                }
                LLVMOpcode::LLVMICmp => {
                    LLVMGetICmpPredicate(self.0) == LLVMGetICmpPredicate(other.0)
                }
                LLVMOpcode::LLVMExtractValue | LLVMOpcode::LLVMInsertValue => {
                    self.shape() != Shape::Arithmetic && self.index() == other.index()
                }
                _ => true,
            }
        }
    }

    /// Of the access to a field of a structure value: its index.
    fn index(self) -> Option<u32> {
        match self.shape() {
            Shape::Field(_, index) | Shape::WithField(_, _, index) => Some(index),
            _ => None,
        }
    }

    /// Of an instruction that ends a block: where control goes.
    #[must_use]
    pub fn flow(self) -> Flow {
        use LLVMOpcode::*;
        // SAFETY: as above.
        unsafe {
            let successor = |index| Block(LLVMGetSuccessor(self.0, index));
            match LLVMGetInstructionOpcode(self.0) {
                LLVMBr if LLVMIsConditional(self.0) == 0 => Flow::Jump(successor(0)),
                LLVMBr => {
                    let condition = Value(LLVMGetCondition(self.0));
                    Flow::Branch(condition, successor(0), successor(1))
                }
                LLVMSwitch => {
                    // The first successor is the default; so is the first "case value".
                    let case = |index| {
                        let value = Value(LLVMGetSwitchCaseValue(self.0, index));
                        Some((value.as_integer()?, successor(index)))
                    };
                    let cases: Option<Vec<_>> =
                        (1..LLVMGetNumSuccessors(self.0)).map(case).collect();
                    match cases {
                        Some(cases) => Flow::Switch(
                            self.operand(0),
                            cases,
                            Block(LLVMGetSwitchDefaultDest(self.0)),
                        ),
                        None => Flow::Leaves,
                    }
                }
                LLVMInvoke => Flow::Jump(Block(LLVMGetNormalDest(self.0))),
                _ => Flow::Leaves,
            }
        }
    }

    /// Of an instruction that ends a block: every block that control may go to.
    #[must_use]
    pub fn successors(self) -> Vec<Block> {
        // SAFETY: as above; only asked of terminators.
        unsafe {
            let successor = |index| Block(LLVMGetSuccessor(self.0, index));
            (0..LLVMGetNumSuccessors(self.0)).map(successor).collect()
        }
    }

    /// Of a load or store: whether it is volatile.
    #[must_use]
    pub fn is_volatile(self) -> bool {
        // SAFETY: as above.
        unsafe { LLVMGetVolatile(self.0) != 0 }
    }
}
