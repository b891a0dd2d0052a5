//! Processes that the program makes of itself, above the root: a child is nobody's exploration, and
//! answers no session.

use crate::faults::child::{self, Blocked};
use crate::host;
use crate::machine::config::Mode;
use crate::machine::hook;
use crate::machine::state::State;
use crate::session::files as session;
use crate::world::children;
use libc::{c_char, c_int};

/// The process becomes one without a session, whose signals are the kernel's.
fn become_child(blocked: Blocked) {
    children::become_child();
    session::forget();
    crate::faults::signals::reset();
    let signals = hook::with(|state| {
        state.config.mode = Mode::Free;
        state.config.request = None;
        state.config.status = None;
        state.monitors.recorder = None;
        state.monitors.allocations = None;
        state.monitors.observed = None;
        let number = state.thread_number();
        (!state.execution.threads.is_empty()).then(|| (state.execution.signals.clone(), number))
    });
    // A signal that waits comes at once, and its handler may enter.
    if let Some((signals, number)) = signals {
        child::begin(blocked, &signals, number);
    }
}

/// fork: a copy of a process with one thread. The program's memory is private to each.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_fork() -> libc::pid_t {
    if host::below_root() {
        host::unsupported("fork");
    }
    super::sent::refuse("fork");
    crate::host::numbers::called("fork");
    super::asked("fork");
    let blocked = Blocked::all();
    // SAFETY: the process has one thread; the child goes on with a copy of all memory, of which the
    // status page alone was shared.
    let child = unsafe { libc::fork() };
    if child == 0 {
        become_child(blocked);
    }
    child
}

/// vfork: what is right of it is right of `fork`, too.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_vfork() -> libc::pid_t {
    __lr_libc_fork()
}

/// _Fork: without the functions of `pthread_atfork`, which are called here all the same.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc__Fork() -> libc::pid_t {
    __lr_libc_fork()
}

/// pthread_atfork: of a `fork` that is refused below the root nothing is called.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_pthread_atfork(
    prepare: Option<unsafe extern "C" fn()>,
    parent: Option<unsafe extern "C" fn()>,
    child: Option<unsafe extern "C" fn()>,
) -> c_int {
    if host::below_root() {
        return 0;
    }
    // SAFETY: the program's own call, passed on.
    unsafe { libc::pthread_atfork(prepare, parent, child) }
}

/// A child may become another program; the process that explores must not.
fn becomes(name: &str) {
    let is_free = |state: &mut State| state.config.mode == Mode::Free;
    if !children::is_child() && !hook::with(is_free) {
        host::unsupported(name);
    }
}

/// Functions that make another program of the process.
macro_rules! exec {
    ($($name:ident($($argument:ident: $type:ty),+) calls $real:ident;)+) => { $(
        #[doc = concat!(stringify!($real), ".\n\n# Safety\nAs for the C function.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),+) -> c_int {
            becomes(stringify!($real));
            // SAFETY: the program's own call, passed on.
            unsafe { libc::$real($($argument),+) }
        }
    )+ };
}

/// A list of C strings.
type Strings = *const *const c_char;

exec! {
    __lr_libc_execve(path: *const c_char, arguments: Strings, environment: Strings) calls execve;
    __lr_libc_execv(path: *const c_char, arguments: Strings) calls execv;
    __lr_libc_execvp(file: *const c_char, arguments: Strings) calls execvp;
    __lr_libc_execvpe(file: *const c_char, arguments: Strings, environment: Strings) calls execvpe;
}
