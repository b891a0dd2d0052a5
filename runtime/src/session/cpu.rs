//! The process's own time: what it has computed, whatever else the machine does meanwhile.

use std::time::Duration;

/// The processor time that this process has used.
pub fn time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the result, and a clock that every process has.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_on_with_what_is_computed() {
        let since = time();
        while time() <= since {
            std::hint::spin_loop();
        }
    }
}
