//! Instructions: kinds, operands of each kind, atomic orders.

use super::{Block, Function, Module, Type, Value};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAtomicOrdering, LLVMOpcode};
use lockred_protocol::hooks::{Order, RmwOp};

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Instruction(pub(super) LLVMValueRef);

/// Kinds of instructions, as far as they are told apart here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opcode {
    /// Stack variable.
    Alloca,
    /// Load, atomic or not.
    Load,
    /// Store, atomic or not.
    Store,
    /// Atomic read-modify-write.
    AtomicRmw,
    /// Atomic compare-exchange.
    CompareExchange,
    /// Fence.
    Fence,
    /// Call, invoke or callbr.
    Call,
    /// Address computation and casts: results alias their first operand.
    Address,
    /// `phi` or `select`: the result may be any operand.
    Merge,
    /// Comparison.
    Compare,
    /// A pointer made a number, or integer arithmetic and casts.
    Number,
    /// `br` or `switch`.
    Branch,
    /// `va_arg`.
    VaArg,
    /// `ret`.
    Return,
    /// `unreachable`.
    Unreachable,
    /// `resume`: goes on to unwind.
    Resume,
    /// Everything else.
    Other,
}

/// The C11 order of LLVM's.
fn order(raw: LLVMAtomicOrdering) -> Order {
    use LLVMAtomicOrdering::*;
    match raw {
        LLVMAtomicOrderingAcquire => Order::Acquire,
        LLVMAtomicOrderingRelease => Order::Release,
        LLVMAtomicOrderingAcquireRelease => Order::AcqRel,
        LLVMAtomicOrderingSequentiallyConsistent => Order::SeqCst,
        _ => Order::Relaxed,
    }
}

impl Instruction {
    /// As a value.
    #[must_use]
    pub fn value(self) -> Value {
        Value(self.0)
    }

    /// Its kind.
    #[must_use]
    pub fn opcode(self) -> Opcode {
        use LLVMOpcode::*;
        // SAFETY: valid handle (directory contract), here and in every method below.
        match unsafe { LLVMGetInstructionOpcode(self.0) } {
            LLVMAlloca => Opcode::Alloca,
            LLVMLoad => Opcode::Load,
            LLVMStore => Opcode::Store,
            LLVMAtomicRMW => Opcode::AtomicRmw,
            LLVMAtomicCmpXchg => Opcode::CompareExchange,
            LLVMFence => Opcode::Fence,
            LLVMCall | LLVMInvoke | LLVMCallBr => Opcode::Call,
            LLVMGetElementPtr | LLVMBitCast | LLVMAddrSpaceCast | LLVMFreeze => Opcode::Address,
            LLVMPHI | LLVMSelect => Opcode::Merge,
            LLVMICmp => Opcode::Compare,
            LLVMPtrToInt | LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem
            | LLVMSRem | LLVMShl | LLVMLShr | LLVMAShr | LLVMAnd | LLVMOr | LLVMXor | LLVMTrunc
            | LLVMZExt | LLVMSExt => Opcode::Number,
            LLVMBr | LLVMSwitch => Opcode::Branch,
            LLVMVAArg => Opcode::VaArg,
            LLVMRet => Opcode::Return,
            LLVMUnreachable => Opcode::Unreachable,
            LLVMResume => Opcode::Resume,
            _ => Opcode::Other,
        }
    }

    /// Whether it only computes its result, from its operands.
    #[must_use]
    pub fn is_pure(self) -> bool {
        use LLVMOpcode::*;
        // SAFETY: valid handle.
        let opcode = unsafe { LLVMGetInstructionOpcode(self.0) };
        matches!(
            opcode,
            LLVMExtractValue
                | LLVMInsertValue
                | LLVMExtractElement
                | LLVMInsertElement
                | LLVMShuffleVector
                | LLVMIntToPtr
                | LLVMFCmp
                | LLVMFNeg
                | LLVMFAdd
                | LLVMFSub
                | LLVMFMul
                | LLVMFDiv
                | LLVMFRem
                | LLVMFPTrunc
                | LLVMFPExt
                | LLVMFPToUI
                | LLVMFPToSI
                | LLVMUIToFP
                | LLVMSIToFP
        )
    }

    /// Of an alloca: the type of what it makes room for.
    #[must_use]
    pub fn allocated_type(self) -> Type {
        // SAFETY: only called for allocas.
        Type(unsafe { LLVMGetAllocatedType(self.0) })
    }

    /// Whether it is a `phi`.
    #[must_use]
    pub fn is_phi(self) -> bool {
        // SAFETY: valid handle.
        unsafe { LLVMGetInstructionOpcode(self.0) == LLVMOpcode::LLVMPHI }
    }

    /// The values of which a `phi` or `select` yields one.
    #[must_use]
    pub fn merged(self) -> Vec<Value> {
        let operands = self.value().operands();
        if self.is_phi() { operands } else { operands[1..].to_vec() }
    }

