//! What memory is called: the field, static or variable that is at an address, found in the
//! executable's own debug information.
//!
//! The types are those that rustc describes in user crates, which is also where generic code of std
//! is compiled for them; std's own compiled code has lines only. They are read when something is to
//! be reported, so that building costs nothing. What is not known for sure has no name.

mod dies;
mod field;
mod types;

use dies::{Dies, Entry, Location};
pub use field::Name;
use gimli::constants;
use lockred_protocol::message::{Home, Memory};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use types::{Type, Types};

/// DWARF's numbers of rbp and rsp.
const FRAME_POINTER: u16 = 6;
const STACK_POINTER: u16 = 7;

/// Return addresses at an allocation, and its bytes.
type Allocation = (Vec<u64>, u64);

/// The debug information of an executable.
pub struct DebugInfo {
    dies: Dies,
    types: Types,
    statics: OnceCell<Vec<(u64, Entry)>>,
    /// What was asked for before: the same few places are, again and again.
    names: RefCell<HashMap<Memory, Option<Name>>>,
    blocks: RefCell<HashMap<Allocation, Option<Rc<Type>>>>,
    functions: RefCell<HashMap<u64, Rc<[Entry]>>>,
}

impl DebugInfo {
    /// Of an executable, if it has some.
    pub fn open(executable: &Path) -> Option<Self> {
        let dies = Dies::open(executable)?;
        Some(Self {
            dies,
            types: Types::default(),
            statics: OnceCell::new(),
            names: RefCell::default(),
            blocks: RefCell::default(),
            functions: RefCell::default(),
        })
    }

    /// What memory is called.
    pub fn name(&self, memory: &Memory) -> Option<Name> {
        if let Some(known) = self.names.borrow().get(memory) {
            return known.clone();
        }
        let name = self.found(memory);
        self.names.borrow_mut().insert(memory.clone(), name.clone());
        name
    }

    fn found(&self, memory: &Memory) -> Option<Name> {
        let (address, size) = (memory.address, memory.size.max(1));
        match &memory.home {
            Some(Home::Block { start, size: block, allocated }) => {
                let of = self.block(allocated, *block)?;
                let offset = address.checked_sub(*start)?;
                // The elements of a block are many, and not told apart.
                field::name(
                    field::Root::Block,
                    &of,
                    if of.size == *block { offset } else { offset % of.size },
                    size,
                )
            }
            Some(Home::Frame { instruction, stack_pointer, frame_pointer }) => {
                let base = |register| match register {
                    FRAME_POINTER => Some(*frame_pointer),
                    STACK_POINTER => Some(*stack_pointer),
                    _ => None,
                };
                self.variable(instruction.checked_sub(1)?, base, address, size)
            }
            None => self.of_static(address, size),
        }
    }

    /// The type of what is in a block, or of its elements: what reference counts it is shared by is
    /// left out.
    pub fn type_of(&self, block: &Home) -> Option<String> {
        let Home::Block { size, allocated, .. } = block else { return None };
        let of = self.block(allocated, *size)?;
        let name = of.name.strip_prefix("ArcInner<").or_else(|| of.name.strip_prefix("RcInner<"));
        Some(match name.and_then(|name| name.strip_suffix('>')) {
            Some(shared) => field::short(shared),
            None => field::short(&of.name),
        })
    }

    fn of_static(&self, address: u64, size: u64) -> Option<Name> {
        let statics = self.statics.get_or_init(|| self.dies.statics());
        let behind = statics.partition_point(|(start, _)| *start <= address);
        let (start, entry) = statics.get(behind.checked_sub(1)?)?;
        let entry = self.original(entry);
        let of = self.types.at(&self.dies, entry.die().of?)?;
        field::name(field::Root::Static(&entry.die().name), &of, address - start, size)
    }

