//! Signals are sent, and acted on: handlers are called by the thread that takes the signal, at
//! once.
//!
//! That is exact where a signal is synchronous: a thread that raises one, or unblocks one that is
//! pending, takes it before the call returns. What may reach another thread, at any of its
//! instructions, is refused.

use crate::host;
use crate::machine::hook;
use crate::machine::state::State;
use crate::world::signal_names::name;
use crate::world::signals::{Action, Reaction, Sent, Set, only};
use lockred_protocol::hooks::{Class, How, Order, RmwOp};
use lockred_protocol::sites::SiteId;
use std::hash::{DefaultHasher, Hash, Hasher};

/// `siginfo_t` of a signal that a process sends, as the kernel lays it out.
#[repr(C)]
struct Information {
    signal: i32,
    error: i32,
    code: i32,
    padding: i32,
    process: i32,
    user: u32,
    rest: [u64; 13],
}

/// The running thread's number.
pub fn running() -> u32 {
    hook::with(|state| state.thread_number())
}

/// The running thread does something with the program's signals: below the root that is an
/// operation of the search, on a word that stands for all signals. It orders nothing but itself:
/// no specification promises that what was written before a call is seen after another thread's.
/// `arguments`: what it does.
pub fn operation(arguments: impl Hash) {
    let mut hasher = DefaultHasher::new();
    arguments.hash(&mut hasher);
    let operand = hasher.finish() as u32 | 1;
    let word = hook::with(|state| state.execution.signals.word);
    crate::hooks::atomics::__lr_atomic_rmw(
        word,
        operand.into(),
        RmwOp::Add as u32,
        size_of::<i32>() as u32,
        Order::Relaxed as u32,
        How::of(Class::Plain).0 | How::PRIMITIVE,
        0,
    );
}

/// Records what the running thread has done.
pub fn record(what: impl FnOnce() -> String) {
    let state = &mut *hook::enter();
    if state.monitors.recorder.is_some() && state.below_root {
        crate::report::record::step(state, what(), None, SiteId(0));
    }
}

/// The running thread sends itself a signal, and acts on it unless it blocks it.
pub fn raise(signal: i32, code: i32) {
    operation((1, signal, code));
    record(|| format!("raises {}", name(signal)));
    refuse_what_std_takes(signal);
    hook::with(|state| {
        let number = state.thread_number();
        state.execution.signals.send_to_thread(number, Sent { signal, code });
    });
    deliver();
}

/// The running thread wrote what nobody will read: the kernel sends it a signal.
pub fn nobody_reads() {
    let reaction = hook::with(|state| state.execution.signals.reaction(libc::SIGPIPE));
    if !crate::world::children::is_child() && reaction != Reaction::Ignore {
        raise(libc::SIGPIPE, libc::SI_USER);
    }
}

/// The running thread sends its process a signal.
pub fn kill(signal: i32) {
    operation((2, signal));
    record(|| format!("sends the process {}", name(signal)));
    refuse_what_std_takes(signal);
    let sent = Sent { signal, code: libc::SI_USER };
    let send = |state: &mut State| state.execution.signals.send_to_process(sent);
    let (takers, reaction) = hook::with(|state| takers(state, signal));
    match (takers.as_slice(), reaction) {
        ([], _) => hook::with(send),
        (_, Reaction::Ignore) => {}
        ([taker], Reaction::Handle(_)) if *taker == running() => {
            hook::with(send);
            deliver();
        }
        (_, Reaction::Handle(_)) => host::unsupported(&format!(
            "kill with {}, whose handler another thread could run",
            name(signal)
        )),
        (_, reaction) => end(signal, reaction),
    }
}

/// The threads that do not block a signal, and what happens where one takes it.
fn takers(state: &State, signal: i32) -> (Vec<u32>, Reaction) {
    let signals = &state.execution.signals;
    let threads = (0..).zip(&state.execution.threads);
    let living = threads.filter(|(_, thread)| !thread.has_ended()).map(|(number, _)| number);
    let takers = living.filter(|&number| signals.mask(number) & only(signal) == 0);
    (takers.collect(), signals.reaction(signal))
}

/// std has handlers of its own for stack overflows, which are not installed here. They let a signal
/// pass that was only sent.
fn refuse_what_std_takes(signal: i32) {
    let is_std_s = hook::with(|state| {
        let signals = &state.execution.signals;
        let is_left = signals.left_to_std & only(signal) != 0;
        is_left && signals.reaction(signal) == Reaction::Terminate
    });
    if is_std_s {
        host::unsupported(&format!("{} that is sent to std's own handler", name(signal)));
    }
}

