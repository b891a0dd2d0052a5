//! Warnings: what an audit thinks somebody should look at. Each is silent where something in sight makes it right.

use super::objects::{by_name, is_exclusive, is_unsafe};
use super::{Input, atomics, order};
use crate::audit::compiled::Access;
use crate::audit::report::{Across, Audit, Finding, Held, Place};
use crate::audit::source::Use;
use crate::fingerprint::Fingerprint;
use lockred_trace::audit::{Kind, Order};
use lockred_trace::codes::WarningKind;
use std::collections::{BTreeMap, BTreeSet};

/// All of them, most dangerous first.
pub fn of(input: &Input<'_>, audit: &Audit) -> Vec<Finding> {
    let mut findings = unprotected(input);
    findings.extend(unbounded(input, audit));
    findings.extend(circles(input, audit));
    findings.extend(unpaired(input, audit));
    findings.extend(held(input, audit));
    let rank = |finding: &Finding| {
        let order = [
            WarningKind::UnprotectedWrite,
            WarningKind::UnboundedImpl,
            WarningKind::LockOrder,
            WarningKind::UnpairedAtomic,
            WarningKind::LockAcrossAwait,
            WarningKind::LockAcrossThread,
        ];
        order.iter().position(|kind| *kind == finding.kind).unwrap_or(order.len())
    };
    findings
        .sort_by_key(|finding| (rank(finding), finding.subject.clone(), finding.places.clone()));
    findings
}

fn finding(
    input: &Input<'_>,
    kind: WarningKind,
    subject: &str,
    message: String,
    places: Vec<(String, Place)>,
    notes: &[&str],
) -> Finding {
    let mut hash = Fingerprint::new().add(kind.code()).add(subject);
    for (_, place) in &places {
        hash = hash.add(&place.function).add(input.line(place));
    }
    Finding {
        kind,
        code: kind.code(),
        subject: subject.to_owned(),
        message,
        places,
        notes: notes.iter().map(|&note| note.to_owned()).collect(),
        fingerprint: hash.hex(),
        known: false,
        denied: false,
    }
}

fn owner(object: &str) -> &str {
    object.split('.').next().unwrap_or(object)
}

/// Writes in unsafe code, to what threads may share, with nothing in sight that orders them.
fn unprotected(input: &Input<'_>) -> Vec<Finding> {
    let shareable = input.shareable();
    let statics: BTreeSet<String> =
        input.source.all(|file| &file.statics).map(|(_, of)| input.names.of_static(of)).collect();
    let mut findings = Vec::new();
    for (object, accesses) in by_name(input) {
        if !shareable.contains(owner(&object)) && !statics.contains(&object) {
            continue;
        }
        let is_told = |access: &&&Access| {
            let file = input.file(&access.place.file);
            let function = file.and_then(|file| file.function(access.place.at));
            let promised = function.is_some_and(|function| function.is_unsafe);
            access.write
                && access.whole
                && access.locks.is_empty()
                && !access.acquired
                && !access.released
                && !promised
                && is_unsafe(input, access)
                && !is_exclusive(input, access)
        };
        let mut by_function: BTreeMap<String, Vec<Place>> = BTreeMap::new();
        for access in accesses.iter().filter(is_told) {
            let place = input.compiled_place(&access.place);
            by_function.entry(place.function.clone()).or_default().push(place);
        }
        for (function, places) in by_function {
            let label = "written here".to_owned();
            let places = places.into_iter().map(|place| (label.clone(), place)).collect();
            findings.push(finding(
                input,
                WarningKind::UnprotectedWrite,
                owner(&object),
                format!("`{object}` may be written by several threads at once: nothing in {function} orders that"),
                places,
                &["no lock is held, and no atomic operation is around it or its calls; who calls from outside may still see to that"],
            ));
        }
    }
    findings
}

/// Implementations that ask nothing of a parameter whose values the type holds.
fn unbounded(input: &Input<'_>, audit: &Audit) -> Vec<Finding> {
    let mut findings = Vec::new();
    for it in &audit.impls {
        let told: Vec<&String> =
            it.unbounded.iter().filter(|name| holds(input, &it.of, name)).collect();
        if told.is_empty() {
            continue;
        }
        let names: Vec<String> = told.iter().map(|name| format!("`{name}`")).collect();
        let names = names.join(", ");
        findings.push(finding(
            input,
            WarningKind::UnboundedImpl,
            &it.of,
            format!("`{}` is {} whatever {names} is, and may hold it", it.of, it.name),
            vec![(format!("nothing is asked of {names}"), it.place.clone())],
            &["a value that must stay in its thread, as an Rc, may get to another one by it"],
        ));
    }
    findings
}

