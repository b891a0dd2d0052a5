//! The Windows NT Bluetooth driver in the three versions of Suwimonteerabuth, Esparza and Schwoon, section 5.2: a stopper waits until
//! no thread is in the driver, and no adder may find it stopped.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::scope;

/// How an adder enters and leaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// Looks at the flag before it counts itself.
    One,
    /// Counts itself first; one that has failed to enter leaves twice.
    Two,
    /// Leaves only if it has entered.
    Three,
}

struct Device {
    /// Threads in the driver, and one more until it is stopped.
    pending_io: Mutex<i32>,
    stopping_flag: AtomicBool,
    stopping_event: AtomicBool,
    stopped: AtomicBool,
}

impl Device {
    fn inc(&self, version: Version) -> Result<(), ()> {
        if version == Version::One {
            if self.stopping_flag.load(SeqCst) {
                return Err(());
            }
            *self.pending_io.lock().unwrap() += 1;
            return Ok(());
        }
        *self.pending_io.lock().unwrap() += 1;
        if self.stopping_flag.load(SeqCst) {
            self.dec();
            return Err(());
        }
        Ok(())
    }

    fn dec(&self) {
        let pending_io = {
            let mut pending_io = self.pending_io.lock().unwrap();
            *pending_io -= 1;
            *pending_io
        };
        if pending_io == 0 {
            self.stopping_event.store(true, SeqCst);
        }
    }

    fn add(&self, version: Version) {
        let status = self.inc(version);
        if status.is_ok() {
            // Does its input and output here.
            assert!(!self.stopped.load(SeqCst)); //~ bug of one_1_adder_1_stopper, one_2_adders_1_stopper, one_1_adder_2_stoppers, two_2_adders_1_stopper, two_1_adder_2_stoppers, three_1_adder_2_stoppers
        }
        if version != Version::Three || status.is_ok() {
            self.dec();
        }
    }

    fn stop(&self) {
        self.stopping_flag.store(true, SeqCst);
        self.dec();
        while !self.stopping_event.load(SeqCst) {
            std::hint::spin_loop();
        }
        self.stopped.store(true, SeqCst);
    }
}

fn driver(version: Version, adders: usize, stoppers: usize) {
    let device = Device {
        pending_io: Mutex::new(1),
        stopping_flag: AtomicBool::new(false),
        stopping_event: AtomicBool::new(false),
        stopped: AtomicBool::new(false),
    };
    scope(|scope| {
        for _ in 0..adders {
            scope.spawn(|| device.add(version));
        }
        for _ in 0..stoppers {
            scope.spawn(|| device.stop());
        }
    });
}

//@ failed panic
//@ preemptions = 1
#[test]
fn one_1_adder_1_stopper() {
    driver(Version::One, 1, 1);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn one_2_adders_1_stopper() {
    driver(Version::One, 2, 1);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn one_1_adder_2_stoppers() {
    driver(Version::One, 1, 2);
}

//@ verified
//@ executions = 8
#[test]
fn two_1_adder_1_stopper() {
    driver(Version::Two, 1, 1);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn two_2_adders_1_stopper() {
    driver(Version::Two, 2, 1);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn two_1_adder_2_stoppers() {
    driver(Version::Two, 1, 2);
}

//@ verified
//@ executions = 7
#[test]
fn three_1_adder_1_stopper() {
    driver(Version::Three, 1, 1);
}

//@ verified
//@ executions = 132
#[test]
fn three_2_adders_1_stopper() {
    driver(Version::Three, 2, 1);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn three_1_adder_2_stoppers() {
    driver(Version::Three, 1, 2);
}
