//! Timeouts, which may fire.

use super::{beside, check, two};
use crate::sync::{Condvar, Mutex};
use std::time::Duration;

/// Takes it for granted that the answer comes in time.
pub fn in_time<const RIGHT: bool>() {
    let (mine, theirs) = two((Mutex::new(false), Condvar::new()));
    beside(
        move || {
            *theirs.0.lock().unwrap() = true;
            theirs.1.notify_one();
        },
        || {
            let mut ready = mine.0.lock().unwrap();
            while !*ready {
                let (again, waited) = mine.1.wait_timeout(ready, Duration::from_millis(1)).unwrap();
                ready = again;
                check!(RIGHT || *ready || !waited.timed_out());
            }
        },
    );
}
