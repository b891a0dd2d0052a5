//! Programs of the papers that run for ever, and end for the search over states only.

use crate::{clean, counter};
use std::thread::scope;

//@ verified
#[test]
fn clean_for_ever() {
    clean::tasks(None, clean::CLEAN);
}

/// Each of two threads calls a chosen method again and again.
//@ verified
#[test]
fn counter_for_ever() {
    let counter = counter::Counter::default();
    scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    counter::METHODS[lockred::choose(3)](&counter);
                    if !lockred::checked() {
                        break;
                    }
                }
            });
        }
    });
}
