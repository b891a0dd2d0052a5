//! Leaving a step in the middle, because the session asks the process to stop, or a signal comes
//! that the program handles: only where nothing of ours is under way.
//!
//! The signal comes anywhere. In the program's own code the step is left for the explorer at once.
//! Inside of the runtime or of libc, which may be in the middle of an allocation, the handler marks
//! only, and has the processor stop after every instruction until the thread is back in the
//! program, or with the explorer. What takes long there (code that lockred does not see, a copy of
//! a gigabyte) goes on at full speed after a while, and the session asks again.

use crate::faults::overflow::{self, Place, STEP};
use crate::faults::signals;
use crate::machine::hook;
use crate::machine::state::State;
use crate::machine::state::end_execution;
use crate::scheduler::stops::running;
use crate::session::files::StatusPage;
use lockred_protocol::session::STOP_SIGNAL;
use lockred_search::machine::Flow;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

/// Instructions that are gone through one by one, for one question: some tenths of a second.
const MOST_STEPS: u32 = 1 << 16;
/// Bytes that the runtime does not get through in these steps.
const MANY_BYTES: usize = 1 << 12;
/// The direction flag, which calls expect to be clear.
const DIRECTION: i64 = 1 << 10;

/// The session asked to stop.
static STOP: AtomicBool = AtomicBool::new(false);
/// A signal that the program handles has come from outside of the process; 0: none has.
static CAME: AtomicI32 = AtomicI32::new(0);
/// The processor stops after so many more instructions.
static STEPS: AtomicU32 = AtomicU32::new(0);

/// Whether the session asked to stop.
pub fn stop_requested() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// What is unsupported because it came from outside, if anything did.
pub fn came_from_outside() -> Option<String> {
    let signal = CAME.load(Ordering::Relaxed);
    (signal != 0).then(|| format!("{} from outside", crate::world::signal_names::name(signal)))
}

/// The handler of signals that the program handles: where the program would run its own is known to
/// nobody, so the test ends.
pub extern "C" fn comes(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::ucontext_t) {
    CAME.store(signal, Ordering::Relaxed);
    asked(signal, info, context);
}

/// From now on a signal from outside ends the test, if the program handles it.
pub fn attend() {
    crate::world::outside::begin(|signal| signals::handle(signal, comes as *const () as usize));
}

/// What came before is none of this process's, which is not the one that explores.
pub fn forget() {
    STOP.store(false, Ordering::Relaxed);
    CAME.store(0, Ordering::Relaxed);
    STEPS.store(0, Ordering::Relaxed);
}

/// The handler of [`STOP_SIGNAL`].
pub extern "C" fn asked(_signal: i32, _info: *mut libc::siginfo_t, context: *mut libc::ucontext_t) {
    STOP.store(true, Ordering::Relaxed);
    // A stack that has ended is about to end the step by itself.
    let Some(thread) = running().filter(|_| !overflow::is_under_way()) else { return };
    // SAFETY: the kernel passes a valid context, and uses it when the handler returns.
    let context = unsafe { &mut *context };
    match overflow::place(context) {
        // It looks at what the session asks for by itself.
        Place::Explorer => {}
        Place::Program => leave(context),
        Place::Runtime => {
            note(thread, context);
            STEPS.store(MOST_STEPS, Ordering::Relaxed);
            context.uc_mcontext.gregs[libc::REG_EFL as usize] |= STEP;
        }
    }
}

/// The processor has stopped after an instruction. Whether that was for us.
pub fn stepped(context: *mut libc::ucontext_t) -> bool {
    let left = STEPS.load(Ordering::Relaxed);
    if left == 0 || overflow::is_under_way() {
        return false;
    }
    // SAFETY: as in `asked`.
    let context = unsafe { &mut *context };
    let place = overflow::place(context);
    let goes_on = place == Place::Runtime && left > 1;
    STEPS.store(if goes_on { left - 1 } else { 0 }, Ordering::Relaxed);
    if !goes_on {
        context.uc_mcontext.gregs[libc::REG_EFL as usize] &= !STEP;
    }
    match place {
        Place::Program => leave(context),
        Place::Explorer => StatusPage::of_the_dying().survives(),
        Place::Runtime => {}
    }
    true
}

/// The program accesses so many bytes at once. Where these are many it leaves the step here if the
/// session asks to stop: stepping through what the runtime does about them would not come to the
/// program's code.
#[inline]
pub fn at_access(state: &mut State, bytes: usize) {
    if bytes >= MANY_BYTES && stop_requested() {
        leave_here(state);
    }
}

/// A call that may take long, made by the runtime for the program, has come back. Leaves the step
/// if the session asks to stop.
pub fn after_call() {
    if stop_requested() {
        leave_here(&mut hook::enter());
    }
}

#[cold]
fn leave_here(state: &mut State) {
    if state.running.is_none() {
        return;
    }
    state.verdicts.left = Some(crate::coroutine::unwind::stack());
    end_execution(state, Flow::Over)
}

/// Leaves where the thread is for the session, which may have to kill the process before it comes
/// back from there.
fn note(thread: u32, context: &libc::ucontext_t) {
    let register = |number: i32| context.uc_mcontext.gregs[number as usize] as usize;
    let (instruction, pointer) = (register(libc::REG_RIP), register(libc::REG_RSP));
    let status = StatusPage::of_the_dying();
    status.dies(STOP_SIGNAL, 0, instruction);
    status.dies_in(thread);
    status.dies_below(&overflow::callers(instruction, pointer));
}

/// The thread, which is in the program's own code, is left there: the search goes on in the
/// explorer, and finds that it is to stop.
fn leave(context: &mut libc::ucontext_t) {
    STEPS.store(0, Ordering::Relaxed);
    context.uc_mcontext.gregs[libc::REG_EFL as usize] &= !(STEP | DIRECTION);
    // The program's code is not called in the middle of an allocation, so that this may allocate;
    // nor does anybody have the state.
    let state = &mut *hook::enter();
    state.verdicts.left = Some(crate::coroutine::unwind::stack());
    state.step.flow = Flow::Over;
    StatusPage::of_the_dying().survives();
    signals::go_on_in_explorer(state, context);
}
