//! The process's `main`: sets the machine up, runs the program to its root, and carries out the
//! request.

use crate::faults::signals;
use crate::hooks::process;
use crate::hooks::pthread;
use crate::machine::config::Mode;
use crate::machine::hook;
use crate::machine::operation::Pending;
use crate::machine::state::State;
use crate::scheduler::stops::run;
use crate::session::files as session;
use crate::tasks::response;
use lockred_protocol::session::{Phase, Task};
use lockred_search::targeted::Aim;
use std::ffi::c_char;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

unsafe extern "C" {
    fn __lr_program_main(argc: i32, argv: *const *const c_char) -> i32;
}

/// Scheduling points after which a replay is cut.
const REPLAY_OPERATIONS: u64 = 10_000_000;

static ARGC: AtomicI32 = AtomicI32::new(0);
static ARGV: AtomicPtr<*const c_char> = AtomicPtr::new(std::ptr::null_mut());

/// The machine must exist before the program's constructors run (std's own is one of them, at 99),
/// and libc before the machine.
#[used]
#[unsafe(link_section = ".init_array.00001")]
static BEFORE_CONSTRUCTORS: extern "C" fn() = set_up;

extern "C" fn set_up() {
    session::install_panic_hook();
    let state = match session::open() {
        Some((request, status)) => {
            let mode = match request.task {
                Task::Explore { .. }
                | Task::Minimise { .. }
                | Task::Observe { .. }
                | Task::Walk { .. } => Mode::Explore,
                Task::Replay { .. } => Mode::Replay,
            };
            if request.libtest {
                // Without it, the harness reads a terminal's description and takes it apart again
                // in every execution. SAFETY: one OS thread, and nobody holds a pointer into the
                // environment.
                unsafe { libc::unsetenv(c"TERM".as_ptr()) };
            }
            State::new(mode, Some(request), Some(status))
        }
        None => State::new(Mode::Free, None, None),
    };
    crate::world::before_the_program();
    if state.config.mode != Mode::Free {
        crate::faults::leaving::attend();
    }
    hook::install(state);
    crate::machine::start::main_thread(&mut hook::enter(), bottom);
}

/// The bottom function of the program's main thread.
extern "C" fn bottom(_argument: usize) -> ! {
    let status = program();
    let entered = &mut hook::enter();
    pthread::run_destructors(entered);
    process::run_at_exit(entered);
    process::exit(entered, status, true)
}

fn program() -> i32 {
    // SAFETY: the program's own main, with the process's own arguments.
    unsafe { __lr_program_main(ARGC.load(Ordering::Relaxed), ARGV.load(Ordering::Relaxed)) }
}

/// The process's entry.
#[unsafe(no_mangle)]
pub extern "C" fn main(argc: i32, argv: *const *const c_char) -> i32 {
    ARGC.store(argc, Ordering::Relaxed);
    ARGV.store(argv.cast_mut(), Ordering::Relaxed);
    carry_out()
}

/// Runs the program as ordered.
fn carry_out() -> i32 {
    signals::install();
    crate::kernel::set_up();
    let rooted = run_to_root();
    let task =
        hook::with(|state| state.config.request.as_ref().map(|request| request.task.clone()));
    let Some(task) = task else { return run_freely(rooted) };
    let message = match task {
        Task::Explore { strategy, limits, keep_going } => {
            response::explore(strategy, limits, keep_going, rooted)
        }
        Task::Minimise { schedule, kind, key, steps, seconds } => {
            let wanted = crate::tasks::minimal::Wanted::new(kind, key, seconds);
            crate::tasks::minimal::respond(&schedule, wanted, steps, rooted)
        }
        Task::Observe { executions, seed, operations, .. } => {
            response::observe(executions, seed, operations, rooted)
        }
        Task::Walk { targets, walks, operations, seed, limits, keep_going } => {
            let targets = targets.len() as u32;
            let aim = Aim { targets, walks, operations, seed };
            response::walk(aim, limits, keep_going, rooted)
        }
        Task::Replay { schedule } => response::replay(&schedule, REPLAY_OPERATIONS, rooted),
    };
    session::respond(&message)
}

/// Runs main to the root. Whether it has come there.
fn run_to_root() -> bool {
    let entered = &mut hook::enter();
    if let Some(status) = entered.config.status {
        status.phase(Phase::BeforeRoot);
    }
    run(entered, 0);
    let rooted = entered.execution.threads[0].pending != Pending::Ended
        && entered.step.flow == lockred_search::machine::Flow::On;
    if rooted {
        crate::drive::restore::reached(entered);
    }
    if let Some(status) = entered.config.status {
        status.phase(Phase::BelowRoot);
        status.beat();
    }
    rooted
}

/// Without a session: the rest of the program under a fixed schedule, until the process would end.
fn run_freely(rooted: bool) -> i32 {
    use lockred_search::machine::{Chooser, Machine, Status, Step, ThreadId};
    struct First;
    impl Chooser for First {
        fn choose(&mut self, _of: u32) -> u32 {
            0
        }
    }
    let mut machine = crate::drive::native::Native::default();
    let mut step = Step::default();
    let mut last = 0;
    let goes_on = |state: &mut State| {
        state.execution.exit.is_none() && state.step.flow == lockred_search::machine::Flow::On
    };
    while rooted && hook::with(goes_on) {
        let threads = machine.threads();
        // Everybody in turn, so that loops that wait for others end.
        let with = |machine: &mut crate::drive::native::Native, wanted: Status| {
            let mut order = (1..=threads).map(|offset| ThreadId((last + offset) % threads));
            order.find(|&thread| machine.status(thread) == wanted)
        };
        let next =
            with(&mut machine, Status::Enabled).or_else(|| with(&mut machine, Status::LowPriority));
        let Some(next) = next else {
            eprintln!("lockred: all threads of the program wait for each other");
            return lockred_protocol::session::EXIT_INTERNAL;
        };
        last = next.0;
        machine.step(next, &mut First, &mut step);
    }
    let state = hook::enter();
    for failure in &state.step.failures {
        eprintln!("lockred: {}", failure.message);
    }
    match state.execution.exit {
        Some(exit) => exit.status,
        None => 134,
    }
}
