//! Reader-writer locks: an upgrade by letting go, and a pair that is written in two sections.

use super::{beside, check, two};
use crate::sync::RwLock;

/// Reads that there is a seat, and takes it behind another look, or without.
pub fn upgraded<const RIGHT: bool>() {
    let (mine, theirs) = two(RwLock::new(1_i32));
    let take = |seats: &RwLock<i32>| {
        let free = *seats.read().unwrap() > 0;
        if free {
            let mut seats = seats.write().unwrap();
            if RIGHT && *seats == 0 {
                return;
            }
            check!(*seats > 0);
            *seats -= 1;
        }
    };
    beside(move || take(&theirs), || take(&mine));
}

/// A pair that is the same twice, but between two sections.
pub fn torn_pair<const RIGHT: bool>() {
    let (mine, theirs) = two(RwLock::new((0, 0)));
    beside(
        move || {
            if RIGHT {
                *theirs.write().unwrap() = (1, 1);
            } else {
                theirs.write().unwrap().0 = 1;
                theirs.write().unwrap().1 = 1;
            }
        },
        || {
            let pair = *mine.read().unwrap();
            check!(pair.0 == pair.1);
        },
    );
}
