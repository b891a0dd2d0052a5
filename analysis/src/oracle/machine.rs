//! Runs facts: threads are interleaved by chance, and statements are left out and done again by
//! chance.
//!
//! Whatever a run does that no program may do (a call of a function of another kind, an access
//! outside of memory) is left out.

use super::expected::Expected;
use super::memory::{Address, Block, BlockId, NUMBER, Origin, Scalar, ThreadId};
use super::random::Random;
use crate::facts::{Distance, Facts, FunctionId, GlobalId, Operand, Part, Register, Statement};
use crate::sharing::Reach;
use std::collections::{HashMap, HashSet};

/// Frames of a thread.
const DEEPEST: usize = 12;
/// Threads of a run.
const THREADS: usize = 5;
/// What is remembered of what those outside know.
const KNOWN: usize = 24;

/// Where the result of a function goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Returns {
    /// To registers of the caller: the first one, and their number.
    To(Register, u32),
    /// To those outside.
    Outside,
    /// To whoever joins the thread.
    Joiner,
    Nowhere,
}

#[derive(Clone, Debug)]
pub struct Frame {
    pub function: FunctionId,
    registers: Vec<Scalar>,
    at: usize,
    /// Times that the body is still gone through.
    passes: usize,
    variables: Vec<BlockId>,
    returns: Returns,
}

pub struct Machine<'e, 'f> {
    pub facts: &'f Facts,
    pub random: Random,
    pub blocks: Vec<Block>,
    pub threads: Vec<Vec<Frame>>,
    expected: &'e mut Expected<'f>,
    globals: HashMap<(GlobalId, ThreadId), BlockId>,
    pub library: BlockId,
    pub foreign: BlockId,
    /// What those outside know.
    pub outside: Vec<Address>,
    /// What each thread keeps.
    pub kept: HashMap<ThreadId, Address>,
    /// What threads have returned.
    pub returned: Vec<Scalar>,
    /// What handles signals, or did.
    pub handlers: Vec<Address>,
    /// What was put beside which function.
    paired: HashSet<(BlockId, FunctionId)>,
    /// Calls by the C library that are still to come: of a thread, or of any.
    pub later: Vec<(Option<ThreadId>, FunctionId, Vec<Scalar>)>,
    pub refuted: Option<String>,
}

impl<'e, 'f> Machine<'e, 'f> {
    pub fn new(facts: &'f Facts, expected: &'e mut Expected<'f>, seed: u64) -> Self {
        let mut blocks: Vec<Block> = (0..facts.functions.len())
            .map(|f| Block::new(Origin::Function(f as FunctionId), 0))
            .collect();
        let library = blocks.len();
        blocks.push(Block::new(Origin::Library, 0));
        blocks.push(Block::new(Origin::Foreign, 0));
        let foreign = library + 1;
        let mut this = Self {
            facts,
            random: Random::new(seed),
            blocks,
            threads: vec![Vec::new(), Vec::new()],
            expected,
            globals: HashMap::new(),
            library,
            foreign,
            outside: Vec::new(),
            kept: HashMap::new(),
            returned: Vec::new(),
            handlers: Vec::new(),
            paired: HashSet::new(),
            later: Vec::new(),
            refuted: None,
        };
        for block in [library, foreign] {
            this.blocks[block].held.push(Address { block, offset: 0 });
        }
        this.outside.push(Address { block: foreign, offset: 0 });
        for (id, global) in facts.globals.iter().enumerate() {
            if global.is_foreign && global.name != "environ" {
                let block = this.global(id as GlobalId, 0);
                this.outside.push(Address { block, offset: 0 });
            }
        }
        this
    }

