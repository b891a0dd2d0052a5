//! Two threads clone a buffer that is shared only from then on; one of them reads a pointer that the other one exchanges.

use bytes::Bytes;
use std::sync::Arc;
use std::thread::spawn;

#[test]
fn driver() {
    let bytes = Arc::new(Bytes::from(vec![1; 64]));
    let other = Arc::clone(&bytes);
    let thread = spawn(move || other.slice(0, 40).len());
    assert_eq!(bytes.slice(0, 40).len(), 40);
    thread.join().unwrap();
}
