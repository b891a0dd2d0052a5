//! Shared objects: fields of types that threads may share, and static variables, with what protects
//! each.
//!
//! The source says what a field holds. What the compiled accesses say counts where its type leaves
//! that open: for what is written through a shared reference or a raw pointer.

use super::Input;
use crate::audit::compiled::Access;
use crate::audit::report::{Class, Object, Place};
use crate::audit::source::{Holds, Lent, Type};
use lockred_protocol::audit::Way;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Accesses by the name of their object.
pub fn by_name<'a>(input: &'a Input<'_>) -> BTreeMap<String, Vec<&'a Access>> {
    let mut by_name: BTreeMap<String, Vec<&Access>> = BTreeMap::new();
    for access in input.compiled.accesses.iter().filter(|access| !access.object.is_empty()) {
        by_name.entry(input.names.object(&access.object)).or_default().push(access);
    }
    by_name
}

/// Whether the function around an access has its value for itself. One of a type that borrows may
/// reach by that what others have, as a guard does.
pub fn is_exclusive(input: &Input<'_>, access: &Access) -> bool {
    if access.way == Way::Exclusive {
        return true;
    }
    let file = input.file(&access.place.file);
    let function = file.and_then(|file| file.function(access.place.at));
    let Some(function) = function.filter(|function| function.exclusive) else { return false };
    let borrows = |of: &Type| Some(&of.name) == function.of.as_ref() && of.borrows;
    !input.source.all(|file| &file.types).any(|(_, of)| borrows(of))
}

/// Whether an access is in unsafe code.
pub fn is_unsafe(input: &Input<'_>, access: &Access) -> bool {
    let place = &access.place;
    input.file(&place.file).is_some_and(|file| file.is_unsafe(place.at))
}

/// All of them.
pub fn of(input: &Input<'_>) -> Vec<Object> {
    let accesses = by_name(input);
    let shareable = input.shareable();
    let mut objects = Vec::new();
    let mut reported = BTreeSet::new();
    for (file, of) in input.source.all(|file| &file.types) {
        let synchronises = of.fields.iter().any(|field| {
            matches!(field.holds, Holds::Atomic | Holds::Lock | Holds::Synchronisation)
        });
        let name = input.names.of_type(of);
        if !synchronises && !shareable.contains(&name) {
            continue;
        }
        for field in of.fields.iter().filter(|field| field.holds != Holds::Phantom) {
            let name = format!("{name}.{}", field.name);
            if !reported.insert(name.clone()) {
                continue;
            }
            let known = accesses.get(name.as_str()).map_or(&[][..], Vec::as_slice);
            let place = input.place(file, of.at);
            objects.push(object(input, name, &field.text, field.holds, known, place));
        }
    }
    for (file, of) in input.source.all(|file| &file.statics) {
        let name = input.names.of_static(of);
        let known = accesses.get(&name).map_or(&[][..], Vec::as_slice);
        let holds = if of.mutable { Holds::Cell } else { of.holds };
        let place = input.place(file, of.at);
        objects.push(object(input, name.clone(), &of.text, holds, known, place));
    }
    objects
}

fn object(
    input: &Input<'_>,
    name: String,
    of: &str,
    holds: Holds,
    accesses: &[&Access],
    place: Place,
) -> Object {
    let writes = accesses.iter().filter(|access| access.write).count();
    let reads = accesses.len() - writes;
    let mut object = Object {
        name,
        of: of.to_owned(),
        class: Class::Shared,
        locks: Vec::new(),
        through: Vec::new(),
        unprotected: Vec::new(),
        reads,
        writes,
        place,
    };
    object.class = match holds {
        Holds::Atomic => Class::Atomic,
        Holds::Lock => Class::Lock,
        Holds::Synchronisation => Class::Synchronisation,
        _ if accesses.is_empty() && holds == Holds::Cell => Class::Unknown,
        _ => match protection(input, accesses, &mut object) {
            // A cell is made to be written through pointers, which have no name.
            Class::ReadOnly | Class::Exclusive if holds == Holds::Cell => Class::Unwritten,
            class => class,
        },
    };
    if object.class == Class::Unknown {
        object.through = through(input, &object.name);
    }
    object
}

/// Methods that give a field to closures.
fn through(input: &Input<'_>, name: &str) -> Vec<String> {
    let Some((of, field)) = name.rsplit_once('.') else { return Vec::new() };
    let is_this = |path: &Path, lent: &Lent| {
        let is_of = |within: &str| input.names.in_file(input.source, within, path) == of;
        lent.field == field && lent.within.as_deref().is_none_or(is_of)
    };
    let lent = input.source.all(|file| &file.lent).filter(|(path, lent)| is_this(path, lent));
    let methods: BTreeSet<String> = lent.map(|(_, lent)| lent.method.clone()).collect();
    methods.into_iter().collect()
}

/// By what accesses are protected.
fn protection(input: &Input<'_>, accesses: &[&Access], object: &mut Object) -> Class {
    if accesses.is_empty() {
        return Class::Shared;
    }
    let shared: Vec<&&Access> =
        accesses.iter().filter(|access| !is_exclusive(input, access)).collect();
    if shared.is_empty() {
        return Class::Exclusive;
    }
    let written = |access: &&&Access| access.write;
    if !shared.iter().any(written) {
        return Class::ReadOnly;
    }
    let mut locks = shared[0].locks.clone();
    shared.iter().for_each(|access| locks.retain(|lock| access.locks.contains(lock)));
    if !locks.is_empty() {
        object.locks = locks.iter().map(|lock| input.names.object(lock)).collect();
        return Class::Locked;
    }
    let is_bare = |access: &&Access| {
        let synchronised = access.acquired || access.write && access.released;
        access.locks.is_empty() && !synchronised
    };
    let bare = shared.into_iter().filter(|access| is_bare(access) && is_unsafe(input, access));
    let bare: BTreeSet<(bool, Place)> =
        bare.map(|access| (!access.write, input.compiled_place(&access.place))).collect();
    let any_write = bare.iter().any(|(read, _)| !read);
    object.unprotected = bare.into_iter().map(|(_, place)| place).collect();
    object.unprotected.dedup();
    if any_write { Class::Unprotected } else { Class::Synchronised }
}