/// Whether values of a type may hold one of a parameter; those of a type that is not known may.
fn holds(input: &Input<'_>, of: &str, parameter: &str) -> bool {
    let declared = input.source.all(|file| &file.types);
    let Some((_, of)) = declared.into_iter().find(|(_, it)| input.names.of_type(it) == of) else {
        return true;
    };
    let uses: Vec<&Use> = of.fields.iter().flat_map(|field| &field.uses).collect();
    has(input, &uses, parameter, &mut BTreeSet::new())
}

/// Whether one of these uses of a parameter is of its values. `seen`: types, and which of their parameters, that are looked at already.
fn has<'a>(
    input: &'a Input<'_>,
    uses: &[&'a Use],
    parameter: &str,
    seen: &mut BTreeSet<(&'a str, usize)>,
) -> bool {
    uses.iter().filter(|(name, _)| name == parameter).any(|(_, inside)| {
        let Some((around, number)) = inside else { return true };
        if around == "PhantomData" || !seen.insert((around, *number)) {
            return false;
        }
        let types = input.source.all(|file| &file.types).filter(|(_, it)| it.name == *around);
        let types = types.map(|(_, it)| {
            let uses = it.fields.iter().flat_map(|field| &field.uses).collect();
            (it.parameters.get(*number), uses)
        });
        let aliases = input.source.all(|file| &file.aliases).filter(|(_, it)| it.0 == *around);
        let aliases = aliases.map(|(_, it)| (it.1.get(*number), it.2.iter().collect()));
        let known: Vec<(Option<&String>, Vec<&Use>)> = types.chain(aliases).collect();
        known.is_empty()
            || known
                .iter()
                .any(|(inner, uses)| inner.is_some_and(|inner| has(input, uses, inner, seen)))
    })
}

fn circles(input: &Input<'_>, audit: &Audit) -> Vec<Finding> {
    let mut findings = Vec::new();
    for circle in order::circles(&audit.edges) {
        let mut places = Vec::new();
        for edge in &circle {
            let Some((held, wanted)) = edge.sites.first() else { continue };
            places.push((format!("`{}` is acquired here", edge.held), held.clone()));
            places.push((format!("`{}` under it", edge.wanted), wanted.clone()));
        }
        // The place that counts is where somebody would wait.
        if places.len() > 1 {
            places.swap(0, 1);
        }
        let edges: Vec<String> =
            circle.iter().map(|edge| format!("`{}` under `{}`", edge.wanted, edge.held)).collect();
        findings.push(finding(
            input,
            WarningKind::LockOrder,
            owner(&circle[0].held),
            format!("locks may be acquired in a circle: {}", edges.join(", ")),
            places,
            &["threads deadlock if they are the same locks, and nothing else keeps the threads apart"],
        ));
    }
    findings
}

/// Variables that publish on one side only.
fn unpaired(input: &Input<'_>, audit: &Audit) -> Vec<Finding> {
    let mut findings = Vec::new();
    let strong = input.source.all(|file| &file.atomics);
    let fenced =
        strong.into_iter().any(|(_, it)| it.kind == Kind::Fence && it.order == Order::SeqCst);
    let all = atomics::placed(input);
    let is_public = |name: &str| {
        let field = |(_, of): (_, &crate::audit::source::Type)| {
            let of_type = input.names.of_type(of);
            of.fields.iter().any(|f| f.public && format!("{of_type}.{}", f.name) == name)
        };
        input.source.all(|file| &file.types).any(field)
            || input
                .source
                .all(|file| &file.statics)
                .any(|(_, of)| of.public && input.names.of_static(of) == name)
    };
    let is_known = |name: &str| {
        let object = audit.objects.iter().any(|object| object.name == name);
        object && !is_public(name)
    };
    for atomic in audit.atomics.iter().filter(|atomic| is_known(&atomic.name)) {
        let operations = &atomic.operations;
        let releases: Vec<_> = operations.iter().filter(|it| it.releases).collect();
        let acquires = operations.iter().any(|it| it.acquires);
        let is_read = operations.iter().any(|it| !it.text.starts_with("store"));
        let is_lent = is_lent(input, &atomic.name);
        if !releases.is_empty() && !acquires && is_read && !fenced && !is_lent {
            let label = |it: &&crate::audit::report::Operation| (it.text.clone(), it.place.clone());
            let mut places: Vec<(String, Place)> = releases.iter().map(label).collect();
            let reads = operations.iter().filter(|it| !it.releases);
            places.extend(reads.map(|it| label(&it)));
            findings.push(finding(
                input,
                WarningKind::UnpairedAtomic,
                owner(&atomic.name),
                format!("what `{}` releases is acquired by nobody", atomic.name),
                places,
                &["who reads it may not see what was written before; if nothing is published, Relaxed says so"],
            ));
        }
    }
    let pointers: BTreeSet<&str> = audit
        .objects
        .iter()
        .filter(|object| object.of.contains("AtomicPtr") && is_known(&object.name))
        .map(|object| &*object.name)
        .collect();
    for placed in all.iter().filter(|placed| pointers.contains(&*placed.name)) {
        let written = placed.written;
        let relaxed =
            written.kind.writes() && written.order == Order::Relaxed && !written.stores_null;
        let is_right = atomics::releases(input, placed) || is_prepared(input, placed, &all);
        if !relaxed || is_right || !makes_blocks(input, placed) {
            continue;
        }
        let is_loaded = |other: &&atomics::Placed<'_>| {
            other.name == placed.name
                && other.written.kind.reads()
                && other.written.at != written.at
        };
        let Some(load) = all.iter().find(is_loaded) else { continue };
        let places = vec![
            (format!("{} Relaxed", written.method), input.place(placed.file, written.at)),
            ("read here".to_owned(), input.place(load.file, load.written.at)),
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

/// Whether the function around an operation makes a block of memory: what it writes there is what others may not see.
fn makes_blocks(input: &Input<'_>, placed: &atomics::Placed<'_>) -> bool {
    const MAKES: &[&str] = &["into_raw", "Box::leak", "alloc(", "alloc_zeroed("];
    let Some(file) = input.file(placed.file) else { return false };
    let Some(function) = file.function(placed.written.at) else { return false };
    (function.span.0.line..=function.span.1.line)
        .any(|line| MAKES.iter().any(|makes| file.line(line).contains(makes)))
}

/// Whether what is written is published later, or by who has the value for itself.
fn is_prepared(
    input: &Input<'_>,
    placed: &atomics::Placed<'_>,
    all: &[atomics::Placed<'_>],
) -> bool {
    let file = input.file(placed.file);
    let Some(function) = file.and_then(|file| file.function(placed.written.at)) else {
        return false;
    };
    let later = all.iter().any(|other| {
        other.file == placed.file
            && other.written.at > placed.written.at
            && other.written.at < function.span.1
            && atomics::releases(input, other)
    });
    later || function.exclusive
}

/// Locks across calls that wait.
fn held(input: &Input<'_>, audit: &Audit) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Held { across, lock, what, place, acquired, behind } in &audit.held {
        let (kind, message) = match across {
            Across::Call => continue,
            Across::Await => {
                (WarningKind::LockAcrossAwait, format!("{lock} is alive across .await"))
            }
            Across::Spawn => (
                WarningKind::LockAcrossThread,
                format!("a thread may be started while `{lock}` is held: {what}"),
            ),
            Across::Join => (
                WarningKind::LockAcrossThread,
                format!("a thread may be waited for while `{lock}` is held: {what}"),
            ),
            Across::Blocking => (
                WarningKind::BlockingUnderLock,
                format!("`{lock}` may be held during a call that waits: {what}"),
            ),
        };
        let mut places = vec![
            ("called here".to_owned(), place.clone()),
            ("the lock is acquired here".to_owned(), acquired.clone()),
        ];
        if *across == Across::Await {
            places[0].0 = "waits here".to_owned();
        }
        places.extend(behind.iter().map(|place| ("which leads here".to_owned(), place.clone())));
        let note = match across {
            Across::Await => {
                "another task of the same thread that wants the lock blocks the thread for ever"
            }
            Across::Spawn => "a thread that wants the lock has to wait for who has started it",
            Across::Join => "a deadlock, if that thread wants the lock",
            _ => "who wants the lock waits as long",
        };
        // A method is told with its type.
        let subject = place.function.split("::").next().unwrap_or(&place.function);
        findings.push(finding(input, kind, subject, message, places, &[note]));
    }
    findings
}
