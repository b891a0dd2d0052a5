//! The facts of a program: what its functions do with addresses, as plain data that knows no LLVM.
//!
//! LLVM is read once ([`read`]); all analyses of the whole program start from here. Values are
//! taken apart into *scalars*, since Rust returns and passes pairs as structures; each scalar that
//! may hold an address (8 bytes and more, numbers included) is a *register* of its function.
//! Smaller numbers hold no address: an address that a program takes apart into bytes, other than by
//! copying memory, is not followed.

pub mod access;
mod calls;
mod carried;
mod catching;
pub mod flow;
mod operands;
mod pairs;
mod read;

pub use crate::llvm::Distance;
pub use catching::CATCHES;
pub use lockred_protocol::libc_functions::Effect;
pub use read::{Index, read};

/// Index into [`Facts::functions`].
pub type FunctionId = u32;
/// Index into [`Facts::globals`].
pub type GlobalId = u32;
/// A scalar of a function's parameters or of what its instructions compute; counted from 0 in each
/// function.
pub type Register = u32;

/// The widths of parameters and result, hashed: equal ones have equal hashes.
pub type Signature = u64;

/// What an instruction takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// Not an address of an object.
    Nothing,
    /// A scalar of the same function.
    Register(Register),
    /// An address in a global variable; `None`: anywhere in it.
    Global(GlobalId, Option<i64>),
    /// The address of a function.
    Function(FunctionId),
}

/// A scalar in memory: its offset from an address, and its size in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Bytes from the address.
    pub offset: u32,
    /// Its size.
    pub size: u32,
    /// Where it is loaded to, or stored from.
    pub operand: Operand,
}

/// When one of two variables at the same address is used ([`catching`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// Before what is called under a catch.
    Before,
    /// From then on.
    After,
}

/// One statement of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Statement {
    /// A new stack variable.
    Variable {
        /// Its address.
        result: Register,
        /// Its size in bytes, if that is known.
        size: Option<u64>,
        /// When it is used, if it is one of two that are at the same address.
        side: Option<Side>,
    },
    /// The result is the same address, as far as it is one of variables of this side, or of what
    /// has none.
    OfSide {
        /// The result.
        result: Register,
        /// The address.
        from: Register,
        /// Which variables it may be in.
        side: Side,
    },
    /// The result may be this.
    Copy {
        /// The result.
        result: Register,
        /// One of the values that it may be.
        from: Operand,
    },
    /// The result is an address in the same object.
    Offset {
        /// The result.
        result: Register,
        /// The address that it is computed from.
        from: Operand,
        /// How far it is.
        distance: Distance,
    },
    /// Scalars are loaded into registers.
    Load {
        /// From where.
        address: Operand,
        /// Their places, and the registers.
        parts: Vec<Part>,
    },
    /// Scalars are stored.
    Store {
        /// To where.
        address: Operand,
        /// Their places, and what is stored.
        parts: Vec<Part>,
    },
    /// Memory is accessed at an address, and no address is moved that another statement does not
    /// tell of.
    Access(Operand),
    /// Memory is copied.
    CopyMemory {
        /// To where.
        to: Operand,
        /// From where.
        from: Operand,
        /// How many bytes, if that is known.
        bytes: Option<u64>,
    },
    /// A call.
    Call(Box<Call>),
    /// An object is put in front of the table of its methods, or of the function that is called on
    /// it.
    Pair {
        /// The address of the object.
        data: Operand,
        /// The table or the function; a register: whatever table it turns out to be.
        with: Operand,
    },
    /// The function's result.
    Return(Vec<Operand>),
    /// An exception leaves the function.
    Throw(Operand),
    /// An exception arrives.
    Catch(Register),
    /// The addresses get into hands that are not known.
    Escape(Operand),
    /// The result may be any address that is in such hands.
    Unknown(Register),
}

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// What is called.
    pub callee: Operand,
    /// The scalars of the arguments.
    pub arguments: Vec<Operand>,
    /// The first register of the result, and their number.
    pub result: (Register, u32),
    /// The widths of arguments and result: a function with others cannot be what is called by
    /// pointer.
    pub signature: Signature,
    /// The result is an address, not a number that may be one.
    pub gives_address: bool,
}

/// A function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its symbol.
    pub name: String,
    /// What it does; `None` for one that is only declared.
    pub body: Option<Body>,
    /// Scalars of its parameters: the first registers of its body.
    pub parameters: u32,
    /// Scalars of its result.
    pub results: u32,
    /// The widths of its parameters and result; `None` if it takes more than those.
    pub signature: Option<Signature>,
    /// Its address is in tables of methods, or beside objects in [`Statement::Pair`]s, and nowhere
    /// else.
    pub is_method: bool,
    /// It is the harness that runs the tests it is given. What it does besides is over before
    /// threads are watched, and not looked at.
    pub is_harness: bool,
    /// It may be called by those who are not part of the program.
    pub is_entry: bool,
}

/// What a function does.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Body {
    /// Its statements, in the order of its blocks.
    pub statements: Vec<Statement>,
    /// The number of its registers.
    pub registers: u32,
}

/// A global variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Global {
    /// Its symbol.
    pub name: String,
    /// Its bytes.
    pub size: u64,
    /// Never written.
    pub is_constant: bool,
    /// Each thread has its own.
    pub is_thread_local: bool,
    /// It is defined outside of the program, or seen there.
    pub is_foreign: bool,
    /// It is a table of a trait's methods for some type, and every place where it is put beside an
    /// object is an [`Statement::Pair`].
    pub is_paired: bool,
    /// The addresses in its initial value, by offset.
    pub initial: Vec<(u64, Operand)>,
}

/// A whole program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// Its functions, declared ones included.
    pub functions: Vec<Function>,
    /// Its global variables.
    pub globals: Vec<Global>,
    /// Instructions that do with addresses what is not described: their results count as unknown,
    /// their operands as escaped.
    pub undescribed: usize,
}
