//! What a callee's terms are in its caller.

use super::may::Taken;
use super::own::Owner;
use super::state::{Base, State};
use super::summary::SELF;
use super::symbol::{Known, Root, Symbol};
use super::transfer::Transfer;
use crate::facts::flow::{Call, Point, Value};

/// Whether a call computes again what a root stands for.
pub fn is_renewed(root: Root, call: &Call) -> bool {
    match root {
        Root::Given(point, _) => point == call.point,
        Root::Result(register) => {
            (call.result.0..call.result.0 + call.result.1).contains(&register)
        }
        _ => false,
    }
}

impl Transfer<'_> {
    /// What is known of the arguments of a call.
    pub fn arguments(&self, before: &State, call: &Call) -> Vec<Option<Known>> {
        call.arguments.iter().map(|&argument| self.body.known(before, argument)).collect()
    }

    /// What the callee knows, in the caller's terms.
    pub fn outward(
        &self,
        before: &State,
        call: &Call,
        arguments: &[Option<Known>],
        known: Known,
    ) -> Option<Known> {
        let Known::At(Symbol { root, offset }) = known else { return Some(known) };
        let argument = |register: u32| arguments.get(register as usize).copied().flatten();
        let outer = match root {
            Root::Global(_) => known,
            Root::Parameter(register) => argument(register)?.plus(offset)?,
            Root::Content(register, at) => {
                let symbol = argument(register)?.symbol()?;
                let base = Base::of(symbol.root).filter(|&base| self.aliases.follows(base))?;
                before.read(base, symbol.offset + at, 8)?.plus(offset)?
            }
            Root::Assumed(register, at) => {
                let symbol = argument(register)?.symbol()?;
                let base = Base::of(symbol.root)?;
                let read = before.assume_read(base, symbol.offset + at)?.plus(offset)?;
                match read {
                    Known::At(Symbol { root: Root::Content(register, at), offset })
                        if !self.aliases.follows(base) =>
                    {
                        Known::At(Symbol { root: Root::Assumed(register, at), offset })
                    }
                    _ => read,
                }
            }
            Root::Given(SELF, number) => {
                return Some(Known::At(Symbol { root: Root::Given(call.point, number), offset }));
            }
            Root::Variable(_) | Root::Result(_) | Root::Given(..) => return None,
        };
        // What the call computes again is another value than what it was passed by that name.
        let fresh = !outer.symbol().is_some_and(|symbol| is_renewed(symbol.root, call));
        fresh.then_some(outer)
    }

    /// Whether what is assumed of something that the callee knows is so.
    pub fn is_settled(&self, before: &State, call: &Call, known: Known) -> bool {
        let Known::At(Symbol { root: Root::Assumed(register, _), .. }) = known else { return true };
        let argument = call.arguments.get(register as usize);
        let symbol = argument.and_then(|&argument| self.body.known(before, argument)?.symbol());
        let base = symbol.and_then(|symbol| Base::of(symbol.root));
        base.is_some_and(|base| self.aliases.follows(base))
    }

    /// A lock that an operation of the function acquires; none if it is one of std's own, or
    /// innermost.
    pub fn taken(
        &self,
        state: &State,
        address: Value,
        shared: bool,
        point: Point,
    ) -> Option<Taken> {
        if self.body.flow.innermost.contains(&point) {
            return None;
        }
        let known = self.body.known(state, address).and_then(Known::symbol);
        let lock = known.map(|lock| state.assume(lock));
        let call = self.is_users().then_some(point);
        let mut taken =
            Taken { point, call, shared, lock, objects: [].into(), offset: None, again: false };
        self.narrow(&mut taken, address);
        let own = &self.callees.own;
        (!own.has(self.aliases, self.owner(), address, &taken.objects)).then_some(taken)
    }

    /// A lock by its name.
    pub fn named(&self, lock: Symbol, shared: bool) -> Taken {
        let (objects, offset) = ([].into(), None);
        let mut taken = Taken {
            point: 0,
            call: Some(0),
            shared,
            lock: Some(lock),
            objects,
            offset,
            again: false,
        };
        self.narrow(&mut taken, Value::Unknown);
        taken
    }

    /// A lock that a callee acquires.
    pub fn taken_outward(
        &self,
        before: &State,
        call: &Call,
        arguments: &[Option<Known>],
        taken: &Taken,
    ) -> Taken {
        let outward = |lock| self.outward(before, call, arguments, Known::At(lock));
        let lock = taken.lock.and_then(outward).and_then(Known::symbol);
        let lock = lock.map(|lock| before.assume(lock));
        let passed = match taken.lock.map(|lock| lock.root) {
            Some(Root::Parameter(register)) => call.arguments.get(register as usize).copied(),
            _ => None,
        };
        let here = self.is_users().then_some(call.point);
        let mut outer = Taken { lock, call: taken.call.or(here), ..taken.clone() };
        self.narrow(&mut outer, passed.unwrap_or(Value::Unknown));
        outer
    }

    /// Whether the function is the user's own.
    fn is_users(&self) -> bool {
        self.owner() == Owner::User
    }

    fn owner(&self) -> Owner {
        self.callees.owners[self.aliases.function() as usize]
    }

    /// What points-to says of a lock at, or after, this address.
    fn narrow(&self, taken: &mut Taken, address: Value) {
        if let Value::Register(register) = address {
            taken.narrow(&self.aliases.objects(register));
        }
        let Some(Symbol { root, offset }) = taken.lock else { return };
        if let Some(objects) = self.aliases.objects_of(root) {
            taken.narrow(&objects);
        }
        if matches!(root, Root::Global(_) | Root::Variable(_)) {
            taken.offset = Some(offset);
        }
    }
}
