//! What calls do to threads: a table, by the path of what is called.

use serde::Deserialize;
use std::sync::OnceLock;

/// What a call does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Does {
    /// Starts a thread.
    Spawn,
    /// Waits for the end of one.
    Join,
    /// Waits for something else: a message, time, input.
    Blocks,
    /// Waits, and gives the lock back that it was given.
    Waits,
    /// Runs code of another crate.
    Leaves,
}

#[derive(Deserialize)]
struct Table {
    wait: Vec<String>,
    spawn: Vec<String>,
    join: Vec<String>,
    blocking: Vec<String>,
    own: Vec<String>,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| toml::from_str(include_str!("calls.toml")).expect("the table is whole"))
}

fn has(list: &[String], path: &str) -> bool {
    list.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => path.starts_with(prefix),
        None => pattern == path,
    })
}

/// What a call of a function outside of the package does; `None` if that is nothing to report.
pub fn does(path: &str) -> Option<Does> {
    let table = table();
    let lists = [
        (&table.wait, Some(Does::Waits)),
        (&table.spawn, Some(Does::Spawn)),
        (&table.join, Some(Does::Join)),
        (&table.blocking, Some(Does::Blocks)),
        (&table.own, None),
    ];
    let found = lists.into_iter().find(|(list, _)| has(list, path));
    found.map_or(Some(Does::Leaves), |(_, does)| does)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_the_table() {
        assert_eq!(does("std::thread::JoinHandle::join"), Some(Does::Join));
        assert_eq!(does("std::sync::mpsc::Receiver::recv_timeout"), Some(Does::Blocks));
        assert_eq!(does("std::collections::hash::map::HashMap::insert"), None);
        assert_eq!(does("other::f"), Some(Does::Leaves));
    }
}
