//! The functions by which programs say what is to happen at signals, block them, and send them.

use super::deliver::{self, deliver, operation, record, running, set_mask};
use crate::faults::child;
use crate::host;
use crate::machine::hook;
use crate::machine::state::set_errno;
use crate::models::identity;
use crate::world::outside;
use crate::world::signal_names::{self as names, name};
use crate::world::signals::{Action, Set, only};
use libc::{c_int, sigset_t};

/// Bytes of the kernel's set of signals, with which glibc's begins.
const SET_BYTES: usize = size_of::<Set>();

fn fails(error: c_int) -> c_int {
    set_errno(error);
    -1
}

/// Reads a set of signals of the program's.
fn read_set(set: *const sigset_t) -> Set {
    host::read(set as usize, SET_BYTES);
    // SAFETY: the program passes a set of signals, which begins with the kernel's.
    unsafe { *set.cast::<Set>() }
}

/// Writes one.
fn write_set(to: *mut sigset_t, set: Set) {
    host::write(to as usize, SET_BYTES);
    // SAFETY: the program passes a place for a set of signals, which begins with the kernel's.
    unsafe { *to.cast::<Set>() = set };
}

/// Whether a program may say what is to happen at a signal.
const fn may_act(signal: c_int) -> bool {
    names::is_valid(signal) && !matches!(signal, libc::SIGKILL | libc::SIGSTOP)
}

/// raise.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_raise(signal: c_int) -> c_int {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    match signal {
        0 => 0,
        _ if !names::is_valid(signal) => fails(libc::EINVAL),
        _ => {
            raise(signal);
            0
        }
    }
}

fn raise(signal: c_int) {
    if crate::world::children::is_child() {
        // SAFETY: a process may send itself signals; in a forked child the kernel acts on them.
        unsafe { libc::raise(signal) };
        return;
    }
    // A death by SIGABRT is reported as what `abort` does.
    let dies = hook::with(|state| {
        let signals = &state.execution.signals;
        signals.action(signal).handler == libc::SIG_DFL
            && signals.mask(state.thread_number()) & only(signal) == 0
    });
    if signal == libc::SIGABRT && dies {
        __lr_libc_abort();
    }
    deliver::raise(signal, libc::SI_TKILL);
}

/// abort.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_abort() -> ! {
    if crate::world::children::is_child() {
        std::process::abort();
    }
    deliver::aborts();
    let entered = &mut hook::enter();
    let stack = crate::report::record::stack(entered);
    crate::hooks::process::died_of_abort(entered, stack)
}

/// kill.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_kill(process: c_int, signal: c_int) -> c_int {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    if signal != 0 && !names::is_valid(signal) {
        return fails(libc::EINVAL);
    }
    if crate::world::children::is_child() {
        // SAFETY: a process may send signals; in a forked child the kernel acts on them.
        return unsafe { libc::kill(process, signal) };
    }
    if process != identity::process() {
        return kill_another(process, signal);
    }
    match signal {
        0 => {}
        _ => deliver::kill(signal),
    }
    0
}

/// Of other processes a program may reach its own children, while it has one thread.
fn kill_another(process: c_int, signal: c_int) -> c_int {
    let is_child = || {
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: all-zero bytes are a valid siginfo_t; the call only looks.
        unsafe {
            let mut information: libc::siginfo_t = std::mem::zeroed();
            let kernel = libc::P_PID;
            libc::waitid(kernel, process as libc::id_t, &raw mut information, options) == 0
        }
    };
    if host::below_root() || process <= 0 || !is_child() {
        host::unsupported("kill of another process");
    }
    // SAFETY: sends a signal to a child of the program's.
    unsafe { libc::kill(process, signal) }
}

/// pthread_kill.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_kill(thread: usize, signal: c_int) -> c_int {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    if signal != 0 && !names::is_valid(signal) {
        return libc::EINVAL;
    }
    if signal == 0 {
        return 0;
    }
    if thread != crate::hooks::pthread::__lr_libc_pthread_self() {
        host::unsupported(&format!("pthread_kill of another thread with {}", name(signal)));
    }
    raise(signal);
    0
}

