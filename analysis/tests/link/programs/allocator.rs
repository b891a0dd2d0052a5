//! A global allocator that wraps the system's.
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;
static COUNT: AtomicUsize = AtomicUsize::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    let before = COUNT.load(Ordering::Relaxed);
    let mut v: Vec<Box<u32>> = (0..100).map(Box::new).collect();
    v.push(Box::new(1));
    assert!(COUNT.load(Ordering::Relaxed) - before >= 101);
    println!("counted");
}
