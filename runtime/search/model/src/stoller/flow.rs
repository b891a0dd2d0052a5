//! What the flow of a thread's code says: which operations local statements lead to, and which
//! mutexes are surely owned.

use std::collections::BTreeSet;

use super::super::code::Instruction;
use super::super::foresee::successors;
use super::super::machine::ModelMachine;
use super::super::program::{Mutex, Statement, Variable};

pub(super) fn statements(code: &[Vec<Instruction>]) -> impl Iterator<Item = &Statement> {
    code.iter().flatten().filter_map(|instruction| match instruction {
        Instruction::Do(statement, _) => Some(statement),
        _ => None,
    })
}

/// Whether the statement is an operation, at which a thread stops.
pub(super) const fn is_operation(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Do(statement, _)
        if !matches!(statement, Statement::Let(..) | Statement::Assert(_)))
}

/// The variable that the statement accesses, `alloc` included.
pub(super) fn accessed(statement: &Statement) -> Option<Variable> {
    match *statement {
        Statement::Allocate(x) => Some(x),
        ref other => ModelMachine::accessed(other),
    }
}

/// The places that local statements lead to from these, themselves included; they end at
/// operations.
pub(super) fn local(
    code: &[Instruction],
    from: impl IntoIterator<Item = usize>,
) -> BTreeSet<usize> {
    let mut left: Vec<usize> = from.into_iter().collect();
    let mut seen = BTreeSet::new();
    while let Some(place) = left.pop() {
        if !seen.insert(place) {
            continue;
        }
        if let Some(instruction) = code.get(place)
            && !is_operation(instruction)
        {
            left.extend(successors(code, instruction, place));
        }
    }
    seen
}

/// Per place, whether it is an operation that local statements lead to from these places.
pub(super) fn reached(code: &[Instruction], from: impl IntoIterator<Item = usize>) -> Vec<bool> {
    let seen = local(code, from);
    let is_reached = |(place, instruction)| is_operation(instruction) && seen.contains(&place);
    code.iter().enumerate().map(is_reached).collect()
}

/// Per place, the mutexes that a thread surely owns there; none where it never comes. After a call
/// nothing is known.
pub(super) fn owned(code: &[Instruction]) -> Vec<Option<BTreeSet<Mutex>>> {
    let mut owned: Vec<Option<BTreeSet<Mutex>>> = vec![None; code.len() + 1];
    owned[0] = Some(BTreeSet::new());
    let mut changed = true;
    while changed {
        changed = false;
        for (place, instruction) in code.iter().enumerate() {
            let Some(before) = owned[place].clone() else { continue };
            let mut behind = before.clone();
            match *instruction {
                Instruction::Do(Statement::Lock(a) | Statement::Wait(_, a), _) => {
                    behind.insert(a);
                }
                Instruction::Do(Statement::Unlock(a) | Statement::Downgrade(a), _) => {
                    behind.remove(&a);
                }
                _ => {}
            }
            let calls = matches!(instruction, Instruction::Call(_));
            for next in successors(code, instruction, place) {
                let returned = calls && next == place + 1;
                let comes = if returned { BTreeSet::new() } else { behind.clone() };
                let meet = match &owned[next] {
                    None => comes,
                    Some(known) => known.intersection(&comes).copied().collect(),
                };
                if owned[next].as_ref() != Some(&meet) {
                    owned[next] = Some(meet);
                    changed = true;
                }
            }
        }
    }
    owned
}
