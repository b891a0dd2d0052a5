//! The binary search tree of Kung and Lehman (TODS 1980), with inserters and searchers as in Suwimonteerabuth, Esparza and Schwoon,
//! section 5.3: who searches takes no locks; who inserts locks the father, and looks again.

use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};
use std::thread::scope;

/// Values that are inserted and searched for.
const VALUES: std::ops::RangeInclusive<u8> = 1..=3;

struct Node {
    value: u8,
    /// What is less, and what is greater.
    children: [AtomicPtr<Node>; 2],
    /// Held while a child is attached.
    lock: Mutex<()>,
}

impl Node {
    fn new(value: u8) -> Self {
        Self { value, children: Default::default(), lock: Mutex::new(()) }
    }

    /// The child on a side.
    fn child(&self, side: usize) -> Option<&Self> {
        // SAFETY: a child is null or points to a node that lives as long as its father: it was attached whole, and is freed with it.
        unsafe { self.children[side].load(SeqCst).as_ref() }
    }

    /// The node with a value, or who would be its father, on which side.
    fn walk(&self, value: u8) -> Result<&Self, (&Self, usize)> {
        if self.value == value {
            return Ok(self);
        }
        let side = usize::from(value > self.value);
        match self.child(side) {
            Some(child) => child.walk(value),
            None => Err((self, side)),
        }
    }

    /// The values, in order.
    fn values(&self, into: &mut Vec<u8>) {
        if let Some(less) = self.child(0) {
            less.values(into);
        }
        into.push(self.value);
        if let Some(greater) = self.child(1) {
            greater.values(into);
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        for child in &mut self.children {
            let child = std::mem::replace(child.get_mut(), null_mut());
            if !child.is_null() {
                // SAFETY: it was made by `Box::into_raw`, and nobody else has it any more.
                drop(unsafe { Box::from_raw(child) });
            }
        }
    }
}

/// Whether an inserter that has locked the father looks whether it still has no child there.
#[derive(Clone, Copy)]
enum Insert {
    LooksAgain,
    Overwrites,
}

fn insert(root: &Node, value: u8, how: Insert) {
    let mut from = root;
    while let Err((father, side)) = from.walk(value) {
        let _guard = father.lock.lock().unwrap();
        if matches!(how, Insert::Overwrites) || father.child(side).is_none() {
            let node = Box::into_raw(Box::new(Node::new(value)));
            father.children[side].store(node, SeqCst);
            return;
        }
        from = father;
    }
}

/// Inserters insert any values, and searchers search for the same.
fn tree(inserters: usize, searchers: usize, how: Insert) {
    // The least value is nobody's.
    let root = Node::new(0);
    let values: Vec<u8> = (0..inserters).map(|_| lockred::any_in(VALUES)).collect();
    scope(|scope| {
        for &value in &values {
            let root = &root;
            scope.spawn(move || insert(root, value, how));
        }
        for &value in &values[..searchers] {
            let root = &root;
            scope.spawn(move || {
                let before = root.walk(value).is_ok();
                // What was found once stays.
                assert!(!before || root.walk(value).is_ok());
            });
        }
    });
    let mut expected = values;
    expected.push(0);
    expected.sort_unstable();
    expected.dedup();
    let mut found = Vec::new();
    root.values(&mut found);
    assert_eq!(found, expected); //~ bug of a_father_that_is_not_looked_at_again
}

//@ verified
//@ executions = 6
#[test]
fn one_inserter_one_searcher() {
    tree(1, 1, Insert::LooksAgain);
}

//@ verified
//@ executions = 84
#[test]
fn two_inserters_one_searcher() {
    tree(2, 1, Insert::LooksAgain);
}

//@ verified
//@ executions = 192
#[test]
fn two_inserters_two_searchers() {
    tree(2, 2, Insert::LooksAgain);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn a_father_that_is_not_looked_at_again() {
    tree(2, 1, Insert::Overwrites);
}
