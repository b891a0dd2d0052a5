//! Atomic variables, with all operations on each and the pairs that synchronise.
//!
//! The source has the operations, also of code that is not compiled. On what each is, the compiled
//! code says, if it has the same line; else the name of the field does, where one type alone has
//! such a field.

use super::Input;
use super::orders;
use crate::audit::report::{Atomic, Operation};
use crate::audit::source::Holds;
use lockred_protocol::audit::{Kind, Order};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// An operation, with the function that it is in.
pub struct Placed<'a> {
    pub it: &'a orders::Operation<'a>,
    pub name: String,
}

/// All operations but fences, with the names of their variables.
pub fn placed<'a>(input: &'a Input<'_>) -> Vec<Placed<'a>> {
    let mut by_line: BTreeMap<(&Path, u32, Kind), BTreeSet<&str>> = BTreeMap::new();
    let compiled = input.compiled.atomics.values().flatten();
    for atomic in compiled.filter(|atomic| !atomic.object.is_empty()) {
        let key = (&*atomic.place.file, atomic.place.at.line, atomic.kind);
        by_line.entry(key).or_default().insert(&atomic.object);
    }
    let mut owners: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (_, of) in input.source.all(|file| &file.types) {
        for field in of.fields.iter().filter(|field| field.holds == Holds::Atomic) {
            owners.entry(&field.name).or_default().insert(input.names.of_type(of));
        }
    }
    let statics: BTreeMap<&str, String> = input
        .source
        .all(|file| &file.statics)
        .map(|(_, of)| (&*of.name, input.names.of_static(of)))
        .collect();
    let name = |file: &Path, written: &crate::audit::source::Operation| {
        let compiled = by_line.get(&(file, written.at.line, written.kind));
        if let Some(names) = compiled.filter(|names| names.len() == 1) {
            return names.iter().map(|name| input.names.object(name)).collect();
        }
        if let Some(name) = statics.get(&*written.on).filter(|_| !written.is_field) {
            return name.clone();
        }
        let within = written.within.as_deref().filter(|_| written.of_self);
        let within = within.map(|of| input.names.in_file(input.source, of, file));
        if let Some(owners) = owners.get(&*written.on).filter(|_| written.is_field) {
            let own = within.filter(|of| owners.contains(of));
            let only = owners.iter().next().cloned().filter(|_| owners.len() == 1);
            return match own.or(only) {
                Some(owner) => format!("{owner}.{}", written.on),
                None => format!("{} (of several types)", written.on),
            };
        }
        let function = input.file(file).and_then(|file| file.function(written.at));
        let function = function.map_or("", |function| &*function.name);
        match written.on.as_str() {
            "" => format!("a value in {function}"),
            on => format!("{on} in {function}"),
        }
    };
    let all = input.operations.iter().filter(|it| it.written.kind != Kind::Fence);
    all.map(|it| Placed { it, name: name(it.file, it.written) }).collect()
}

/// Whether the function around a place has a fence that does something, on the side where it
/// counts: before a write, after a read.
fn is_fenced(
    input: &Input<'_>,
    placed: &Placed<'_>,
    does: fn(Order) -> bool,
    before: bool,
) -> bool {
    let (path, at) = (placed.it.file, placed.it.written.at);
    let Some(function) = input.file(path).and_then(|file| file.function(at)) else { return false };
    input.operations.iter().filter(|other| other.file == path).any(|other| {
        other.written.kind == Kind::Fence
            && other.orders.iter().copied().any(does)
            && (other.written.at < at) == before
            && function.span.0 <= other.written.at
            && other.written.at < function.span.1
    })
}

/// Whether an operation shows what happened before it.
pub fn releases(input: &Input<'_>, placed: &Placed<'_>) -> bool {
    let it = placed.it;
    it.written.kind.writes()
        && (it.orders.iter().any(|order| order.releases())
            || is_fenced(input, placed, Order::releases, true))
}

/// Whether an operation sees what happened before what it reads.
pub fn acquires(input: &Input<'_>, placed: &Placed<'_>) -> bool {
    let it = placed.it;
    it.written.kind.reads()
        && (it.orders.iter().chain(&it.failures).any(|order| order.acquires())
            || is_fenced(input, placed, Order::acquires, false))
}

/// All atomic variables.
pub fn of(input: &Input<'_>) -> Vec<Atomic> {
    let mut by_name: BTreeMap<String, Vec<Operation>> = BTreeMap::new();
    for placed in placed(input) {
        let operation = Operation {
            text: placed.it.text(),
            releases: releases(input, &placed),
            acquires: acquires(input, &placed),
            place: input.place(placed.it.file, placed.it.written.at),
        };
        by_name.entry(placed.name).or_default().push(operation);
    }
    let atomic = |(name, mut operations): (String, Vec<Operation>)| {
        operations.sort_by(|a, b| a.place.cmp(&b.place));
        let mut pairs = Vec::new();
        for (release, _) in operations.iter().enumerate().filter(|(_, it)| it.releases) {
            let acquires = operations.iter().enumerate().filter(|(_, it)| it.acquires);
            pairs.extend(acquires.map(|(acquire, _)| (release, acquire)));
        }
        Atomic { name, operations, pairs }
    };
    by_name.into_iter().map(atomic).collect()
}
