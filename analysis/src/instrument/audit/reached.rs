//! Which blocks of a function are reached, by the numbers that its conditions may be: code that is
//! compiled out is no operation, and of an order that is no constant where it is used, only those
//! cases are operations that it may be.

use crate::llvm::{Block, Flow, Function, Instruction, Opcode, Predicate, Shape, Value};
use std::collections::{BTreeSet, HashSet};

/// Steps that a number is followed back.
const DEPTH: u32 = 12;

/// Numbers that one value may be; of more, nothing is known.
const MOST: usize = 8;

/// Calls of one function that are looked at.
const CALLS: usize = 16;

/// The blocks of a function that control may come to. O(blocks, and what their conditions are
/// computed of).
pub fn blocks(function: Function) -> Vec<Block> {
    let all = function.blocks();
    let mut seen = HashSet::new();
    let mut open: Vec<Block> = all.first().copied().into_iter().collect();
    while let Some(block) = open.pop() {
        if seen.insert(block) {
            open.extend(block.terminator().map(next).unwrap_or_default());
        }
    }
    all.into_iter().filter(|block| seen.contains(block)).collect()
}

/// Where control may go after a block.
fn next(terminator: Instruction) -> Vec<Block> {
    let all = || terminator.successors();
    if terminator.opcode() == Opcode::Call {
        return all();
    }
    match terminator.flow() {
        Flow::Branch(condition, one, other) => match numbers(condition, DEPTH) {
            Some(numbers) => {
                numbers.into_iter().map(|n| if n & 1 == 1 { one } else { other }).collect()
            }
            None => all(),
        },
        Flow::Switch(value, cases, default) => match numbers(value, DEPTH) {
            Some(numbers) => {
                let case = |n: u64| cases.iter().find(|case| case.0 == n).map(|case| case.1);
                numbers.into_iter().map(|n| case(n).unwrap_or(default)).collect()
            }
            None => all(),
        },
        _ => all(),
    }
}

/// The numbers that a value may be, if they are known and few.
fn numbers(value: Value, depth: u32) -> Option<BTreeSet<u64>> {
    if let Some(number) = value.as_integer() {
        return Some(BTreeSet::from([number]));
    }
    let depth = depth.checked_sub(1)?;
    let all = |values: &mut dyn Iterator<Item = Value>| {
        let mut found = BTreeSet::new();
        for value in values {
            found.extend(numbers(value, depth)?);
        }
        (!found.is_empty() && found.len() <= MOST).then_some(found)
    };
    let Some(at) = value.as_instruction() else { return passed(value, &all) };
    match at.shape() {
        Shape::Phi(incoming) => all(&mut incoming.into_iter().map(|(value, _)| value)),
        Shape::Select(_, one, other) => all(&mut [one, other].into_iter()),
        Shape::Resize(from) if at.keeps_all() => numbers(from, depth),
        Shape::Compare(predicate @ (Predicate::Equal | Predicate::NotEqual), left, right) => {
            let (left, right) = (numbers(left, depth)?, numbers(right, depth)?);
            let pairs = left.iter().flat_map(|l| right.iter().map(move |r| l == r));
            Some(pairs.map(|same| u64::from(same == (predicate == Predicate::Equal))).collect())
        }
        _ if at.opcode() == Opcode::Call => returned(at, &all),
        _ => None,
    }
}

type All<'a> = dyn Fn(&mut dyn Iterator<Item = Value>) -> Option<BTreeSet<u64>> + 'a;

/// What the calls pass as a parameter, where all of them are known.
fn passed(value: Value, all: &All<'_>) -> Option<BTreeSet<u64>> {
    let function = value.parameter_of()?;
    let number = function.parameters().iter().position(|parameter| *parameter == value)?;
    let calls = function.all_calls().filter(|calls| calls.len() <= CALLS)?;
    let arguments: Option<Vec<Value>> =
        calls.into_iter().map(|call| call.arguments().get(number).copied()).collect();
    all(&mut arguments?.into_iter())
}

/// What a function gives back.
fn returned(call: Instruction, all: &All<'_>) -> Option<BTreeSet<u64>> {
    let callee = call.callee()?.as_function().filter(|callee| !callee.is_declaration())?;
    let ends = callee.blocks().into_iter().filter_map(|block| block.terminator());
    let returns = ends.filter(|at| at.opcode() == Opcode::Return);
    all(&mut returns.filter_map(|at| at.value().operands().first().copied()))
}
