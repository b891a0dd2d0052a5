//! The moment when a panic starts unwinding.

use crate::machine::execution::Panic;
use crate::machine::hook;
use crate::machine::state::State;
use std::ffi::c_void;

unsafe extern "C-unwind" {
    fn _Unwind_RaiseException(exception: *mut c_void) -> i32;
}

/// `_Unwind_RaiseException`: a panic starts unwinding. Its message was the last thing that the
/// thread wrote to standard error.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn __lr_libc__Unwind_RaiseException(exception: *mut u8) -> i32 {
    hook::with(panicked);
    // SAFETY: the program's own exception object, passed on; it comes back only if nothing catches.
    unsafe { _Unwind_RaiseException(exception.cast()) }
}

/// A panic of the running thread starts unwinding.
fn panicked(state: &mut State) {
    crate::machine::region::unwinds(state);
    crate::machine::handles::unwinds(state);
    let thread = state.thread_number();
    let words = std::mem::take(&mut state.thread().last_words);
    let (location, message) = parse_panic(&words).unwrap_or_default();
    let stack = crate::report::record::stack(state);
    let step = crate::report::record::steps(state);
    state.execution.panics.push(Panic { thread, location, message, stack, step });
    crate::report::debugger::bug(state);
}

/// Location and message of std's "thread 'name' (id) panicked at file:line:column:\nmessage".
pub fn parse_panic(text: &str) -> Option<(String, String)> {
    let (_, rest) = text.rsplit_once(" panicked at ")?;
    let (location, message) = rest.split_once('\n')?;
    let message = message.split("\nnote: run with `RUST_BACKTRACE").next().unwrap_or_default();
    let message = message.split("\nstack backtrace:").next().unwrap_or_default();
    Some((location.trim_end_matches(':').to_owned(), message.trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_messages_are_taken_apart() {
        let text = "\nthread 'main' (12) panicked at src/lib.rs:3:5:\nleft != right\n  left: 1\nnote: run with `RUST_BACKTRACE=1` environment variable\n";
        let (location, message) = parse_panic(text).unwrap();
        assert_eq!(location, "src/lib.rs:3:5");
        assert_eq!(message, "left != right\n  left: 1");
        assert_eq!(parse_panic("hello"), None);
    }
}
