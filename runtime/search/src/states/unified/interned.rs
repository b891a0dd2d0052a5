//! Values that are kept once and known by a number.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash};
use std::rc::Rc;

use crate::core::fingerprint::Lanes;

/// Tables with the hash of states.
pub(super) type Table<K, V> = HashMap<K, V, BuildHasherDefault<Lanes>>;

/// The values and their numbers, from 0 in the order of their arrival.
#[derive(Debug)]
pub(super) struct Interned<T: ?Sized> {
    numbers: Table<Rc<T>, u32>,
    values: Vec<Rc<T>>,
}

impl<T: ?Sized> Default for Interned<T> {
    fn default() -> Self {
        Self { numbers: Table::default(), values: Vec::new() }
    }
}

impl<T: Eq + Hash + ?Sized> Interned<T> {
    /// The number of a value; `keep` makes what is kept of a new one.
    pub(super) fn number(&mut self, value: &T, keep: impl FnOnce() -> Rc<T>) -> u32 {
        if let Some(&number) = self.numbers.get(value) {
            return number;
        }
        let (kept, number) = (keep(), self.values.len() as u32);
        self.values.push(Rc::clone(&kept));
        self.numbers.insert(kept, number);
        number
    }

    /// The value with this number.
    pub(super) fn value(&self, number: u32) -> &Rc<T> {
        &self.values[number as usize]
    }
}