/// tgkill.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_tgkill(process: c_int, thread: c_int, signal: c_int) -> c_int {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    if process <= 0 || thread <= 0 || signal != 0 && !names::is_valid(signal) {
        return fails(libc::EINVAL);
    }
    if crate::world::children::is_child() {
        // SAFETY: as in `kill`.
        return unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signal) as c_int };
    }
    if process != identity::process() || identity::thread(thread).is_none() {
        return fails(libc::ESRCH);
    }
    if signal == 0 {
        return 0;
    }
    if thread != identity::process_id() {
        host::unsupported(&format!("tgkill of another thread with {}", name(signal)));
    }
    raise(signal);
    0
}

/// signal, as glibc has it: further signals wait while the handler runs, and calls are restarted.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_signal(signal: c_int, handler: usize) -> usize {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    if !may_act(signal) || handler == libc::SIG_ERR {
        set_errno(libc::EINVAL);
        return libc::SIG_ERR;
    }
    let new = Action { handler, mask: only(signal), flags: libc::SA_RESTART, restorer: 0 };
    exchange(signal, Some(new)).handler
}

/// sigaction.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    if !names::is_valid(signal) || !new.is_null() && !may_act(signal) {
        return fails(libc::EINVAL);
    }
    // SAFETY: the program passes null or an action.
    let wanted = unsafe { new.as_ref() }.map(|new| {
        host::read(new as *const libc::sigaction as usize, size_of::<libc::sigaction>());
        // SAFETY: a set of signals begins with the kernel's.
        let mask = unsafe { *(&raw const new.sa_mask).cast::<Set>() };
        let restorer = new.sa_restorer.map_or(0, |function| function as usize);
        Action { handler: new.sa_sigaction, mask, flags: new.sa_flags, restorer }
    });
    let is_question = new.is_null();
    let mut before = exchange(signal, wanted);
    if is_question && asked_by_std(signal, before) {
        before.handler = libc::SIG_IGN;
    }
    if !old.is_null() {
        host::write(old as usize, size_of::<libc::sigaction>());
        // SAFETY: the program passes a place for the old action, of which all-zero bytes are a
        // valid value.
        unsafe {
            *old = std::mem::zeroed();
            (*old).sa_sigaction = before.handler;
            (&raw mut (*old).sa_mask).cast::<Set>().write(before.mask);
            (*old).sa_flags = before.flags;
            let restorer = (&raw mut (*old).sa_restorer).cast::<usize>();
            restorer.write(before.restorer);
        }
    }
    0
}

/// What was to happen at a signal; from now on it is this.
fn exchange(signal: c_int, new: Option<Action>) -> Action {
    match new {
        Some(new) => {
            operation((3, signal, new));
            record(|| format!("sets the action of {}", name(signal)));
        }
        None => operation((4, signal)),
    }
    let (old, handles) = hook::with(|state| {
        let signals = &mut state.execution.signals;
        let old = signals.action(signal);
        if let Some(new) = new {
            signals.set_action(signal, new);
        }
        (old, signals.has_handler(signal))
    });
    if let Some(new) = new {
        if crate::world::children::is_child() {
            child::set_action(signal, new);
            return old;
        }
        if handles {
            crate::kernel::refuse_handler(signal);
        }
        hook::with(|state| outside::mirror(&state.execution.signals, signal));
    }
    old
}

/// std asks, before `main`, whether somebody handles the signals of memory faults: it shall not set
/// up its own handlers, which find stack overflows, and the stacks that these need.
fn asked_by_std(signal: c_int, before: Action) -> bool {
    let state = &mut *hook::enter();
    let first = matches!(signal, libc::SIGSEGV | libc::SIGBUS)
        && before.handler == libc::SIG_DFL
        && !state.below_root
        && state.execution.signals.left_to_std & only(signal) == 0;
    if first {
        state.execution.signals.left_to_std |= only(signal);
    }
    first
}

