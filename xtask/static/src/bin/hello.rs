//! The smallest program there is.

fn main() {
    println!("hello");
}
