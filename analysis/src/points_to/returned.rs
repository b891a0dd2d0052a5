//! What functions give to those who call them: addresses that they return, or store where an
//! argument points to. Nothing depends on it but which calls are told apart.

use crate::facts::{Body, Distance, Effect, Facts, FunctionId, Operand, Statement};

/// What the functions of a program give.
#[derive(Clone, Debug)]
pub(super) struct Returned {
    memory: Vec<Memory>,
    anything: Vec<bool>,
}

/// What becomes of memory that a function gets from an allocator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Memory {
    /// It is returned.
    returned: bool,
    /// Its address is stored where an argument points to.
    stored: bool,
}

/// Which registers of a function are addresses in the same object, as far as copies and
/// computations tell.
#[derive(Clone, Debug)]
struct Classes(Vec<u32>);

impl Returned {
    /// Of a program. O(statements), times the length of chains of calls at worst.
    pub fn of(facts: &Facts) -> Self {
        let count = facts.functions.len();
        let mut callers: Vec<Vec<FunctionId>> = vec![Vec::new(); count];
        for (f, function) in facts.functions.iter().enumerate() {
            for statement in function.body.iter().flat_map(|b| &b.statements) {
                if let Statement::Call(call) = statement
                    && let Operand::Function(callee) = call.callee
                {
                    callers[callee as usize].push(f as FunctionId);
                }
            }
        }
        let returns: Vec<bool> = (0..count).map(|f| returns(facts, f)).collect();
        let mut memory = vec![Memory::default(); count];
        fixpoint(&callers, &returns, |f| {
            let new = Memory::of(facts, f, &memory);
            std::mem::replace(&mut memory[f], new) != new
        });
        let mut stores = vec![false; count];
        fixpoint(&callers, &returns, |f| {
            let new = stores[f] || stores_by_argument(facts, f, &stores);
            std::mem::replace(&mut stores[f], new) != new
        });
        let anything = |f: usize| returns[f] && (stores[f] || has_result(facts, f));
        Self { memory, anything: (0..count).map(anything).collect() }
    }

    /// Whether a function gives anything. What never returns does not.
    pub fn anything(&self, function: usize) -> bool {
        self.anything[function]
    }

    /// Whether it gives new memory.
    pub fn memory(&self, function: usize) -> bool {
        self.memory[function].returned || self.memory[function].stored
    }

    /// Whether it returns new memory.
    pub fn returns_memory(&self, function: usize) -> bool {
        self.memory[function].returned
    }
}

/// Looks at each function until nothing changes: at the callers of one that returns, when something
/// has changed.
fn fixpoint(callers: &[Vec<FunctionId>], returns: &[bool], mut changes: impl FnMut(usize) -> bool) {
    let mut open: Vec<usize> = (0..callers.len()).collect();
    let mut is_open = vec![true; callers.len()];
    while let Some(f) = open.pop() {
        is_open[f] = false;
        if changes(f) && returns[f] {
            for &caller in &callers[f] {
                if !std::mem::replace(&mut is_open[caller as usize], true) {
                    open.push(caller as usize);
                }
            }
        }
    }
}

fn returns(facts: &Facts, f: usize) -> bool {
    let body = facts.functions[f].body.as_ref();
    body.is_none_or(|b| {
        b.statements.iter().any(|statement| matches!(statement, Statement::Return(_)))
    })
}

fn has_result(facts: &Facts, f: usize) -> bool {
    let statements = facts.functions[f].body.iter().flat_map(|b| &b.statements);
    statements.into_iter().any(|statement| match statement {
        Statement::Return(values) => values.iter().any(|&value| value != Operand::Nothing),
        _ => false,
    })
}

