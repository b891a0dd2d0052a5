//! A reader takes the pointer, and a writer replaces and frees what it points to.

use rust_i18n_support::AtomicStr;
use std::sync::Arc;
use std::thread::spawn;

#[test]
fn driver() {
    let text = Arc::new(AtomicStr::new("one"));
    let other = Arc::clone(&text);
    let thread = spawn(move || drop(other.replace("two")));
    assert_eq!(text.as_str().len(), 3);
    thread.join().unwrap();
}
