//! Caches: what is looked up and then acted on under one lock, or under two, between which others do the same.

use std::collections::HashMap;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::thread::spawn;

/// Two threads do the same with what they share.
fn both<T: Default + Send + Sync + 'static>(act: fn(&T)) -> Arc<T> {
    let shared = Arc::new(T::default());
    let other = Arc::clone(&shared);
    let thread = spawn(move || act(&other));
    act(&shared);
    thread.join().unwrap();
    shared
}

/// Squares by number, and how often one was computed.
#[derive(Default)]
struct Squares(Mutex<HashMap<u32, u32>>, AtomicU32);

impl Squares {
    fn compute(&self, number: u32) -> u32 {
        self.1.fetch_add(1, Relaxed);
        number * number
    }
}

//@ verified
#[test]
fn computed_under_the_lock() {
    let squares = both(|squares: &Squares| {
        let mut map = squares.0.lock().unwrap();
        assert_eq!(*map.entry(3).or_insert_with(|| squares.compute(3)), 9);
    });
    assert_eq!(squares.1.load(Relaxed), 1);
}

//@ failed panic
#[test]
fn computed_behind_the_look() {
    let squares = both(|squares: &Squares| {
        let known = squares.0.lock().unwrap().get(&3).copied();
        if known.is_none() {
            let square = squares.compute(3);
            squares.0.lock().unwrap().insert(3, square);
        }
    });
    assert_eq!(squares.1.load(Relaxed), 1); //~ bug
}

/// The same with a lock that readers share.
#[derive(Default)]
struct Shared(RwLock<HashMap<u32, u32>>, AtomicU32);

impl Shared {
    fn get(&self, look_again: bool) -> u32 {
        if let Some(known) = self.0.read().unwrap().get(&3) {
            return *known;
        }
        let mut map = self.0.write().unwrap();
        match map.get(&3) {
            Some(known) if look_again => *known,
            _ => {
                self.1.fetch_add(1, Relaxed);
                map.insert(3, 9);
                9
            }
        }
    }
}

//@ verified
#[test]
fn looked_up_again_before_it_is_written() {
    let shared = both(|shared: &Shared| assert_eq!(shared.get(true), 9));
    assert_eq!(shared.1.load(Relaxed), 1);
}

//@ failed panic
#[test]
fn written_behind_the_readers_look() {
    let shared = both(|shared: &Shared| assert_eq!(shared.get(false), 9));
    assert_eq!(shared.1.load(Relaxed), 1); //~ bug
}

// The lock of readers is still held where a writer's is asked for.
//@ failed deadlock
#[test]
fn written_while_it_is_looked_up() {
    both(|shared: &Shared| {
        match shared.0.read().unwrap().get(&3) {
            Some(_) => {}
            None => {
                shared.0.write().unwrap().insert(3, 9); //~ bug
            }
        }
    });
}

/// A cell for each key: who comes second waits for the first, others do not.
#[derive(Default)]
struct Cells(Mutex<HashMap<u32, Arc<OnceLock<u32>>>>, AtomicU32);

//@ verified
#[test]
fn a_cell_for_each_key() {
    let cells = both(|cells: &Cells| {
        let cell = Arc::clone(cells.0.lock().unwrap().entry(3).or_default());
        let compute = || {
            cells.1.fetch_add(1, Relaxed);
            9
        };
        assert_eq!(*cell.get_or_init(compute), 9);
    });
    assert_eq!(cells.1.load(Relaxed), 1);
}

/// Room for one.
const ROOM: usize = 1;

/// Entries by number.
type Entries = Mutex<HashMap<u32, u32>>;

//@ verified
//@ executions = 2
#[test]
fn full_under_the_lock() {
    let entries = both(|entries: &Entries| {
        let mut entries = entries.lock().unwrap();
        let next = entries.len() as u32;
        if entries.len() < ROOM {
            entries.insert(next, 0);
        }
    });
    assert!(entries.lock().unwrap().len() <= ROOM);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn full_behind_the_look() {
    let entries = both(|entries: &Entries| {
        if entries.lock().unwrap().len() < ROOM {
            let mut entries = entries.lock().unwrap();
            let next = entries.len() as u32;
            entries.insert(next, 0);
        }
    });
    assert!(entries.lock().unwrap().len() <= ROOM); //~ bug
}

/// One removes an entry that the other looks at.
fn removed_meanwhile(look: fn(&Entries)) {
    let entries = Arc::new(Mutex::new(HashMap::from([(3, 9)])));
    let other = Arc::clone(&entries);
    let thread = spawn(move || other.lock().unwrap().remove(&3));
    look(&entries);
    thread.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn got_in_one_look() {
    removed_meanwhile(|entries| {
        if let Some(entry) = entries.lock().unwrap().get(&3) {
            assert_eq!(*entry, 9);
        }
    });
}

//@ failed panic
#[test]
fn got_behind_the_look() {
    removed_meanwhile(|entries| {
        if entries.lock().unwrap().contains_key(&3) {
            assert_eq!(entries.lock().unwrap()[&3], 9); //~ bug
        }
    });
}

/// What is cached of a source, which says how often it has changed.
#[derive(Default)]
struct Cached {
    source: AtomicU32,
    cache: Mutex<(u32, Option<u32>)>,
}

impl Cached {
    fn change(&self) {
        self.source.fetch_add(1, SeqCst);
        let mut cache = self.cache.lock().unwrap();
        cache.0 += 1;
        cache.1 = None;
    }

    /// Fills the cache, unless (which is left out in the wrong one) it was cleared meanwhile.
    fn fill(&self, looks: bool) {
        let version = self.cache.lock().unwrap().0;
        let value = self.source.load(SeqCst);
        let mut cache = self.cache.lock().unwrap();
        if !looks || cache.0 == version {
            cache.1 = Some(value);
        }
    }

    fn is_fresh(&self) -> bool {
        let cached = self.cache.lock().unwrap().1;
        cached.is_none_or(|value| value == self.source.load(SeqCst))
    }
}

fn filled_while_it_changes(looks: bool) -> bool {
    let cached = Arc::new(Cached::default());
    let other = Arc::clone(&cached);
    let thread = spawn(move || other.change());
    cached.fill(looks);
    thread.join().unwrap();
    cached.is_fresh()
}

//@ verified
#[test]
fn filled_unless_it_was_cleared() {
    assert!(filled_while_it_changes(true));
}

//@ failed panic
#[test]
fn filled_behind_its_end() {
    assert!(filled_while_it_changes(false)); //~ bug
}
