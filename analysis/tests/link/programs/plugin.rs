//! A shared library.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_answer() -> u32 {
    std::sync::Mutex::new(42).into_inner().unwrap()
}
