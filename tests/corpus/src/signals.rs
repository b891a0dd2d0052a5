//! Signals that a program sends to itself: what is synchronous runs as the kernel would have it,
//! what is not is refused by name.

use libc::{SIGRTMIN, SIGUSR1, SIGUSR2, c_int, c_void, siginfo_t, sigset_t};
use std::cell::{Cell, UnsafeCell};
use std::mem::zeroed;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::{Relaxed, SeqCst}};
use std::sync::{Arc, Mutex};
use std::thread::{spawn, yield_now};

/// What handlers have seen, as decimal digits.
static SEEN: AtomicU64 = AtomicU64::new(0);

fn see(digit: u64) {
    SEEN.store(SEEN.load(SeqCst) * 10 + digit, SeqCst);
}

extern "C" fn first(_: c_int) {
    see(1);
}

extern "C" fn second(_: c_int) {
    see(2);
}

fn handle(signal: c_int, handler: extern "C" fn(c_int)) {
    act(signal, handler as *const () as usize, 0, &[]);
}

/// Sets an action by `sigaction`, and gives the old one.
fn act(signal: c_int, handler: usize, flags: c_int, blocks: &[c_int]) -> libc::sigaction {
    unsafe {
        let mut new: libc::sigaction = zeroed();
        let mut old: libc::sigaction = zeroed();
        new.sa_sigaction = handler;
        new.sa_flags = flags;
        new.sa_mask = set(blocks);
        assert_eq!(libc::sigaction(signal, &new, &mut old), 0);
        old
    }
}

fn set(signals: &[c_int]) -> sigset_t {
    unsafe {
        let mut set: sigset_t = zeroed();
        let words = (&raw mut set).cast::<u64>();
        signals.iter().for_each(|signal| *words |= 1 << (signal - 1));
        set
    }
}

fn change_mask(how: c_int, signals: &[c_int]) {
    assert_eq!(unsafe { libc::pthread_sigmask(how, &set(signals), null_mut()) }, 0);
}

fn pending() -> u64 {
    unsafe {
        let mut set: sigset_t = zeroed();
        assert_eq!(libc::sigpending(&mut set), 0);
        *(&raw const set).cast::<u64>()
    }
}

fn raise(signal: c_int) {
    let raised = unsafe { libc::raise(signal) }; //~ bug of nobody_handles_it, an_action_may_come_too_late
    assert_eq!(raised, 0);
}

