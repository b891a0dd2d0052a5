//! The runtime's one state: what outlives executions, and the execution under way.
//!
//! There is one OS thread, so there is one state; [`crate::machine::hook`] says how it is come by.
//! Explorer and coroutines take turns ([`crate::scheduler::stops`], [`leave`]).

use crate::machine::config::{Config, Mode};
use crate::machine::execution::Execution;
use crate::machine::hook;
use crate::machine::knowledge::Knowledge;
use crate::machine::monitors::Monitors;
use crate::machine::root::Root;
use crate::machine::step::StepUnderWay;
use crate::machine::thread::Thread;
use crate::machine::verdicts::Verdicts;
use crate::session::files::StatusPage;
use lockred_protocol::session::Request;
use lockred_search::machine::Flow;

/// See the module.
pub struct State {
    /// What the process is for.
    pub config: Config,
    /// What is known of the program.
    pub knowledge: Knowledge,
    /// Who looks on.
    pub monitors: Monitors,
    /// What was found.
    pub verdicts: Verdicts,
    /// The execution under way.
    pub execution: Execution,
    /// The step under way.
    pub step: StepUnderWay,
    /// What a restore puts back.
    pub root: Option<Root>,
    /// The root was reached: operations are scheduling points, accesses are checked.
    pub below_root: bool,
    /// The next thread creation is libtest's and is to be refused.
    pub refuse_thread: bool,
    /// The thread whose coroutine is running; `None` while the explorer runs.
    pub running: Option<u32>,
    /// A thread that is run only reports its stack.
    pub probing: bool,
    /// The explorer's stack pointer while a coroutine runs.
    pub explorer: usize,
}

impl State {
    /// The state at process start.
    pub fn new(mode: Mode, request: Option<Request>, status: Option<StatusPage>) -> Self {
        let config = Config::new(mode, request, status);
        Self {
            knowledge: Knowledge::new(&config),
            monitors: Monitors::new(&config),
            verdicts: Verdicts::default(),
            execution: Execution::default(),
            step: StepUnderWay::default(),
            root: None,
            below_root: false,
            refuse_thread: config.libtest(),
            running: None,
            probing: false,
            explorer: 0,
            config,
        }
    }

    /// Whether the root was reached, and executions are put back to it. Without a session they
    /// never are.
    pub fn is_put_back(&self) -> bool {
        self.below_root && self.config.mode != Mode::Free
    }

    /// The running thread's number; main's before there is a machine.
    pub fn thread_number(&self) -> u32 {
        self.running.unwrap_or(0)
    }

    /// The running thread, to look at.
    pub fn running_thread(&self) -> &Thread {
        &self.execution.threads[self.thread_number() as usize]
    }

    /// The running thread.
    pub fn thread(&mut self) -> &mut Thread {
        let number = self.thread_number() as usize;
        &mut self.execution.threads[number]
    }
}

/// What the program passed to the hook that stops and is needed after the stop, beside what is
/// pending. It is in registers and in frames of the runtime, which no fingerprint looks at.
pub type Passed = [u64; 4];

/// Nothing.
pub const NOTHING: Passed = [0; 4];

/// Leaves the running coroutine for good: its thread has ended, or the execution is over.
pub fn leave(state: &mut State) -> ! {
    let explorer = state.explorer;
    // SAFETY: `explorer` was saved by `run`, whose stack waits there.
    unsafe { hook::abandon(state, explorer) }
}

/// Ends the execution under way for all threads.
pub fn end_execution(state: &mut State, flow: Flow) -> ! {
    state.step.flow = flow;
    leave(state)
}

/// Sets the OS thread's `errno`, on behalf of the running thread.
pub fn set_errno(value: i32) {
    // SAFETY: the pointer is valid for the OS thread's life.
    unsafe { *libc::__errno_location() = value }
}

/// What native calls left in the OS thread's `errno` becomes the running thread's. Native calls
/// never set it to 0, so that 0 means that there is nothing new.
pub fn keep_errno(state: &State) {
    // SAFETY: the pointer is valid for the OS thread's life.
    let native = unsafe { &mut *libc::__errno_location() };
    let errno = state.running_thread().handle.errno;
    if *native != 0 && !errno.is_null() {
        // SAFETY: the thread's own word, in its own heap.
        unsafe { *errno = *native };
        *native = 0;
    }
}

/// `errno` is a word of the thread's own, as its address tells threads apart (std's `exit` relies
/// on that).
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc___errno_location() -> *mut i32 {
    match hook::enter_if_ready() {
        Some(state) if !state.execution.threads.is_empty() => {
            keep_errno(&state);
            state.running_thread().handle.errno
        }
        // SAFETY: always safe to call.
        _ => unsafe { libc::__errno_location() },
    }
}
