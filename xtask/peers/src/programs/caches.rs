//! Caches: looked up, computed and entered.

use super::{beside, check, two};
use crate::sync::atomic::{AtomicU32, Ordering::SeqCst};
use crate::sync::{Mutex, RwLock};
use std::collections::BTreeMap;

/// Each value is computed once: if that happens under the lock of the look-up.
pub fn computed_twice<const RIGHT: bool>() {
    let (mine, theirs) = two((Mutex::new(BTreeMap::new()), AtomicU32::new(0)));
    let get = |cache: &(Mutex<BTreeMap<u32, u32>>, AtomicU32)| {
        let compute = || {
            let before = cache.1.fetch_add(1, SeqCst);
            check!(before == 0);
            7
        };
        if RIGHT {
            let _value = *cache.0.lock().unwrap().entry(1).or_insert_with(compute);
        } else {
            let known = cache.0.lock().unwrap().get(&1).copied();
            if known.is_none() {
                let value = compute();
                cache.0.lock().unwrap().insert(1, value);
            }
        }
    };
    beside(move || get(&theirs), || get(&mine));
}

/// What is invalidated stays so: if the value was read in the section that enters it.
pub fn stale_entry<const RIGHT: bool>() {
    let (mine, theirs) = two((Mutex::new(1_u32), RwLock::new(None)));
    beside(
        move || {
            *theirs.0.lock().unwrap() = 2;
            *theirs.1.write().unwrap() = None;
        },
        || {
            if RIGHT {
                let mut entry = mine.1.write().unwrap();
                *entry = Some(*mine.0.lock().unwrap());
            } else {
                let value = *mine.0.lock().unwrap();
                *mine.1.write().unwrap() = Some(value);
            }
        },
    );
    let entry = *mine.1.read().unwrap();
    let value = *mine.0.lock().unwrap();
    check!(entry.is_none() || entry == Some(value));
}
