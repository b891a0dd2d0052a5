//! What functions of other crates do to the memory that they are given the address of:
//! `ptr::write`, `mem::replace`, and what they call.

use super::Package;
use super::order::is_aside;
use crate::facts::access::{Direction, accesses};
use crate::llvm::{Distance, Function, Instruction, Module, Movement, Value};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Steps that an address is followed back.
const DEPTH: u32 = 16;

/// Accesses of one function that are kept.
const MOST: usize = 64;

/// An access after a parameter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Behind {
    /// The parameter's number.
    pub parameter: usize,
    /// How far after its address; `None`: anywhere.
    pub offset: Option<i64>,
    /// It writes.
    pub write: bool,
}

/// By function.
#[derive(Debug, Default)]
pub struct Accesses(HashMap<Function, BTreeSet<Behind>>);

impl Accesses {
    /// Of a function, with those that it calls. What the package's own functions do is theirs.
    /// O(instructions), once a function.
    pub fn of(
        &mut self,
        module: &Module,
        package: &Package,
        function: Function,
    ) -> BTreeSet<Behind> {
        if let Some(known) = self.0.get(&function) {
            return known.clone();
        }
        // What calls itself does what is found besides.
        self.0.insert(function, BTreeSet::new());
        if function.is_declaration() || package.has(function) || is_aside(function) {
            return BTreeSet::new();
        }
        let mut found = BTreeSet::new();
        let parameters = function.parameters();
        let from = |address: Value| {
            from_parameter(module, &parameters, address, DEPTH, &mut HashSet::new())
        };
        for at in function.blocks().iter().flat_map(|block| block.instructions()) {
            for access in accesses(module, at) {
                let write = access.direction == Direction::Write;
                if let Some((parameter, offset)) = from(access.start) {
                    found.insert(Behind { parameter, offset, write });
                }
            }
            for (inner, argument) in self.through(module, package, at) {
                if let Some((parameter, outer)) = from(argument) {
                    let offset = outer.zip(inner.offset).and_then(|(a, b)| a.checked_add(b));
                    found.insert(Behind { parameter, offset, write: inner.write });
                }
            }
            if found.len() > MOST {
                break;
            }
        }
        self.0.insert(function, found.clone());
        found
    }

    /// What is accessed by a call, each with the argument that it is after.
    pub fn through(
        &mut self,
        module: &Module,
        package: &Package,
        at: Instruction,
    ) -> Vec<(Behind, Value)> {
        let Some(callee) = at.callee().and_then(|callee| callee.as_function()) else {
            return Vec::new();
        };
        let behind = self.of(module, package, callee);
        if behind.is_empty() {
            return Vec::new();
        }
        let arguments = at.arguments();
        let given = |behind: Behind| Some((behind, *arguments.get(behind.parameter)?));
        behind.into_iter().filter_map(given).collect()
    }
}

/// The parameter that an address is computed of, and how far it is after that. `seen`: values that
/// were looked at already.
fn from_parameter(
    module: &Module,
    parameters: &[Value],
    address: Value,
    depth: u32,
    seen: &mut HashSet<Value>,
) -> Option<(usize, Option<i64>)> {
    if let Some(number) = parameters.iter().position(|parameter| *parameter == address) {
        return Some((number, Some(0)));
    }
    let depth = depth.checked_sub(1)?;
    if !seen.insert(address) {
        return None;
    }
    let mut from = |value| from_parameter(module, parameters, value, depth, seen);
    match address.as_instruction()?.movement(module) {
        Movement::Offset(_, Distance::Number) => None,
        Movement::Offset(base, distance) => {
            let (number, offset) = from(base)?;
            let moved = match distance {
                Distance::Exactly(bytes) | Distance::Within(bytes) => {
                    offset.and_then(|at| at.checked_add(bytes))
                }
                _ => None,
            };
            Some((number, moved))
        }
        Movement::Same(values) => values.into_iter().find_map(from),
        _ => None,
    }
}
