//! Sequence locks: a reader that looks at the number once.

use super::{beside, check, two};
use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::SeqCst;

/// A number that is odd while the pair changes.
pub fn checked_once<const RIGHT: bool>() {
    let (mine, theirs) = two([(); 3].map(|()| AtomicU32::new(0)));
    beside(
        move || {
            let [number, first, second] = &*theirs;
            number.store(1, SeqCst);
            first.store(1, SeqCst);
            second.store(1, SeqCst);
            number.store(2, SeqCst);
        },
        || {
            let [number, first, second] = &*mine;
            let before = number.load(SeqCst);
            let pair = (first.load(SeqCst), second.load(SeqCst));
            if before % 2 == 0 && (!RIGHT || number.load(SeqCst) == before) {
                check!(pair.0 == pair.1);
            }
        },
    );
}
