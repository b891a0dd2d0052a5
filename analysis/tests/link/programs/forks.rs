//! A call that cannot be modelled.
unsafe extern "C" {
    fn fork() -> i32;
    fn getppid() -> i32;
}

fn main() {
    // SAFETY: no precondition.
    unsafe {
        getppid();
        fork();
    }
}
