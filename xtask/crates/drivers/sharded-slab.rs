//! A slab in which each thread has a shard, and others read and free what is there.

use sharded_slab::{Clear, Pool, Slab};
use std::sync::Arc;
use std::thread::spawn;

#[test]
fn another_thread_reads_what_one_has_put_in() {
    let slab = Arc::new(Slab::new());
    let key = slab.insert(String::from("one")).unwrap();
    let reader = Arc::clone(&slab);
    let thread = spawn(move || assert_eq!(reader.get(key).unwrap().as_str(), "one"));
    assert_eq!(slab.get(key).unwrap().as_str(), "one");
    thread.join().unwrap();
}

#[test]
fn threads_put_in_and_take_out_their_own() {
    let slab = Arc::new(Slab::new());
    let threads = [1, 2].map(|value| {
        let slab = Arc::clone(&slab);
        spawn(move || {
            let key = slab.insert(value).unwrap();
            assert_eq!(slab.take(key), Some(value));
            assert!(slab.get(key).is_none());
        })
    });
    threads.map(|thread| thread.join().unwrap());
}

#[test]
fn one_of_two_takes_it() {
    let slab = Arc::new(Slab::new());
    let key = slab.insert(Box::new(5)).unwrap();
    let other = Arc::clone(&slab);
    let thread = spawn(move || other.take(key));
    let taken = [slab.take(key), thread.join().unwrap()];
    assert_eq!(taken.iter().flatten().count(), 1);
}

#[test]
fn it_is_removed_when_its_reader_has_done() {
    let slab = Arc::new(Slab::new());
    let key = slab.insert(Box::new(5)).unwrap();
    let other = Arc::clone(&slab);
    let thread = spawn(move || other.remove(key));
    if let Some(entry) = slab.get(key) {
        assert_eq!(**entry, 5);
    }
    assert!(thread.join().unwrap());
    assert!(slab.get(key).is_none());
}

#[test]
fn a_slot_that_another_thread_has_freed_is_used_again() {
    let slab = Arc::new(Slab::new());
    let key = slab.insert(1).unwrap();
    let other = Arc::clone(&slab);
    let thread = spawn(move || assert!(other.remove(key)));
    let new = slab.insert(2).unwrap();
    thread.join().unwrap();
    assert!(slab.get(key).is_none());
    assert_eq!(slab.get(new).map(|entry| *entry), Some(2));
}

#[derive(Default)]
struct Counted(Vec<u8>);

impl Clear for Counted {
    fn clear(&mut self) {
        self.0.clear();
    }
}

#[test]
fn a_pool_clears_what_comes_back() {
    let pool = Arc::new(Pool::<Counted>::new());
    let key = pool.create_with(|it| it.0.push(1)).unwrap();
    let other = Arc::clone(&pool);
    let thread = spawn(move || other.clear(key));
    if let Some(entry) = pool.get(key) {
        assert_eq!(entry.0, [1]);
    }
    assert!(thread.join().unwrap());
    let again = pool.create().unwrap();
    assert!(again.0.is_empty());
}
