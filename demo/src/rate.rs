//! The exchange rate of the day: fetched once, then read by everyone without a lock.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// A rate that is written once.
#[derive(Debug, Default)]
pub struct DailyRate {
    known: AtomicBool,
    rate: UnsafeCell<f64>,
}

// SAFETY: the rate is written before `known` is set, and read only behind it. (So it was meant.)
unsafe impl Sync for DailyRate {}

impl DailyRate {
    /// Sets the rate; to be called once.
    pub fn publish(&self, rate: f64) {
        // SAFETY: nobody reads it while it is not known.
        unsafe { *self.rate.get() = rate };
        self.known.store(true, Ordering::Relaxed);
    }

    /// The rate, if it is known already.
    pub fn get(&self) -> Option<f64> {
        if self.known.load(Ordering::Relaxed) {
            // SAFETY: it is known, so nobody writes it any more.
            return Some(unsafe { *self.rate.get() });
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn the_rate_is_published() {
        let rate = Arc::new(DailyRate::default());
        let other = Arc::clone(&rate);
        let feed = thread::spawn(move || other.publish(1.25));
        assert!(matches!(rate.get(), None | Some(1.25)));
        feed.join().unwrap();
        assert_eq!(rate.get(), Some(1.25));
    }
}
