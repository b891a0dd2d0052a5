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
    fn everything_of_parking_lot() {
        let m = parking_lot::Mutex::new(1);
        *m.try_lock().unwrap() += 1;
        parking_lot::MutexGuard::unlock_fair(m.lock());
        let r = parking_lot::ReentrantMutex::new(3);
        assert_eq!(*r.lock() + *r.lock(), 6);
        let l = parking_lot::RwLock::new(0);
        *l.write() += 1;
        *l.try_write().unwrap() += 1;
        assert_eq!(*l.read() + *l.read_recursive() + *l.try_read().unwrap(), 6);
        *parking_lot::RwLockUpgradableReadGuard::upgrade(l.upgradable_read()) += 1;
        let read = parking_lot::RwLockWriteGuard::downgrade(l.write());
        drop(read);
        let o = parking_lot::Once::new();
        o.call_once(|| ());
        o.call_once_force(|_| ());
    }
    #[test]
    fn everything_of_parking_lot_013() {
        use parking_lot_013 as parking_lot;
        let m = parking_lot::Mutex::new(1);
        *m.try_lock().unwrap() += 1;
        parking_lot::MutexGuard::unlock_fair(m.lock());
        let r = parking_lot::ReentrantMutex::new(3);
        assert_eq!(*r.lock() + *r.lock(), 6);
        let l = parking_lot::RwLock::new(0);
        *l.write() += 1;
        *l.try_write().unwrap() += 1;
        assert_eq!(*l.read() + *l.try_read().unwrap(), 4);
        *parking_lot::RwLockUpgradableReadGuard::upgrade(l.upgradable_read()) += 1;
        let read = parking_lot::RwLockWriteGuard::downgrade(l.write());
        drop(read);
        parking_lot::RwLockWriteGuard::unlock_fair(l.write());
        let l = parking_lot::RecursiveRwLock::new(1);
        assert_eq!(*l.read() + *l.read(), 2);
        let o = parking_lot::Once::new();
        o.call_once(|| ());
        o.call_once_force(|_| ());
        o.wait();
        o.wait_force();
    }
    #[test]
    fn everything_of_spin_012() {
        use spin_012 as spin;
        let m = spin::Mutex::new(1);
        *m.lock() += 1;
        *m.try_lock().unwrap() += 1;
        let l = spin::RwLock::new(0);
        *l.write() += 1;
        *l.upgradeable_read().upgrade() += 1;
        assert_eq!(*l.read(), 2);
        let o = spin::Once::new();
        assert_eq!((*o.call_once(|| 1), o.poll()), (1, Some(&1)));
        assert_eq!(*spin::Once::<u8>::new().init_from_ref(&1), 1);
    }
    #[test]
    fn everything_of_spin() {
        let m = spin::Mutex::new(1);
        *m.lock() += 1;
        *m.try_lock().unwrap() += 1;
        let l = spin::RwLock::new(0);
        *l.write() += 1;
        *l.upgradeable_read().upgrade() += 1;
        assert_eq!(*l.read(), 2);
        let o = spin::Once::new();
        assert_eq!((*o.call_once(|| 1), o.poll()), (1, Some(&1)));
    }
    #[test]
    fn everything_of_crossbeam() {
        let g = crossbeam_utils::sync::WaitGroup::new();
        drop(g.clone());
        g.wait();
        let p = crossbeam_utils::sync::Parker::new();
        p.unparker().unpark();
        p.park();
        let (s, r) = crossbeam_channel::unbounded();
        s.clone().send(1).unwrap();
        assert_eq!(r.clone().recv(), Ok(1));
        let (s, r) = crossbeam_channel::bounded(0);
        assert!(s.try_send(1).is_err() && r.try_recv().is_err());
    }
    #[test]
    fn random() {
        use rand::Rng;
        let x: u32 = rand::rng().random_range(0..5);
        assert!(x < 5);
    }
}
