//! The end of the process, and its signals, as far as the program asks for them.

use crate::hooks::pthread;
use crate::machine::event::Event;
use crate::machine::execution::AtExit;
use crate::machine::hook::{self, Entered};
use crate::machine::state::{State, end_execution};
use crate::record::failure::Failure;
use crate::record::failure::place;
use crate::scheduler::event;
use lockred_protocol::codes::BugKind;
use lockred_protocol::message::Role;
use lockred_protocol::sites::SiteId;
use lockred_search::machine::Flow;

/// What the thread that ends the process runs first.
pub fn run_at_exit(entered: &mut Entered) {
    while let Some(function) = entered.execution.at_exit.pop() {
        // SAFETY: registered by the program, and run once.
        entered.outside(|| unsafe {
            match function {
                AtExit::Plain(function) => function(),
                AtExit::With(function, argument) => function(argument),
            }
        });
    }
}

/// The running thread ends the process with a status. It is gone; the others go on
/// (docs/decisions/0013-main-does-not-end-the-execution.md).
pub fn exit(entered: &mut Entered, status: i32, returned: bool) -> ! {
    if crate::world::children::is_child() {
        // The child that the program forked ends, with whatever C code has registered.
        hook::exit(entered, status)
    }
    pthread::exited(entered, status, returned);
    event::notify(entered, &Event::Exits(status));
    pthread::end(entered)
}

/// exit: thread-local destructors of the calling thread, then what was registered.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_exit(status: i32) -> ! {
    let entered = &mut hook::enter();
    pthread::run_destructors(entered);
    run_at_exit(entered);
    exit(entered, status, false)
}

/// _exit.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc__exit(status: i32) -> ! {
    let entered = &mut hook::enter();
    if crate::world::children::is_child() {
        // SAFETY: the child that the program forked ends at once.
        unsafe { libc::_exit(status) }
    }
    exit(entered, status, false)
}

/// atexit.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_atexit(function: unsafe extern "C" fn()) -> i32 {
    let entered = &mut hook::enter();
    entered.execution.at_exit.push(AtExit::Plain(function));
    0
}

/// __cxa_atexit.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc___cxa_atexit(
    function: unsafe extern "C" fn(*mut u8),
    argument: *mut u8,
    _library: *mut u8,
) -> i32 {
    let entered = &mut hook::enter();
    entered.execution.at_exit.push(AtExit::With(function, argument));
    0
}

/// The running thread has aborted, with this stack.
pub fn died_of_abort(state: &mut State, stack: Vec<u64>) -> ! {
    let thread = state.thread_number();
    let mut place = place(Role::Died, thread, SiteId(0));
    place.stack = stack;
    place.step = Some(crate::report::record::steps(state));
    let words = std::mem::take(&mut state.thread().last_words);
    let (message, what) = match crate::hooks::panics::parse_panic(&words) {
        Some((location, message)) => {
            (format!("the process aborts after a panic: {message}"), location)
        }
        None => ("the process aborts".to_owned(), "abort".to_owned()),
    };
    let failure = Failure::new(BugKind::Abort, message, &what).at(place);
    state.step.failures.push(failure);
    crate::report::debugger::bug(state);
    end_execution(state, Flow::Over)
}

/// pause: waits for a signal for ever. std lets threads wait so that end the process while another
/// thread is doing that.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pause() -> i32 {
    if crate::world::children::is_child() {
        // SAFETY: the kernel acts on a child's signals.
        return unsafe { libc::pause() };
    }
    let entered = &mut hook::enter();
    if entered.execution.exit.is_some() {
        pthread::end(entered);
    }
    crate::machine::limits::unsupported(entered, "pause")
}
