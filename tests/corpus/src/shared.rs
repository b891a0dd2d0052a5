//! A cell that any thread may touch without synchronisation: the material of data races.

use std::cell::UnsafeCell;

/// Memory that threads share unprotected. The dereference stands in the test, so that reports name the test's line.
#[derive(Default)]
pub struct Shared<T>(UnsafeCell<T>);

// SAFETY: a lie, on purpose. Programs that use it are right only if they order their accesses.
unsafe impl<T> Sync for Shared<T> {}

// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

impl<T> Shared<T> {
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    pub const fn ptr(&self) -> *mut T {
        self.0.get()
    }
}