    /// Runs the program.
    pub fn run(&mut self, steps: usize) {
        let library = vec![Some(Address { block: self.library, offset: 0 })];
        let parameters = self.facts.functions[0].parameters as usize;
        self.enter(1, 0, vec![library; parameters], Returns::Outside);
        for _ in 0..steps {
            if self.refuted.is_some() {
                return;
            }
            if self.random.once_in(10) {
                self.act_outside();
            }
            if self.random.once_in(12) && !self.later.is_empty() {
                let next = self.random.below(self.later.len());
                let (thread, function, arguments) = self.later.swap_remove(next);
                let any = 1 + self.random.below(self.threads.len() - 1);
                self.enter(thread.unwrap_or(any), function, arguments, Returns::Nowhere);
            }
            let thread = self.random.below(self.threads.len());
            if !self.threads[thread].is_empty() {
                self.step(thread);
            }
        }
    }

    /// A new thread of the program.
    pub fn start(&mut self, function: FunctionId, argument: Scalar) {
        if self.threads.len() < THREADS {
            self.threads.push(Vec::new());
            self.enter(self.threads.len() - 1, function, vec![argument], Returns::Joiner);
        }
    }

    /// A thread begins to run a function that has a body.
    pub fn enter(
        &mut self,
        thread: ThreadId,
        function: FunctionId,
        arguments: Vec<Scalar>,
        returns: Returns,
    ) {
        let it = &self.facts.functions[function as usize];
        let Some(body) = &it.body else { return };
        if self.threads[thread].len() >= DEEPEST || body.statements.is_empty() {
            return;
        }
        let passes = self.random.below(3);
        self.threads[thread].push(Frame {
            function,
            registers: vec![Scalar::new(); body.registers as usize],
            at: 0,
            passes,
            variables: Vec::new(),
            returns,
        });
        for (i, argument) in arguments.into_iter().enumerate().take(it.parameters as usize) {
            self.set(thread, i as Register, argument);
        }
    }

    fn leave(&mut self, thread: ThreadId, values: Vec<Scalar>) {
        let Some(frame) = self.threads[thread].pop() else { return };
        for variable in frame.variables {
            self.blocks[variable].is_dead = true;
        }
        match frame.returns {
            Returns::To(first, count) => {
                for (i, value) in values.into_iter().enumerate().take(count as usize) {
                    self.set(thread, first + i as Register, value);
                }
            }
            Returns::Joiner => self.returned.extend(values.into_iter().next()),
            Returns::Outside if thread == 0 => values.iter().for_each(|v| self.expose(v)),
            Returns::Outside | Returns::Nowhere => {}
        }
    }

    /// Those outside get addresses.
    pub fn expose(&mut self, value: &Scalar) {
        for &address in value.iter().flatten() {
            if !self.outside.contains(&address) && self.outside.len() < KNOWN {
                self.outside.push(address);
            }
        }
    }

    /// A register of a thread's innermost frame gets a value, which is compared with what the
    /// analysis says.
    pub fn set(&mut self, thread: ThreadId, register: Register, value: Scalar) {
        let Some(frame) = self.threads[thread].last_mut() else { return };
        let function = frame.function;
        frame.registers[register as usize] = value.clone();
        for address in value.into_iter().flatten() {
            let origin = self.blocks[address.block].origin;
            if !self.expected.allows(function, register, origin, address.offset) {
                self.refuted = Some(format!(
                    "register {register} of function {function} holds {origin:?} + {}",
                    address.offset
                ));
            }
        }
    }

    /// The block of a global variable, for a thread.
    fn global(&mut self, id: GlobalId, thread: ThreadId) -> BlockId {
        let facts = self.facts;
        let global = &facts.globals[id as usize];
        let key = (id, if global.is_thread_local { thread } else { 0 });
        if let Some(&block) = self.globals.get(&key) {
            return block;
        }
        let block = self.blocks.len();
        self.blocks.push(Block::new(Origin::Global(id), global.size as usize));
        self.blocks[block].is_constant = global.is_constant;
        self.globals.insert(key, block);
        for &(offset, operand) in &global.initial {
            if let Some(address) = self.constant(operand, thread) {
                self.blocks[block].store(offset as usize, Some(address));
            }
        }
        let content = match global.name.as_str() {
            "environ" => Some(self.library),
            _ if global.is_foreign && global.initial.is_empty() => Some(self.foreign),
            _ => None,
        };
        if let Some(content) = content {
            self.blocks[block].store(0, Some(Address { block: content, offset: 0 }));
        }
        block
    }

