//! Variables whose addresses are nowhere but in the hands of those who are passed them: by how
//! addresses are used, without regard to where they point to.
//!
//! Points-to analysis knows more of that in small programs, and nothing in large ones of what is
//! passed to functions that everybody calls, as the glue that drops guards. Here, an address is
//! kept where it is stored, returned, thrown, or passed to who keeps it or is not known; all that
//! is computed of it counts as the address. Whether a parameter is kept follows from the functions
//! that it is passed on to.

use super::panics::Panics;
use crate::facts::{Effect, Facts, Function, FunctionId, Operand, Register, Statement};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Private {
    /// By function and register of the variable, the registers that may hold an address in it,
    /// sorted.
    variables: HashMap<(FunctionId, Register), Box<[Register]>>,
    /// Parameters that nobody keeps.
    parameters: HashSet<(FunctionId, Register)>,
}

impl Private {
    /// O(statements, and uses of addresses by variable).
    pub fn of(facts: &Facts, panics: &Panics) -> Self {
        let mut private = HashMap::new();
        let mut kept: Vec<(FunctionId, Register)> = Vec::new();
        // By parameter: the addresses that are passed to it.
        let mut passed: HashMap<(FunctionId, Register), Vec<(FunctionId, Register)>> =
            HashMap::new();
        for (id, function) in facts.functions.iter().enumerate() {
            let id = id as FunctionId;
            let uses = Uses::of(facts, function);
            for root in uses.roots(function) {
                let registers = uses.computed.from(root);
                let is_kept = registers.iter().any(|register| uses.kept.contains(register));
                let is_printed = panics.has(id) && root < function.parameters;
                if is_kept && !is_printed {
                    kept.push((id, root));
                } else if !is_printed {
                    let to =
                        registers.iter().filter_map(|register| uses.passed.get(register)).flatten();
                    to.for_each(|to| passed.entry(*to).or_default().push((id, root)));
                }
                private.insert((id, root), registers.into_iter().collect());
            }
        }
        while let Some(root) = kept.pop() {
            if private.remove(&root).is_some() {
                kept.extend(passed.remove(&root).into_iter().flatten());
            }
        }
        // Of parameters, the callers' variables matter.
        let is_parameter = |(id, register): &(FunctionId, Register)| {
            *register < facts.functions[*id as usize].parameters
        };
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
    pub fn has(&self, function: FunctionId, variable: Register) -> bool {
        self.variables.contains_key(&(function, variable))
    }

    /// Whether a register may hold an address in such a variable; `None`: the variable is none.
    pub fn may_hold(
        &self,
        function: FunctionId,
        register: Register,
        variable: Register,
    ) -> Option<bool> {
        self.variables
            .get(&(function, variable))
            .map(|registers| registers.binary_search(&register).is_ok())
    }
}

/// What a function computes of what is in its registers.
#[derive(Default)]
pub struct Computed(BTreeMap<Register, Vec<Register>>);

impl Computed {
    /// By these statements. O(statements).
    pub fn of<'a>(statements: impl Iterator<Item = &'a Statement>) -> Self {
        let mut computed = Self::default();
        statements.for_each(|statement| computed.add(statement));
        computed
    }

    fn add(&mut self, statement: &Statement) {
        if let Statement::Copy { result, from: Operand::Register(from) }
        | Statement::Offset { result, from: Operand::Register(from), .. }
        | Statement::OfSide { result, from, .. } = statement
        {
            self.0.entry(*from).or_default().push(*result);
        }
    }

    /// The registers that may hold an address that is computed of what is in one. O(these).
    pub fn from(&self, root: Register) -> BTreeSet<Register> {
        let mut all = BTreeSet::from([root]);
        let mut open = vec![root];
        while let Some(register) = open.pop() {
            let next = self.0.get(&register).into_iter().flatten();
            open.extend(next.copied().filter(|&next| all.insert(next)));
        }
        all
    }
}

/// What a function does with what is in its registers.
#[derive(Default)]
struct Uses {
    /// Registers whose addresses somebody keeps.
    kept: BTreeSet<Register>,
    /// The parameters that a register is passed to.
    passed: BTreeMap<Register, Vec<(FunctionId, Register)>>,
    computed: Computed,
    variables: Vec<Register>,
}

impl Uses {
    fn of(facts: &Facts, function: &Function) -> Self {
        let mut uses = Self::default();
        for statement in function.body.iter().flat_map(|body| &body.statements) {
            uses.add(facts, statement);
        }
        uses
    }

    fn add(&mut self, facts: &Facts, statement: &Statement) {
        match statement {
            Statement::Variable { result, .. } => self.variables.push(*result),
            Statement::Copy { .. } | Statement::Offset { .. } | Statement::OfSide { .. } => {
                self.computed.add(statement)
            }
            Statement::Store { parts, .. } => parts.iter().for_each(|part| self.keep(part.operand)),
            Statement::Return(values) => values.iter().for_each(|value| self.keep(*value)),
            Statement::Throw(value) | Statement::Escape(value) => self.keep(*value),
            Statement::Call(call) => {
                for (number, argument) in call.arguments.iter().enumerate() {
                    let Operand::Register(register) = *argument else { continue };
                    let callee = match call.callee {
                        Operand::Function(id) => Some(id),
                        _ => None,
                    };
                    match keeps(facts, callee, call.arguments.len(), number) {
                        Keeps::Nothing => {}
                        Keeps::As(function, parameter) => {
                            self.passed.entry(register).or_default().push((function, parameter));
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
        if let Operand::Register(register) = value {
            self.kept.insert(register);
        }
    }

    /// The parameters and variables.
    fn roots(&self, function: &Function) -> Vec<Register> {
        let parameters = if function.body.is_some() { function.parameters } else { 0 };
        (0..parameters).chain(self.variables.iter().copied()).collect()
    }
}

/// What a callee does with an argument.
enum Keeps {
    Nothing,
    /// What the function does with this parameter.
    As(FunctionId, Register),
    It,
}

fn keeps(facts: &Facts, callee: Option<FunctionId>, arguments: usize, number: usize) -> Keeps {
    let Some(id) = callee else { return Keeps::It };
    let callee = &facts.functions[id as usize];
    let fits = callee.parameters as usize == arguments && !callee.is_harness;
    match (&callee.body, Effect::of(&callee.name)) {
        (Some(_), _) if fits => Keeps::As(id, number as Register),
        (None, Effect::Nothing | Effect::Bytes) => Keeps::Nothing,
        _ => Keeps::It,
    }
}
