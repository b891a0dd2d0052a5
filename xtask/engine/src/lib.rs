//! The programs that `cargo xtask bench` measures.

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::sync::{Arc, Mutex};
    use std::thread;

    /// `threads` threads, each increments a counter once under a mutex; joined.
    fn locked_increments(threads: usize) {
        let counter = Arc::new(Mutex::new(0));
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                let counter = Arc::clone(&counter);
                thread::spawn(move || *counter.lock().unwrap() += 1)
            })
            .collect();
        for handle in handles {
            handle.join().unwrap();
        }
        assert_eq!(*counter.lock().unwrap(), threads);
    }

    /// `threads` threads, each increments an atomic counter once and looks at what it found; joined.
    fn atomic_increments(threads: usize) {
        let counter = Arc::new(AtomicUsize::new(0));
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                let counter = Arc::clone(&counter);
                thread::spawn(move || assert!(counter.fetch_add(1, SeqCst) < threads))
            })
            .collect();
        for handle in handles {
            handle.join().unwrap();
        }
        assert_eq!(counter.load(SeqCst), threads);
    }

    #[test]
    fn mutex_increment_2_threads() {
        locked_increments(2);
    }

    #[test]
    fn mutex_increment_3_threads() {
        locked_increments(3);
    }

    #[test]
    fn fetch_add_2_threads() {
        atomic_increments(2);
    }

    #[test]
    fn fetch_add_3_threads() {
        atomic_increments(3);
    }
}
