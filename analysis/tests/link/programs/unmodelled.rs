//! A call that cannot be modelled.
unsafe extern "C" {
    fn sigsuspend(mask: *const u64) -> i32;
    fn getppid() -> i32;
}

fn main() {
    // SAFETY: no precondition.
    unsafe {
        getppid();
        sigsuspend(std::ptr::null());
    }
}
