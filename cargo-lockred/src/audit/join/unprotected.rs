//! Warnings of accesses in unsafe code, to what threads may share, with nothing in sight that
//! orders them.

use super::Input;
use super::findings::{finding, owner};
use super::objects::{by_name, is_exclusive, is_unsafe};
use super::order::is_named;
use crate::audit::compiled::Access;
use crate::audit::report::{Finding, Place};
use lockred_protocol::codes::WarningKind;
use std::collections::{BTreeMap, BTreeSet};

/// All of them: first writes, then reads.
pub fn findings(input: &Input<'_>) -> Vec<Finding> {
    let shared = shared(input);
    let mut findings = writes(input, &shared);
    findings.extend(reads(input, &shared));
    findings
}

/// Objects, and accesses to them.
type Shared<'a> = Vec<(String, Vec<&'a Access>)>;

/// Writes that nothing orders.
fn writes(input: &Input<'_>, shared: &Shared<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (object, accesses) in shared {
        let bare = accesses.iter().copied().filter(|access| {
            access.write && !access.acquired && !access.released && is_bare(input, access)
        });
        for (function, places) in by_function(input, bare) {
            findings.push(finding(
                input,
                WarningKind::UnprotectedWrite,
                owner(object),
                format!("`{object}` may be written by several threads at once: nothing in {function} orders that"),
                labelled("written here", places),
                &["no lock is held, and no atomic operation is around it or its calls; who calls from outside may still see to that"],
            ));
        }
    }
    findings
}

/// Reads that nothing orders, of what is otherwise accessed under a lock, and written there.
fn reads(input: &Input<'_>, shared: &Shared<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (object, accesses) in shared {
        let (bare, others): (Vec<&Access>, Vec<&Access>) = accesses
            .iter()
            .partition(|access| !access.write && !access.acquired && is_bare(input, access));
        let Some(lock) = common_lock(&others) else { continue };
        let lock = input.names.object(lock);
        let writes = others.iter().filter(|access| access.write);
        let writes: BTreeSet<Place> =
            writes.map(|access| input.compiled_place(&access.place)).collect();
        if writes.is_empty() {
            continue;
        }
        for (function, places) in by_function(input, bare) {
            let mut places = labelled("read here", places);
            places.extend(labelled("written under the lock", writes.iter().cloned()));
            findings.push(finding(
                input,
                WarningKind::UnlockedRead,
                owner(object),
                format!("`{object}` may be read while another thread writes it: {function} does not hold `{lock}`, as all other accesses do"),
                places,
                &["no atomic operation that acquires is before it or around its calls; who calls from outside may still see to that"],
            ));
        }
    }
    findings
}

/// The accesses of each object that threads may share, without those of who has it for itself.
fn shared<'a>(input: &'a Input<'_>) -> Shared<'a> {
    let shareable = input.shareable();
    let statics: BTreeSet<String> =
        input.source.all(|file| &file.statics).map(|(_, of)| input.names.of_static(of)).collect();
    let is_shared = |object: &str| shareable.contains(owner(object)) || statics.contains(object);
    let objects = by_name(input).into_iter().filter(|(object, _)| is_shared(object));
    let shared = objects.map(|(object, mut accesses)| {
        accesses.retain(|access| !is_exclusive(input, access));
        (object, accesses)
    });
    shared.collect()
}

/// Whether no lock is held at an access, in unsafe code of a function that promises its callers to
/// be safe.
fn is_bare(input: &Input<'_>, access: &Access) -> bool {
    let file = input.file(&access.place.file);
    let function = file.and_then(|file| file.function(access.place.at));
    let promised = function.is_some_and(|function| function.is_unsafe);
    access.whole && access.locks.is_empty() && !promised && is_unsafe(input, access)
}

/// A lock with a name that all of these hold.
fn common_lock<'a>(accesses: &[&'a Access]) -> Option<&'a str> {
    let (first, rest) = accesses.split_first()?;
    let held_by_all = |lock: &&String| rest.iter().all(|access| access.locks.contains(*lock));
    first.locks.iter().filter(held_by_all).map(String::as_str).find(|lock| is_named(lock))
}

/// Places of accesses, by the function that they are in.
fn by_function<'a>(
    input: &Input<'_>,
    accesses: impl IntoIterator<Item = &'a Access>,
) -> BTreeMap<String, BTreeSet<Place>> {
    let mut by_function: BTreeMap<String, BTreeSet<Place>> = BTreeMap::new();
    for access in accesses {
        let place = input.compiled_place(&access.place);
        by_function.entry(place.function.clone()).or_default().insert(place);
    }
    by_function
}

fn labelled(label: &str, places: impl IntoIterator<Item = Place>) -> Vec<(String, Place)> {
    places.into_iter().map(|place| (label.to_owned(), place)).collect()
}
