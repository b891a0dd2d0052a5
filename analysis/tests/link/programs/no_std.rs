//! A program without std: core, an own panic handler, libc by hand.
#![no_std]
#![no_main]

unsafe extern "C" {
    fn puts(text: *const core::ffi::c_char) -> i32;
    fn abort() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: no precondition.
    unsafe { abort() }
}

#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    let number = core::sync::atomic::AtomicU32::new(1);
    number.fetch_add(41, core::sync::atomic::Ordering::SeqCst);
    let text: &core::ffi::CStr = if number.into_inner() == 42 { c"right" } else { c"wrong" };
    // SAFETY: a C string.
    unsafe { puts(text.as_ptr()) };
    core::hint::black_box(Some(3)).unwrap() - 3
}
