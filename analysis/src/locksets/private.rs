//! Variables whose addresses are nowhere but in the hands of those who are passed them: by how
//! addresses are used, without regard to where they point to.
//!
//! Points-to analysis knows more of that in small programs, and nothing in large ones of what is
//! passed to functions that everybody calls, as the glue that drops guards. Here, an address is
//! kept where it is stored, returned, thrown, or passed to who keeps it or is not known; all that
//! is computed of it counts as the address. Whether a parameter is kept follows from the functions
//! that it is passed on to.

use super::panics::Panics;
use crate::facts::{Act, Effect, Facts, Function, FunctionId, Operand, Slot};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Private {
    /// By function and slot of the variable, the slots that may hold an address in it, sorted.
    variables: HashMap<(FunctionId, Slot), Box<[Slot]>>,
    /// Parameters that nobody keeps.
    parameters: HashSet<(FunctionId, Slot)>,
}

impl Private {
    /// O(acts, and uses of addresses by variable).
    pub fn of(facts: &Facts, panics: &Panics) -> Self {
        let mut private = HashMap::new();
        let mut kept: Vec<(FunctionId, Slot)> = Vec::new();
        // By parameter: the addresses that are passed to it.
        let mut passed: HashMap<(FunctionId, Slot), Vec<(FunctionId, Slot)>> = HashMap::new();
        for (id, function) in facts.functions.iter().enumerate() {
            let id = id as FunctionId;
            let uses = Uses::of(facts, function);
            for root in uses.roots(function) {
                let slots = uses.computed.from(root);
                let is_kept = slots.iter().any(|slot| uses.kept.contains(slot));
                let is_printed = panics.has(id) && root < function.parameters;
                if is_kept && !is_printed {
                    kept.push((id, root));
                } else if !is_printed {
                    let to = slots.iter().filter_map(|slot| uses.passed.get(slot)).flatten();
                    to.for_each(|to| passed.entry(*to).or_default().push((id, root)));
                }
                private.insert((id, root), slots.into_iter().collect());
            }
        }
        while let Some(root) = kept.pop() {
            if private.remove(&root).is_some() {
                kept.extend(passed.remove(&root).into_iter().flatten());
            }
        }
        // Of parameters, the callers' variables matter.
        let is_parameter =
            |(id, slot): &(FunctionId, Slot)| *slot < facts.functions[*id as usize].parameters;
        let parameters = private.keys().copied().filter(is_parameter).collect();
        private.retain(|root, _| !is_parameter(root));
        Self { variables: private, parameters }
    }

    /// Whether a call keeps what it is passed as this argument.
    pub fn keeps(
        &self,
        facts: &Facts,
        callee: Option<FunctionId>,
        arguments: usize,
        number: usize,
    ) -> bool {
        match keeps(facts, callee, arguments, number) {
            Keeps::Nothing => false,
            Keeps::As(function, parameter) => !self.parameters.contains(&(function, parameter)),
            Keeps::It => true,
        }
    }

    /// Whether a variable is one.
    pub fn has(&self, function: FunctionId, variable: Slot) -> bool {
        self.variables.contains_key(&(function, variable))
    }

    /// Whether a slot may hold an address in such a variable; `None`: the variable is none.
    pub fn may_hold(&self, function: FunctionId, slot: Slot, variable: Slot) -> Option<bool> {
        self.variables.get(&(function, variable)).map(|slots| slots.binary_search(&slot).is_ok())
    }
}

/// What a function computes of what is in its slots.
#[derive(Default)]
pub struct Computed(BTreeMap<Slot, Vec<Slot>>);

impl Computed {
    /// By these acts. O(acts).
    pub fn of<'a>(acts: impl Iterator<Item = &'a Act>) -> Self {
        let mut computed = Self::default();
        acts.for_each(|act| computed.add(act));
        computed
    }

    fn add(&mut self, act: &Act) {
        if let Act::Copy { result, from: Operand::Slot(from) }
        | Act::Offset { result, from: Operand::Slot(from), .. }
        | Act::OfSide { result, from, .. } = act
        {
            self.0.entry(*from).or_default().push(*result);
        }
    }

    /// The slots that may hold an address that is computed of what is in one. O(these).
    pub fn from(&self, root: Slot) -> BTreeSet<Slot> {
        let mut all = BTreeSet::from([root]);
        let mut open = vec![root];
        while let Some(slot) = open.pop() {
            let next = self.0.get(&slot).into_iter().flatten();
            open.extend(next.copied().filter(|&next| all.insert(next)));
        }
        all
    }
}

/// What a function does with what is in its slots.
#[derive(Default)]
struct Uses {
    /// Slots whose addresses somebody keeps.
    kept: BTreeSet<Slot>,
    /// The parameters that a slot is passed to.
    passed: BTreeMap<Slot, Vec<(FunctionId, Slot)>>,
    computed: Computed,
    variables: Vec<Slot>,
}

impl Uses {
    fn of(facts: &Facts, function: &Function) -> Self {
        let mut uses = Self::default();
        for act in function.body.iter().flat_map(|body| &body.acts) {
            uses.add(facts, act);
        }
        uses
    }

    fn add(&mut self, facts: &Facts, act: &Act) {
        match act {
            Act::Variable { result, .. } => self.variables.push(*result),
            Act::Copy { .. } | Act::Offset { .. } | Act::OfSide { .. } => self.computed.add(act),
            Act::Store { parts, .. } => parts.iter().for_each(|part| self.keep(part.operand)),
            Act::Return(values) => values.iter().for_each(|value| self.keep(*value)),
            Act::Throw(value) | Act::Escape(value) => self.keep(*value),
            Act::Call(call) => {
                for (number, argument) in call.arguments.iter().enumerate() {
                    let Operand::Slot(slot) = *argument else { continue };
                    let callee = match call.callee {
                        Operand::Function(id) => Some(id),
                        _ => None,
                    };
                    match keeps(facts, callee, call.arguments.len(), number) {
                        Keeps::Nothing => {}
                        Keeps::As(function, parameter) => {
                            self.passed.entry(slot).or_default().push((function, parameter));
                        }
                        Keeps::It => self.keep(*argument),
                    }
                }
                self.keep(call.callee);
            }
            _ => {}
        }
    }

    fn keep(&mut self, value: Operand) {
        if let Operand::Slot(slot) = value {
            self.kept.insert(slot);
        }
    }

    /// The parameters and variables.
    fn roots(&self, function: &Function) -> Vec<Slot> {
        let parameters = if function.body.is_some() { function.parameters } else { 0 };
        (0..parameters).chain(self.variables.iter().copied()).collect()
    }
}

/// What a callee does with an argument.
enum Keeps {
    Nothing,
    /// What the function does with this parameter.
    As(FunctionId, Slot),
    It,
}

fn keeps(facts: &Facts, callee: Option<FunctionId>, arguments: usize, number: usize) -> Keeps {
    let Some(id) = callee else { return Keeps::It };
    let callee = &facts.functions[id as usize];
    let fits = callee.parameters as usize == arguments && !callee.is_harness;
    match (&callee.body, Effect::of(&callee.name)) {
        (Some(_), _) if fits => Keeps::As(id, number as Slot),
        (None, Effect::Nothing | Effect::Bytes) => Keeps::Nothing,
        _ => Keeps::It,
    }
}
