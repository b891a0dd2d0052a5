//! HaltException, of Stoller's journal paper, section 10: a producer sends values through a buffer and then halts; a consumer takes
//! them until it finds the buffer empty and halted (Havelund and Pressburger, STTT 2000).

use std::sync::{Arc, Condvar, Mutex};
use std::thread::spawn;

/// Why there is no value.
struct HaltException;

struct Buffer<const CAPACITY: usize> {
    state: Mutex<State<CAPACITY>>,
    changed: Condvar,
    /// What is wrong with this one: the consumer does not look whether the producer has halted.
    deaf: bool,
}

struct State<const CAPACITY: usize> {
    array: [Option<u32>; CAPACITY],
    put: usize,
    get: usize,
    used: usize,
    halted: bool,
}

impl<const CAPACITY: usize> Buffer<CAPACITY> {
    fn new(deaf: bool) -> Self {
        let state = State { array: [None; CAPACITY], put: 0, get: 0, used: 0, halted: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), deaf }
    }

    fn put(&self, item: u32) {
        let mut state = self.state.lock().unwrap();
        while state.used == CAPACITY {
            state = self.changed.wait(state).unwrap();
        }
        let place = state.put;
        state.array[place] = Some(item);
        state.put = (place + 1) % CAPACITY;
        if state.used == 0 {
            self.changed.notify_all();
        }
        state.used += 1;
    }

    fn get(&self) -> Result<u32, HaltException> {
        let mut state = self.state.lock().unwrap();
        while state.used == 0 && (self.deaf || !state.halted) {
            state = self.changed.wait(state).unwrap(); //~ bug of three_items_through_two_places_and_a_deaf_consumer
        }
        if state.used == 0 {
            return Err(HaltException);
        }
        let place = state.get;
        let item = state.array[place].take();
        state.get = (place + 1) % CAPACITY;
        if state.used == CAPACITY {
            self.changed.notify_all();
        }
        state.used -= 1;
        Ok(item.expect("the place is used"))
    }

    fn halt(&self) {
        self.state.lock().unwrap().halted = true;
        self.changed.notify_all();
    }
}

/// Sends so many values; all must come, in order.
pub fn send<const CAPACITY: usize>(items: u32, deaf: bool) {
    let buffer = Arc::new(Buffer::<CAPACITY>::new(deaf));
    let [into, from] = [Arc::clone(&buffer), Arc::clone(&buffer)];
    let producer = spawn(move || {
        (0..items).for_each(|item| into.put(item));
        into.halt();
    });
    let consumer = spawn(move || {
        let mut expected = 0;
        while let Ok(item) = from.get() {
            assert_eq!(item, expected);
            expected += 1;
        }
        assert_eq!(expected, items);
    });
    producer.join().unwrap();
    consumer.join().unwrap();
}

//@ verified
//@ executions = 16
#[test]
fn two_items_through_one_place() {
    send::<1>(2, false);
}

//@ verified
//@ executions = 48
#[test]
fn three_items_through_two_places() {
    send::<2>(3, false);
}

//@ failed deadlock
//@ preemptions = 0
#[test]
fn three_items_through_two_places_and_a_deaf_consumer() {
    send::<2>(3, true);
}

//@ verified
//@ with --search=states verified
//@ executions = 152
#[test]
fn four_items_through_three_places() {
    send::<3>(4, false);
}
