//! Warnings of atomic variables that publish on one side only.

use super::findings::{finding, owner};
use super::{Input, atomics};
use crate::audit::report::{Audit, Finding, Operation};
use crate::audit::source::Type;
use lockred_protocol::audit::{Kind, Order};
use lockred_protocol::codes::WarningKind;
use std::collections::BTreeSet;

/// What is released and acquired by nobody.
pub fn releases(input: &Input<'_>, audit: &Audit) -> Vec<Finding> {
    let is_fence = |it: &super::orders::Operation<'_>| {
        it.written.kind == Kind::Fence && it.orders.contains(&Order::SeqCst)
    };
    if input.operations.iter().any(is_fence) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for atomic in audit.atomics.iter().filter(|atomic| is_known(input, audit, &atomic.name)) {
        let operations = &atomic.operations;
        let (releasing, others): (Vec<&Operation>, Vec<&Operation>) =
            operations.iter().partition(|it| it.releases);
        let acquires = operations.iter().any(|it| it.acquires);
        let is_read = operations.iter().any(|it| !it.text.starts_with("store"));
        if releasing.is_empty() || acquires || !is_read || is_lent(input, &atomic.name) {
            continue;
        }
        let places = releasing.into_iter().chain(others);
        findings.push(finding(
            input,
            WarningKind::UnpairedAtomic,
            owner(&atomic.name),
            format!("what `{}` releases is acquired by nobody", atomic.name),
            places.map(|it| (it.text.clone(), it.place.clone())).collect(),
            &["readers may miss writes made before the store; if it publishes nothing, use `Relaxed`"],
        ));
    }
    findings
}

/// Pointers that are stored without what they point to.
pub fn pointers(input: &Input<'_>, audit: &Audit) -> Vec<Finding> {
    let mut findings = Vec::new();
    let all = atomics::placed(input);
    let pointers: BTreeSet<&str> = audit
        .objects
        .iter()
        .filter(|object| object.of.contains("AtomicPtr") && is_known(input, audit, &object.name))
        .map(|object| &*object.name)
        .collect();
    for placed in all.iter().filter(|placed| pointers.contains(&*placed.name)) {
        let (file, written) = (placed.it.file, placed.it.written);
        let relaxed = placed.it.orders.iter().all(|order| *order == Order::Relaxed);
        let relaxed = relaxed && written.kind.writes() && !written.stores_null;
        let is_right = atomics::releases(input, placed) || is_prepared(input, placed, &all);
        if !relaxed || is_right || !makes_blocks(input, placed) {
            continue;
        }
        let is_loaded = |other: &&atomics::Placed<'_>| {
            other.name == placed.name
                && other.it.written.kind.reads()
                && other.it.written.at != written.at
        };
        let Some(load) = all.iter().find(is_loaded) else { continue };
        let places = vec![
            (format!("{} Relaxed", written.method), input.place(file, written.at)),
            ("read here".to_owned(), input.place(load.it.file, load.it.written.at)),
        ];
        findings.push(finding(
            input,
            WarningKind::UnpairedAtomic,
            owner(&placed.name),
            format!("`{}` may publish a pointer without what it points to", placed.name),
            places,
            &["who follows the pointer may not see what was written before it was stored: Release, and Acquire at the load, order that"],
        ));
    }
    findings
}

/// Whether a variable is a field, or static, that other crates cannot reach.
fn is_known(input: &Input<'_>, audit: &Audit, name: &str) -> bool {
    let Input { source, names, .. } = input;
    let has_field = |of: &Type| {
        let of_type = names.of_type(of);
        of.fields.iter().any(|f| f.public && format!("{of_type}.{}", f.name) == name)
    };
    let is_public = source.all(|file| &file.types).any(|(_, of)| has_field(of))
        || source.all(|file| &file.statics).any(|(_, of)| of.public && names.of_static(of) == name);
    !is_public && audit.objects.iter().any(|object| object.name == name)
}

/// Whether a reference to a variable is taken somewhere: operations by that have no name.
fn is_lent(input: &Input<'_>, name: &str) -> bool {
    let field = name.rsplit('.').next().unwrap_or(name);
    let is_taken = |line: &String| {
        let code = line.split("//").next().unwrap_or_default();
        code.match_indices(field).any(|(at, _)| {
            let (before, behind) = (&code[..at], &code[at + field.len()..]);
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let whole = !before.ends_with(is_word) && !behind.starts_with(is_word);
            let used_at_once = behind.trim_start().starts_with(['.', ':']) || behind.is_empty();
            whole && !used_at_once && before.contains('&')
        })
    };
    input.source.files.values().any(|file| file.lines.iter().any(is_taken))
}

/// Whether the function around an operation makes a block of memory: what it writes there is what
/// others may not see.
fn makes_blocks(input: &Input<'_>, placed: &atomics::Placed<'_>) -> bool {
    const MAKES: &[&str] = &["into_raw", "Box::leak", "alloc(", "alloc_zeroed("];
    let Some(file) = input.file(placed.it.file) else { return false };
    let Some(function) = file.function(placed.it.written.at) else { return false };
    (function.span.0.line..=function.span.1.line)
        .any(|line| MAKES.iter().any(|makes| file.line(line).contains(makes)))
}

/// Whether what is written is published later, or by who has the value for itself.
fn is_prepared(
    input: &Input<'_>,
    placed: &atomics::Placed<'_>,
    all: &[atomics::Placed<'_>],
) -> bool {
    let file = input.file(placed.it.file);
    let Some(function) = file.and_then(|file| file.function(placed.it.written.at)) else {
        return false;
    };
    let later = all.iter().any(|other| {
        other.it.file == placed.it.file
            && other.it.written.at > placed.it.written.at
            && other.it.written.at < function.span.1
            && atomics::releases(input, other)
    });
    later || function.exclusive
}
