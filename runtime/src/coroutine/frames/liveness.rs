//! Which bytes of a frame are dead at the calls of its function: liveness, backwards over its
//! machine code.
//!
//! Forwards first: how deep the stack is at every instruction, what each accesses, and which words
//! may be arguments of a call (stored since the call before; LLVM puts nothing between the two).
//! The accessed places cut the frame into slots. A slot is live before an instruction that reads
//! it, and where it is live after one that does not overwrite all of it. What follows a call is
//! the next instruction and its landing pad.

use super::Waiting;
use super::steps::{Access, Before, Layout, Steps};
use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register,
};
use std::collections::HashMap;
use std::ops::Range;

/// The most slots and instructions of a function that is looked at.
const MANY: [usize; 2] = [4096, 1 << 16];

/// Places in a function where it may wait for a call, by the address to which that returns.
pub fn find(
    code: &[u8],
    start: usize,
    layout: &Layout,
    landing_pads: &[(Range<usize>, usize)],
) -> Vec<(usize, Waiting)> {
    let Some(function) = Function::decode(code, start, landing_pads) else { return Vec::new() };
    let Some(before) = function.follow(layout) else { return Vec::new() };
    let waiting = |dead: &dyn Fn(usize, usize) -> Vec<Range<usize>>| {
        let calls = (0..function.instructions.len()).filter(|at| function.calls(*at));
        let known = calls.filter_map(|at| Some((at, before[at]?.depth)));
        known
            .filter_map(|(at, depth)| {
                let size = usize::try_from(depth).ok()?;
                let address = function.instructions[at].next_ip() as usize;
                Some((address, Waiting { size, dead: dead(at, size) }))
            })
            .collect()
    };
    match Slots::find(&function, &before, layout) {
        Some(slots) => {
            let live = slots.live(&function);
            let arguments = slots.arguments(&function);
            waiting(&|at, size| slots.dead(&live[at], &arguments[at], size))
        }
        None => waiting(&|_, _| Vec::new()),
    }
}

/// A function's instructions and where each goes on.
struct Function {
    instructions: Vec<Instruction>,
    next: Vec<Vec<usize>>,
}

impl Function {
    fn decode(code: &[u8], start: usize, landing_pads: &[(Range<usize>, usize)]) -> Option<Self> {
        let decoder = Decoder::with_ip(64, code, start as u64, DecoderOptions::NONE);
        let instructions: Vec<Instruction> = decoder.into_iter().take(MANY[1] + 1).collect();
        if instructions.len() > MANY[1] || instructions.iter().any(|i| i.code() == Code::INVALID) {
            return None;
        }
        let addresses = instructions.iter().enumerate().map(|(at, i)| (i.ip() as usize, at));
        let addresses: HashMap<usize, usize> = addresses.collect();
        let mut function = Self { instructions, next: Vec::new() };
        for at in 0..function.instructions.len() {
            let next = function.successors(at, &addresses, landing_pads)?;
            function.next.push(next);
        }
        Some(function)
    }

    /// Where an instruction goes on; `None` if that is not known.
    fn successors(
        &self,
        at: usize,
        addresses: &HashMap<usize, usize>,
        landing_pads: &[(Range<usize>, usize)],
    ) -> Option<Vec<usize>> {
        let instruction = &self.instructions[at];
        let on = (at + 1 < self.instructions.len()).then_some(at + 1);
        // A jump to elsewhere is a call in place of the return.
        let target = || addresses.get(&(instruction.near_branch_target() as usize)).copied();
        Some(match instruction.flow_control() {
            FlowControl::Next | FlowControl::Interrupt => on.into_iter().collect(),
            FlowControl::UnconditionalBranch => target().into_iter().collect(),
            FlowControl::ConditionalBranch => on.into_iter().chain(target()).collect(),
            FlowControl::Return | FlowControl::Exception => Vec::new(),
            FlowControl::Call | FlowControl::IndirectCall => {
                let ip = instruction.ip() as usize;
                let pads = landing_pads.iter().filter(|(calls, _)| calls.contains(&ip));
                let pads: Option<Vec<usize>> =
                    pads.map(|(_, pad)| addresses.get(pad).copied()).collect();
                on.into_iter().chain(pads?).collect()
            }
            FlowControl::IndirectBranch => self.table(at, addresses)?,
            FlowControl::XbeginXabortXend => return None,
        })
    }

