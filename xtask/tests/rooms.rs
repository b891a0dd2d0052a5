//! The folders of a crate's sources use each other in one direction only: no import circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Crates of which that holds.
const CRATES: &[&str] = &["runtime/search", "analysis"];

/// Rooms by name, each with those that it uses.
type Rooms = BTreeMap<String, BTreeSet<String>>;

/// The files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The rooms that a file uses: what follows `crate::` in its code, its unit tests left out.
fn used(text: &str) -> BTreeSet<String> {
    let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let named = lines.flat_map(|line| line.split("crate::").skip(1));
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    named.map(|rest| rest.chars().take_while(|&c| is_name(c)).collect()).collect()
}

/// A room is a folder or a file right below the root of the sources.
fn rooms(sources: &Path) -> Rooms {
    let mut rooms = Rooms::new();
    for file in files(sources) {
        let relative = file.strip_prefix(sources).unwrap();
        let first = relative.components().next().unwrap();
        let name = Path::new(&first).file_stem().unwrap().to_string_lossy().into_owned();
        if name != "lib" && name != "bin" {
            rooms.entry(name).or_default().extend(used(&fs::read_to_string(&file).unwrap()));
        }
    }
    let names: BTreeSet<String> = rooms.keys().cloned().collect();
    for (name, uses) in &mut rooms {
        uses.retain(|other| other != name && names.contains(other));
    }
    rooms
}

/// The rooms that use each other in a circle, and those that use these: what is left when rooms are taken away from below.
fn circles(mut rooms: Rooms) -> Rooms {
    loop {
        let lowest = rooms.iter().find(|(_, uses)| uses.is_empty()).map(|(name, _)| name.clone());
        let Some(lowest) = lowest else { return rooms };
        rooms.remove(&lowest);
        rooms.values_mut().for_each(|uses| {
            uses.remove(&lowest);
        });
    }
}

#[test]
fn folders_use_each_other_in_one_direction() {
    for name in CRATES {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
        let rooms = rooms(&root.join("src"));
        assert!(rooms.len() > 5, "{name}: {rooms:?}");
        let circles = circles(rooms);
        assert!(circles.is_empty(), "{name}: in circles, or above one: {circles:#?}");
    }
}

#[test]
fn a_circle_is_seen() {
    let uses = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let room = |name: &str, others: &[&str]| (name.to_owned(), uses(others));
    let stack = Rooms::from([room("a", &["b", "c"]), room("b", &["c"]), room("c", &[])]);
    assert_eq!(circles(stack.clone()), Rooms::new());
    let mut circle = stack;
    circle.insert("c".into(), uses(&["b"]));
    assert_eq!(circles(circle).len(), 3);
    let text = "use crate::a::B;\n// crate::c\nlet b = crate::b::f();\n#[cfg(test)]\nmod tests { use crate::d; }";
    assert_eq!(used(text), uses(&["a", "b"]));
}