/// sigaltstack: kept. Handlers run on the stack of the thread all the same, which has room.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_sigaltstack(
    new: *const libc::stack_t,
    old: *mut libc::stack_t,
) -> c_int {
    // SAFETY: the program passes null or a description of a stack.
    let wanted = unsafe { new.as_ref() }.map(|new| {
        host::read(new as *const libc::stack_t as usize, size_of::<libc::stack_t>());
        (new.ss_sp as usize, new.ss_flags, new.ss_size)
    });
    if let Some((_, flags, size)) = wanted {
        if flags & !(libc::SS_DISABLE | libc::SS_ONSTACK) != 0 {
            return fails(libc::EINVAL);
        }
        if flags & libc::SS_DISABLE == 0 && size < libc::MINSIGSTKSZ {
            return fails(libc::ENOMEM);
        }
    }
    let before = hook::with(|state| {
        let number = state.thread_number();
        let stack = &mut state.execution.signals.thread(number).stack;
        let before = *stack;
        if let Some(new) = wanted {
            *stack = (new.1 & libc::SS_DISABLE == 0).then_some((new.0, 0, new.2));
        }
        before
    });
    if !old.is_null() {
        host::write(old as usize, size_of::<libc::stack_t>());
        let (address, flags, size) = before.unwrap_or((0, libc::SS_DISABLE, 0));
        let address = std::ptr::with_exposed_provenance_mut(address);
        // SAFETY: the program passes null or a place for the old stack.
        unsafe { *old = libc::stack_t { ss_sp: address, ss_flags: flags, ss_size: size } };
    }
    0
}

/// The running thread blocks other signals than before: the kernel is informed, and what it blocks
/// no more is acted on.
fn changed_mask(differing: Set) {
    if crate::world::children::is_child() {
        let mask = hook::with(|state| state.execution.signals.mask(state.thread_number()));
        return child::set_mask(mask);
    }
    hook::with(|state| {
        let changed = (1..=names::LAST).filter(|&signal| differing & only(signal) != 0);
        changed.for_each(|signal| outside::mirror(&state.execution.signals, signal));
    });
    deliver();
}

/// What `sigprocmask` and `pthread_sigmask` do; gives the error.
fn change_mask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int {
    let before = hook::with(|state| state.execution.signals.mask(state.thread_number()));
    let after = if new.is_null() {
        before
    } else {
        let set = read_set(new);
        match how {
            libc::SIG_BLOCK => before | set,
            libc::SIG_UNBLOCK => before & !set,
            libc::SIG_SETMASK => set,
            _ => return libc::EINVAL,
        }
    };
    if !old.is_null() {
        write_set(old, before);
    }
    if after != before {
        operation((5, after));
        set_mask(running(), after);
        changed_mask(before ^ after);
    }
    0
}

/// pthread_sigmask.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_sigmask(
    how: c_int,
    new: *const sigset_t,
    old: *mut sigset_t,
) -> c_int {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    change_mask(how, new, old)
}

/// sigprocmask.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_sigprocmask(
    how: c_int,
    new: *const sigset_t,
    old: *mut sigset_t,
) -> c_int {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    match change_mask(how, new, old) {
        0 => 0,
        error => fails(error),
    }
}

/// sigpending.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_sigpending(set: *mut sigset_t) -> c_int {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    operation(6);
    let pending = hook::with(|state| state.execution.signals.pending(state.thread_number()));
    write_set(set, pending);
    0
}

/// alarm: none is set, so none is cancelled. A signal that comes at a time of its own is not
/// modelled.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_alarm(seconds: u32) -> u32 {
    if crate::world::children::is_child() {
        // SAFETY: a number.
        return unsafe { libc::alarm(seconds) };
    }
    if seconds != 0 {
        host::unsupported("alarm");
    }
    0
}
