//! What the libc models and the real kernel may ask of the machine. They hold no state
//! ([`crate::machine::hook`]): each of these functions enters.

pub mod numbers;
mod unmodelled;

use crate::machine::config::Mode;
use crate::machine::hook;
use crate::machine::limits;
use lockred_protocol::codes::AssumptionKind;

/// Bytes of a thread's last words that are kept.
const LAST_WORDS: usize = 4096;

/// The running thread reads memory on the program's behalf.
pub fn read(address: usize, length: usize) {
    crate::hooks::plain::reads(&mut hook::enter(), address, length);
}

/// The running thread writes memory on the program's behalf.
pub fn write(address: usize, length: usize) {
    crate::hooks::plain::writes(&mut hook::enter(), address, length);
}

/// Output of the program to descriptor 1 or 2. `true`: it was taken; `false`: it shall really be
/// written.
pub fn output(descriptor: i32, bytes: &[u8]) -> bool {
    let state = &mut *hook::enter();
    if state.config.mode == Mode::Free {
        return false;
    }
    // Millions of lines may be printed that nobody reads.
    if descriptor != 2 && state.monitors.recorder.is_none() {
        return true;
    }
    let text = String::from_utf8_lossy(bytes);
    let thread = state.thread_number();
    if descriptor == 2 {
        let words = &mut state.thread().last_words;
        if words.len() + text.len() > LAST_WORDS {
            words.clear();
        }
        words.push_str(&text);
    }
    if let Some(recorder) = &mut state.monitors.recorder {
        recorder.output(thread, descriptor, &text);
    }
    true
}

/// The outcome rests on this. See [`limits::assume`].
pub fn assume(kind: AssumptionKind, detail: &str) {
    hook::with(|state| limits::assume(state, kind, detail));
}

/// The program does what cannot be modelled. See [`limits::unsupported`].
pub fn unsupported(what: &str) -> ! {
    limits::unsupported(&mut hook::enter(), what)
}

/// The execution does something beyond the program's own memory.
pub fn outside() {
    hook::with(|state| state.execution.outside |= state.below_root);
}

/// Whether the root was reached, and executions are put back to it. Without a session they never
/// are.
pub fn below_root() -> bool {
    hook::with(|state| state.is_put_back())
}