    /// The variable at an address in a frame. Where debug information has several there, they have
    /// to agree.
    fn variable(
        &self,
        instruction: u64,
        base: impl Fn(u16) -> Option<u64>,
        address: u64,
        size: u64,
    ) -> Option<Name> {
        let function = self.dies.function_at(instruction)?;
        let Some(Location::Register(register)) = function.die().base else { return None };
        let base = base(register)?;
        let mut names = Vec::new();
        let mut open = vec![function];
        while let Some(scope) = open.pop() {
            for inner in scope.children() {
                let die = inner.die();
                match die.tag {
                    constants::DW_TAG_lexical_block | constants::DW_TAG_inlined_subroutine
                        if inner.has_code_at(instruction) =>
                    {
                        open.push(inner);
                    }
                    constants::DW_TAG_variable | constants::DW_TAG_formal_parameter => {
                        let Some(Location::Frame(offset)) = die.location else { continue };
                        let start = base.wrapping_add_signed(offset);
                        let original = self.original(&inner);
                        let of = original.die().of.and_then(|of| self.types.at(&self.dies, of));
                        if let Some(of) =
                            of.filter(|of| (start..start + of.size).contains(&address))
                        {
                            let variable = original.die().name.clone();
                            names.push(field::name(
                                field::Root::Variable(&variable),
                                &of,
                                address - start,
                                size,
                            ));
                        }
                    }
                    _ => {}
                }
            }
        }
        names.dedup();
        if names.len() == 1 { names.pop()? } else { None }
    }

    /// The type of what is in a block of a size, or of its elements: given by the innermost
    /// function of std's on the way to its allocation that returns what owns such a block, or that
    /// is of a vector. Blocks that are allocated in another way have none.
    fn block(&self, allocated: &[u64], size: u64) -> Option<Rc<Type>> {
        let key = (allocated.to_vec(), size);
        if let Some(known) = self.blocks.borrow().get(&key) {
            return known.clone();
        }
        let found = self.type_of_block(allocated, size);
        self.blocks.borrow_mut().insert(key, found.clone());
        found
    }

    fn type_of_block(&self, allocated: &[u64], size: u64) -> Option<Rc<Type>> {
        let functions =
            allocated.iter().flat_map(|address| self.functions(address.wrapping_sub(1)).to_vec());
        for function in functions {
            let path = function.path();
            let krate = path.first().map_or("", String::as_str);
            if krate.starts_with("lockred_") || krate.is_empty() {
                continue;
            }
            if !matches!(krate, "std" | "core" | "alloc") {
                return None;
            }
            let owned = function.die().of.and_then(|returned| self.owned_by(returned, 0));
            if let Some(of) = owned.filter(|of| of.size == size && size > 0) {
                return Some(of);
            }
            let Some(parent) = function.parent() else { continue };
            if ["RawVec<", "Vec<"].iter().any(|name| parent.die().name.starts_with(name)) {
                let of = parameter(&parent).and_then(|of| self.types.at(&self.dies, of))?;
                return (of.size > 0 && size.is_multiple_of(of.size)).then_some(of);
            }
        }
        None
    }

    /// What the one pointer in a value of a type points to.
    fn owned_by(&self, of: usize, depth: usize) -> Option<Rc<Type>> {
        let entry = self.dies.entry(of)?;
        match entry.die().tag {
            constants::DW_TAG_pointer_type => self.types.at(&self.dies, entry.die().of?),
            constants::DW_TAG_structure_type if depth < 4 => {
                let is_member = |child: &Entry| child.die().tag == constants::DW_TAG_member;
                let members = entry.children().filter(is_member);
                members.filter_map(|member| self.owned_by(member.die().of?, depth + 1)).next()
            }
            _ => None,
        }
    }

    /// The functions whose code is at an address, the innermost inlined one first.
    fn functions(&self, address: u64) -> Rc<[Entry]> {
        if let Some(known) = self.functions.borrow().get(&address) {
            return Rc::clone(known);
        }
        let mut found = Vec::new();
        let mut next = self.dies.function_at(address);
        while let Some(scope) = next {
            if scope.die().tag != constants::DW_TAG_lexical_block {
                found.push(self.original(&scope));
            }
            let inner = |child: &Entry| {
                let tag = child.die().tag;
                let is_scope = tag == constants::DW_TAG_lexical_block
                    || tag == constants::DW_TAG_inlined_subroutine;
                is_scope && child.has_code_at(address)
            };
            next = scope.children().find(inner);
        }
        found.reverse();
        let found: Rc<[Entry]> = found.into();
        self.functions.borrow_mut().insert(address, Rc::clone(&found));
        found
    }

    /// What an entry repeats, or was inlined of.
    fn original(&self, entry: &Entry) -> Entry {
        let mut entry = entry.clone();
        while let Some(origin) = entry.die().origin.and_then(|origin| self.dies.entry(origin)) {
            entry = origin;
        }
        entry
    }
}

/// The first type that a generic one is of.
fn parameter(entry: &Entry) -> Option<usize> {
    let is_type = |child: &Entry| child.die().tag == constants::DW_TAG_template_type_parameter;
    entry.children().find(is_type)?.die().of
}
