//! How addresses move through single instructions.

use super::{Distance, Instruction, Module, Type, Value};
use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;

/// Where the addresses in an instruction's result come from, or where it puts them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Movement {
    /// A new stack variable, of so many bytes if that is known.
    Variable(Option<u64>),
    /// An address, so far from another one.
    Offset(Value, Distance),
    /// Any of these values, scalar by scalar.
    Same(Vec<Value>),
    /// Computed of these numbers: what comes out may be any address within the objects that they
    /// point to. (What is multiplied, divided, or subtracted is no address.)
    Computed(Vec<Value>),
    /// The scalars at a path of a structure or array.
    Part(Value, Vec<u32>),
    /// A structure or array, with another part.
    WithPart(Value, Value, Vec<u32>),
    /// A load, from this address.
    Load(Value),
    /// A store: address, value.
    Store(Value, Value),
    /// A read-modify-write or compare-exchange: address, value that may be stored. The result is
    /// what was there.
    Update(Value, Value),
    /// A call, invoke or callbr.
    Call,
    /// The end of the function, with its result.
    Return(Option<Value>),
    /// Unwinding goes on with this.
    Resume(Value),
    /// An exception arrives.
    LandingPad,
    /// Something with addresses that is not described here.
    Unknown,
    /// Nothing that moves addresses.
    None,
}

impl Instruction {
    /// How addresses move.
    #[must_use]
    pub fn movement(self, module: &Module) -> Movement {
        use LLVMOpcode::*;
        let operands = || self.value().operands();
        // SAFETY: valid handle (directory contract), here and below; each question is asked of its
        // own kind of instruction only.
        match unsafe { LLVMGetInstructionOpcode(self.0) } {
            LLVMAlloca => {
                let count = self.operand(0).as_integer();
                // SAFETY: as above.
                let of = Type(unsafe { LLVMGetAllocatedType(self.0) });
                Movement::Variable(count.map(|n| n.saturating_mul(module.allocation_size(of))))
            }
            LLVMGetElementPtr => {
                let operands = operands();
                // SAFETY: as above.
                let source = Type(unsafe { LLVMGetGEPSourceElementType(self.0) });
                let mut distance = source.distance(module, &operands[1..]);
                if let Distance::Exactly(bytes) = distance
                    && bytes != 0
                    && self.goes_round(operands[0])
                {
                    let stride = u32::try_from(bytes.unsigned_abs());
                    distance = stride.map_or(Distance::Unknown, |s| Distance::Multiples(0, s));
                }
                // SAFETY: as above.
                if unsafe { LLVMIsInBounds(self.0) } != 0 {
                    distance = match distance {
                        Distance::Exactly(bytes) => Distance::Within(bytes),
                        Distance::Multiples(bytes, stride) => Distance::Element(bytes, stride),
                        other => other,
                    };
                }
                Movement::Offset(operands[0], distance)
            }
            LLVMIntToPtr => Movement::Offset(self.operand(0), Distance::Restored),
            LLVMBitCast | LLVMAddrSpaceCast | LLVMFreeze | LLVMPtrToInt => {
                Movement::Same(vec![self.operand(0)])
            }
            LLVMPHI => Movement::Same(operands()),
            LLVMSelect => Movement::Same(operands()[1..].to_vec()),
            LLVMAdd | LLVMSub => self.sum(),
            LLVMAnd if self.is_tag() => Movement::None,
            LLVMAnd | LLVMOr | LLVMXor | LLVMTrunc | LLVMZExt | LLVMSExt => {
                Movement::Computed(operands())
            }
            LLVMShl => Movement::Computed(vec![self.operand(0)]),
            LLVMLShr | LLVMAShr if !self.loses_bits() => Movement::Computed(vec![self.operand(0)]),
            LLVMExtractElement | LLVMInsertElement | LLVMShuffleVector => {
                Movement::Computed(operands())
            }
            LLVMExtractValue => Movement::Part(self.operand(0), self.indices()),
            LLVMInsertValue => Movement::WithPart(self.operand(0), self.operand(1), self.indices()),
            LLVMLoad => Movement::Load(self.operand(0)),
            LLVMStore => Movement::Store(self.operand(1), self.operand(0)),
            LLVMAtomicRMW => Movement::Update(self.operand(0), self.operand(1)),
            LLVMAtomicCmpXchg => Movement::Update(self.operand(0), self.operand(2)),
            LLVMCall | LLVMInvoke | LLVMCallBr => Movement::Call,
            LLVMRet => Movement::Return(operands().first().copied()),
            LLVMResume => Movement::Resume(self.operand(0)),
            LLVMLandingPad => Movement::LandingPad,
            LLVMVAArg | LLVMCatchPad | LLVMCleanupPad | LLVMCatchSwitch | LLVMCatchRet
            | LLVMCleanupRet | LLVMIndirectBr => Movement::Unknown,
            _ => Movement::None,
        }
    }

    /// An address plus or minus a constant number is an address in the same object.
    fn sum(self) -> Movement {
        let (left, right) = (self.operand(0), self.operand(1));
        let number = |value: Value| value.as_integer().map(|n| n as i64);
        // SAFETY: as above.
        let minus = unsafe { LLVMGetInstructionOpcode(self.0) } == LLVMOpcode::LLVMSub;
        match (number(left), number(right)) {
            (_, Some(bytes)) => {
                Movement::Offset(left, Distance::Exactly(if minus { -bytes } else { bytes }))
            }
            (Some(bytes), None) if !minus => Movement::Offset(right, Distance::Exactly(bytes)),
            _ if minus => Movement::Computed(vec![left]),
            _ => Movement::Computed(vec![left, right]),
        }
    }

    /// Whether the address is moved again and again: it comes from what is computed here the round
    /// before.
    fn goes_round(self, base: Value) -> bool {
        // SAFETY: as above.
        let is_phi = |value: Value| unsafe { !LLVMIsAPHINode(value.0).is_null() };
        is_phi(base) && base.operands().contains(&self.value())
    }

    /// Of a bitwise and: whether what comes out is too small for an address.
    fn is_tag(self) -> bool {
        let small = |value: Value| value.as_integer().is_some_and(|n| n < 4096);
        small(self.operand(0)) || small(self.operand(1))
    }

    /// Of a shift to the right: whether it drops a few bits that nothing in this function puts
    /// back. Lengths are kept like that beside addresses; addresses are not.
    fn loses_bits(self) -> bool {
        // SAFETY: as above.
        let shifts_left = |user: Value| unsafe {
            !LLVMIsAInstruction(user.0).is_null()
                && LLVMGetInstructionOpcode(user.0) == LLVMOpcode::LLVMShl
        };
        self.operand(1).as_integer().is_some_and(|bits| bits < 8)
            && !self.value().users().into_iter().any(shifts_left)
    }

    /// Of the access to a part of a structure value: the path.
    fn indices(self) -> Vec<u32> {
        // SAFETY: as above; LLVM returns a pointer to that many numbers.
        unsafe {
            let count = LLVMGetNumIndices(self.0) as usize;
            std::slice::from_raw_parts(LLVMGetIndices(self.0), count).to_vec()
        }
    }
}