impl Memory {
    fn of(facts: &Facts, f: usize, known: &[Self]) -> Self {
        let it = &facts.functions[f];
        let Some(body) = &it.body else {
            return match Effect::of(&it.name) {
                Effect::Fresh | Effect::FreshOr(_) | Effect::Moves => {
                    Self { returned: true, stored: false }
                }
                Effect::FreshAtFirst => Self { returned: false, stored: true },
                _ => Self::default(),
            };
        };
        let classes = Classes::of(body);
        let variables = classes.variables(body);
        // Classes that are new memory, or variables that hold its address.
        let mut new = vec![false; body.registers as usize];
        let mut returned = false;
        loop {
            let before = new.iter().filter(|n| **n).count();
            for statement in &body.statements {
                let is_new = |o: &Operand| classes.of_operand(o).is_some_and(|c| new[c]);
                let marked: Vec<Operand> = match statement {
                    Statement::Load { address, parts } if is_new(address) => {
                        let variable = classes.of_operand(address).is_some_and(|c| variables[c]);
                        parts.iter().filter(|_| variable).map(|p| p.operand).collect()
                    }
                    Statement::Store { address, parts }
                        if parts.iter().any(|p| is_new(&p.operand)) =>
                    {
                        vec![*address]
                    }
                    Statement::CopyMemory { to, from, .. } if is_new(from) => vec![*to],
                    Statement::Call(call) => match call.callee {
                        Operand::Function(callee) => {
                            let Self { returned, stored } = known[callee as usize];
                            let (first, count) = call.result;
                            let results = (first..first + count).filter(|_| returned);
                            let arguments = call.arguments.iter().filter(|_| stored);
                            results.map(Operand::Register).chain(arguments.copied()).collect()
                        }
                        _ => Vec::new(),
                    },
                    Statement::Return(values) => {
                        returned |= values.iter().any(is_new);
                        Vec::new()
                    }
                    _ => Vec::new(),
                };
                for class in marked.iter().filter_map(|o| classes.of_operand(o)) {
                    new[class] = true;
                }
            }
            if new.iter().filter(|n| **n).count() == before {
                let stored = (0..it.parameters).any(|p| new[classes.find(p)]);
                return Self { returned, stored };
            }
        }
    }
}

/// Whether a function stores addresses where an argument points to.
fn stores_by_argument(facts: &Facts, f: usize, stores: &[bool]) -> bool {
    let it = &facts.functions[f];
    let Some(body) = &it.body else {
        let effect = Effect::of(&it.name);
        return matches!(effect, Effect::Copies | Effect::FreshAtFirst | Effect::EndAtSecond);
    };
    let classes = Classes::of(body);
    let mut is_argument = vec![false; body.registers as usize];
    for parameter in 0..it.parameters {
        is_argument[classes.find(parameter)] = true;
    }
    let mut is_number = vec![false; body.registers as usize];
    for statement in &body.statements {
        if let Statement::Offset { result, distance: Distance::Number, .. } = statement {
            is_number[*result as usize] = true;
        }
    }
    let by_argument = |o: &Operand| classes.of_operand(o).is_some_and(|class| is_argument[class]);
    let is_address = |o: &Operand| match o {
        Operand::Nothing => false,
        Operand::Register(register) => !is_number[*register as usize],
        Operand::Global(..) | Operand::Function(_) => true,
    };
    body.statements.iter().any(|statement| match statement {
        Statement::Store { address, parts } => {
            by_argument(address) && parts.iter().any(|p| is_address(&p.operand))
        }
        Statement::CopyMemory { to, .. } => by_argument(to),
        Statement::Call(call) => {
            let callee = matches!(call.callee, Operand::Function(g) if stores[g as usize]);
            callee && call.arguments.iter().any(|a| is_address(a) && by_argument(a))
        }
        _ => false,
    })
}

impl Classes {
    fn of(body: &Body) -> Self {
        let mut classes = Self((0..body.registers).collect());
        for statement in &body.statements {
            match statement {
                Statement::Offset { distance: Distance::Number, .. } => {}
                Statement::Copy { result, from: Operand::Register(from) }
                | Statement::OfSide { result, from, .. }
                | Statement::Offset { result, from: Operand::Register(from), .. } => {
                    let (a, b) = (classes.find(*result), classes.find(*from));
                    classes.0[a.max(b)] = a.min(b) as u32;
                }
                _ => {}
            }
        }
        classes
    }

    /// Which of them are variables of the function's own.
    fn variables(&self, body: &Body) -> Vec<bool> {
        let mut variables = vec![false; body.registers as usize];
        for statement in &body.statements {
            if let Statement::Variable { result, .. } = statement {
                variables[self.find(*result)] = true;
            }
        }
        variables
    }

    fn of_operand(&self, operand: &Operand) -> Option<usize> {
        match operand {
            Operand::Register(register) => Some(self.find(*register)),
            _ => None,
        }
    }

    fn find(&self, register: u32) -> usize {
        let mut class = register;
        while self.0[class as usize] != class {
            class = self.0[class as usize];
        }
        class as usize
    }
}
