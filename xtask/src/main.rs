//! Set-up, demo, tests and benches of this repository.

fn main() {}