    fn constant(&mut self, operand: Operand, thread: ThreadId) -> Option<Address> {
        match operand {
            Operand::Nothing | Operand::Register(_) => None,
            Operand::Function(id) => Some(Address { block: id as BlockId, offset: 0 }),
            Operand::Global(id, offset) => {
                let block = self.global(id, thread);
                let anywhere = self.random.below(self.blocks[block].size()) as i64;
                Some(Address { block, offset: offset.unwrap_or(anywhere) })
            }
        }
    }

    pub fn value(&mut self, thread: ThreadId, operand: Operand) -> Scalar {
        match operand {
            Operand::Nothing => Scalar::new(),
            Operand::Register(register) => self.threads[thread]
                .last()
                .map_or_else(Scalar::new, |frame| frame.registers[register as usize].clone()),
            _ => vec![self.constant(operand, thread)],
        }
    }

    /// The address that an operand is; of a wide scalar, any of those in it.
    pub fn address(&mut self, thread: ThreadId, operand: Operand) -> Option<Address> {
        let all: Vec<Address> = self.value(thread, operand).into_iter().flatten().collect();
        self.random.pick(&all)
    }

    /// The place that an operand points to. (A number is none.)
    pub fn place(&mut self, thread: ThreadId, operand: Operand) -> Option<Address> {
        self.address(thread, operand).filter(|at| at.offset != NUMBER)
    }

    /// A thread accesses memory by an operand, if the memory is there.
    fn touch(
        &mut self,
        thread: ThreadId,
        by: Operand,
        at: Address,
        bytes: usize,
        writes: bool,
    ) -> bool {
        let block = &mut self.blocks[at.block];
        if !block.has(at.offset, bytes) || writes && block.is_constant {
            return false;
        }
        block.touched_by.insert(thread);
        block.written |= writes;
        if let Some(frame) = self.threads[thread].last() {
            let reach = self.expected.reach(frame.function, by);
            let block = &mut self.blocks[at.block];
            block.claimed_constant |= reach == Reach::Constant;
            block.claimed_own |= matches!(reach, Reach::Variables | Reach::Unshared);
            if reach == Reach::Variables && matches!(block.origin, Origin::Heap(..)) {
                self.refuted = Some(format!("{:?} is taken for a variable", block.origin));
            }
        }
        let block = &self.blocks[at.block];
        if block.claimed_own && !block.is_constant && block.touched_by.len() > 1 {
            self.refuted = Some(format!("{:?} is touched by {:?}", block.origin, block.touched_by));
        }
        if block.claimed_constant && block.written {
            self.refuted = Some(format!("{:?} is written", block.origin));
        }
        true
    }

    /// Those who have no hooks access memory.
    pub fn touch_unseen(
        &mut self,
        thread: ThreadId,
        at: Address,
        bytes: usize,
        writes: bool,
    ) -> bool {
        let frames = std::mem::take(&mut self.threads[thread]);
        let done = self.touch(thread, Operand::Nothing, at, bytes, writes);
        self.threads[thread] = frames;
        done
    }

    /// What is at an address; the memory is there.
    pub fn load(&mut self, at: Address, bytes: usize) -> Scalar {
        let block = &self.blocks[at.block];
        if block.is_outside() {
            let from = if at.block == self.foreign { &self.outside } else { &block.held };
            return vec![self.random.pick(from)];
        }
        (0..bytes / 8).map(|word| block.load(at.offset as usize + word * 8)).collect()
    }

    pub fn store(&mut self, at: Address, bytes: usize, value: &Scalar) {
        if at.block == self.foreign {
            return self.expose(value);
        }
        let block = &mut self.blocks[at.block];
        if block.is_outside() {
            block.held.extend(value.iter().flatten());
            return;
        }
        for word in 0..bytes / 8 {
            let address = value.get(word).copied().flatten();
            block.store(at.offset as usize + word * 8, address);
        }
    }

