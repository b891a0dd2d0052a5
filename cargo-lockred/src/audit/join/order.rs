//! The order of locks, by type and field, and cycles in it.

use super::Input;
use crate::audit::compiled::Nested;
use crate::audit::report::{Edge, Place};
use std::collections::{BTreeMap, BTreeSet};

/// All edges.
pub fn edges(input: &Input<'_>) -> Vec<Edge> {
    let mut found: BTreeMap<(String, String), BTreeMap<(Place, Place), Nested>> = BTreeMap::new();
    for ((held, wanted), nested) in &input.compiled.nested {
        let sites = (input.compiled_place(&held.place), input.compiled_place(&wanted.place));
        let names = (input.names.object(&held.lock), input.names.object(&wanted.lock));
        found.entry(names).or_default().insert(sites, *nested);
    }
    let edge = |((held, wanted), sites): ((String, String), BTreeMap<(Place, Place), Nested>)| {
        let alike = sites.iter().filter(|(_, nested)| nested.alike && held == wanted);
        let alike = alike.map(|(sites, _)| sites.clone()).collect();
        let sure = sites.values().any(|nested| nested.sure);
        Edge { held, wanted, sites: sites.into_keys().collect(), sure, alike }
    };
    found.into_iter().map(edge).collect()
}

/// Whether a lock is known by its field or variable.
pub fn is_named(lock: &str) -> bool {
    !lock.contains('<') && lock != "a lock"
}

/// Cycles of two and more locks: the edges of each. One lock that is always held around a cycle
/// keeps threads apart.
pub fn cycles(edges: &[Edge]) -> Vec<Vec<&Edge>> {
    let edges: Vec<&Edge> = edges
        .iter()
        .filter(|edge| edge.held != edge.wanted && is_named(&edge.held) && is_named(&edge.wanted))
        .collect();
    let reaches = |from: &str, to: &str| {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            if at == to {
                return true;
            }
            if seen.insert(at) {
                open.extend(edges.iter().filter(|e| e.held == at).map(|e| e.wanted.as_str()));
            }
        }
        false
    };
    let on_cycle: Vec<&Edge> =
        edges.iter().copied().filter(|edge| reaches(&edge.wanted, &edge.held)).collect();
    let mut cycles: Vec<Vec<&Edge>> = Vec::new();
    for edge in on_cycle {
        let same = |cycle: &&mut Vec<&Edge>| {
            reaches(&cycle[0].held, &edge.held) && reaches(&edge.held, &cycle[0].held)
        };
        match cycles.iter_mut().find(same) {
            Some(cycle) => cycle.push(edge),
            None => cycles.push(vec![edge]),
        }
    }
    cycles.retain(|cycle| gates(cycle, &edges).is_empty());
    cycles
}

/// Locks that are held wherever an edge of a cycle is gone along.
fn gates<'a>(cycle: &[&Edge], edges: &[&'a Edge]) -> BTreeSet<&'a str> {
    let on = |lock: &str| cycle.iter().any(|edge| edge.held == lock || edge.wanted == lock);
    let mut common: Option<BTreeSet<&str>> = None;
    for (_, wanted) in cycle.iter().flat_map(|edge| &edge.sites) {
        let others = edges.iter().filter(|edge| !on(&edge.held));
        let here = others.filter(|edge| edge.sites.iter().any(|(_, at)| at == wanted));
        let here: BTreeSet<&str> = here.map(|edge| &*edge.held).collect();
        common = Some(match common {
            None => here,
            Some(common) => common.intersection(&here).copied().collect(),
        });
    }
    common.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(of: &[(&str, &str, u32)]) -> Vec<Edge> {
        let place = |line| Place { line, ..Place::default() };
        let edge = |&(held, wanted, line): &(&str, &str, u32)| Edge {
            held: held.into(),
            wanted: wanted.into(),
            sites: vec![(place(0), place(line))],
            sure: true,
            alike: Vec::new(),
        };
        of.iter().map(edge).collect()
    }

    #[test]
    fn cycles_are_found_unless_a_lock_keeps_threads_apart() {
        let count = |of: &[(&str, &str, u32)]| cycles(&edges(of)).len();
        assert_eq!(count(&[("a", "b", 1), ("b", "a", 2)]), 1);
        assert_eq!(count(&[("a", "b", 1), ("b", "c", 2)]), 0);
        assert_eq!(count(&[("a", "b", 1), ("b", "c", 2), ("c", "a", 3)]), 1);
        let gated = [("a", "b", 1), ("b", "a", 2), ("g", "b", 1), ("g", "a", 2)];
        assert_eq!(count(&gated), 0);
        assert_eq!(count(&gated[..3]), 1);
        assert_eq!(count(&[("a", "a", 1)]), 0);
        assert_eq!(count(&[("Mutex<u8>", "b", 1), ("b", "Mutex<u8>", 2)]), 0);
    }
}
