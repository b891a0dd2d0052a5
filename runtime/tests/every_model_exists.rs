//! Every libc function that the shim renames is defined by the runtime, exactly once, and nothing
//! else is; and its row in the table says of each address that it is given how the memory there is
//! accessed.

use lockred_protocol::hooks::LIBC_PREFIX;
use lockred_protocol::libc_functions::{self, Effect, Touch, answered, is_answered};
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
    let missing: Vec<_> = answered().filter(|name| !found.contains_key(*name)).collect();
    assert!(missing.is_empty(), "not defined: {missing:?}");
    let surplus: Vec<_> = found.iter().filter(|(name, n)| **n != 1 || !is_answered(name)).collect();
    assert!(surplus.is_empty(), "defined more than once, or not listed: {surplus:?}");
}

/// The parameters of each definition that is a function of Rust, by the name after `__lr_libc_`.
fn parameters(directory: &Path, found: &mut BTreeMap<String, Vec<String>>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            parameters(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for rest in text.split(&format!("fn {LIBC_PREFIX}")).skip(1) {
            let (name, rest) = rest.split_once('(').unwrap();
            let mut depth = 1;
            let end = rest.find(|c: char| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                depth == 0
            });
            let list = &rest[..end.unwrap()];
            // No type of a parameter has a comma in it.
            let types = list.split(',').filter_map(|parameter| parameter.split_once(':'));
            found.insert(name.into(), types.map(|(_, of)| of.trim().to_owned()).collect());
        }
    }
}

#[test]
fn rows_say_how_the_memory_of_each_address_is_accessed() {
    let mut found = BTreeMap::new();
    parameters(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.len() > 150, "{}", found.len());
    for (name, types) in found {
        let row = libc_functions::row(&name).unwrap();
        if row.effect == Effect::Anything && row.memory.is_empty() {
            continue;
        }
        for (number, of) in types.iter().enumerate() {
            let touch = row.memory.iter().find(|touch| touch.argument() == number);
            match of {
                _ if of.starts_with("*const") => {
                    let reads = Some(Touch::Reads(number as u8));
                    let known = touch.copied() == reads
                        || matches!(touch, Some(Touch::Reaches(_) | Touch::Leaves(_)));
                    assert!(known, "{name}: argument {number} is not written: {touch:?}");
                }
                _ if of.starts_with("*mut") => {
                    assert!(touch.is_some(), "{name}: argument {number} is an address");
                }
                // An address for some commands, in the place of a number.
                _ if of == "usize" => {}
                _ => assert_eq!(touch, None, "{name}: argument {number} is no address"),
            }
        }
        let beyond = row.memory.iter().find(|touch| touch.argument() >= types.len());
        assert_eq!(beyond, None, "{name}");
    }
}