/// The running thread acts on what is pending and not blocked.
pub fn deliver() {
    let next = |state: &mut State| {
        let number = state.thread_number();
        let signals = &mut state.execution.signals;
        signals.take(number).map(|sent| (sent, signals.reaction(sent.signal)))
    };
    while let Some((sent, reaction)) = hook::with(next) {
        match reaction {
            Reaction::Ignore => {}
            Reaction::Handle(action) => handle(sent, action),
            reaction => end(sent.signal, reaction),
        }
    }
}

/// A signal that nobody handles.
fn end(signal: i32, reaction: Reaction) -> ! {
    match reaction {
        Reaction::Terminate => crate::faults::signals::died(&mut hook::enter(), signal),
        _ => host::unsupported(&format!("{}, which stops the process", name(signal))),
    }
}

/// Calls a handler, with the mask that its action asks for.
fn handle(sent: Sent, action: Action) {
    let Sent { signal, code } = sent;
    let number = running();
    let before = hook::with(|state| {
        let signals = &mut state.execution.signals;
        if action.flags & libc::SA_RESETHAND != 0 {
            signals.set_action(signal, Action { handler: libc::SIG_DFL, ..action });
        }
        let before = signals.mask(number);
        let own = if action.flags & libc::SA_NODEFER == 0 { only(signal) } else { 0 };
        signals.set_mask(number, before | action.mask | own);
        before
    });
    // The kernel makes frames of all that are pending before it returns to the program: the last
    // one runs first.
    deliver();
    record(|| format!("runs the handler of {}", name(signal)));
    // SAFETY: only looks.
    let user = unsafe { libc::getuid() };
    let process = crate::models::identity::process();
    let mut information =
        Information { signal, error: 0, code, padding: 0, process, user, rest: [0; 13] };
    // SAFETY: all-zero bytes are a valid context; whoever reads registers in it finds zeros.
    let mut context: libc::ucontext_t = unsafe { std::mem::zeroed() };
    let mask = &raw mut context.uc_sigmask;
    // SAFETY: a set of signals begins with the kernel's 64 bits.
    unsafe { *mask.cast::<u64>() = before };
    call(action.handler, signal, &raw mut information, &raw mut context);
    // SAFETY: as above. A handler may change what its return restores.
    let after = unsafe { *mask.cast::<u64>() };
    set_mask(number, after);
}

/// A thread blocks these signals from now on.
pub fn set_mask(number: u32, mask: Set) {
    hook::with(|state| state.execution.signals.set_mask(number, mask));
}

/// Nothing unwinds out of a handler: the process aborts.
struct Unwinds;

impl Drop for Unwinds {
    fn drop(&mut self) {
        aborts();
        let state = &mut *hook::enter();
        let mut stack = Vec::new();
        if let Some(panic) = state.execution.panics.last() {
            let words = format!(" panicked at {}:\n{}", panic.location, panic.message);
            stack.clone_from(&panic.stack);
            state.thread().last_words = words;
        }
        crate::hooks::process::died_of_abort(state, stack);
    }
}

fn call(
    handler: usize,
    signal: i32,
    information: *mut Information,
    context: *mut libc::ucontext_t,
) {
    type Handler = unsafe extern "C-unwind" fn(i32, *mut Information, *mut libc::ucontext_t);
    let guard = Unwinds;
    // SAFETY: the program has given this address as that of a handler; one with fewer parameters
    // ignores the others.
    unsafe {
        let handler: Handler = std::mem::transmute(handler);
        handler(signal, information, context);
    }
    std::mem::forget(guard);
}

/// The running thread aborts: that is SIGABRT, whose handler runs before the process dies, whatever
/// it blocks.
pub fn aborts() {
    let begin = |state: &mut State| {
        let number = state.thread_number();
        let signals = &mut state.execution.signals;
        if !signals.has_handler(libc::SIGABRT)
            || std::mem::replace(&mut signals.thread(number).aborts, true)
        {
            return None;
        }
        signals.set_mask(number, signals.mask(number) & !only(libc::SIGABRT));
        Some(std::mem::take(&mut state.thread().last_words))
    };
    if let Some(words) = hook::with(begin) {
        raise(libc::SIGABRT, libc::SI_TKILL);
        hook::with(|state| state.thread().last_words = words);
    }
}
