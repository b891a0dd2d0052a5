//! What the libc models may ask of the machine.

use crate::state::{Mode, end_execution, installed, state};
use lockred_search::machine::Flow;
use lockred_trace::codes::AssumptionKind;
use lockred_trace::message::{Assumption, Unsupported};
use lockred_trace::sites::SiteId;

/// Bytes of a thread's last words that are kept.
const LAST_WORDS: usize = 4096;

/// The running thread reads memory on the program's behalf.
pub fn read(address: usize, length: usize) {
    crate::claims::operation(address, length, SiteId(0), false);
    crate::plain::__lr_read(address, length, 0);
}

/// The running thread writes memory on the program's behalf.
pub fn write(address: usize, length: usize) {
    crate::claims::operation(address, length, SiteId(0), true);
    crate::plain::__lr_write(address, length, 0);
}

/// Output of the program to descriptor 1 or 2. `true`: it was taken; `false`: it shall really be written.
pub fn output(descriptor: i32, bytes: &[u8]) -> bool {
    let Some(state) = installed() else { return false };
    if state.mode == Mode::Free {
        return false;
    }
    // Millions of lines may be printed that nobody reads.
    if descriptor != 2 && state.recorder.is_none() {
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
    if let Some(recorder) = &mut state.recorder {
        recorder.output(thread, descriptor, &text);
    }
    true
}

/// The outcome rests on this (told once a kind and detail). Before the root nothing is explored, so nothing rests on it.
pub fn assume(kind: AssumptionKind, detail: &str) {
    assume_at(kind, detail, SiteId(0));
}

/// The same, with a place.
pub fn assume_at(kind: AssumptionKind, detail: &str, site: SiteId) {
    let Some(state) = installed() else { return };
    if state.mode == Mode::Free || !state.below_root {
        return;
    }
    state.execution.outside |= matches!(
        kind,
        AssumptionKind::NativeCode | AssumptionKind::ExternalWrite | AssumptionKind::FileChange
    );
    if !state.assumptions.iter().any(|known| known.kind == kind && known.detail == detail) {
        state.assumptions.push(Assumption { kind, detail: detail.to_owned(), site });
    }
}

/// The program does what cannot be modelled: the test ends. Without a session there is nobody to tell, so the process does.
pub fn unsupported(what: &str) -> ! {
    unsupported_at(what, SiteId(0))
}

/// The same, with a place.
pub fn unsupported_at(what: &str, site: SiteId) -> ! {
    let stack = crate::unwind::stack();
    let state = state();
    if state.mode == Mode::Free {
        eprintln!("lockred: cannot be modelled: {what}");
        std::process::exit(lockred_trace::session::EXIT_INTERNAL);
    }
    state.unsupported = Some(Unsupported { message: what.to_owned(), site, stack });
    end_execution(Flow::Unsupported)
}

/// The machine does not give what it takes: that is nobody's mistake. Where a thread runs, its test ends; else the process does.
pub fn impossible(what: &str) -> ! {
    let session = installed().is_some_and(|state| state.mode != Mode::Free);
    if session && installed().is_some_and(|state| state.running.is_some()) {
        unsupported(what);
    }
    crate::session::refuse(what)
}

/// The execution does something beyond the program's own memory.
pub fn outside() {
    if let Some(state) = installed() {
        state.execution.outside |= state.below_root;
    }
}

/// Whether the root was reached, and executions are put back to it. Without a session they never are.
pub fn below_root() -> bool {
    installed().is_some_and(|state| state.below_root && state.mode != Mode::Free)
}

/// Whether files below this path may be written without an assumption.
pub fn writable(path: &str) -> bool {
    let Some(order) = installed().and_then(|state| state.order.as_ref()) else { return true };
    order.writable.iter().any(|directory| {
        path.strip_prefix(directory.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Name of an external function by the index that the shim gave it.
pub fn external(index: u32) -> String {
    let sidecar = crate::session::sidecar();
    sidecar
        .and_then(|sidecar| sidecar.externals.get(index as usize).cloned())
        .unwrap_or_else(|| format!("external function {index}"))
}

/// See [`lockred_trace::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_native_call(index: u32, site: u32) {
    crate::models::numbers::called_native(index);
    if !below_root() {
        return;
    }
    crate::native::called(index, SiteId(site));
    if !crate::session::told(index) {
        assume_at(AssumptionKind::NativeCode, &format!("calls {}", external(index)), SiteId(site));
    }
}

/// See [`lockred_trace::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_unsupported_call(index: u32, site: u32) {
    if installed().is_some_and(|state| state.mode != Mode::Free) {
        unsupported_at(&external(index), SiteId(site));
    }
}

/// See [`lockred_trace::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_unsupported_instruction(site: u32) {
    if installed().is_some_and(|state| state.mode != Mode::Free) {
        unsupported_at("an atomic instruction that is not modelled", SiteId(site));
    }
}
