//! Signals of a child that the program forked: the kernel has the program's own actions and mask,
//! and acts on them.
//!
//! Handlers enter the state. One that comes while the runtime has it waits: the signal is sent
//! again, and blocked, and the processor stops after every instruction until the state is given
//! back. That takes no time, as who has the state waits for nobody.

use crate::faults::overflow::STEP;
use crate::machine::hook;
use crate::world::signal_names::{LAST, is_valid};
use crate::world::signals::{Action, Set, Signals, only};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The program's handlers.
static HANDLERS: [AtomicUsize; LAST as usize + 1] =
    [const { AtomicUsize::new(0) }; LAST as usize + 1];
/// Signals whose handlers run once (`SA_RESETHAND`).
static ONCE: AtomicU64 = AtomicU64::new(0);
/// Signals that wait for the state to be given back.
static WAITING: AtomicU64 = AtomicU64::new(0);
/// What the program wants at SIGTRAP, and whether it blocks that, while signals wait.
static TRAP: Mutex<Option<(libc::sigaction, bool)>> = Mutex::new(None);

/// Blocks all signals until the value goes: none comes between the child's birth and its handlers.
pub struct Blocked(libc::sigset_t);

impl Blocked {
    /// Blocks them.
    pub fn all() -> Self {
        // SAFETY: all-zero bytes are a valid set, and the calls fill the sets.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            Self(before)
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: a set that the kernel gave.
        unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const self.0, null_mut()) };
    }
}

/// The process is a child that was just forked, with all signals blocked: the kernel takes over
/// what its one thread and its parent wanted. Nobody has the state: handlers may run at once.
pub fn begin(blocked: Blocked, signals: &Signals, thread: u32) {
    std::mem::forget(blocked);
    for signal in (1..=LAST).filter(|&signal| is_valid(signal)) {
        // SAFETY: the default action needs no handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    signals.actions().for_each(|(signal, action)| set_action(signal, action));
    set_mask(signals.mask(thread));
}

/// What the kernel is to do at a signal.
pub fn set_action(signal: i32, wanted: Action) {
    HANDLERS[signal as usize].store(wanted.handler, Ordering::Relaxed);
    ONCE.fetch_and(!only(signal), Ordering::Relaxed);
    if wanted.flags & libc::SA_RESETHAND != 0 {
        ONCE.fetch_or(only(signal), Ordering::Relaxed);
    }
    let (handler, flags) = match wanted.handler {
        libc::SIG_DFL | libc::SIG_IGN => (wanted.handler, wanted.flags),
        // We wait by this one.
        _ if signal == libc::SIGTRAP => (wanted.handler, wanted.flags),
        _ => {
            let flags = wanted.flags & !libc::SA_RESETHAND | libc::SA_SIGINFO;
            (comes as *const () as usize, flags)
        }
    };
    // SAFETY: all-zero bytes are a valid action; the handler is ours, and a set of signals begins
    // with the kernel's.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = flags;
        (&raw mut action.sa_mask).cast::<Set>().write(wanted.mask);
        libc::sigaction(signal, &raw const action, null_mut());
    }
}

/// What the kernel is to block.
pub fn set_mask(mask: Set) {
    // SAFETY: all-zero bytes are a valid set, which begins with the kernel's.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        (&raw mut set).cast::<Set>().write(mask);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, null_mut());
    }
}

/// The handler of signals that the program handles: its own runs, unless somebody has the state.
extern "C" fn comes(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::ucontext_t) {
    type Handler = unsafe extern "C-unwind" fn(i32, *mut libc::siginfo_t, *mut libc::ucontext_t);
    if hook::is_taken() {
        // SAFETY: the kernel passes valid ones, and uses the context when the handler returns.
        return unsafe { wait(signal, info, &mut *context) };
    }
    let handler = HANDLERS[signal as usize].load(Ordering::Relaxed);
    // SAFETY: the default action needs no handler. The program has given this address as that of a
    // handler; one with fewer parameters ignores the others. Nothing unwinds out of here: the
    // process aborts.
    unsafe {
        if ONCE.fetch_and(!only(signal), Ordering::Relaxed) & only(signal) != 0 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let handler: Handler = std::mem::transmute(handler);
        handler(signal, info, context);
    }
}

/// The word of a context that says which signals were blocked.
fn mask(context: &mut libc::ucontext_t) -> &mut Set {
    // SAFETY: a set of signals begins with the kernel's 64 bits.
    unsafe { &mut *(&raw mut context.uc_sigmask).cast::<Set>() }
}

/// A signal waits until the state is given back.
///
/// # Safety
/// `info` is what the kernel said of the signal.
unsafe fn wait(signal: i32, info: *mut libc::siginfo_t, context: &mut libc::ucontext_t) {
    // The kernel puts back what the context blocks.
    std::mem::forget(Blocked::all());
    let blocked = mask(context);
    if WAITING.fetch_or(only(signal), Ordering::Relaxed) == 0 {
        let blocks_traps = *blocked & only(libc::SIGTRAP) != 0;
        *blocked &= !only(libc::SIGTRAP);
        // SAFETY: all-zero bytes are a valid action; the handler has the signature of SA_SIGINFO,
        // and blocks all signals.
        let before = unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = stepped as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigfillset(&raw mut action.sa_mask);
            libc::sigaction(libc::SIGTRAP, &raw const action, &raw mut before);
            before
        };
        *TRAP.lock().unwrap_or_else(PoisonError::into_inner) = Some((before, blocks_traps));
    }
    *blocked |= only(signal);
    context.uc_mcontext.gregs[libc::REG_EFL as usize] |= STEP;
    // SAFETY: a process may send its one thread anything, as the kernel has described it.
    unsafe {
        let own = libc::getpid();
        libc::syscall(libc::SYS_rt_tgsigqueueinfo, own, own, signal, info);
    }
}

/// The processor has stopped after an instruction: once the state is free, what waits is no longer
/// blocked.
extern "C" fn stepped(_signal: i32, _info: *mut libc::siginfo_t, context: *mut libc::ucontext_t) {
    if hook::is_taken() {
        return;
    }
    // SAFETY: the kernel passes a valid context, and uses it when the handler returns.
    let context = unsafe { &mut *context };
    context.uc_mcontext.gregs[libc::REG_EFL as usize] &= !STEP;
    let blocked = mask(context);
    *blocked &= !WAITING.swap(0, Ordering::Relaxed);
    let Some((trap, blocks_traps)) = TRAP.lock().unwrap_or_else(PoisonError::into_inner).take()
    else {
        return;
    };
    if blocks_traps {
        *blocked |= only(libc::SIGTRAP);
    }
    // SAFETY: what the kernel gave.
    unsafe { libc::sigaction(libc::SIGTRAP, &raw const trap, null_mut()) };
}