    /// The targets of a jump by a table: those that stand there, and perhaps some of the table
    /// after it.
    fn table(&self, at: usize, addresses: &HashMap<usize, usize>) -> Option<Vec<usize>> {
        let (load, jump) = (self.instructions.get(at.checked_sub(1)?)?, &self.instructions[at]);
        let is_table = jump.op0_kind() == OpKind::Register
            && load.mnemonic() == Mnemonic::Mov
            && load.op0_register() == jump.op0_register()
            && load.op1_kind() == OpKind::Memory
            && load.memory_base() == Register::None
            && load.memory_index() != Register::None
            && load.memory_index_scale() == 8
            && load.segment_prefix() == Register::None;
        if !is_table {
            return None;
        }
        let mut targets = Vec::new();
        let mut entry = load.memory_displacement64() as usize;
        // SAFETY: the table lies in the executable, and there is more than one word after it: the
        // tables of exceptions.
        while let Some(target) = addresses.get(&unsafe { *(entry as *const usize) }) {
            targets.push(*target);
            entry += size_of::<usize>();
        }
        (!targets.is_empty()).then_some(targets)
    }

    fn calls(&self, at: usize) -> bool {
        let flow = self.instructions[at].flow_control();
        matches!(flow, FlowControl::Call | FlowControl::IndirectCall)
    }

    /// Whether after an instruction there are only pops and the return.
    fn leaves(&self, at: usize) -> bool {
        let mut rest = self.instructions[at + 1..].iter();
        rest.find(|i| i.mnemonic() != Mnemonic::Pop).is_some_and(|i| i.mnemonic() == Mnemonic::Ret)
    }

    /// What is known before each instruction, if it is reached; `None` if the stack pointer cannot
    /// be followed.
    fn follow(&self, layout: &Layout) -> Option<Vec<Option<Before>>> {
        let mut all = vec![None; self.instructions.len()];
        *all.first_mut()? = Some(Before::default());
        let mut todo = vec![0];
        let mut steps = Steps::new();
        let mut ignored = Vec::new();
        while let Some(at) = todo.pop() {
            let after = steps.take(
                &self.instructions[at],
                self.leaves(at),
                layout,
                all[at]?,
                &mut ignored,
            )?;
            ignored.clear();
            for next in &self.next[at] {
                let met = all[*next].map_or(Some(after), |known: Before| known.meet(after))?;
                if all[*next] != Some(met) {
                    all[*next] = Some(met);
                    todo.push(*next);
                }
            }
        }
        Some(all)
    }
}

/// A set of slots.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Set(Vec<u64>);

impl Set {
    fn empty(slots: usize) -> Self {
        Self(vec![0; slots.div_ceil(64)])
    }

    fn insert(&mut self, slots: &Range<usize>) {
        slots.clone().for_each(|slot| self.0[slot / 64] |= 1 << (slot % 64));
    }

    fn remove(&mut self, slots: &Range<usize>) {
        slots.clone().for_each(|slot| self.0[slot / 64] &= !(1 << (slot % 64)));
    }

    fn contains(&self, slot: usize) -> bool {
        self.0[slot / 64] >> (slot % 64) & 1 != 0
    }

    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }
}

/// A frame cut where accesses and variables begin and end.
struct Slots {
    cuts: Vec<i64>,
    /// Slots that count as read all the time.
    always: Set,
    /// What each instruction does, with slots instead of places.
    accesses: Vec<Vec<(Range<usize>, Access)>>,
}

