//! A program with a dependency that has a C part.
fn main() {
    println!("{}", caller_of_c::twice_of_next(20));
}
