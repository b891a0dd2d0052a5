//! `shrink_to_fit` takes the lock of a shard that it holds. A second thread is there so that there
//! is something to explore.

use dashmap::DashMap;
use std::sync::Arc;
use std::thread::spawn;

#[test]
fn driver() {
    let map = Arc::new(DashMap::with_shard_amount(2));
    let other = Arc::clone(&map);
    let thread = spawn(move || other.insert(1, 1));
    map.shrink_to_fit();
    thread.join().unwrap();
}
