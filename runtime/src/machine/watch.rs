//! Whether plain accesses are looked at, and whether they may race.

use crate::machine::config::Mode;
use crate::machine::state::State;

/// Plain hooks are called only while this is not 0: below the root.
#[unsafe(no_mangle)]
pub static mut __lr_watch: u32 = 0;

/// Accesses may race. While they cannot, they are only looked at for whether their memory is there
/// ([`crate::hooks::memory_safety`]).
static mut MAY_RACE: bool = false;

/// Accesses are not watched for races until a thread is created.
pub fn rest() {
    // SAFETY: one OS thread.
    unsafe { MAY_RACE = false };
}

/// A thread was created: accesses may race again.
pub fn wake_up(state: &State) {
    if state.config.mode != Mode::Free {
        // SAFETY: one OS thread; the program reads the first only while a coroutine runs.
        unsafe {
            __lr_watch = 1;
            MAY_RACE = true;
        }
    }
}

/// Plain hooks are not called for a while, and are again.
pub fn pause(pauses: bool) {
    // SAFETY: one OS thread.
    unsafe { __lr_watch = u32::from(!pauses) };
}

/// Whether accesses are watched for races now.
pub fn watching() -> bool {
    // SAFETY: one OS thread.
    unsafe { MAY_RACE }
}
