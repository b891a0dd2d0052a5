//! A compare-exchange fails for no reason, which an assertion does not expect.

use once_cell::sync::OnceCell;
use std::sync::Arc;
use std::thread::spawn;

#[test]
fn driver() {
    let cell = Arc::new(OnceCell::new());
    let other = Arc::clone(&cell);
    let thread = spawn(move || *other.get_or_init(|| 1));
    assert_eq!(*cell.get_or_init(|| 1), 1);
    thread.join().unwrap();
}
