//! Locks across calls: what is called while one is held, also by functions of the package that are
//! called then, and across `.await`.

use super::Input;
use crate::audit::calls::{self, Does};
use crate::audit::compiled::Call;
use crate::audit::report::{Across, Held, Place};
use std::collections::{BTreeMap, BTreeSet};

/// What a function does in the end: what is called, and where.
type Ends<'a> = BTreeMap<Does, (&'a str, &'a Call)>;

/// All of them.
pub fn of(input: &Input<'_>) -> Vec<Held> {
    let mut by_caller: BTreeMap<&str, Vec<&Call>> = BTreeMap::new();
    for call in &input.compiled.calls {
        by_caller.entry(&call.from).or_default().push(call);
    }
    let mut found = BTreeSet::new();
    // Which of the locks a closure gives back is not seen: with one lock, it is that.
    let is_given_back = |call: &Call| {
        let file = input.file(&call.place.file);
        let by_closure = file.is_some_and(|file| file.given_back.contains(&call.place.at.line));
        by_closure && call.held.len() < 2
    };
    let holds = |call: &&Call| !call.held.is_empty() && !is_given_back(call);
    for call in input.compiled.calls.iter().filter(holds) {
        let ends = match &call.to {
            Some(to) => ends(&by_caller, to),
            None => own(call).into_iter().collect(),
        };
        for (does, (what, end)) in ends {
            let across = match does {
                Does::Spawn => Across::Spawn,
                Does::Join => Across::Join,
                Does::Blocks => Across::Blocking,
                // So it is with what it gives back.
                Does::Waits if call.held.len() < 2 => continue,
                Does::Waits => Across::Blocking,
                Does::Leaves => Across::Call,
            };
            let lock = call
                .held
                .iter()
                .map(|held| input.names.object(&held.lock))
                .collect::<Vec<_>>()
                .join(", ");
            found.insert(Held {
                across,
                lock,
                what: what.to_owned(),
                place: input.compiled_place(&call.place),
                acquired: input.compiled_place(&call.held[0].place),
                behind: (end != call).then(|| input.compiled_place(&end.place)),
            });
        }
    }
    for (file, awaited) in input.source.all(|file| &file.awaited) {
        if input.are_compiled_out(file, (awaited.acquired, awaited.at)) {
            continue;
        }
        let place = |at| Place { function: awaited.function.clone(), ..input.place(file, at) };
        found.insert(Held {
            across: Across::Await,
            lock: format!("the guard `{}`", awaited.guard),
            what: ".await".to_owned(),
            place: place(awaited.at),
            acquired: place(awaited.acquired),
            behind: None,
        });
    }
    found.into_iter().collect()
}

/// What a call does by itself.
fn own(call: &Call) -> Option<(Does, (&str, &Call))> {
    let does = match call.callee.as_str() {
        "" => Some(Does::Leaves),
        callee => calls::does(callee),
    };
    let what = if call.callee.is_empty() { "what a pointer points to" } else { &call.callee };
    Some((does?, (what, call)))
}

/// What a function of the package does in the end. What it waits for with its own lock is its own
/// affair.
fn ends<'a>(by_caller: &BTreeMap<&str, Vec<&'a Call>>, from: &str) -> Ends<'a> {
    let mut ends = Ends::new();
    let mut seen = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(function) = open.pop() {
        for &call in by_caller.get(function).into_iter().flatten() {
            match &call.to {
                Some(to) => {
                    if seen.insert(to) {
                        open.push(to);
                    }
                }
                None => {
                    if let Some((does, end)) = own(call)
                        && does != Does::Waits
                    {
                        ends.entry(does).or_insert(end);
                    }
                }
            }
        }
    }
    ends
}
