//! The end of the process, and its signals, as far as the program asks for them.

use crate::execution::AtExit;
use crate::failure::{Failure, place};
use crate::pthread;
use crate::state::{end_execution, state};
use lockred_search::machine::Flow;
use lockred_trace::codes::BugKind;
use lockred_trace::message::Role;
use lockred_trace::sites::SiteId;

/// What the thread that ends the process runs first.
pub fn run_at_exit() {
    while let Some(function) = state().execution.at_exit.pop() {
        // SAFETY: registered by the program, and run once.
        unsafe {
            match function {
                AtExit::Plain(function) => function(),
                AtExit::With(function, argument) => function(argument),
            }
        }
    }
}

/// The running thread ends the process with a status. It is gone; the others go on (DESIGN.md section 1, *execution*).
pub fn exit(status: i32, returned: bool) -> ! {
    if crate::kernel::is_child() {
        // SAFETY: the child that the program forked ends, with whatever C code has registered.
        unsafe { libc::exit(status) }
    }
    pthread::exited(status, returned);
    crate::objects::exits(status);
    pthread::end()
}

/// exit: thread-local destructors of the calling thread, then what was registered.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_exit(status: i32) -> ! {
    pthread::run_destructors();
    run_at_exit();
    exit(status, false)
}

/// _exit.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc__exit(status: i32) -> ! {
    if crate::kernel::is_child() {
        // SAFETY: the child that the program forked ends at once.
        unsafe { libc::_exit(status) }
    }
    exit(status, false)
}

/// atexit.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_atexit(function: unsafe extern "C" fn()) -> i32 {
    state().execution.at_exit.push(AtExit::Plain(function));
    0
}

/// __cxa_atexit.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc___cxa_atexit(
    function: unsafe extern "C" fn(*mut u8),
    argument: *mut u8,
    _library: *mut u8,
) -> i32 {
    state().execution.at_exit.push(AtExit::With(function, argument));
    0
}

/// abort.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_abort() -> ! {
    if crate::kernel::is_child() {
        std::process::abort();
    }
    crate::models::aborts();
    died_of_abort(crate::unwind::recorded_stack())
}

/// The running thread has aborted, with this stack.
pub fn died_of_abort(stack: Vec<u64>) -> ! {
    let state = state();
    let thread = state.thread_number();
    let mut place = place(Role::Died, thread, SiteId(0));
    place.stack = stack;
    place.step = Some(crate::record::steps());
    let words = std::mem::take(&mut state.thread().last_words);
    let (message, what) = match crate::unwind::parse_panic(&words) {
        Some((location, message)) => {
            (format!("the process aborts after a panic: {message}"), location)
        }
        None => ("the process aborts".to_owned(), "abort".to_owned()),
    };
    let failure = Failure::new(BugKind::Abort, message, &what).at(place);
    crate::state::state().step.failures.push(failure);
    crate::debugger::bug();
    end_execution(Flow::Over)
}

/// pause: waits for a signal for ever. std lets threads wait so that end the process while another thread is doing that.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pause() -> i32 {
    if crate::kernel::is_child() {
        // SAFETY: the kernel acts on a child's signals.
        return unsafe { libc::pause() };
    }
    if state().execution.exit.is_some() {
        pthread::end();
    }
    crate::host::unsupported("pause")
}
