//! std's, which lockred and ThreadSanitizer look at as it is.

pub use std::sync::Arc as CountedArc;
pub use std::sync::{Arc, Barrier, Condvar, Mutex, Once, RwLock, atomic, mpsc};
pub use std::{hint, thread};

/// Plain memory, in the form that loom asks for.
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}
