//! What callers do with the objects whose addresses they pass: which locks they hold, or that they
//! have the object alone.
//!
//! Library code is called with a lock and without one, with locks here and there: what all callers
//! hold is nothing. So callers are told apart by the object that a parameter points to, and only
//! those count that may pass an address in that. A lock is named relative to the object; a call
//! passes on what is known of a parameter with addresses in the same block, as far as no lock was
//! given back that the function had not acquired itself.
//!
//! A caller has an object *alone* where there is one thread, where it has just made it
//! ([`super::fresh`]), and where it is `Arc::drop_slow`, which is called by whoever dropped the
//! last reference, for the block that it does that with: everything of a block but its counts is
//! its last owner's then. (What is after addresses in the block is not: it may be anybody's.)
//! Those callers do not count. If all are such, the parameter's object is *owned*.

use super::Input;
use super::alone::Alone;
use super::classes::Guard;
use super::fresh::Fresh;
use super::places::{Place, Places};
use crate::facts::flow::{BlockId, Call, Step, Value};
use crate::facts::{FunctionId, Operand, Register};
use crate::locksets::{Held, Lock, meet};
use crate::points_to::ObjectId;
use crate::recognise::{demangle, path_of};
use lockred_protocol::plan::Flaw;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// Whether a function of this name is called with the block to which the last reference was
/// dropped, after its first parameter.
pub fn drops_last(name: &str) -> bool {
    name.contains("drop_slow") && path_of(&demangle(name)) == "alloc::sync::Arc::drop_slow"
}

/// How an object is passed to a parameter, by all who do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Passed {
    /// They have it alone.
    Owned,
    /// They hold these locks; `true`: some of them with others.
    Under(BTreeMap<Guard, bool>),
}

impl Passed {
    /// Whoever comes beside.
    fn meet(self, other: Self) -> Self {
        match (self, other) {
            (Self::Owned, one) | (one, Self::Owned) => one,
            (Self::Under(mut one), Self::Under(other)) => {
                meet(&mut one, &other);
                Self::Under(one)
            }
        }
    }
}

/// What an address in a function is computed of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// So many bytes after a parameter.
    Parameter(Register, i64),
    /// The block that the last reference was dropped to.
    Last,
}

/// A function.
struct Body<'a> {
    parameters: u32,
    places: Places<'a>,
    /// What was asked of those.
    found: HashMap<Operand, Option<Rc<[Place]>>>,
    /// Registers that hold the address of such a block.
    last: BTreeSet<Register>,
    /// Calls that pass on what is after a parameter: that, the call, and the number of its
    /// argument.
    passes: Vec<(Register, &'a Call, usize)>,
}

impl Body<'_> {
    fn origin(&self, value: Operand) -> Option<Origin> {
        let Operand::Register(mut register) = value else { return None };
        let mut bytes = 0;
        loop {
            if self.last.contains(&register) {
                return Some(Origin::Last);
            }
            if register < self.parameters {
                return Some(Origin::Parameter(register, bytes));
            }
            let (Value::Register(from), more) = *self.places.offsets().get(&register)? else {
                return None;
            };
            (register, bytes) = (from, bytes + more);
        }
    }
}

/// A parameter of a function that points to an object.
type Key = (FunctionId, Register, ObjectId);

/// See the module.
pub struct PassedTo<'a> {
    input: &'a Input<'a>,
    alone: &'a Alone,
    fresh: &'a Fresh,
    is_looked_at: &'a dyn Fn(ObjectId) -> bool,
    bodies: HashMap<FunctionId, Body<'a>>,
    /// By function: its calls by name, each with its function and block.
    callers: Vec<Vec<(FunctionId, BlockId, &'a Call)>>,
    /// Functions that may be called otherwise.
    others: Vec<bool>,
    known: HashMap<Key, Passed>,
}

impl<'a> PassedTo<'a> {
    /// Looks at a program. `is_looked_at`: whether an object is shared, and all is known that
    /// accesses it. O(calls that pass an object on which something is held, and the other callers
    /// of these functions), and as often as locks fall away.
    pub fn of(
        input: &'a Input<'a>,
        alone: &'a Alone,
        fresh: &'a Fresh,
        is_looked_at: &'a dyn Fn(ObjectId) -> bool,
    ) -> Self {
        let mut passed = Self {
            input,
            alone,
            fresh,
            is_looked_at,
            bodies: HashMap::new(),
            callers: vec![Vec::new(); input.flows.len()],
            others: input.locksets.called_by_others().to_vec(),
            known: HashMap::new(),
        };
        passed.find();
        passed
    }