/// Under plain `cargo test`, programs take turns: what happens at a signal is the whole process's.
#[cfg(not(lockred))]
fn turn() -> impl Drop {
    struct Turn(#[expect(dead_code, reason = "held")] std::sync::MutexGuard<'static, ()>);
    impl Drop for Turn {
        fn drop(&mut self) {
            for signal in [SIGUSR1, SIGUSR2, SIGRTMIN()] {
                act(signal, libc::SIG_DFL, 0, &[]);
            }
        }
    }
    static TURN: Mutex<()> = Mutex::new(());
    let turn = Turn(TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    SEEN.store(0, SeqCst);
    turn
}

#[cfg(lockred)]
const fn turn() {}

/// Another thread is there, and ends at some time.
fn beside_another(act: impl FnOnce()) {
    let other = Arc::new(AtomicBool::new(false));
    let thread = spawn({
        let other = Arc::clone(&other);
        move || other.store(true, SeqCst)
    });
    other.load(SeqCst);
    act();
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn masks_order_nothing() {
    struct Shared(UnsafeCell<u32>, AtomicBool);
    unsafe impl Sync for Shared {}
    let _turn = turn();
    let shared = Arc::new(Shared(UnsafeCell::new(0), AtomicBool::new(false)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        unsafe { *other.0.get() = 1 }; //~ bug
        change_mask(libc::SIG_BLOCK, &[SIGUSR1]);
        other.1.store(true, Relaxed);
    });
    while !shared.1.load(Relaxed) {
        yield_now();
    }
    change_mask(libc::SIG_BLOCK, &[SIGUSR1]);
    unsafe { *shared.0.get() = 2 }; //~ bug
    thread.join().unwrap();
}

//@ verified
#[test]
fn a_handler_sets_a_flag_that_a_thread_waits_for() {
    let _turn = turn();
    handle(SIGUSR2, first);
    let thread = spawn(|| {
        while SEEN.load(SeqCst) == 0 {
            yield_now();
        }
    });
    raise(SIGUSR2);
    thread.join().unwrap();
}

//@ verified
#[test]
fn signal_installs_a_handler_and_gives_the_old_one() {
    let _turn = turn();
    unsafe {
        let handler = first as *const () as usize;
        assert_eq!(libc::signal(SIGUSR1, handler), libc::SIG_DFL);
        assert_eq!(libc::signal(SIGUSR1, libc::SIG_IGN), handler);
        raise(SIGUSR1);
        assert_eq!(libc::signal(libc::SIGKILL, handler), libc::SIG_ERR);
    }
    assert_eq!(SEEN.load(SeqCst), 0);
}

//@ verified
#[test]
fn each_way_to_send_a_signal_to_oneself() {
    let _turn = turn();
    handle(SIGUSR1, first);
    unsafe {
        assert_eq!(libc::raise(SIGUSR1), 0);
        assert_eq!(libc::pthread_kill(libc::pthread_self(), SIGUSR1), 0);
        let tgkill = libc::SYS_tgkill;
        assert_eq!(libc::syscall(tgkill, libc::getpid(), libc::gettid(), SIGUSR1), 0);
    }
    assert_eq!(SEEN.load(SeqCst), 111);
}

//@ verified
#[test]
fn signal_0_is_none() {
    let _turn = turn();
    unsafe {
        assert_eq!(libc::raise(0), 0);
        assert_eq!(libc::kill(libc::getpid(), 0), 0);
        assert_eq!(libc::pthread_kill(libc::pthread_self(), 0), 0);
    }
    beside_another(|| assert_eq!(unsafe { libc::kill(libc::getpid(), 0) }, 0));
}

//@ verified
#[test]
fn what_is_no_signal_is_refused() {
    let _turn = turn();
    unsafe {
        assert_eq!(libc::raise(65), -1);
        assert_eq!(*libc::__errno_location(), libc::EINVAL);
        assert_eq!(libc::sigaction(libc::SIGSTOP, &zeroed(), null_mut()), -1);
    }
}

//@ verified
#[test]
fn ignored_signals_do_nothing() {
    let _turn = turn();
    act(SIGUSR1, libc::SIG_IGN, 0, &[]);
    raise(SIGUSR1);
    raise(libc::SIGCHLD);
    beside_another(|| assert_eq!(unsafe { libc::kill(libc::getpid(), SIGUSR1) }, 0));
}

//@ verified
#[test]
fn a_blocked_signal_waits_until_it_is_unblocked() {
    let _turn = turn();
    handle(SIGUSR1, first);
    change_mask(libc::SIG_BLOCK, &[SIGUSR1]);
    raise(SIGUSR1);
    raise(SIGUSR1);
    assert_eq!((SEEN.load(SeqCst), pending()), (0, 1 << (SIGUSR1 - 1)));
    beside_another(|| {
        change_mask(libc::SIG_UNBLOCK, &[SIGUSR1]);
        assert_eq!((SEEN.load(SeqCst), pending()), (1, 0));
    });
}

//@ verified
#[test]
fn real_time_signals_come_as_often_as_they_were_sent() {
    let _turn = turn();
    handle(SIGRTMIN(), first);
    change_mask(libc::SIG_BLOCK, &[SIGRTMIN()]);
    raise(SIGRTMIN());
    raise(SIGRTMIN());
    change_mask(libc::SIG_SETMASK, &[]);
    assert_eq!(SEEN.load(SeqCst), 11);
}

//@ verified
#[test]
fn a_handler_s_signal_is_blocked_while_it_runs() {
    let _turn = turn();
    extern "C" fn again(_: c_int) {
        let calls = SEEN.load(SeqCst);
        see(1);
        if calls == 0 {
            raise(SIGUSR1);
            assert_eq!(SEEN.load(SeqCst), 1);
            see(2);
        }
    }
    handle(SIGUSR1, again);
    raise(SIGUSR1);
    assert_eq!(SEEN.load(SeqCst), 121);
}

//@ verified
#[test]
fn with_no_defer_it_is_not() {
    let _turn = turn();
    extern "C" fn again(_: c_int) {
        let calls = SEEN.load(SeqCst);
        see(1);
        if calls == 0 {
            raise(SIGUSR1);
            see(2);
        }
    }
    act(SIGUSR1, again as *const () as usize, libc::SA_NODEFER, &[]);
    raise(SIGUSR1);
    assert_eq!(SEEN.load(SeqCst), 112);
}

//@ verified
#[test]
fn the_mask_of_an_action_holds_while_its_handler_runs() {
    let _turn = turn();
    extern "C" fn raises_the_other(_: c_int) {
        raise(SIGUSR2);
        see(1);
    }
    act(SIGUSR1, raises_the_other as *const () as usize, 0, &[SIGUSR2]);
    handle(SIGUSR2, second);
    raise(SIGUSR1);
    assert_eq!(SEEN.load(SeqCst), 12);
}

//@ verified
#[test]
fn an_action_may_be_for_once() {
    let _turn = turn();
    let once = act(SIGUSR1, first as *const () as usize, libc::SA_RESETHAND, &[]);
    assert_eq!(once.sa_sigaction, libc::SIG_DFL);
    raise(SIGUSR1);
    let old = act(SIGUSR1, libc::SIG_DFL, 0, &[]);
    assert_eq!((SEEN.load(SeqCst), old.sa_sigaction), (1, libc::SIG_DFL));
}

//@ verified
#[test]
fn a_handler_is_told_who_sends() {
    let _turn = turn();
    static CODE: AtomicI32 = AtomicI32::new(0);
    extern "C" fn told(signal: c_int, information: *mut siginfo_t, context: *mut c_void) {
        let information = unsafe { &*information };
        assert_eq!(information.si_signo, signal);
        assert_eq!(unsafe { information.si_pid() }, unsafe { libc::getpid() });
        assert!(!context.is_null());
        CODE.store(information.si_code, SeqCst);
    }
    act(SIGUSR1, told as *const () as usize, libc::SA_SIGINFO, &[]);
    raise(SIGUSR1);
    assert_eq!(CODE.load(SeqCst), libc::SI_TKILL);
}

//@ verified
#[test]
fn a_handler_runs_on_the_thread_that_raises() {
    let _turn = turn();
    thread_local! { static MINE: Cell<u32> = const { Cell::new(0) } }
    extern "C" fn counts(_: c_int) {
        MINE.set(MINE.get() + 1);
    }
    handle(SIGUSR1, counts);
    let raises = || {
        spawn(|| {
            raise(SIGUSR1);
            MINE.get()
        })
    };
    let threads = [raises(), raises()];
    assert_eq!(threads.map(|thread| thread.join().unwrap()), [1, 1]);
    assert_eq!(MINE.get(), 0);
}

//@ verified
#[test]
fn a_thread_inherits_the_mask_and_nothing_that_is_pending() {
    let _turn = turn();
    handle(SIGUSR1, first);
    change_mask(libc::SIG_BLOCK, &[SIGUSR1]);
    raise(SIGUSR1);
    let thread = spawn(|| {
        assert_eq!(pending(), 0);
        raise(SIGUSR1);
        assert_eq!(pending(), 1 << (SIGUSR1 - 1));
    });
    thread.join().unwrap();
    assert_eq!(SEEN.load(SeqCst), 0);
}

/// What a handler does is explored like what its thread does.
//@ failed data-race
#[test]
fn a_handler_races() {
    struct Plain(std::cell::UnsafeCell<u32>);
    unsafe impl Sync for Plain {}
    static PLAIN: Plain = Plain(std::cell::UnsafeCell::new(0));
    extern "C" fn writes(_: c_int) {
        unsafe { *PLAIN.0.get() = 1 }; //~ bug
    }
    handle(SIGUSR1, writes);
    let thread = spawn(|| unsafe { PLAIN.0.get().read() }); //~ bug
    raise(SIGUSR1);
    thread.join().unwrap();
}

/// The thread that raises holds the lock that its handler takes.
//@ failed deadlock
#[test]
fn a_handler_takes_the_lock_that_its_thread_holds() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    extern "C" fn locks(_: c_int) {
        *LOCK.lock().unwrap() += 1; //~ bug
    }
    handle(SIGUSR1, locks);
    let thread = spawn(|| *LOCK.lock().unwrap() += 1);
    let held = LOCK.lock().unwrap();
    raise(SIGUSR1);
    drop(held);
    thread.join().unwrap();
}

/// Whether the other thread's action comes first is explored.
//@ failed signal
#[test]
fn an_action_may_come_too_late() {
    let thread = spawn(|| handle(SIGUSR1, first));
    raise(SIGUSR1);
    thread.join().unwrap();
}

//@ verified
#[test]
fn an_action_that_comes_first() {
    let _turn = turn();
    spawn(|| handle(SIGUSR1, first)).join().unwrap();
    raise(SIGUSR1);
    assert_eq!(SEEN.load(SeqCst), 1);
}

//@ failed signal
#[test]
fn nobody_handles_it() {
    beside_another(|| raise(SIGUSR2));
}

//@ failed abort
#[test]
fn a_handler_panics() {
    #[rustfmt::skip]
    extern "C" fn panics(_: c_int) { //~ bug
        panic!("in a handler");
    }
    handle(SIGUSR1, panics);
    beside_another(|| raise(SIGUSR1));
}

//@ failed abort
#[test]
fn a_handler_that_may_unwind_panics() {
    extern "C-unwind" fn panics(_: c_int) {
        panic!("in a handler"); //~ bug
    }
    act(SIGUSR1, panics as *const () as usize, 0, &[]);
    beside_another(|| {
        let _ = std::panic::catch_unwind(|| raise(SIGUSR1));
    });
}

/// The handler of SIGABRT does not keep the process from dying.
//@ failed abort
#[test]
fn abort_runs_its_handler() {
    extern "C" fn sees(_: c_int) {
        see(1);
    }
    handle(libc::SIGABRT, sees);
    beside_another(|| std::process::abort()); //~ bug
}

//@ unsupported kill
#[test]
fn another_thread_could_take_it() {
    handle(SIGUSR1, first);
    let thread = spawn(|| while SEEN.load(SeqCst) == 0 {});
    unsafe { libc::kill(libc::getpid(), SIGUSR1) };
    thread.join().unwrap();
}

//@ unsupported pthread_kill
#[test]
fn a_signal_for_another_thread() {
    use std::os::unix::thread::JoinHandleExt;
    handle(SIGUSR1, first);
    let thread = spawn(|| while SEEN.load(SeqCst) == 0 {});
    unsafe { libc::pthread_kill(thread.as_pthread_t(), SIGUSR1) };
    thread.join().unwrap();
}

//@ unsupported SIGSEGV
#[test]
fn a_fault_would_run_a_handler() {
    handle(libc::SIGSEGV, first);
    beside_another(|| unsafe { *std::ptr::without_provenance_mut::<u32>(64) = 1 });
}

//@ unsupported SIGTSTP
#[test]
fn a_process_stops() {
    raise(libc::SIGTSTP);
}

//@ unsupported alarm
#[test]
fn a_signal_in_a_second() {
    unsafe { libc::alarm(1) };
}

//@ verified
#[test]
fn no_signal_in_a_second() {
    let _turn = turn();
    assert_eq!(unsafe { libc::alarm(0) }, 0);
}

//@ unsupported setitimer
#[test]
fn a_timer_s_signal() {
    unsafe extern "C" {
        fn setitimer(which: c_int, new: *const [i64; 4], old: *mut [i64; 4]) -> c_int;
    }
    unsafe { setitimer(0, &[0, 0, 1, 0], null_mut()) };
}

//@ unsupported timer_create
#[test]
fn a_timer_of_one_s_own() {
    let mut timer = null_mut();
    unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, null_mut(), &mut timer) };
}

//@ unsupported sigwait
#[test]
fn waits_for_a_signal() {
    let mut signal = 0;
    unsafe { libc::sigwait(&set(&[SIGUSR1]), &mut signal) };
}

//@ verified
#[test]
fn an_alternate_stack_is_kept() {
    let _turn = turn();
    let mut memory = vec![0_u8; libc::SIGSTKSZ];
    unsafe {
        let new =
            libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: memory.len() };
        assert_eq!(libc::sigaltstack(&new, null_mut()), 0);
        let mut old: libc::stack_t = zeroed();
        assert_eq!(libc::sigaltstack(null(), &mut old), 0);
        assert_eq!((old.ss_sp, old.ss_size), (new.ss_sp, new.ss_size));
        act(SIGUSR1, first as *const () as usize, libc::SA_ONSTACK, &[]);
        raise(SIGUSR1);
        assert_eq!(SEEN.load(SeqCst), 1);
        let off = libc::stack_t { ss_flags: libc::SS_DISABLE, ..old };
        assert_eq!(libc::sigaltstack(&off, null_mut()), 0);
    }
}
