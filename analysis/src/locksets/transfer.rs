//! What each step does to what is known.

use super::aliases::Aliases;
use super::body::Body;
use super::callees::Callees;
use super::may::May;
use super::state::{Base, Hold, State};
use super::symbol::{Known, Root, Symbol};
use crate::facts::Register;
use crate::facts::flow::{Act, BlockId, End, Part, Step, Value};
use lockred_protocol::plan::Flaw;

/// Bytes of memory that are copied word by word.
const COPIED: u64 = 64;

/// A function, and what is known of those that it calls.
pub struct Transfer<'a> {
    pub body: &'a Body<'a>,
    pub aliases: &'a Aliases<'a>,
    pub callees: &'a Callees<'a>,
    pub flaw: Option<Flaw>,
}

/// What comes after the steps of a block.
#[derive(Default)]
pub struct Behind {
    /// At its end.
    pub states: Vec<State>,
    /// Where its last call unwinds, if that has a place to go to.
    pub unwinding: Vec<State>,
    /// Where a call unwinds, and leaves the function.
    pub thrown: Vec<State>,
}

impl Transfer<'_> {
    /// Goes through the steps of a block.
    pub fn block(&self, id: BlockId, state: State, visit: &mut dyn FnMut(&State, &Step)) -> Behind {
        let block = &self.body.flow.blocks[id as usize];
        let again = self.body.goes_round[id as usize];
        let mut behind = Behind { states: vec![state], ..Behind::default() };
        let work = &self.callees.work;
        let last = block.steps.len().wrapping_sub(1);
        for (number, step) in block.steps.iter().enumerate() {
            let mut next = Vec::with_capacity(behind.states.len());
            for mut state in std::mem::take(&mut behind.states) {
                if !work.spend(state.may.len()) {
                    state.may = May::default();
                }
                visit(&state, step);
                match step {
                    Step::Call(call) => {
                        let (returns, unwinds) = self.call(&state, call);
                        next.extend(returns);
                        match block.end {
                            End::Invoke(..) if number == last => behind.unwinding.extend(unwinds),
                            _ => behind.thrown.extend(unwinds),
                        }
                    }
                    Step::Synchronise { act: Act::Try { shared, success }, address, point } => {
                        let mut failed = state.clone();
                        failed.values.insert(*success, Known::Number(0));
                        state.values.insert(*success, Known::Number(1));
                        if let Some(Known::At(lock)) = self.body.known(&state, *address) {
                            let hold = Hold { shared: *shared, point: Some(*point) };
                            state.held.insert(lock, hold);
                        }
                        if work.goes_on()
                            && let Some(taken) = self.taken(&state, *address, *shared, *point)
                        {
                            state.may.acquire(taken);
                        }
                        next.extend([failed, state]);
                    }
                    step => {
                        self.step(&mut state, step, again);
                        next.push(state);
                    }
                }
            }
            behind.states = next;
            limit(&mut behind.states);
        }
        limit(&mut behind.unwinding);
        limit(&mut behind.thrown);
        behind
    }

    fn step(&self, state: &mut State, step: &Step, again: bool) {
        match step {
            // Asked when they are used.
            Step::Same(..)
            | Step::Narrow { .. }
            | Step::Offset(..)
            | Step::Not(..)
            | Step::Compare { .. } => {}
            Step::Variable(register) => {
                if again {
                    state.renew(|root| root == Root::Variable(*register));
                    state.clobber(Base::Variable(*register), None);
                }
            }
            Step::Choose { result, condition, values: [one, other] } => {
                let chosen = match self.body.number(state, *condition) {
                    Some(number) => {
                        self.body.known(state, if number & 1 == 1 { *one } else { *other })
                    }
                    None => {
                        let (one, other) =
                            (self.body.known(state, *one), self.body.known(state, *other));
                        one.filter(|_| one == other)
                    }
                };
                self.define(state, *result, chosen);
            }
            Step::Opaque(register) => self.define(state, *register, None),
            Step::Load { address, parts, .. } => {
                let from = self.followed(state, *address);
                for &Part { offset, size, value: register } in parts {
                    let known = from
                        .filter(|_| size > 0)
                        .and_then(|(base, at)| state.read(base, at + i64::from(offset), size));
                    let assumed = match from {
                        None if size == 8 => self.assumed(state, *address, offset.into()),
                        _ => None,
                    };
                    self.define(state, register, known);
                    if let Some(symbol) = assumed {
                        state.assumed.insert(register, symbol);
                    }
                    // What is read again is the same.
                    if let Some((base @ Base::Variable(_), at)) = from.filter(|_| size > 0)
                        && known.is_none()
                    {
                        state.learn(base, at + i64::from(offset), size, register);
                    }
                }
            }
            Step::Store { address, parts, size, .. } => {
                let known = |part: &Part<Value>| self.body.known(state, part.value);
                let values: Vec<Option<Known>> = parts.iter().map(known).collect();
                let Some((base, at)) = self.overwrite(state, *address, *size) else { return };
                for (&Part { offset, size, .. }, known) in parts.iter().zip(values) {
                    if size > 0 {
                        state.write(base, at + i64::from(offset), size, known);
                    }
                }
            }
            Step::Copy { to, from, size, .. } => {
                let source = self.followed(state, *from);
                let words = size.filter(|&size| size <= COPIED).unwrap_or(0) / 8;
                let copied: Vec<_> = (0..words as i64)
                    .map(|word| source.and_then(|(base, at)| state.read(base, at + word * 8, 8)))
                    .collect();
                // What is smaller than a word, or lies across, is copied where it was written so.
                let small: Vec<_> = source.map_or_else(Vec::new, |(base, at)| {
                    let end = at + (words * 8) as i64;
                    let cells = state.cells.range((base, at)..(base, end));
                    cells.map(|(&(_, offset), &cell)| (offset - at, cell)).collect()
                });
                let Some((base, at)) = self.overwrite(state, *to, *size) else { return };
                for (word, known) in copied.into_iter().enumerate() {
                    if known.is_some() {
                        state.write(base, at + word as i64 * 8, 8, known);
                    }
                }
                for (offset, cell) in small {
                    if cell.size < 8 && offset + i64::from(cell.size) <= (words * 8) as i64 {
                        state.write(base, at + offset, cell.size, cell.known);
                    }
                }
            }
            Step::Synchronise { act, address, point } => {
                let lock = self.body.known(state, *address).and_then(Known::symbol);
                if let Act::Acquire { shared } = act
                    && self.callees.work.goes_on()
                    && let Some(taken) = self.taken(state, *address, *shared, *point)
                {
                    state.may.acquire(taken);
                }
                match (act, lock) {
                    (Act::Acquire { shared }, Some(lock)) => {
                        let hold = Hold { shared: *shared, point: Some(*point) };
                        state.held.insert(lock, hold);
                    }
                    (Act::Release, _) if self.flaw == Some(Flaw::LocksStayHeld) => {}
                    (Act::Release, Some(lock)) => {
                        let assumed = state.assume(lock);
                        self.release(state, lock);
                        state.give_back(assumed);
                    }
                    (Act::Downgrade, Some(lock)) if state.held.contains_key(&lock) => {
                        if let Some(hold) = state.held.get_mut(&lock) {
                            hold.shared = true;
                        }
                        state.may.downgrade(lock);
                    }
                    (Act::Downgrade, Some(lock)) => {
                        self.release(state, lock);
                        state.may.downgrade(lock);
                    }
                    (Act::Release | Act::Downgrade, None) => state.release_anything(),
                    _ => {}
                }
            }
            Step::Call(_) => {}
        }
    }

    pub fn release(&self, state: &mut State, lock: Symbol) {
        state.release(lock, |one, other| self.aliases.differ(one, other));
    }

    /// A register is computed.
    fn define(&self, state: &mut State, register: Register, known: Option<Known>) {
        state.renew(|root| root == Root::Result(register));
        state.values.remove(&register);
        let known = known.filter(|known| *known != Known::At(Symbol::of(Root::Result(register))));
        if let Some(known) = known {
            state.values.insert(register, known);
        }
    }

    /// What is in memory after a parameter that is not followed, if nobody else accesses it.
    fn assumed(&self, state: &State, address: Value, offset: i64) -> Option<Symbol> {
        let (base, at) = self.tracked(state, address)?;
        match state.assume_read(base, at + offset)?.symbol()? {
            Symbol { root: Root::Content(register, at), offset } => {
                Some(Symbol { root: Root::Assumed(register, at), offset })
            }
            symbol => Some(symbol),
        }
    }

    /// The place in memory that an address is one of: followed, or after a parameter, which the
    /// callers may follow.
    fn tracked(&self, state: &State, address: Value) -> Option<(Base, i64)> {
        let symbol = self.body.known(state, address)?.symbol()?;
        let base = Base::of(symbol.root)?;
        self.tracks(base).then_some((base, symbol.offset))
    }

    pub fn tracks(&self, base: Base) -> bool {
        matches!(base, Base::Parameter(_)) || self.aliases.follows(base)
    }

    /// The place in followed memory that an address is one of.
    fn followed(&self, state: &State, address: Value) -> Option<(Base, i64)> {
        let symbol = self.body.known(state, address)?.symbol()?;
        let base = Base::of(symbol.root)?;
        self.aliases.follows(base).then_some((base, symbol.offset))
    }

    /// Memory is written: what was known of it is no more. The place, if it is known and followed.
    pub fn overwrite(
        &self,
        state: &mut State,
        address: Value,
        size: Option<u64>,
    ) -> Option<(Base, i64)> {
        let place = self.tracked(state, address);
        let exact = place.filter(|_| size.is_some());
        for base in self.bases(state) {
            match exact {
                Some((of, at)) if of == base => state.forget(of, at, size.unwrap_or(u64::MAX)),
                // A variable is where no parameter points to.
                Some((Base::Variable(_), _)) => {}
                _ if self.aliases.may_be_in(address, base) => state.clobber(base, size),
                _ => {}
            }
        }
        exact
    }

    /// All memory of which something may be known, or must be reported to callers.
    pub fn bases(&self, state: &State) -> Vec<Base> {
        let mut bases: Vec<Base> = (0..self.body.parameters).map(Base::Parameter).collect();
        let mut last = None;
        for &(base, _) in state.cells.keys() {
            if matches!(base, Base::Variable(_)) && last.replace(base) != Some(base) {
                bases.push(base);
            }
        }
        bases.retain(|base| match base {
            Base::Parameter(register) => {
                !state.clobbered.contains(register) || state.cells.keys().any(|(of, _)| of == base)
            }
            Base::Variable(_) => true,
        });
        bases
    }

    /// What is known where one block comes after another one.
    pub fn enter(&self, from: BlockId, to: BlockId, mut state: State) -> State {
        let merges = &self.body.flow.blocks[to as usize].merges;
        let known: Vec<(Register, Option<Known>)> = merges
            .iter()
            .map(|(register, values)| {
                let value = values.iter().find(|(block, _)| *block == from);
                (*register, value.and_then(|(_, value)| self.body.known(&state, *value)))
            })
            .collect();
        // All at once: none of them sees the others.
        state.renew(
            |root| matches!(root, Root::Result(register) if merges.iter().any(|merge| merge.0 == register)),
        );
        for (register, known) in known {
            state.values.remove(&register);
            let old = |root| matches!(root, Root::Result(register) if merges.iter().any(|merge| merge.0 == register));
            match known {
                Some(Known::At(symbol)) if old(symbol.root) => {}
                Some(known) => {
                    state.values.insert(register, known);
                }
                None => {}
            }
        }
        state
    }
}

/// States of one place that are kept apart.
pub const APART: usize = 4;

/// Merges states that have the same locks, and all of them if there are too many.
pub fn limit(states: &mut Vec<State>) {
    if states.len() < 2 {
        return;
    }
    let mut kept: Vec<State> = Vec::new();
    for state in std::mem::take(states) {
        match kept.iter_mut().find(|kept| !kept.is_apart_from(&state)) {
            Some(same) => {
                same.merge(&state);
            }
            None => kept.push(state),
        }
    }
    if kept.len() > APART {
        let mut all = kept.swap_remove(0);
        kept.iter().for_each(|state| {
            all.merge(state);
        });
        kept = vec![all];
    }
    *states = kept;
}
