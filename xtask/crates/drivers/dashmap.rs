//! A map whose shards have locks of their own, used by several threads at a time.

use dashmap::mapref::entry::Entry;
use dashmap::{DashMap, DashSet};
use std::thread::scope;

/// Few shards: each is allocated.
fn map<V>() -> DashMap<u8, V> {
    DashMap::with_shard_amount(2)
}

#[test]
fn threads_insert_different_keys() {
    let map = map();
    scope(|threads| {
        for key in 0..2 {
            let map = &map;
            threads.spawn(move || assert_eq!(map.insert(key, key), None));
        }
    });
    assert_eq!(map.len(), 2);
}

#[test]
fn one_of_two_inserts_a_key_first() {
    let map = map();
    let insert = |value: i32| map.insert(1, value);
    let (first, second) = scope(|threads| {
        let thread = threads.spawn(|| insert(10));
        (insert(20), thread.join().unwrap())
    });
    assert!(matches!((first, second), (None, Some(20)) | (Some(10), None)));
}

#[test]
fn updates_of_an_entry_are_not_lost() {
    let map = map();
    let count = || *map.entry(1).or_insert(0) += 1;
    scope(|threads| {
        threads.spawn(count);
        threads.spawn(count);
    });
    assert_eq!(*map.get(&1).unwrap(), 2);
}

#[test]
fn a_vacant_entry_is_filled_once() {
    let map = map();
    let fill = |value: i32| match map.entry(1) {
        Entry::Vacant(entry) => {
            entry.insert(value);
            true
        }
        Entry::Occupied(_) => false,
    };
    let filled = scope(|threads| {
        let thread = threads.spawn(|| fill(1));
        [fill(2), thread.join().unwrap()]
    });
    assert_eq!(filled.iter().filter(|it| **it).count(), 1);
}

#[test]
fn what_is_read_while_it_is_removed_is_whole() {
    let map = map();
    map.insert(1, [7, 7]);
    scope(|threads| {
        threads.spawn(|| assert_eq!(map.remove(&1), Some((1, [7, 7]))));
        if let Some(found) = map.get(&1) {
            assert_eq!(*found, [7, 7]);
        };
    });
    assert!(map.is_empty());
}

#[test]
fn readers_share_a_shard_with_a_writer() {
    let map = map();
    map.insert(1, 1);
    scope(|threads| {
        threads.spawn(|| *map.get_mut(&1).unwrap() += 1);
        threads.spawn(|| assert!(*map.get(&1).unwrap() <= 2));
        assert!(map.iter().all(|pair| *pair.value() <= 2));
    });
}

#[test]
fn only_what_is_asked_for_is_kept() {
    let map = map();
    for key in 0..3 {
        map.insert(key, ());
    }
    scope(|threads| {
        threads.spawn(|| map.retain(|key, ()| key % 2 == 0));
        map.alter_all(|_, ()| ());
    });
    assert_eq!(map.len(), 2);
}

#[test]
fn a_set_is_one_for_all_threads() {
    let set = DashSet::new();
    let inserted = scope(|threads| {
        let thread = threads.spawn(|| set.insert(4));
        [set.insert(4), thread.join().unwrap()]
    });
    assert_ne!(inserted[0], inserted[1]);
}
