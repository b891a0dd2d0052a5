//! Programs whose accesses cost more under lockred: two that create no thread, one that hashes, two
//! with threads.
//!
//! Each prints what it took, in cycles and in nanoseconds (which are virtual under lockred).

#[cfg(test)]
mod tests {
    use hashbrown::HashMap;
    use std::collections::HashMap as StdMap;
    use std::hint::black_box;
    use std::sync::Mutex;
    use std::thread;
    use std::time::Instant;

    /// Threads of the programs that have some.
    const THREADS: usize = 4;

    fn cycles() -> u64 {
        // SAFETY: every processor that the benches run on has the counter.
        unsafe { core::arch::x86_64::_rdtsc() }
    }

    fn measured<T>(work: impl FnOnce() -> T) -> T {
        let (start, clock) = (cycles(), Instant::now());
        let result = work();
        println!("\nmeasured {} {}", cycles() - start, clock.elapsed().as_nanos());
        result
    }

    #[test]
    fn loop_over_a_vec() {
        let mut numbers: Vec<u64> = (0..1 << 16).collect();
        let sum = measured(|| {
            let mut sum = 0_u64;
            for _ in 0..32 {
                for index in 0..numbers.len() {
                    numbers[index] = numbers[index].wrapping_mul(3) ^ index as u64;
                    sum = sum.wrapping_add(numbers[index]);
                }
            }
            sum
        });
        assert_ne!(black_box(sum), 0);
    }

    #[test]
    fn parse_json() {
        let line = r#"{"name":"somebody","tags":["a","bc","def"],"at":[1.5,-2,3e4],"deep":{"x":null,"y":true}}"#;
        let text = format!("[{}]", vec![line; 3000].join(","));
        let value: serde_json::Value = measured(|| serde_json::from_str(&text).unwrap());
        assert_eq!(value.as_array().unwrap().len(), 3000);
    }

    #[test]
    fn hash_a_lot() {
        let found = measured(|| {
            let mut map = HashMap::new();
            for number in 0..100_000_u64 {
                *map.entry(number.wrapping_mul(0x9e37_79b9) % 5000).or_insert(0_u64) += number;
            }
            (0..100_000_u64).filter(|number| map.contains_key(number)).count()
        });
        assert!(found <= 5000);
    }

    #[test]
    fn sum_in_parallel() {
        let numbers: Vec<u64> = (0..400_000).collect();
        let sum = measured(|| {
            thread::scope(|scope| {
                let parts = numbers.chunks(numbers.len() / THREADS);
                let threads: Vec<_> =
                    parts.map(|part| scope.spawn(move || part.iter().sum::<u64>())).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>()
            })
        });
        assert_eq!(sum, 400_000 * 399_999 / 2);
    }

    #[test]
    fn share_a_cache() {
        let cache: Mutex<StdMap<u64, u64>> = Mutex::default();
        measured(|| {
            thread::scope(|scope| {
                for thread in 0..THREADS as u64 {
                    let cache = &cache;
                    scope.spawn(move || {
                        for number in 0..2000 {
                            let key = (number * 7 + thread) % 500;
                            let mut cache = cache.lock().unwrap();
                            cache.entry(key).or_insert_with(|| key * key);
                        }
                    });
                }
            });
        });
        assert_eq!(cache.lock().unwrap().len(), 500);
    }
}