impl Slots {
    fn find(function: &Function, before: &[Option<Before>], layout: &Layout) -> Option<Self> {
        let mut steps = Steps::new();
        let mut all = Vec::new();
        for (at, instruction) in function.instructions.iter().enumerate() {
            let mut accesses = Vec::new();
            if let Some(before) = before[at] {
                steps.take(instruction, function.leaves(at), layout, before, &mut accesses)?;
            }
            all.push(accesses);
        }
        let places = all.iter().flatten().map(|access| &access.place);
        let ends = places.chain(&layout.variables).flat_map(|place| [place.start, place.end]);
        let mut cuts: Vec<i64> = ends.collect();
        cuts.sort_unstable();
        cuts.dedup();
        if cuts.len() > MANY[0] {
            return None;
        }
        let slots = |place: &Range<i64>| {
            cuts.partition_point(|cut| *cut < place.start)
                ..cuts.partition_point(|cut| *cut < place.end)
        };
        let mut always = Set::empty(cuts.len());
        layout.variables.iter().for_each(|variable| always.insert(&slots(variable)));
        let saved = all.iter().flatten().filter(|access| access.saves);
        saved.for_each(|access| always.insert(&slots(&access.place)));
        let accesses = all
            .into_iter()
            .map(|of_one| of_one.into_iter().map(|access| (slots(&access.place), access)).collect())
            .collect();
        Some(Self { cuts, always, accesses })
    }

    /// What is live after each instruction.
    fn live(&self, function: &Function) -> Vec<Set> {
        let count = function.instructions.len();
        let mut before = vec![Set::empty(self.cuts.len()); count];
        let mut behind = before.clone();
        let mut changes = true;
        while changes {
            changes = false;
            for at in (0..count).rev() {
                for next in &function.next[at] {
                    behind[at].add(&before[*next]);
                }
                let mut live = behind[at].clone();
                let accesses = &self.accesses[at];
                let overwritten = accesses.iter().filter(|(_, access)| access.overwrites);
                overwritten.for_each(|(slots, _)| live.remove(slots));
                let read = accesses.iter().filter(|(_, access)| access.reads);
                read.for_each(|(slots, _)| live.insert(slots));
                if live != before[at] {
                    before[at] = live;
                    changes = true;
                }
            }
        }
        behind
    }

    /// What may have been stored for a callee before each instruction.
    fn arguments(&self, function: &Function) -> Vec<Set> {
        let mut before = vec![Set::empty(self.cuts.len()); function.instructions.len()];
        let mut todo: Vec<usize> = (0..function.instructions.len()).rev().collect();
        while let Some(at) = todo.pop() {
            let mut stored = before[at].clone();
            if function.calls(at) {
                stored = Set::empty(self.cuts.len());
            }
            let handed_over = self.accesses[at].iter().filter(|(_, access)| access.hands_over);
            handed_over.for_each(|(slots, _)| stored.insert(slots));
            for next in &function.next[at] {
                let mut met = before[*next].clone();
                met.add(&stored);
                if met != before[*next] {
                    before[*next] = met;
                    todo.push(*next);
                }
            }
        }
        before
    }

    /// The parts of a frame that are neither live nor arguments, from the stack pointer on.
    fn dead(&self, live: &Set, arguments: &Set, size: usize) -> Vec<Range<usize>> {
        let bottom = -(size as i64);
        let mut dead = Vec::new();
        let mut at = bottom;
        for (slot, cuts) in self.cuts.windows(2).enumerate() {
            if live.contains(slot) || arguments.contains(slot) || self.always.contains(slot) {
                dead.push(at..cuts[0]);
                at = at.max(cuts[1]);
            }
        }
        dead.push(at..0);
        dead.retain(|part| !part.is_empty());
        let from_bottom = |place: i64| (place - bottom) as usize;
        dead.into_iter().map(|part| from_bottom(part.start)..from_bottom(part.end)).collect()
    }
}
