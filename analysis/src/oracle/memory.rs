//! The memory of a run: blocks of bytes, each of which may be a byte of an address.

use crate::facts::{FunctionId, GlobalId, Register};
use std::collections::BTreeSet;

/// Index of a block.
pub type BlockId = usize;
/// Index of a thread; the first one is those who are outside of the program.
pub type ThreadId = usize;

/// What a block is: the kinds of the analysis without contexts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    Variable(FunctionId, Register),
    Heap(FunctionId, Register),
    Global(GlobalId),
    Function(FunctionId),
    Library,
    Foreign,
}

/// An address; it may be outside of its block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Address {
    pub block: BlockId,
    pub offset: i64,
}

/// The offset of what is no address any more, but a number that is computed of one.
pub const NUMBER: i64 = i64::MIN / 2;

/// What a register holds: its words, each of which may be an address.
pub type Scalar = Vec<Option<Address>>;

/// A block.
#[derive(Clone, Debug)]
pub struct Block {
    pub origin: Origin,
    /// For each byte, the address that it is a part of, and which byte of that.
    bytes: Vec<Option<(Address, u8)>>,
    /// What is in memory outside of the program, where nothing is told apart.
    pub held: Vec<Address>,
    pub is_constant: bool,
    pub is_dead: bool,
    pub touched_by: BTreeSet<ThreadId>,
    pub written: bool,
    /// Some access was taken for one to memory of one thread.
    pub claimed_own: bool,
    /// Some access was taken for one to a constant.
    pub claimed_constant: bool,
}

impl Block {
    pub fn new(origin: Origin, size: usize) -> Self {
        Self {
            origin,
            bytes: vec![None; size],
            held: Vec::new(),
            is_constant: false,
            is_dead: false,
            touched_by: BTreeSet::new(),
            written: false,
            claimed_own: false,
            claimed_constant: false,
        }
    }

    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Whether the block is not the program's memory.
    pub fn is_outside(&self) -> bool {
        matches!(self.origin, Origin::Library | Origin::Foreign)
    }

    /// Whether so many bytes at an offset may be accessed.
    pub fn has(&self, offset: i64, bytes: usize) -> bool {
        !self.is_dead
            && offset != NUMBER
            && !matches!(self.origin, Origin::Function(_))
            && (self.is_outside() || offset >= 0 && offset as usize + bytes <= self.bytes.len())
    }

    /// The address at an offset.
    pub fn load(&self, offset: usize) -> Option<Address> {
        let (address, _) = self.bytes[offset]?;
        let whole = (0..8).all(|i| self.bytes[offset + i] == Some((address, i as u8)));
        whole.then_some(address)
    }

    pub fn store(&mut self, offset: usize, word: Option<Address>) {
        for i in 0..8 {
            self.bytes[offset + i] = word.map(|address| (address, i as u8));
        }
    }

    pub fn bytes(&self, offset: usize, count: usize) -> Vec<Option<(Address, u8)>> {
        self.bytes[offset..offset + count].to_vec()
    }

    pub fn set_bytes(&mut self, offset: usize, bytes: &[Option<(Address, u8)>]) {
        self.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    /// All addresses that are whole in it.
    pub fn addresses(&self) -> Vec<Address> {
        let last = self.bytes.len().saturating_sub(7);
        (0..last).filter_map(|offset| self.load(offset)).chain(self.held.iter().copied()).collect()
    }
}
