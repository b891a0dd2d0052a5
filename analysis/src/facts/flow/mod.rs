//! The control flow of a program: what happens in which order, block by block, as plain data that
//! knows no LLVM.
//!
//! The statements of [`super::Body`] say where addresses may go, in any order. Analyses that ask
//! what is so at a point need the order, numbers that conditions are made of, accesses to memory of
//! every size, and which atomic operation acquires or releases a lock. Registers are those of the
//! statements. What an instruction computes, and is none of the steps below, makes its registers
//! [`Step::Opaque`].

mod read;

pub use read::{Points, read};

use super::{FunctionId, GlobalId, Register, Signature};
use lockred_protocol::hooks::Class;
use std::collections::BTreeSet;

/// An instruction that accesses memory, synchronises, or calls: index into [`Points`].
pub type Point = u32;
/// Index into [`Flow::blocks`].
pub type BlockId = u32;

/// What a step takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// Nothing that is followed.
    Unknown,
    /// A number.
    Number(u64),
    /// A scalar of the same function.
    Register(Register),
    /// An address in a global variable.
    Global(GlobalId, i64),
    /// The address of a function.
    Function(FunctionId),
}

/// A scalar in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part<T> {
    /// Bytes from the address.
    pub offset: u32,
    /// Its size; 0 if that is not known.
    pub size: u32,
    /// Where it goes to, or what it is.
    pub value: T,
}

/// What an atomic operation is to a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// Acquires it.
    Acquire {
        /// With others, who only read.
        shared: bool,
    },
    /// Acquires it if this register is 1, or does nothing.
    Try {
        /// With others, who only read.
        shared: bool,
        /// Whether it succeeded.
        success: Register,
    },
    /// Gives it back.
    Release,
    /// Goes on to hold it with others.
    Downgrade,
    /// Something else: of this class.
    Other(Class),
}

/// One step of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A new stack variable.
    Variable(Register),
    /// The result is this.
    Same(Register, Value),
    /// The result is this number, or as many bits of it, or the address if it has room for that.
    Narrow {
        /// The result.
        result: Register,
        /// The number.
        from: Value,
        /// How many bits the result has.
        bits: u32,
        /// Nothing of the number is lost.
        exact: bool,
    },
    /// The result is an address, so many bytes after another one.
    Offset(Register, Value, i64),
    /// The result is 1 if the value is 0, or else 0.
    Not(Register, Value),
    /// The result is 1 if two numbers are equal (or differ), or else 0.
    Compare {
        /// The result.
        result: Register,
        /// It is 1 where they are equal.
        equal: bool,
        /// One of them.
        left: Value,
        /// The other one.
        right: Value,
    },
    /// The result is one of two values, by a condition.
    Choose {
        /// The result.
        result: Register,
        /// The condition.
        condition: Value,
        /// The value if it holds, and if not.
        values: [Value; 2],
    },
    /// Something else is computed.
    Opaque(Register),
    /// Memory is read.
    Load {
        /// Where.
        address: Value,
        /// What goes where.
        parts: Vec<Part<Register>>,
        /// As an access; `None` for a part of an atomic operation.
        point: Option<Point>,
    },
    /// Memory is written.
    Store {
        /// Where.
        address: Value,
        /// What.
        parts: Vec<Part<Value>>,
        /// Bytes, if known: what is in them and no part is unknown.
        size: Option<u64>,
        /// As an access.
        point: Option<Point>,
    },
    /// Memory is copied.
    Copy {
        /// To where.
        to: Value,
        /// From where.
        from: Value,
        /// Bytes, if known.
        size: Option<u64>,
        /// As an access.
        point: Point,
    },
    /// An atomic operation that a sync model knows.
    Synchronise {
        /// What it is.
        act: Act,
        /// The word.
        address: Value,
        /// Where.
        point: Point,
    },
    /// A call.
    Call(Box<Call>),
}

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// What is called.
    pub callee: Value,
    /// The scalars of the arguments.
    pub arguments: Vec<Value>,
    /// The first register of the result, and their number.
    pub result: (Register, u32),
    /// The widths of arguments and result.
    pub signature: Signature,
    /// Where.
    pub point: Point,
}

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// In front of another block.
    Jump(BlockId),
    /// By a condition: where to go if it holds, or not.
    Branch(Value, BlockId, BlockId),
    /// By a number, and where to go where it is none of those listed.
    Switch(Value, Vec<(u64, BlockId)>, BlockId),
    /// The last step, a call, returns or unwinds.
    Invoke(BlockId, BlockId),
    /// The function returns.
    Return(Vec<Value>),
    /// An exception leaves the function.
    Unwind,
    /// Nothing comes after.
    Stop,
    /// Any of these.
    Any(Vec<BlockId>),
}

impl End {
    /// Every block that control may go to.
    #[must_use]
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            Self::Jump(to) => vec![*to],
            Self::Branch(_, one, other) | Self::Invoke(one, other) => vec![*one, *other],
            Self::Switch(_, cases, default) => {
                cases.iter().map(|case| case.1).chain([*default]).collect()
            }
            Self::Any(all) => all.clone(),
            Self::Return(_) | Self::Unwind | Self::Stop => Vec::new(),
        }
    }
}

/// A block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// What is one of several values, by the block that control came from.
    pub merges: Vec<(Register, Vec<(BlockId, Value)>)>,
    /// What happens.
    pub steps: Vec<Step>,
    /// How it ends.
    pub end: End,
}

/// The body of a function. It begins with the first block.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Flow {
    /// Its blocks; none for a function that is only declared.
    pub blocks: Vec<Block>,
    /// Where it acquires locks under which nobody acquires another one, by their model.
    pub innermost: BTreeSet<Point>,
}
