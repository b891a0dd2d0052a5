//! std's Mutex: exclusion, lost updates, deadlocks, `try_lock`, poisoning.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::spawn;

static GLOBAL: Mutex<u32> = Mutex::new(0);

//@ verified
//@ executions = 2
#[test]
fn two_increments() {
    let count = Arc::new(Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || *other.lock().unwrap() += 1);
    *count.lock().unwrap() += 1;
    thread.join().unwrap();
    assert_eq!(*count.lock().unwrap(), 2);
}

//@ verified
//@ executions = 6
#[test]
fn three_increments() {
    let count = Arc::new(Mutex::new(0));
    let threads = [(); 3].map(|()| {
        let count = Arc::clone(&count);
        spawn(move || *count.lock().unwrap() += 1)
    });
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*count.lock().unwrap(), 3);
}

//@ verified
//@ executions = 2
#[test]
fn a_static_mutex() {
    let thread = spawn(|| *GLOBAL.lock().unwrap() += 1);
    *GLOBAL.lock().unwrap() += 2;
    thread.join().unwrap();
    assert_eq!(*GLOBAL.lock().unwrap(), 3);
}

//@ verified
//@ executions = 1
#[test]
fn disjoint_locks_need_one_execution() {
    let (mine, theirs) = (Mutex::new(0), Mutex::new(0));
    let thread = spawn(move || {
        *theirs.lock().unwrap() += 1;
        theirs
    });
    *mine.lock().unwrap() += 1;
    let theirs = thread.join().unwrap();
    assert_eq!(*mine.lock().unwrap() + *theirs.lock().unwrap(), 2);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn lost_update_across_two_sections() {
    let count = Arc::new(Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || {
        let seen = *other.lock().unwrap();
        *other.lock().unwrap() = seen + 1;
    });
    let seen = *count.lock().unwrap();
    *count.lock().unwrap() = seen + 1;
    thread.join().unwrap();
    assert_eq!(*count.lock().unwrap(), 2); //~ bug
}

//@ failed panic
//@ preemptions = 1
#[test]
fn check_then_act() {
    let seats = Arc::new(Mutex::new(1_u32));
    let other = Arc::clone(&seats);
    let thread = spawn(move || {
        if *other.lock().unwrap() > 0 {
            *other.lock().unwrap() -= 1;
        }
    });
    let free = *seats.lock().unwrap() > 0;
    if free {
        let mut seats = seats.lock().unwrap();
        assert!(*seats > 0); //~ bug
        *seats -= 1;
    }
    let _ = thread.join();
}

//@ verified
//@ executions = 2
#[test]
fn check_and_act_in_one_section() {
    let seats = Arc::new(Mutex::new(1_u32));
    let take = |seats: &Mutex<u32>| {
        let mut seats = seats.lock().unwrap();
        let taken = *seats > 0;
        *seats -= u32::from(taken);
        taken
    };
    let other = Arc::clone(&seats);
    let thread = spawn(move || take(&other));
    let mine = take(&seats);
    assert!(mine != thread.join().unwrap());
}

//@ verified
#[test]
fn a_box_handed_over_through_a_lock() {
    let slot = Arc::new(Mutex::new(None));
    let other = Arc::clone(&slot);
    let thread = spawn(move || *other.lock().unwrap() = Some(Box::new(7)));
    let early = slot.lock().unwrap().take();
    thread.join().unwrap();
    let late = slot.lock().unwrap().take();
    assert_eq!(early.or(late), Some(Box::new(7)));
}

//@ failed deadlock
//@ preemptions = 1
#[test]
fn ab_ba() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let other = Arc::clone(&locks);
    let thread = spawn(move || {
        let _a = other.0.lock().unwrap();
        let _b = other.1.lock().unwrap(); //~ bug
    });
    let b = locks.1.lock().unwrap();
    let a = locks.0.lock().unwrap(); //~ bug
    drop((a, b));
    thread.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn ab_ab() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let other = Arc::clone(&locks);
    let thread = spawn(move || {
        let mut a = other.0.lock().unwrap();
        *a += *other.1.lock().unwrap();
    });
    let a = locks.0.lock().unwrap();
    *locks.1.lock().unwrap() += *a;
    drop(a);
    thread.join().unwrap();
}

