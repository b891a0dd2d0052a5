//! Rooms of a package, which are its folders and the files beside them, do not need each other in
//! cycles. (Tests may look at everything.)

use crate::source::{File, files};
use crate::tree::{self, Tree};
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

/// By room: the rooms that it needs.
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

/// What a file names of the package, rooms among it.
fn named(file: &File) -> Vec<String> {
    let mut named = Vec::new();
    for (at, path) in file.code.match_indices("crate::") {
        named.extend(first_names(&file.code[at + path.len()..]));
    }
    // From a room's own file, `super` is the root.
    if file.module.len() == 1 {
        for (at, path) in file.code.match_indices("super::") {
            named.extend(first_names(&file.code[at + path.len()..]));
        }
    }
    named
}

fn needs(files: &[File]) -> Needs {
    let rooms: BTreeSet<&String> = files.iter().filter_map(|file| file.module.first()).collect();
    let mut needs = Needs::new();
    for file in files {
        let Some(own) = file.module.first() else { continue };
        let others = named(file).into_iter().filter(|name| name != own && rooms.contains(name));
        needs.entry(own.clone()).or_default().extend(others);
    }
    needs
}

/// Everything that a room needs, be it by way of others.
fn reached(needs: &Needs, from: &String) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(room) = open.pop() {
        for next in needs.get(room).into_iter().flatten() {
            if reached.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    reached
}

/// Rooms that need each other.
fn cycles(needs: &Needs) -> BTreeSet<Vec<String>> {
    let reaches: BTreeMap<&String, BTreeSet<String>> =
        needs.keys().map(|room| (room, reached(needs, room))).collect();
    let cycle = |room: &String| {
        let back = |other: &&String| reaches.get(other).is_some_and(|all| all.contains(room));
        reaches[room].iter().filter(back).cloned().collect::<Vec<String>>()
    };
    needs.keys().map(cycle).filter(|cycle| cycle.len() > 1).collect()
}

#[test]
fn rooms_need_each_other_in_no_cycle() {
    for package in PACKAGES {
        let found = cycles(&needs(&files(package)));
        assert!(found.is_empty(), "{package}: need each other, be it by way of others: {found:?}");
    }
}

/// The rooms that ARCHITECTURE.md has of a package, from the ground up.
fn order(package: &str) -> Vec<String> {
    let tree = Tree::read();
    let head = format!("Inside of `{package}`, from the ground up");
    let (_, rest) = tree.text("ARCHITECTURE.md").split_once(&head).expect("the table is there");
    let rows = rest.lines().skip_while(|line| !line.starts_with('|'));
    let rows = rows.take_while(|line| line.starts_with('|'));
    let names = rows.filter_map(|row| row.split('|').nth(1)).flat_map(tree::spans);
    names.map(|name| name.trim_end_matches('/').to_owned()).collect()
}

/// Where a room stands before one that it needs, or is left out.
fn misplaced(order: &[String], needs: &Needs, is_folder: impl Fn(&str) -> bool) -> Vec<String> {
    let place = |room: &String| order.iter().position(|other| other == room);
    let mut wrong = Vec::new();
    for (room, others) in needs.iter().filter(|(room, _)| is_folder(room)) {
        let Some(at) = place(room) else {
            wrong.push(format!("{room} is left out"));
            continue;
        };
        let above = others.iter().filter(|other| place(other).is_some_and(|other| other > at));
        wrong.extend(above.map(|other| format!("{room} needs {other}")));
    }
    wrong
}

#[test]
fn the_architecture_has_rooms_from_the_ground_up() {
    for package in ["runtime/src", "cargo-lockred/src"] {
        let files = files(package);
        let is_folder =
            |room: &str| files.iter().any(|f| f.module.len() > 1 && f.module[0] == room);
        let wrong = misplaced(&order(package), &needs(&files), is_folder);
        assert!(wrong.is_empty(), "{package}: {}", wrong.join(", "));
    }
}

#[test]
fn rooms_before_what_they_need_and_those_that_are_left_out_are_found() {
    let order = ["a", "b"].map(str::to_owned);
    let needs = |room: &str, other: &str| {
        Needs::from([(room.to_owned(), BTreeSet::from([other.to_owned()]))])
    };
    assert!(misplaced(&order, &needs("b", "a"), |_| true).is_empty());
    assert_eq!(misplaced(&order, &needs("a", "b"), |_| true), ["a needs b"]);
    assert_eq!(misplaced(&order, &needs("c", "a"), |_| true), ["c is left out"]);
    assert!(misplaced(&order, &needs("c", "a"), |_| false).is_empty());
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
