//! Tests that depend on crates from crates.io.

#[cfg(test)]
mod tests {

    use std::sync::Arc;
    #[test]
    fn parking() {
        let m = Arc::new((parking_lot::Mutex::new(0), parking_lot::Condvar::new()));
        let m2 = m.clone();
        let t = std::thread::spawn(move || {
            *m2.0.lock() += 1;
            m2.1.notify_all();
        });
        let mut g = m.0.lock();
        while *g == 0 {
            m.1.wait(&mut g);
        }
        drop(g);
        t.join().unwrap();
    }
    #[test]
    fn channel() {
        let (s, r) = crossbeam_channel::bounded(1);
        let t = std::thread::spawn(move || {
            for i in 0..10 {
                s.send(i).unwrap();
            }
        });
        assert_eq!(r.iter().sum::<i32>(), 45);
        t.join().unwrap();
        let c = crossbeam_utils::CachePadded::new(3);
        assert_eq!(*c, 3);
        crossbeam_utils::thread::scope(|s| {
            s.spawn(|_| 1);
        })
        .unwrap();
    }
    #[test]
    fn once() {
        static C: once_cell::sync::OnceCell<u32> = once_cell::sync::OnceCell::new();
        assert_eq!(*C.get_or_init(|| 2), 2);
    }
    #[test]
    fn random() {
        use rand::Rng;
        let x: u32 = rand::rng().random_range(0..5);
        assert!(x < 5);
    }
}