    /// Copies memory that is there.
    pub fn copy(&mut self, to: Address, from: Address, bytes: usize) {
        if !self.blocks[from.block].is_outside() && !self.blocks[to.block].is_outside() {
            let moved = self.blocks[from.block].bytes(from.offset as usize, bytes);
            self.blocks[to.block].set_bytes(to.offset as usize, &moved);
            return;
        }
        for word in 0..bytes / 8 {
            let further = |at: Address| Address { offset: at.offset + word as i64 * 8, ..at };
            let value = self.load(further(from), 8);
            self.store(further(to), 8, &value);
        }
    }

    /// A thread copies memory, if it is there.
    pub fn copy_memory(&mut self, thread: ThreadId, by: [Operand; 2], bytes: Option<u64>) {
        let (Some(to), Some(from)) = (self.place(thread, by[0]), self.place(thread, by[1])) else {
            return;
        };
        let bytes = bytes.map_or_else(|| 4 * self.random.below(9), |bytes| bytes as usize);
        if self.blocks[from.block].has(from.offset, bytes)
            && self.touch(thread, by[0], to, bytes, true)
            && self.touch(thread, by[1], from, bytes, false)
        {
            self.copy(to, from, bytes);
        }
    }

    /// An address somewhere in a block.
    pub fn anywhere(&mut self, block: BlockId) -> Address {
        let size = self.blocks[block].size();
        let offset = match self.random.once_in(4) {
            true => self.random.below(size),
            false => 8 * self.random.below(size / 8),
        };
        Address { block, offset: offset as i64 }
    }

    /// An address that is so far from another one, if there is one.
    fn moved(&mut self, from: Address, distance: Distance) -> Option<Address> {
        let is_number = from.offset == NUMBER;
        let size = self.blocks[from.block].size() as i64;
        let within = |offset| (0..=size).contains(&offset).then_some(Address { offset, ..from });
        Some(match distance {
            Distance::Number => Address { offset: NUMBER, ..from },
            Distance::Restored if is_number => self.anywhere(from.block),
            Distance::Restored => from,
            _ if is_number => return None,
            Distance::Within(bytes) => return within(from.offset + bytes),
            Distance::Element(bytes, stride) => {
                let times = self.random.below(6) as i64 - 2;
                return within(from.offset + bytes + times * i64::from(stride));
            }
            Distance::Exactly(bytes) => Address { offset: from.offset + bytes, ..from },
            Distance::Multiples(bytes, stride) => {
                let times = self.random.below(6) as i64 - 2;
                Address { offset: from.offset + bytes + times * i64::from(stride), ..from }
            }
            Distance::Unknown => self.anywhere(from.block),
        })
    }

