//! Four programs of the ConTest benchmarks in which Kidd et al., section 8, look for violations of atomicity, as they are described
//! elsewhere: SoftwareVerificationHW, BugTester, BuggyProgram and shop (whose source is not public: a check and an act of that name).
//!
//! What should be atomic is between the comments `atomic` and `end of atomic`. Each program has a twin in which one lock makes it so.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard};
use std::thread::scope;

/// What a program holds while it is in what should be atomic: a lock, or nothing.
fn held(lock: Option<&Mutex<()>>) -> Option<MutexGuard<'_, ()>> {
    lock.map(|lock| lock.lock().unwrap())
}

/// What SoftwareVerificationHW locks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Bubbles {
    Nothing,
    EachSwap,
    EachPass,
}

/// SoftwareVerificationHW: as many threads as are needed each go through an array once and swap neighbours; then it is sorted.
pub fn software_verification_hw(values: &[i32], threads: usize, locked: Bubbles) {
    let array: Vec<AtomicI32> = values.iter().map(|&value| AtomicI32::new(value)).collect();
    let lock = Mutex::new(());
    let pass = || {
        // atomic
        let _pass = held((locked == Bubbles::EachPass).then_some(&lock));
        for [left, right] in array.array_windows() {
            // atomic
            let _swap = held((locked == Bubbles::EachSwap).then_some(&lock));
            let (less, more) = (left.load(SeqCst), right.load(SeqCst));
            if less > more {
                left.store(more, SeqCst);
                right.store(less, SeqCst);
            }
            // end of atomic
        }
        // end of atomic
    };
    scope(|scope| {
        for _ in 0..threads {
            scope.spawn(pass);
        }
    });
    let found: Vec<i32> = array.into_iter().map(AtomicI32::into_inner).collect();
    let (mut sorted, mut expected) = (found.clone(), values.to_vec());
    sorted.sort_unstable();
    expected.sort_unstable();
    assert_eq!(sorted, expected, "values are lost"); //~ bug of software_verification_hw_without_locks
    assert_eq!(found, expected, "not sorted"); //~ bug of software_verification_hw_with_atomic_swaps
}

/// BugTester: threads append to a list, of which the last element is known.
fn bug_tester(threads: usize, each: usize, lock: Option<&Mutex<()>>) {
    let next: Vec<AtomicUsize> = (0..=threads * each).map(|_| AtomicUsize::new(0)).collect();
    let [last, size] = [const { AtomicUsize::new(0) }; 2];
    let append = |node: usize| {
        // atomic
        let _held = held(lock);
        let before = last.load(SeqCst);
        next[before].store(node, SeqCst);
        last.store(node, SeqCst);
        size.store(size.load(SeqCst) + 1, SeqCst);
        // end of atomic
    };
    scope(|scope| {
        for thread in 0..threads {
            let append = &append;
            scope.spawn(move || (1..=each).for_each(|node| append(thread * each + node)));
        }
    });
    let follow = |&node: &usize| Some(next[node].load(SeqCst)).filter(|&node| node != 0);
    let found = std::iter::successors(Some(0), follow).take(next.len()).count() - 1;
    assert_eq!((found, size.into_inner()), (threads * each, threads * each)); //~ bug of bug_tester_without_lock, bug_tester_of_six
}

/// BuggyProgram: each user generates a number that nobody had before, is shown it, and records it. The lock that each takes is its own.
fn buggy_program(users: usize, one_lock: bool) {
    let random = AtomicUsize::new(0);
    let history: Vec<AtomicBool> = (0..users).map(|_| AtomicBool::new(false)).collect();
    let locks: Vec<Mutex<()>> = (0..users).map(|_| Mutex::new(())).collect();
    let user = |user: usize| {
        // atomic
        let _held = held(Some(&locks[if one_lock { 0 } else { user }]));
        let from = lockred::choose(users);
        let numbers = (from..users).chain(0..from);
        let generated = numbers.into_iter().find(|&number| !history[number].load(SeqCst)).unwrap();
        random.store(generated, SeqCst);
        let presented = random.load(SeqCst);
        let is_new = !history[presented].swap(true, SeqCst);
        assert_eq!((presented, is_new), (generated, true)); //~ bug of buggy_program_2_users, buggy_program_3_users
        // end of atomic
    };
    scope(|scope| {
        for number in 0..users {
            let user = &user;
            scope.spawn(move || user(number));
        }
    });
}

/// shop: customers look whether there is something left, and then buy it; a supplier brings more.
fn shop(customers: usize, lock: Option<&Mutex<()>>) {
    let stock = Mutex::new(1_i32);
    scope(|scope| {
        for _ in 0..customers {
            scope.spawn(|| {
                // atomic
                let _held = held(lock);
                let left = *stock.lock().unwrap();
                if left > 0 {
                    let left = {
                        let mut stock = stock.lock().unwrap();
                        *stock -= 1;
                        *stock
                    };
                    assert!(left >= 0, "sold what is not there"); //~ bug of shop_2_customers, shop_3_customers
                }
                // end of atomic
            });
        }
        scope.spawn(|| {
            let _held = held(lock);
            *stock.lock().unwrap() += 1;
        });
    });
}

//@ failed panic
//@ preemptions = 1
#[test]
fn software_verification_hw_without_locks() {
    software_verification_hw(&[3, 2, 1], 2, Bubbles::Nothing);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn software_verification_hw_with_atomic_swaps() {
    software_verification_hw(&[3, 2, 1], 2, Bubbles::EachSwap);
}

//@ verified
//@ executions = 2
#[test]
fn software_verification_hw_with_atomic_passes() {
    software_verification_hw(&[3, 2, 1], 2, Bubbles::EachPass);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn bug_tester_without_lock() {
    bug_tester(2, 1, None);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn bug_tester_of_six() {
    bug_tester(2, 3, None);
}

//@ verified
//@ executions = 20
#[test]
fn bug_tester_of_six_with_a_lock() {
    bug_tester(2, 3, Some(&Mutex::new(())));
}

//@ failed panic
//@ preemptions = 1
#[test]
fn buggy_program_2_users() {
    buggy_program(2, false);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn buggy_program_3_users() {
    buggy_program(3, false);
}

//@ verified
//@ executions = 8
#[test]
fn buggy_program_2_users_with_one_lock() {
    buggy_program(2, true);
}

//@ verified
//@ executions = 162
#[test]
fn buggy_program_3_users_with_one_lock() {
    buggy_program(3, true);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn shop_2_customers() {
    shop(2, None);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn shop_3_customers() {
    shop(3, None);
}

//@ verified
//@ executions = 6
#[test]
fn shop_2_customers_with_a_lock() {
    shop(2, Some(&Mutex::new(())));
}
