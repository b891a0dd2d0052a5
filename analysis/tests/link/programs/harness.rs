//! Tests under libtest.
#[test]
fn passes() {
    let shared = std::sync::Mutex::new(0);
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| *shared.lock().unwrap() += 1);
        }
    });
    assert_eq!(shared.into_inner().unwrap(), 2);
}

#[test]
#[should_panic(expected = "as it should")]
fn panics() {
    panic!("as it should");
}

#[test]
fn returns() -> Result<(), String> {
    Ok(())
}