    fn body(&mut self, function: FunctionId) -> &mut Body<'a> {
        let input = self.input;
        self.bodies.entry(function).or_insert_with(|| body(input, function))
    }

    /// Where an address may be; nowhere if only those who are not known have it. `None`: nobody has
    /// asked.
    pub fn places(&mut self, function: FunctionId, value: Operand) -> Option<Rc<[Place]>> {
        let points_to = &self.input.sharing.points_to;
        let Body { found, places, .. } = self.body(function);
        let found = found.entry(value).or_insert_with(|| match (places.at(value), value) {
            (None, Operand::Register(register)) if points_to.is_unknown(function, register) => {
                Some([].into())
            }
            (places, _) => places.map(Rc::from),
        });
        found.clone()
    }

    /// Where an address may be in an object.
    fn places_in(
        &mut self,
        function: FunctionId,
        value: Operand,
        object: ObjectId,
    ) -> Option<Vec<Place>> {
        let places = self.places(function, value)?;
        Some(places.iter().copied().filter(|place| place.object == object).collect())
    }

    fn find(&mut self) {
        let Input { flows, sharing, .. } = *self.input;
        let mut open: Vec<Key> = Vec::new();
        let mut seeds = Vec::new();
        for function in (0..flows.len() as FunctionId).filter(|&f| sharing.points_to.is_reached(f))
        {
            for (block, it) in flows[function as usize].blocks.iter().enumerate() {
                for step in &it.steps {
                    let Step::Call(call) = step else { continue };
                    let Value::Function(callee) = call.callee else { continue };
                    self.callers[callee as usize].push((function, block as BlockId, call));
                    let held = self.input.locksets.passed(call.point).into_iter().flatten();
                    let under = held.enumerate().filter(|(_, held)| !held.is_empty());
                    seeds.extend(under.map(|(number, _)| (function, &**call, number)));
                }
            }
        }
        for callers in &self.callers {
            for &(function, _, call) in callers {
                if drops_last(&self.input.facts.functions[function as usize].name)
                    || self.input.flaw == Some(Flaw::DropsAreLast)
                {
                    seeds.extend((0..call.arguments.len()).map(|number| (function, call, number)));
                }
            }
        }
        for (function, call, number) in seeds {
            let Some(value) = operand(call.arguments[number]) else { continue };
            let Some(places) = self.places(function, value) else { continue };
            self.candidates(call, number, &places, &mut open);
        }
        let mut all = Vec::new();
        while let Some((function, register, object)) = open.pop() {
            all.push((function, register, object));
            for (call, number) in self.passes_on(function, register) {
                let places = operand(call.arguments[number])
                    .and_then(|value| self.places_in(function, value, object));
                self.candidates(call, number, &places.unwrap_or_default(), &mut open);
            }
        }
        // From everything down to what all callers have in common.
        let mut queued: BTreeSet<Key> = all.iter().copied().collect();
        while let Some(key) = queued.pop_first() {
            let new = self.by_callers(key);
            if self.known.get(&key) == Some(&new) {
                continue;
            }
            self.known.insert(key, new);
            let (function, register, object) = key;
            for (call, number) in self.passes_on(function, register) {
                let Value::Function(callee) = call.callee else { continue };
                let next = (callee, number as Register, object);
                if self.known.contains_key(&next) {
                    queued.insert(next);
                }
            }
        }
    }

    /// Something may be known of what a call passes.
    fn candidates(&mut self, call: &Call, number: usize, places: &[Place], open: &mut Vec<Key>) {
        let Value::Function(callee) = call.callee else { return };
        let it = &self.input.facts.functions[callee as usize];
        let fits = it.body.is_some() && it.parameters as usize == call.arguments.len();
        if self.others[callee as usize] || !fits {
            return;
        }
        for place in places.iter().filter(|place| (self.is_looked_at)(place.object)) {
            let key = (callee, number as Register, place.object);
            if self.known.insert(key, Passed::Owned).is_none() {
                open.push(key);
            }
        }
    }

    /// Calls that pass on what is after a parameter.
    fn passes_on(&mut self, function: FunctionId, register: Register) -> Vec<(&'a Call, usize)> {
        let passes = self.body(function).passes.iter().filter(|(of, ..)| *of == register);
        passes.map(|&(_, call, number)| (call, number)).collect()
    }

    fn by_callers(&mut self, (function, register, object): Key) -> Passed {
        let mut all = Passed::Owned;
        for (caller, block, call) in self.callers[function as usize].clone() {
            let parameters = self.input.facts.functions[function as usize].parameters;
            let passed = match call.arguments.len() == parameters as usize {
                true => self.by_caller(caller, block, call, register, object),
                false => Passed::Under(BTreeMap::new()),
            };
            all = all.meet(passed);
        }
        all
    }

    fn by_caller(
        &mut self,
        caller: FunctionId,
        block: BlockId,
        call: &Call,
        register: Register,
        object: ObjectId,
    ) -> Passed {
        // It creates no thread itself.
        let alone = self.alone.at(caller, block, call.point + 1);
        if alone || self.fresh.passes(call.point, register as usize) {
            return Passed::Owned;
        }
        let nothing = Passed::Under(BTreeMap::new());
        let Some(address) = operand(call.arguments[register as usize]) else { return nothing };
        let Some(places) = self.places_in(caller, address, object) else { return nothing };
        if places.is_empty() {
            return Passed::Owned;
        }
        let held = self.input.locksets.passed(call.point);
        let held = held.and_then(|held| held.get(register as usize)).cloned().unwrap_or_default();
        let passed = self.seen(caller, call.point, address, object, &places, &held);
        match passed {
            Passed::Under(locks)
                if locks.is_empty() && self.input.flaw == Some(Flaw::BareCallersDoNotCount) =>
            {
                Passed::Owned
            }
            passed => passed,
        }
    }

    /// What is known at an address of an object, at these places of it, where these locks are held.
    fn seen(
        &mut self,
        function: FunctionId,
        point: u32,
        address: Operand,
        object: ObjectId,
        places: &[Place],
        held: &Held,
    ) -> Passed {
        let mut locks: Option<BTreeMap<Guard, bool>> = None;
        for place in places {
            let here = held.iter().filter_map(|(&lock, &shared)| match lock {
                Lock::Global(id, bytes) => Some((Guard::Global(id, bytes), shared)),
                Lock::Near(bytes) => {
                    place.offset.map(|offset| (Guard::At(offset as i64 + bytes), shared))
                }
            });
            let here: BTreeMap<Guard, bool> = here.collect();
            match &mut locks {
                None => locks = Some(here),
                Some(locks) => locks.retain(|guard, _| here.contains_key(guard)),
            }
        }
        let mut locks = locks.unwrap_or_default();
        match self.inherited(function, point, address, object) {
            Some(Passed::Owned) => return Passed::Owned,
            Some(Passed::Under(more)) => {
                more.into_iter().for_each(|(guard, shared)| {
                    locks.entry(guard).and_modify(|own| *own &= shared).or_insert(shared);
                });
            }
            None => {}
        }
        Passed::Under(locks)
    }

    /// What callers have passed an object with that an address is in, at a point of a function.
    pub fn inherited(
        &mut self,
        function: FunctionId,
        point: u32,
        address: Operand,
        object: ObjectId,
    ) -> Option<Passed> {
        let (register, bytes) = match self.body(function).origin(address)? {
            Origin::Last => return Some(Passed::Owned),
            Origin::Parameter(register, bytes) => (register, bytes),
        };
        let mut passed = self.known.get(&(function, register, object))?.clone();
        if let Passed::Under(locks) = &mut passed {
            if !self.input.locksets.keeps(point) {
                locks.clear();
            }
            // Of an array, what is known of one element says nothing of the next one.
            let (_, stride) = self.input.sharing.points_to.extent(object);
            let inside = stride == 0
                || self.places_in(function, Operand::Register(register), object).is_some_and(
                    |places| {
                        places.iter().all(|place| {
                            let at = place.offset.map(|offset| offset as i64 + bytes);
                            at.is_some_and(|at| (0..i64::from(stride)).contains(&at))
                        })
                    },
                );
            if !inside {
                locks.retain(|guard, _| matches!(guard, Guard::Global(..)));
            }
        }
        Some(passed)
    }
}

