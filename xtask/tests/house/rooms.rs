//! Folders of a package do not need each other in cycles. (Tests may look at everything.)

use crate::source::{File, files};
use std::collections::{BTreeMap, BTreeSet};

/// Where the sources of packages are.
const PACKAGES: [&str; 6] = [
    "runtime/src",
    "runtime/search/src",
    "runtime/protocol/src",
    "analysis/src",
    "cargo-lockred/src",
    "xtask/src",
];

/// By folder: the folders that it needs.
type Needs = BTreeMap<String, BTreeSet<String>>;

/// The first name of a path, and those of a list of paths in braces.
fn first_names(paths: &str) -> Vec<String> {
    let word = |text: &str| {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let Some(list) = paths.strip_prefix('{') else { return vec![word(paths)] };
    let (mut depth, mut names, mut begins) = (0, Vec::new(), true);
    for (at, char) in list.char_indices() {
        match char {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            _ if begins && !char.is_whitespace() => {
                names.push(word(&list[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

/// The folders of the package that a file names.
fn named(file: &File) -> Vec<String> {
    let mut named = Vec::new();
    for (at, path) in file.code.match_indices("crate::") {
        named.extend(first_names(&file.code[at + path.len()..]));
    }
    // From a folder's own file, `super` is the root.
    if file.module.len() == 1 {
        for (at, path) in file.code.match_indices("super::") {
            named.extend(first_names(&file.code[at + path.len()..]));
        }
    }
    named
}

fn needs(files: &[File]) -> Needs {
    let folders: BTreeSet<&String> =
        files.iter().filter(|file| file.module.len() > 1).map(|file| &file.module[0]).collect();
    let mut needs = Needs::new();
    for file in files {
        let Some(own) = file.module.first().filter(|own| folders.contains(own)) else { continue };
        let others = named(file).into_iter().filter(|name| name != own && folders.contains(name));
        needs.entry(own.clone()).or_default().extend(others);
    }
    needs
}

/// Everything that a folder needs, be it by way of others.
fn reached(needs: &Needs, from: &String) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(folder) = open.pop() {
        for next in needs.get(folder).into_iter().flatten() {
            if reached.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    reached
}

/// Folders that need each other.
fn cycles(needs: &Needs) -> BTreeSet<Vec<String>> {
    let reaches: BTreeMap<&String, BTreeSet<String>> =
        needs.keys().map(|folder| (folder, reached(needs, folder))).collect();
    let cycle = |folder: &String| {
        let back = |other: &&String| reaches.get(other).is_some_and(|all| all.contains(folder));
        reaches[folder].iter().filter(back).cloned().collect::<Vec<String>>()
    };
    needs.keys().map(cycle).filter(|cycle| cycle.len() > 1).collect()
}

#[test]
fn folders_need_each_other_in_no_cycle() {
    for package in PACKAGES {
        let found = cycles(&needs(&files(package)));
        assert!(found.is_empty(), "{package}: need each other, be it by way of others: {found:?}");
    }
}

#[test]
fn cycles_are_found_by_way_of_others() {
    let file = |module: &str, code: &str| File {
        module: module.split("::").map(str::to_owned).collect(),
        code: code.to_owned(),
    };
    let files = [
        file("a::x", "use crate::b::y;"),
        file("b::y", "fn f() { crate::c::z::g() }"),
        file("c::z", "use crate::{d::{e, f}, a::x};"),
        file("d::w", "use crate::a::x;"),
        file("e::v", "use crate::a::x;"),
    ];
    let names = |names: &str| names.split(' ').map(str::to_owned).collect::<Vec<String>>();
    assert_eq!(cycles(&needs(&files)), BTreeSet::from([names("a b c d")]));
    assert_eq!(cycles(&needs(&files[..2])), BTreeSet::new());
}
