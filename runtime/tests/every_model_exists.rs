//! Every libc function that the shim renames is defined by the runtime, exactly once, and nothing else is.

use lockred_trace::hooks::LIBC_PREFIX;
use lockred_trace::libc_functions::{answered, is_answered};
use std::collections::BTreeMap;
use std::path::Path;

/// Names after `__lr_libc_` that are followed by a parameter list in a definition, with how often.
fn definitions(directory: &Path, found: &mut BTreeMap<String, usize>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            definitions(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines() {
            let defines = line.contains("fn ")
                || line.trim_start().starts_with(LIBC_PREFIX) && line.contains(" calls ");
            let Some((_, rest)) = line.split_once(LIBC_PREFIX).filter(|_| defines) else {
                continue;
            };
            let name: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            *found.entry(name).or_default() += 1;
        }
    }
}

#[test]
fn every_model_exists() {
    let mut found = BTreeMap::new();
    definitions(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    let missing: Vec<_> = answered().filter(|name| !found.contains_key(**name)).collect();
    assert!(missing.is_empty(), "not defined: {missing:?}");
    let surplus: Vec<_> = found.iter().filter(|(name, n)| **n != 1 || !is_answered(name)).collect();
    assert!(surplus.is_empty(), "defined more than once, or not listed: {surplus:?}");
}
