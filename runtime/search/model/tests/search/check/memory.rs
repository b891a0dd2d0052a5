//! A global allocator that counts live bytes, for tests and measurements of memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counts what the system's allocator hands out.
pub struct Counting {
    live: AtomicUsize,
    peak: AtomicUsize,
}

impl Counting {
    /// Nothing was handed out.
    pub const fn new() -> Self {
        Self { live: AtomicUsize::new(0), peak: AtomicUsize::new(0) }
    }

    /// Bytes that are in use.
    pub fn live(&self) -> usize {
        self.live.load(Relaxed)
    }

    /// The most bytes that were in use since the last call.
    pub fn take_peak(&self) -> usize {
        self.peak.swap(self.live(), Relaxed)
    }
}

// SAFETY: every call is passed on to the system's allocator as it is; counting touches no memory
// but the counters.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = self.live.fetch_add(layout.size(), Relaxed) + layout.size();
        self.peak.fetch_max(live, Relaxed);
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        self.live.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps `dealloc`'s contract, and `alloc` came from the same allocator.
        unsafe { System.dealloc(memory, layout) }
    }
}
