//! Functions that are meant to be atomic, as they run.

#[cfg(lockred)]
unsafe extern "C" {
    // `runtime/protocol/src/hooks.rs`.
    fn __lr_block_begin(text: *const u8, length: usize);
    safe fn __lr_block_end();
}

/// A block is under way as long as this lives.
#[doc(hidden)]
#[derive(Debug)]
#[must_use]
pub struct __Atomic(());

/// What `here` is called in the block that it stands in.
const HERE: &str = "::__lockred_here";

/// A block begins, which is called as the function is that `here` stands in:
/// `krate::module::Type::method`.
#[doc(hidden)]
pub fn __atomic<F: Fn()>(_here: F) -> __Atomic {
    let text = core::any::type_name::<F>();
    let text = text.strip_suffix(HERE).unwrap_or(text);
    #[cfg(lockred)]
    // SAFETY: the hook's contract is that the text lives as long as the program.
    unsafe {
        __lr_block_begin(text.as_ptr(), text.len());
    }
    #[cfg(not(lockred))]
    let _ = text;
    __Atomic(())
}

impl Drop for __Atomic {
    fn drop(&mut self) {
        #[cfg(lockred)]
        __lr_block_end();
    }
}
