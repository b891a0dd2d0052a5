//! Who calls whom: the order in which functions are looked at, and which of them have callers that
//! are not looked at.

use super::{Analysis, components};
use crate::facts::FunctionId;
use crate::facts::flow::Value;

/// See the module.
#[derive(Debug)]
pub struct Callers {
    /// Functions that call each other, each after those that it calls.
    pub components: Vec<Vec<FunctionId>>,
    /// By function: what it may call.
    pub callees: Vec<Vec<FunctionId>>,
    /// By function: whether it may be called by others than those that are looked at.
    pub others: Vec<bool>,
}

impl Callers {
    /// O(calls).
    pub fn of(analysis: &Analysis<'_>) -> Self {
        let count = analysis.flows.len();
        let mut others: Vec<bool> = analysis.facts.functions.iter().map(|f| f.is_entry).collect();
        let mut called = vec![false; count];
        let mut callees = vec![Vec::new(); count];
        let functions = |objects: &[_]| analysis.points_to.functions_among(objects);
        for function in functions(&analysis.points_to.foreign()) {
            others[function as usize] = true;
        }
        for function in (0..count as FunctionId).filter(|&f| analysis.is_looked_at(f)) {
            let aliases = analysis.aliases(function);
            let all = &mut callees[function as usize];
            for call in analysis.calls(function) {
                let (candidates, _) = analysis.callees.candidates(&aliases, call);
                for &callee in &candidates {
                    called[callee as usize] = true;
                    if analysis.facts.functions[callee as usize].body.is_some() {
                        continue;
                    }
                    // What it is passed, it may call: at once, or as a thread.
                    for argument in &call.arguments {
                        match *argument {
                            Value::Register(register) => functions(&aliases.objects(register))
                                .into_iter()
                                .for_each(|f| others[f as usize] = true),
                            Value::Function(f) => others[f as usize] = true,
                            _ => {}
                        }
                    }
                }
                all.extend(candidates);
            }
            all.sort_unstable();
            all.dedup();
        }
        others.iter_mut().zip(called).for_each(|(others, called)| *others |= !called);
        Self { components: components::components(&callees), callees, others }
    }
}
