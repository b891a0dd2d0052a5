//! Warnings: what an audit thinks somebody should look at. Each is silent where something in sight
//! makes it right.

use super::{Input, order, unpaired, unprotected};
use crate::audit::report::{Across, Audit, Finding, Held, Place};
use crate::audit::source::Use;
use crate::fingerprint::Fingerprint;
use lockred_protocol::codes::WarningKind;
use std::collections::BTreeSet;

/// All of them, most dangerous first.
pub fn of(input: &Input<'_>, audit: &Audit) -> Vec<Finding> {
    let mut findings = unprotected::findings(input);
    findings.extend(unbounded(input, audit));
    findings.extend(cycles(input, audit));
    findings.extend(unpaired::releases(input, audit));
    findings.extend(unpaired::pointers(input, audit));
    findings.extend(held(input, audit));
    let rank = |finding: &Finding| {
        let order = [
            WarningKind::UnprotectedWrite,
            WarningKind::UnlockedRead,
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

/// A warning. Of its places, the first is the one that counts.
pub fn finding(
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

/// The type of a field; of a static variable, its name.
pub fn owner(object: &str) -> &str {
    object.split('.').next().unwrap_or(object)
}

/// Implementations that ask nothing of a parameter whose values the type holds.
fn unbounded(input: &Input<'_>, audit: &Audit) -> Vec<Finding> {
    let mut findings = Vec::new();
    for it in &audit.impls {
        let reported: Vec<&String> =
            it.unbounded.iter().filter(|name| holds(input, &it.of, name)).collect();
        if reported.is_empty() {
            continue;
        }
        let names: Vec<String> = reported.iter().map(|name| format!("`{name}`")).collect();
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

/// Whether one of these uses of a parameter is of its values. `seen`: types, and which of their
/// parameters, that are looked at already.
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

/// Of all cycles.
const SAME: &str =
    "threads deadlock if they are the same locks, and nothing else keeps the threads apart";
/// Of those that are not certain.
const MAY: &str = "some of the locks that are held then may be held, for all that is known";

fn cycles(input: &Input<'_>, audit: &Audit) -> Vec<Finding> {
    let mut findings = Vec::new();
    for cycle in order::cycles(&audit.edges) {
        let mut places = Vec::new();
        for edge in &cycle {
            let Some((held, wanted)) = edge.sites.first() else { continue };
            places.push((format!("`{}` is acquired here", edge.held), held.clone()));
            places.push((format!("`{}` under it", edge.wanted), wanted.clone()));
        }
        // The place that counts is where somebody would wait.
        if places.len() > 1 {
            places.swap(0, 1);
        }
        let edges: Vec<String> =
            cycle.iter().map(|edge| format!("`{}` under `{}`", edge.wanted, edge.held)).collect();
        findings.push(finding(
            input,
            WarningKind::LockOrder,
            owner(&cycle[0].held),
            format!("locks may be acquired in a cycle: {}", edges.join(", ")),
            places,
            match cycle.iter().all(|edge| edge.sure) {
                true => &[SAME],
                false => &[SAME, MAY],
            },
        ));
    }
    for edge in audit.edges.iter().filter(|edge| order::is_named(&edge.held)) {
        let Some((held, wanted)) = edge.alike.first() else { continue };
        findings.push(finding(
            input,
            WarningKind::LockOrder,
            owner(&edge.held),
            format!(
                "two instances of `{}` may be locked in either order (or be the same lock)",
                edge.held
            ),
            vec![
                ("one is acquired here".to_owned(), wanted.clone()),
                ("under one that is acquired here".to_owned(), held.clone()),
            ],
            &["threads deadlock unless all of them lock the instances in one order"],
        ));
    }
    findings
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
        // A method is reported with its type.
        let subject = place.function.split("::").next().unwrap_or(&place.function);
        findings.push(finding(input, kind, subject, message, places, &[note]));
    }
    findings
}