//@ verified
#[test]
fn ab_ba_behind_a_gate() {
    let locks = Arc::new((Mutex::new(()), Mutex::new(0), Mutex::new(0)));
    let other = Arc::clone(&locks);
    let thread = spawn(move || {
        let _gate = other.0.lock().unwrap();
        let _a = other.1.lock().unwrap();
        let _b = other.2.lock().unwrap();
    });
    let gate = locks.0.lock().unwrap();
    let b = locks.2.lock().unwrap();
    let a = locks.1.lock().unwrap();
    drop((a, b, gate));
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn locked_twice_by_one_thread() {
    let count = Mutex::new(0);
    let thread = spawn(move || {
        let _first = count.lock().unwrap();
        let _second = count.lock().unwrap(); //~ bug
    });
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn locked_twice_without_any_thread() {
    let count = Mutex::new(0);
    let _first = count.lock().unwrap();
    let _second = count.lock().unwrap(); //~ bug
}

//@ failed deadlock
#[test]
fn a_match_keeps_its_guard() {
    let queue = Arc::new(Mutex::new(vec![1]));
    let other = Arc::clone(&queue);
    let thread = spawn(move || other.lock().unwrap().clear());
    match queue.lock().unwrap().pop() {
        Some(item) => queue.lock().unwrap().push(item), //~ bug
        None => (),
    }
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn join_under_a_lock() {
    let count = Arc::new(Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || *other.lock().unwrap() += 1); //~ bug
    let guard = count.lock().unwrap();
    thread.join().unwrap(); //~ bug
    drop(guard);
}

//@ verified
#[test]
fn join_after_unlock() {
    let count = Arc::new(Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || *other.lock().unwrap() += 1);
    let guard = count.lock().unwrap();
    drop(guard);
    thread.join().unwrap();
    assert_eq!(*count.lock().unwrap(), 1);
}

//@ failed deadlock
//@ preemptions = 1
#[test]
fn philosophers() {
    let forks = Arc::new([(); 3].map(Mutex::new));
    let threads = [(0, 1), (1, 2), (2, 0)].map(|(left, right)| {
        let forks = Arc::clone(&forks);
        spawn(move || {
            let _left = forks[left].lock().unwrap();
            let _right = forks[right].lock().unwrap(); //~ bug
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

//@ verified
//@ executions = 1
#[test]
fn philosophers_with_one_left_handed() {
    let forks = Arc::new([(); 3].map(Mutex::new));
    let threads = [(0, 1), (1, 2), (0, 2)].map(|(left, right)| {
        let forks = Arc::clone(&forks);
        spawn(move || {
            let _left = forks[left].lock().unwrap();
            let _right = forks[right].lock().unwrap();
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

//@ verified
//@ executions = 4
#[test]
fn try_lock_takes_it_or_leaves_it() {
    let count = Arc::new(Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || other.try_lock().map(|mut count| *count += 1).is_ok());
    let mine = count.try_lock().map(|mut count| *count += 1).is_ok();
    let theirs = thread.join().unwrap();
    assert!(mine || theirs);
    assert_eq!(*count.lock().unwrap(), u32::from(mine) + u32::from(theirs));
}

//@ failed panic
//@ preemptions = 2
#[test]
fn try_lock_may_fail() {
    let count = Arc::new(Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || *other.lock().unwrap() += 1);
    *count.try_lock().unwrap() += 1; //~ bug
    thread.join().unwrap();
}

//@ verified
#[test]
fn a_poisoned_lock_still_has_its_value() {
    let count = Arc::new(Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || {
        *other.lock().unwrap() = 5;
        let _guard = other.lock().unwrap();
        panic!("poisons");
    });
    assert!(thread.join().is_err());
    assert!(count.is_poisoned());
    assert_eq!(count.lock().map(|c| *c).unwrap_or_else(|e| **e.get_ref()), 5);
    count.clear_poison();
    assert!(count.lock().is_ok());
}

//@ failed panic
#[test]
fn unwrapping_a_lock_that_may_be_poisoned() {
    let count = Arc::new(Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || {
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let _guard = other.lock().unwrap();
            panic!("poisons");
        }));
    });
    *count.lock().unwrap() += 1; //~ bug
    thread.join().unwrap();
}

//@ verified
#[test]
fn poison_is_overcome() {
    let count = Arc::new(Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || {
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let _guard = other.lock().unwrap_or_else(PoisonError::into_inner);
            panic!("poisons");
        }));
    });
    *count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    thread.join().unwrap();
}

//@ verified
#[test]
fn who_takes_a_lock_last_frees_it() {
    let lock: &'static Mutex<bool> = Box::leak(Box::new(Mutex::new(false)));
    let thread = spawn(|| *lock.lock().unwrap() = true);
    let is_last = *lock.lock().unwrap();
    if is_last {
        drop(unsafe { Box::from_raw(std::ptr::from_ref(lock).cast_mut()) });
    }
    thread.join().unwrap();
}