/// What a function passes on.
fn body<'a>(input: &'a Input<'a>, function: FunctionId) -> Body<'a> {
    let Input { facts, flows, sharing, flaw, .. } = *input;
    let (it, flow) = (&facts.functions[function as usize], &flows[function as usize]);
    let steps = || flow.blocks.iter().flat_map(|block| &block.steps);
    let mut last = BTreeSet::new();
    if drops_last(&it.name) {
        for step in steps() {
            if let Step::Load { address: Value::Register(0), parts, .. } = step {
                last.extend(parts.iter().filter(|part| part.offset == 0).map(|part| part.value));
            }
        }
    }
    if flaw == Some(Flaw::DropsAreLast)
        && path_of(&demangle(&it.name)) == "core::ptr::drop_in_place"
    {
        last.insert(0);
    }
    let places = Places::of(facts, flow, &sharing.points_to, function);
    let (found, passes) = (HashMap::new(), Vec::new());
    let mut body = Body { parameters: it.parameters, places, found, last, passes };
    for step in steps() {
        let Step::Call(call) = step else { continue };
        if !matches!(call.callee, Value::Function(_)) {
            continue;
        }
        for (number, &argument) in call.arguments.iter().enumerate() {
            let origin = operand(argument).and_then(|value| body.origin(value));
            if let Some(Origin::Parameter(register, _)) = origin {
                body.passes.push((register, call, number));
            }
        }
    }
    body
}

/// A value as an operand; `None`: nothing is known of it.
fn operand(value: Value) -> Option<Operand> {
    match value {
        Value::Register(register) => Some(Operand::Register(register)),
        Value::Global(id, offset) => Some(Operand::Global(id, Some(offset))),
        Value::Function(function) => Some(Operand::Function(function)),
        Value::Number(_) => Some(Operand::Nothing),
        Value::Unknown => None,
    }
}
