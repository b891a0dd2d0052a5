//! Scoped threads, which borrow.

use super::{Plain, check};
use crate::sync::{Mutex, thread};

/// Each part has its own sum, or all have one.
pub fn partial_sums<const RIGHT: bool>() {
    let sums = [Plain::new(0), Plain::new(0)];
    thread::scope(|scope| {
        for number in 0..2_usize {
            let sum = &sums[if RIGHT { number } else { 0 }];
            scope.spawn(move || sum.set(sum.get() + number as u32 + 1));
        }
    });
    check!(sums[0].get() + sums[1].get() == 3);
}

/// Threads of a scope fill a list; its order is not theirs.
pub fn ordered_list<const RIGHT: bool>() {
    let list = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for number in 0..2 {
            let list = &list;
            scope.spawn(move || list.lock().unwrap().push(number));
        }
    });
    let mut list = list.into_inner().unwrap();
    if RIGHT {
        list.sort_unstable();
    }
    check!(list == [0, 1]);
}
