//! The runtime's state is had by one at a time (`runtime/src/machine/hook.rs`).

use crate::source::{Function, calls, files, functions};
use std::collections::BTreeSet;

const RUNTIME: &str = "runtime/src";

/// What takes the state, all in the module `hook`.
const ENTRIES: [&str; 3] = ["enter", "enter_if_ready", "with"];

#[test]
fn nobody_but_its_entry_hands_out_the_state() {
    let mut hook = false;
    for file in files(RUNTIME) {
        let name = file.module.join("::");
        for line in file.code.lines() {
            assert!(!line.contains("'static mut State"), "{name}: {line}");
        }
        let has = ["AtomicPtr<State>", "*mut State", "NonNull<State>"];
        if file.module.last().is_some_and(|last| last == "hook") {
            hook = has.iter().any(|pointer| file.code.contains(pointer));
        } else {
            assert!(!has.iter().any(|pointer| file.code.contains(pointer)), "{name}");
        }
    }
    assert!(hook, "the entry was looked at");
}

/// Whether who calls a function has the state, and lends it.
fn is_lent(function: &Function) -> bool {
    ["&mut Entered", "&mut State", "&State"].iter().any(|lent| function.parameters.contains(lent))
}

/// The functions that a function calls, by module and name, and where.
fn called(function: &Function) -> Vec<((String, String), usize)> {
    let own = |(module, name, at): (String, String, usize)| {
        let module = if module.is_empty() { function.module.clone() } else { module };
        ((module, name), at)
    };
    calls(&function.body).into_iter().map(own).collect()
}

fn is_entry((module, name): &(String, String)) -> bool {
    module == "hook" && ENTRIES.contains(&name.as_str())
}

#[test]
fn who_has_the_state_calls_nobody_who_enters() {
    let files = files(RUNTIME);
    let all: Vec<Function> = files.iter().flat_map(functions).collect();
    let all: Vec<&Function> = all.iter().filter(|function| function.module != "hook").collect();
    // Those that enter, or call such without having the state themselves.
    let mut entering: BTreeSet<(String, String)> = BTreeSet::new();
    loop {
        let before = entering.len();
        for function in &all {
            let enters =
                |(of, _): &((String, String), usize)| is_entry(of) || entering.contains(of);
            if !is_lent(function) && called(function).iter().any(enters) {
                entering.insert((function.module.clone(), function.name.clone()));
            }
        }
        if entering.len() == before {
            break;
        }
    }
    assert!(entering.len() > 100, "hooks enter: {}", entering.len());
    for function in all {
        let name = format!("{}::{}", function.module, function.name);
        // From where on it has the state.
        let kept = ["&mut hook::enter", "= hook::enter", "&mut *hook::enter", "&*hook::enter"];
        let behind = |kept: &&str| {
            let at = function.body.find(&format!(" {kept}"))?;
            function.body[at..].find('(').map(|open| at + open)
        };
        let lent = is_lent(function).then_some(0);
        let Some(from) = lent.or(kept.iter().filter_map(behind).min()) else { continue };
        for (of, at) in called(function) {
            let enters = is_entry(&of) || entering.contains(&of);
            assert!(!(enters && at > from), "{name} has the state and calls {}::{}", of.0, of.1);
        }
    }
}
