//! Built with panic=abort.
fn main() {
    println!("before");
    let missing: Option<u32> = std::hint::black_box(None);
    missing.unwrap();
}
