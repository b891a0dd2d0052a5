//! Which thread a source set gets for a reversed race (docs/algorithm.md#race-reversal).

use super::machine::ThreadId;
use super::thread_set::ThreadSet;

/// The thread to explore, so that something which can begin with one of `initials` is explored: if
/// it can run, the thread of the later event itself, else one that does not run without need only
/// where no other is left. `None` if none of them can run.
pub(crate) fn choice(
    thread: ThreadId,
    initials: &ThreadSet,
    enabled: &ThreadSet,
    low_priority: &ThreadSet,
) -> Option<ThreadId> {
    if initials.contains(thread) && enabled.contains(thread) {
        return Some(thread);
    }
    let runs = || initials.iter().filter(|&other| other != thread && enabled.contains(other));
    runs().find(|&other| !low_priority.contains(other)).or_else(|| runs().next())
}
