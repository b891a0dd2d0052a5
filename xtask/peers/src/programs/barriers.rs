//! Barriers: a wrong count, and one written by hand that is used twice.

use super::{beside, two};
use crate::sync::{Condvar, Mutex};

/// As many as wait, or one more.
#[cfg(feature = "barrier")]
pub fn wrong_count<const RIGHT: bool>() {
    use super::{Plain, check};
    use crate::sync::Barrier;
    let (mine, theirs) = two((Barrier::new(if RIGHT { 2 } else { 3 }), Plain::new(0)));
    beside(
        move || {
            theirs.1.set(7);
            theirs.0.wait();
        },
        || {
            mine.0.wait();
            check!(mine.1.get() == 7);
        },
    );
}

/// Waits for its own round to be over, or for the count to be full, which the next round has changed again.
pub fn used_twice<const RIGHT: bool>() {
    struct Barrier {
        /// Who waits in this round, and the round.
        state: Mutex<(u32, u32)>,
        changed: Condvar,
    }
    impl Barrier {
        fn wait<const RIGHT: bool>(&self) {
            let mut state = self.state.lock().unwrap();
            let round = state.1;
            state.0 += 1;
            if state.0 == 2 {
                if RIGHT {
                    *state = (0, round + 1);
                } else {
                    state.1 = round + 1;
                }
                self.changed.notify_all();
                return;
            }
            if RIGHT {
                while state.1 == round {
                    state = self.changed.wait(state).unwrap();
                }
            } else {
                while state.0 != 2 {
                    state = self.changed.wait(state).unwrap();
                }
                state.0 = 0;
            }
        }
    }
    let (mine, theirs) = two(Barrier { state: Mutex::new((0, 0)), changed: Condvar::new() });
    beside(
        move || {
            theirs.wait::<RIGHT>();
            theirs.wait::<RIGHT>();
        },
        || {
            mine.wait::<RIGHT>();
            mine.wait::<RIGHT>();
        },
    );
}
