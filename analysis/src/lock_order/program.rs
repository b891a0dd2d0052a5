//! What a program says of its threads: where they begin, and which functions refer to which.

use crate::facts::flow::{Call, Flow, Step, Value};
use crate::facts::{Facts, Function, FunctionId, GlobalId, Operand, Statement};
use crate::points_to::{Kind, PointsTo};
use std::collections::BTreeSet;

/// Functions that are called one by another until a thread's closure is.
const DEPTH: u32 = 3;

/// See the module.
pub struct Program<'a> {
    pub facts: &'a Facts,
    pub flows: &'a [Flow],
    pub points_to: &'a PointsTo<'a>,
    pub calls: &'a [Vec<FunctionId>],
}

impl Program<'_> {
    /// The functions that a value may be.
    fn functions(&self, function: FunctionId, value: Value) -> Vec<FunctionId> {
        self.points_to.callees(function, value).0
    }

    fn calls_of(&self) -> impl Iterator<Item = (FunctionId, &Call)> {
        let reached = self.flows.iter().enumerate().map(|(id, flow)| (id as FunctionId, flow));
        let reached = reached.filter(|(id, _)| self.points_to.is_reached(*id));
        reached.flat_map(|(id, flow)| {
            let steps = flow.blocks.iter().flat_map(|block| &block.steps);
            steps.filter_map(move |step| match step {
                Step::Call(call) => Some((id, &**call)),
                _ => None,
            })
        })
    }

    /// What the harness is given to run.
    pub fn tests(&self) -> BTreeSet<FunctionId> {
        let mut found = BTreeSet::new();
        for (function, call) in self.calls_of() {
            let is_harness = |f: FunctionId| self.facts.functions[f as usize].is_harness;
            if !matches!(call.callee, Value::Function(f) if is_harness(f)) {
                continue;
            }
            for &argument in &call.arguments {
                let globals: Vec<GlobalId> = match argument {
                    Value::Global(id, _) => vec![id],
                    Value::Register(register) => {
                        let objects = self.points_to.objects_of(function, register).into_iter();
                        let kinds = objects.map(|object| self.points_to.kind(object));
                        let globals = kinds.filter_map(|kind| match kind {
                            Kind::Global(id) => Some(id),
                            _ => None,
                        });
                        globals.collect()
                    }
                    _ => Vec::new(),
                };
                for global in globals {
                    self.in_global(global, &mut BTreeSet::new(), &mut found);
                }
            }
        }
        found.retain(|&f| !self.flows[f as usize].blocks.is_empty());
        found
    }

    /// The functions whose addresses a global variable leads to.
    fn in_global(
        &self,
        global: GlobalId,
        seen: &mut BTreeSet<GlobalId>,
        found: &mut BTreeSet<FunctionId>,
    ) {
        let mut open = vec![global];
        while let Some(global) = open.pop() {
            if !seen.insert(global) {
                continue;
            }
            for (_, operand) in &self.facts.globals[global as usize].initial {
                match *operand {
                    Operand::Function(function) => {
                        found.insert(function);
                    }
                    Operand::Global(id, _) => open.push(id),
                    _ => {}
                }
            }
        }
    }

    /// Where threads that are started begin.
    pub fn started(&self) -> Vec<FunctionId> {
        let mut starts = BTreeSet::new();
        for (function, call) in self.calls_of() {
            let is_start =
                |f: FunctionId| self.facts.functions[f as usize].name == "pthread_create";
            if matches!(call.callee, Value::Function(f) if is_start(f))
                && let Some(&start) = call.arguments.get(2)
            {
                starts.extend(self.functions(function, start));
            }
        }
        let mut found = BTreeSet::new();
        for start in starts {
            let mut closures = BTreeSet::new();
            let mut level = BTreeSet::from([start]);
            for _ in 0..DEPTH {
                for &function in &level {
                    closures.extend(self.called_by_pointer(function));
                }
                if !closures.is_empty() {
                    break;
                }
                level = level.iter().flat_map(|&f| self.calls[f as usize].clone()).collect();
            }
            if closures.is_empty() {
                closures.insert(start);
            }
            found.extend(closures);
        }
        found.into_iter().collect()
    }

    fn called_by_pointer(&self, function: FunctionId) -> Vec<FunctionId> {
        let steps = self.flows[function as usize].blocks.iter().flat_map(|block| &block.steps);
        let calls = steps.filter_map(|step| match step {
            Step::Call(call) => Some(&**call),
            _ => None,
        });
        let by_pointer = calls.filter(|call| matches!(call.callee, Value::Register(_)));
        let called = by_pointer.flat_map(|call| {
            let known = self.functions(function, call.callee);
            match known.is_empty() {
                true => self.methods(call),
                false => known
                    .into_iter()
                    .filter(|f| self.calls[function as usize].contains(f))
                    .collect(),
            }
        });
        called.collect()
    }

    /// The methods that a call of what is not known may be of. What is first in a table is no
    /// method: it drops an object.
    fn methods(&self, call: &Call) -> Vec<FunctionId> {
        let tables = self.facts.globals.iter().filter(|global| global.is_constant);
        let methods = tables.flat_map(|global| &global.initial).filter_map(|entry| match *entry {
            (1.., Operand::Function(function)) => Some(function),
            _ => None,
        });
        let fits = |&function: &FunctionId| {
            let it = &self.facts.functions[function as usize];
            it.is_method && it.body.is_some() && it.signature == Some(call.signature)
        };
        let fitting: BTreeSet<FunctionId> = methods.filter(fits).collect();
        fitting.into_iter().collect()
    }

    /// Functions whose addresses are in hands that are not known.
    pub fn known_outside(&self) -> Vec<FunctionId> {
        self.points_to.functions_among(&self.points_to.foreign())
    }

    /// What each function refers to: what it calls, and whose address it takes, also through
    /// tables.
    pub fn references(&self) -> Vec<Vec<FunctionId>> {
        let of = |function: &Function| {
            let mut found = BTreeSet::new();
            let mut globals = BTreeSet::new();
            for statement in function.body.iter().flat_map(|body| &body.statements) {
                if let Statement::Call(call) = statement
                    && let Operand::Function(callee) = call.callee
                {
                    found.insert(callee);
                }
                statement.operands(&mut |operand| match operand {
                    Operand::Function(function) => {
                        found.insert(function);
                    }
                    Operand::Global(id, _) => {
                        globals.insert(id);
                    }
                    _ => {}
                });
            }
            let mut seen = BTreeSet::new();
            globals.into_iter().for_each(|id| self.in_global(id, &mut seen, &mut found));
            found.into_iter().collect()
        };
        self.facts.functions.iter().map(of).collect()
    }
}
