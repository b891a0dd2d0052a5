//! The last sender and the last receiver are dropped at the same time.

use crossbeam_channel::bounded;
use std::thread::spawn;

#[test]
fn driver() {
    let (sender, receiver) = bounded::<u32>(1);
    let thread = spawn(move || drop(sender));
    drop(receiver);
    thread.join().unwrap();
}