    /// Whether it is a load or store with an atomic order.
    #[must_use]
    pub fn is_atomic(self) -> bool {
        // SAFETY: valid handle.
        unsafe { LLVMIsAtomic(self.0) != 0 }
    }

    /// Of an atomic instruction: whether it orders only against signal handlers of the same thread.
    #[must_use]
    pub fn is_single_thread(self) -> bool {
        // SAFETY: only called for atomic instructions.
        unsafe { LLVMIsAtomicSingleThread(self.0) != 0 }
    }

    /// Order of an atomic load, store, read-modify-write or fence.
    #[must_use]
    pub fn order(self) -> Order {
        // SAFETY: only called for these.
        order(unsafe { LLVMGetOrdering(self.0) })
    }

    /// Orders of a compare-exchange: on success, on failure.
    #[must_use]
    pub fn compare_exchange_orders(self) -> (Order, Order) {
        // SAFETY: only called for a compare-exchange.
        unsafe {
            (
                order(LLVMGetCmpXchgSuccessOrdering(self.0)),
                order(LLVMGetCmpXchgFailureOrdering(self.0)),
            )
        }
    }

    /// Of a compare-exchange: whether it may fail spuriously.
    #[must_use]
    pub fn is_weak(self) -> bool {
        // SAFETY: only called for a compare-exchange.
        unsafe { LLVMGetWeak(self.0) != 0 }
    }

    /// Of a read-modify-write: its operation, `None` for floating-point and other operations that
    /// the hooks do not have.
    #[must_use]
    pub fn rmw_op(self) -> Option<RmwOp> {
        // SAFETY: only called for a read-modify-write.
        RmwOp::from_code(unsafe { LLVMGetAtomicRMWBinOp(self.0) } as u32)
    }

    /// Type of the memory that a load, store, read-modify-write or compare-exchange accesses.
    #[must_use]
    pub fn accessed_type(self) -> Type {
        match self.opcode() {
            Opcode::Store => self.operand(0).value_type(),
            Opcode::AtomicRmw | Opcode::CompareExchange => self.operand(1).value_type(),
            _ => self.value().value_type(),
        }
    }

    /// Address that a load, store, read-modify-write or compare-exchange accesses.
    #[must_use]
    pub fn address(self) -> Value {
        self.operand(u32::from(self.opcode() == Opcode::Store))
    }

    /// One operand.
    #[must_use]
    pub fn operand(self, index: u32) -> Value {
        // SAFETY: valid handle; the callers know the instruction's operands.
        Value(unsafe { LLVMGetOperand(self.0, index) })
    }

    /// Of a call: what is called.
    #[must_use]
    pub fn callee(self) -> Option<Value> {
        if self.opcode() != Opcode::Call {
            return None;
        }
        // SAFETY: a call has a callee.
        Some(Value(unsafe { LLVMGetCalledValue(self.0) }))
    }

    /// Of a call: its arguments.
    #[must_use]
    pub fn arguments(self) -> Vec<Value> {
        // SAFETY: only called for calls.
        let count = unsafe { LLVMGetNumArgOperands(self.0) };
        (0..count).map(|i| self.operand(i)).collect()
    }

    /// Of an alloca: whether its size is known (and so its place in the entry block is its life).
    #[must_use]
    pub fn is_static_alloca(self) -> bool {
        self.opcode() == Opcode::Alloca && self.operand(0).is_constant()
    }

    /// The block it is in.
    #[must_use]
    pub fn block(self) -> Block {
        // SAFETY: valid handle of an instruction in a block.
        Block(unsafe { LLVMGetInstructionParent(self.0) })
    }

    /// The function it is in.
    #[must_use]
    pub fn function(self) -> Function {
        // SAFETY: valid handles.
        Function(unsafe { LLVMGetBasicBlockParent(self.block().0) })
    }

    /// The instruction after it in its block.
    #[must_use]
    pub fn next(self) -> Option<Instruction> {
        // SAFETY: valid handle.
        let raw = unsafe { LLVMGetNextInstruction(self.0) };
        (!raw.is_null()).then_some(Instruction(raw))
    }

    /// Whether it has metadata of this name.
    #[must_use]
    pub fn has_metadata(self, name: &str) -> bool {
        // SAFETY: valid handle; the kind is looked up in the instruction's own context.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let kind = LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32);
            !LLVMGetMetadata(self.0, kind).is_null()
        }
    }

    /// Deletes it. Nothing may use it any more, nor this handle.
    pub fn erase(self) {
        // SAFETY: valid handle without users, by the caller's word.
        unsafe { LLVMInstructionEraseFromParent(self.0) };
    }

    /// Bytes that it reads or writes, of a load or store.
    #[must_use]
    pub fn access_size(self, module: &Module) -> u64 {
        module.store_size(self.accessed_type())
    }
}
