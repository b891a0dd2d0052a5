//! The one way to the runtime's state: who enters takes it, and nobody else can enter before it is
//! given back.
//!
//! Code of ours is entered from three sides: by hooks that the program calls, by the search
//! ([`crate::drive::native`] and the observers of searches), and by signals. Each of these
//! *enters*, and hands `&mut State` down to what it calls; nothing below it enters. To enter while
//! the state is taken is an error of ours, which ends the process. So no two references to the
//! state are alive at a time.
//!
//! Stacks take turns. What may switch to another stack, or call the program, takes `&mut Entered`
//! and does so by [`Entered::outside`], which gives the state back in the meantime: the borrow
//! checker sees to it that no reference lives across that. What only needs the state takes `&mut
//! State`. It may leave its stack for good ([`abandon`]), but not come back to it.
//!
//! Models of libc functions (`models`, `kernel`) call the real functions, the program, and each
//! other, and need little of the machine. They are on the program's side: they hold no state, and
//! enter for each thing that they ask ([`crate::host`], [`with`]).

use crate::coroutine::context;
use crate::machine::state::State;
use crate::session::files::fatal;
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

/// The state; null while somebody has it, and before there is one.
static FREE: AtomicPtr<State> = AtomicPtr::new(null_mut());

/// The state, whoever has it.
static INSTALLED: AtomicPtr<State> = AtomicPtr::new(null_mut());

/// The state, taken. Given back when this is dropped.
#[derive(Debug)]
pub struct Entered {
    /// Ours alone, but inside of `outside`.
    state: NonNull<State>,
}

/// Makes a state the process's one.
pub fn install(state: State) {
    let state = Box::into_raw(Box::new(state));
    INSTALLED.store(state, Ordering::Relaxed);
    FREE.store(state, Ordering::Relaxed);
}

/// Enters, once there is a state: code of the program runs before `main`, too. Constant time.
#[inline]
pub fn enter_if_ready() -> Option<Entered> {
    match NonNull::new(FREE.load(Ordering::Relaxed)) {
        Some(state) => {
            FREE.store(null_mut(), Ordering::Relaxed);
            Some(Entered { state })
        }
        None => not_ready(),
    }
}

#[cold]
#[inline(never)]
fn not_ready() -> Option<Entered> {
    if !INSTALLED.load(Ordering::Relaxed).is_null() {
        fatal("the runtime's state was taken twice");
    }
    None
}

/// Whether somebody has the state: for signal handlers, which may come meanwhile.
pub fn is_taken() -> bool {
    let is_free = !FREE.load(Ordering::Relaxed).is_null();
    !is_free && !INSTALLED.load(Ordering::Relaxed).is_null()
}

/// Enters.
#[inline]
pub fn enter() -> Entered {
    enter_if_ready().unwrap_or_else(|| fatal("a hook was called before the runtime was ready"))
}

/// Enters for as long as `act` takes.
pub fn with<T>(act: impl FnOnce(&mut State) -> T) -> T {
    act(&mut enter())
}

/// Enters in a signal handler that does not return to what it has interrupted: takes the state from
/// that, if it has it.
///
/// # Safety
/// What was interrupted never goes on.
pub unsafe fn take_over() -> Option<Entered> {
    FREE.store(null_mut(), Ordering::Relaxed);
    NonNull::new(INSTALLED.load(Ordering::Relaxed)).map(|state| Entered { state })
}

/// Gives the state back, and leaves the stack for good.
///
/// # Safety
/// As for [`context::abandon`].
pub unsafe fn abandon(state: &mut State, explorer: usize) -> ! {
    // Who enters next has what is derived from this reference, which nobody uses any more.
    FREE.store(state, Ordering::Relaxed);
    // SAFETY: by the caller's promise.
    unsafe { context::abandon(explorer) }
}

/// Gives the state back, and ends the process by `exit`, which calls what the program has
/// registered with the real libc.
pub fn exit(state: &mut State, status: i32) -> ! {
    FREE.store(state, Ordering::Relaxed);
    // SAFETY: there is one thread.
    unsafe { libc::exit(status) }
}

impl Entered {
    /// Gives the state back while `act` switches to another stack, or calls the program.
    #[inline]
    pub fn outside<T>(&mut self, act: impl FnOnce() -> T) -> T {
        FREE.store(self.state.as_ptr(), Ordering::Relaxed);
        let result = act();
        let mut again = enter();
        std::mem::swap(self, &mut again);
        // It is the same state, which this one has now.
        std::mem::forget(again);
        result
    }
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        FREE.store(self.state.as_ptr(), Ordering::Relaxed);
    }
}

impl Deref for Entered {
    type Target = State;

    #[inline]
    fn deref(&self) -> &State {
        // SAFETY: states live for ever, and who has taken one is alone with it; who calls `outside`
        // has no reference.
        unsafe { self.state.as_ref() }
    }
}

impl DerefMut for Entered {
    #[inline]
    fn deref_mut(&mut self) -> &mut State {
        // SAFETY: as above.
        unsafe { self.state.as_mut() }
    }
}
