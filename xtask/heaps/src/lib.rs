//! Programs with heaps of 10 kB to 1 GB that are filled before the first thread is created, and of
//! which executions write little.

#[cfg(test)]
mod heap {
    use std::sync::Mutex;
    use std::thread::spawn;

    /// Pieces of the heap that every thread writes a word of.
    const WRITTEN: usize = 4;

    /// Three threads take a lock three times each, and write to a heap of so many bytes. It is
    /// never freed: whoever frees a block writes a sixteenth of it, by which lockred knows it for
    /// dead.
    fn written_under_a_lock(bytes: usize) {
        let words: Vec<u64> = (0..bytes as u64 / 8).collect();
        let heap: &Mutex<_> = Box::leak(Box::new(Mutex::new(words)));
        let threads = [1, 2, 3].map(|number| {
            spawn(move || {
                for _ in 0..3 {
                    let mut words = heap.lock().unwrap();
                    let piece = words.len() / WRITTEN;
                    words.iter_mut().step_by(piece).for_each(|word| *word += number);
                }
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(heap.lock().unwrap()[0], 18);
    }

    #[test]
    fn bytes_00000_010_000() {
        written_under_a_lock(10_000);
    }

    #[test]
    fn bytes_00000_100_000() {
        written_under_a_lock(100_000);
    }

    #[test]
    fn bytes_00001_000_000() {
        written_under_a_lock(1_000_000);
    }

    #[test]
    fn bytes_00010_000_000() {
        written_under_a_lock(10_000_000);
    }

    #[test]
    fn bytes_00100_000_000() {
        written_under_a_lock(100_000_000);
    }

    #[test]
    fn bytes_01000_000_000() {
        written_under_a_lock(1_000_000_000);
    }
}
