//! What a schedule is made of.

use crate::core::machine::ThreadId;

/// One choice of a schedule. A schedule lists, in order, the thread of every run and, right after
/// it, the values that this run chose.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Choice {
    /// The thread that runs next.
    Thread(ThreadId),
    /// An alternative taken at a choice point inside the run: which waiter a notify wakes, ….
    Value {
        /// The alternative, `0..of`.
        picked: u32,
        /// How many there were.
        of: u32,
    },
}