    fn step(&mut self, thread: ThreadId) {
        let facts = self.facts;
        let Some(frame) = self.threads[thread].last_mut() else { return };
        let function = frame.function;
        let Some(body) = &facts.functions[function as usize].body else { return };
        if frame.at >= body.statements.len() {
            if frame.passes == 0 {
                return self.leave(thread, Vec::new());
            }
            frame.passes -= 1;
            frame.at = 0;
        }
        let statement = &body.statements[frame.at];
        frame.at += 1;
        if self.random.once_in(10) {
            return;
        }
        match statement {
            Statement::Variable { result, size, .. } => {
                let size = size.map_or_else(|| 8 * self.random.below(9), |size| size as usize);
                let block = self.blocks.len();
                self.blocks.push(Block::new(Origin::Variable(function, *result), size));
                if let Some(frame) = self.threads[thread].last_mut() {
                    frame.variables.push(block);
                }
                self.set(thread, *result, vec![Some(Address { block, offset: 0 })]);
            }
            Statement::OfSide { result, from, .. } => {
                let value = self.value(thread, Operand::Register(*from));
                self.set(thread, *result, value);
            }
            Statement::Copy { result, from } => {
                let value = self.value(thread, *from);
                self.set(thread, *result, value);
            }
            Statement::Offset { result, from, distance } => {
                if let Some(from) = self.address(thread, *from)
                    && let Some(to) = self.moved(from, *distance)
                {
                    self.set(thread, *result, vec![Some(to)]);
                }
            }
            Statement::Load { address: by, parts } => {
                let Some(at) = self.place(thread, *by) else { return };
                for &Part { offset, size, operand } in parts {
                    let at = Address { offset: at.offset + i64::from(offset), ..at };
                    if let Operand::Register(register) = operand
                        && self.touch(thread, *by, at, size as usize, false)
                    {
                        let value = self.load(at, size as usize);
                        self.set(thread, register, value);
                    }
                }
            }
            Statement::Store { address: by, parts } => {
                let Some(at) = self.place(thread, *by) else { return };
                for &Part { offset, size, operand } in parts {
                    let at = Address { offset: at.offset + i64::from(offset), ..at };
                    let value = self.value(thread, operand);
                    if self.touch(thread, *by, at, size as usize, true) {
                        self.store(at, size as usize, &value);
                    }
                }
            }
            Statement::CopyMemory { to, from, bytes } => {
                self.copy_memory(thread, [*to, *from], *bytes);
            }
            // What accesses memory is another statement.
            Statement::Access(_) => {}
            Statement::Call(call) => self.call(thread, call),
            Statement::Pair { data, with } => self.pair(thread, *data, *with),
            Statement::Return(values) => {
                // Returns are at the end, and after branches.
                if self.random.once_in(2) {
                    let values = values.iter().map(|&v| self.value(thread, v)).collect();
                    self.leave(thread, values);
                }
            }
            Statement::Throw(value) => {
                if self.random.once_in(3) {
                    let value = self.value(thread, *value);
                    self.throw(thread, value);
                }
            }
            // Control gets there by an exception alone.
            Statement::Catch(_) => {}
            Statement::Escape(value) => {
                let value = self.value(thread, *value);
                self.expose(&value);
            }
            Statement::Unknown(result) => {
                let value = self.random.pick(&self.outside);
                self.set(thread, *result, vec![value]);
            }
        }
    }

    fn pair(&mut self, thread: ThreadId, data: Operand, with: Operand) {
        let facts = self.facts;
        let Some(data) = self.place(thread, data) else { return };
        let Some(with) = self.place(thread, with) else { return };
        match self.blocks[with.block].origin {
            Origin::Function(function) => {
                self.paired.insert((data.block, function));
            }
            Origin::Global(table) if facts.globals[table as usize].is_paired => {
                for &(_, method) in &facts.globals[table as usize].initial {
                    if let Operand::Function(function) = method {
                        self.paired.insert((data.block, function));
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether a function that is called by pointer may be called on this.
    pub fn may_be_called_on(&self, function: FunctionId, first: Option<&Scalar>) -> bool {
        let data = first.and_then(|first| first.first().copied().flatten());
        !self.facts.functions[function as usize].is_method
            || data.is_none_or(|data| {
                data.offset != NUMBER && self.paired.contains(&(data.block, function))
            })
    }

    /// An exception goes up to the first frame that catches it.
    pub fn throw(&mut self, thread: ThreadId, value: Scalar) {
        let facts = self.facts;
        while let Some(frame) = self.threads[thread].last_mut() {
            let statements =
                facts.functions[frame.function as usize].body.iter().flat_map(|b| &b.statements);
            let caught = statements.enumerate().find_map(|(at, statement)| match statement {
                Statement::Catch(result) => Some((at, *result)),
                _ => None,
            });
            // What throws is not in the block that catches.
            if let Some((at, result)) = caught {
                frame.at = at + 1;
                frame.passes = frame.passes.saturating_sub(1);
                return self.set(thread, result, value);
            }
            self.leave(thread, Vec::new());
        }
    }
}
