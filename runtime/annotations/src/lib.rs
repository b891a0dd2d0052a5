//! What code may say to `cargo lockred`: values that it shall explore, and whether it is there at
//! all.
//!
//! ```
//! // Under `cargo lockred check` the test is explored with each of the three capacities; else it runs with the first.
//! let capacity = lockred::any_in(1..=3_usize);
//! let fails = lockred::any::<bool>();
//! let kind = ["tcp", "udp"][lockred::choose(2)];
//! # assert_eq!((capacity, fails, kind), (1, false, "tcp"));
//! ```
//!
//! A value may be asked for anywhere: in the test, in its threads, in a dependency. All
//! combinations of the values that an execution asks for are explored, so ask for few values of
//! small ranges. Nothing else of the crate does anything without the tool, which sets `--cfg
//! lockred`; it needs neither std nor another crate.

#![no_std]

mod assumed;
mod atomic;
mod exclusive;
mod notes;
mod values;

#[doc(hidden)]
pub use assumed::__assumed_not;
#[doc(hidden)]
pub use atomic::{__Atomic, __atomic};
#[doc(hidden)]
pub use exclusive::__Predicate;
pub use exclusive::me;
#[doc(hidden)]
pub use notes::__note;
pub use notes::{atomic, check, discipline, guarded_by, unshared};
pub use values::{Arbitrary, Integer, any, any_in, choose};

/// Whether this build is being checked by `cargo lockred` (which sets `--cfg lockred`).
///
/// Lets a stress test shrink its loop counts: `let rounds = if lockred::checked() { 2 } else {
/// 10_000 };`
#[must_use]
pub const fn checked() -> bool {
    cfg!(lockred)
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_ordinary_build_is_not_checked() {
        assert!(!super::checked());
    }
}
