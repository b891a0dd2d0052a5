//! What a call does to what is known: a summary of the callee, in the caller's terms.

use super::numbers::Number;
use super::passing::is_renewed;
use super::state::{Base, Hold, Released, State};
use super::summary::Exit;
use super::symbol::{Known, Symbol};
use super::transfer::{Transfer, limit};
use crate::facts::Register;
use crate::facts::flow::{Call, Value};
use lockred_protocol::plan::Flaw;

impl Transfer<'_> {
    /// A call: what comes after it, and where it unwinds.
    pub fn call(&self, state: &State, call: &Call) -> (Vec<State>, Vec<State>) {
        let summary = self.callees.of(self.aliases, call);
        let arguments = self.arguments(state, call);
        let ends = |exits: &[Exit]| -> Vec<State> {
            let may_be = exits.iter().filter(|exit| self.may_end(state, call, &arguments, exit));
            may_be.map(|exit| self.apply(state, call, exit)).collect()
        };
        let (mut returns, mut unwinds) = (ends(&summary.returns), ends(&summary.unwinds));
        limit(&mut returns);
        limit(&mut unwinds);
        (returns, unwinds)
    }

    /// Whether a call may end so, by what is known of what is passed.
    fn may_end(
        &self,
        before: &State,
        call: &Call,
        arguments: &[Option<Known>],
        exit: &Exit,
    ) -> bool {
        exit.only_if.iter().all(|(root, number)| {
            let passed = self.outward(before, call, arguments, Known::At(Symbol::of(root)));
            match (passed, number) {
                (None, _) => true,
                (Some(passed), Number::Is(number)) => before.may_be(passed, *number),
                (Some(passed), Number::IsNot(_)) => match before.numbers.resolve(passed) {
                    Known::Number(passed) => number.may_be(passed),
                    Known::At(_) => true,
                },
            }
        })
    }

    /// What is known where a call ends so.
    fn apply(&self, before: &State, call: &Call, exit: &Exit) -> State {
        let arguments = self.arguments(before, call);
        let argument = |register: Register| arguments.get(register as usize).copied().flatten();
        let results = call.result.0..call.result.0 + call.result.1;
        let inside = |known: Known| self.outward(before, call, &arguments, known);
        let mut state = before.clone();
        state.renew(|root| is_renewed(root, call));
        match &exit.released {
            Released::Anything => state.release_anything(),
            Released::Only(locks) => {
                for &lock in locks {
                    match inside(Known::At(lock)).and_then(Known::symbol) {
                        Some(lock) => self.release(&mut state, lock),
                        None => state.release_anything(),
                    }
                }
            }
        }
        for &register in &exit.clobbered {
            let Some(&argument) = call.arguments.get(register as usize) else { continue };
            self.overwrite_by_call(&mut state, argument, exit.stale.contains(&register));
        }
        for (&(register, offset), cell) in &exit.cells {
            let Some(&address) = call.arguments.get(register as usize) else { continue };
            let size = u64::from(cell.size);
            let place = argument(register)
                .and_then(Known::symbol)
                .and_then(|symbol| Some((Base::of(symbol.root)?, symbol.offset + offset)))
                .filter(|(base, _)| self.tracks(*base));
            match place {
                Some((base, at)) => {
                    for other in self.bases(&state) {
                        match other {
                            _ if other == base => state.forget(base, at, size),
                            Base::Parameter(_) if self.aliases.may_be_in(address, other) => {
                                state.clobber(other, Some(size));
                            }
                            _ => {}
                        }
                    }
                    let known = cell.known.filter(|&known| self.is_settled(before, call, known));
                    state.write(base, at, cell.size, known.and_then(inside));
                }
                None => {
                    self.overwrite(&mut state, address, None);
                }
            }
        }
        for (number, register) in results.clone().enumerate() {
            state.values.remove(&register);
            let known = exit.results.get(number).copied().flatten();
            let settled = known.is_none_or(|known| self.is_settled(before, call, known));
            match known.and_then(inside) {
                Some(Known::At(symbol)) if !settled => {
                    state.assumed.insert(register, symbol);
                }
                Some(known) => {
                    state.values.insert(register, known);
                }
                None => {}
            }
        }
        for (&lock, hold) in &exit.held {
            if let Some(Known::At(lock)) = inside(Known::At(lock)) {
                state.held.insert(lock, Hold { point: Some(call.point), ..*hold });
            }
        }
        for &lock in &exit.gave {
            if let Some(Known::At(lock)) = inside(Known::At(lock)) {
                let lock = before.assume(lock);
                state.give_back(lock);
            }
        }
        let forgotten = self.flaw == Some(Flaw::CallsKeepNoLock);
        if !forgotten && self.callees.work.spend(exit.may.len()) {
            for taken in exit.may.iter() {
                state.may.come_back_with(self.taken_outward(before, call, &arguments, taken));
            }
        }
        state
    }

    /// A call writes somewhere after an address: perhaps addresses, or only what is smaller.
    fn overwrite_by_call(&self, state: &mut State, address: Value, addresses: bool) {
        let stale = state.stale.clone();
        let written = |state: &State, base: Base| state.cells.keys().any(|(of, _)| *of == base);
        let kept: Vec<Register> = (0..self.body.parameters)
            .filter(|&register| !addresses && !written(state, Base::Parameter(register)))
            .collect();
        self.overwrite(state, address, None);
        for register in kept {
            if !stale.contains(&register) {
                state.stale.remove(&register);
            }
        }
    }
}
