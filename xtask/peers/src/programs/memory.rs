//! Memory that is freed while others use it.

use super::{beside, check, two};
use crate::sync::atomic::{AtomicPtr, Ordering::SeqCst};

/// Who takes the box out frees it; the other reads it while it is in, or takes it out as well.
pub fn freed_while_read<const RIGHT: bool>() {
    let (mine, theirs) = two(AtomicPtr::new(Box::into_raw(Box::new(7_u32))));
    beside(
        move || {
            let taken = theirs.swap(std::ptr::null_mut(), SeqCst);
            if !taken.is_null() {
                // SAFETY: nobody else gets this pointer, where the program is right.
                drop(unsafe { Box::from_raw(taken) });
            }
        },
        || {
            let seen =
                if RIGHT { mine.swap(std::ptr::null_mut(), SeqCst) } else { mine.load(SeqCst) };
            if !seen.is_null() {
                // SAFETY: as above.
                let value = unsafe { *seen };
                check!(value == 7);
                if RIGHT {
                    // SAFETY: as above.
                    drop(unsafe { Box::from_raw(seen) });
                }
            }
        },
    );
}
