//! Sleep sets (section 4): transitions that need not be explored again before one that depends on
//! them is executed.
//!
//! A transition is identified by its thread and the values that it chooses, which is enough while
//! it sleeps: nothing that it depends on has changed since.

use std::rc::Rc;

use super::dependency::transitions_depend;
use super::system::{Operation, Value};
use lockred_search::fault::{Fault, is_on};
use lockred_search::footprint::ObjectId;
use lockred_search::machine::ThreadId;

/// How sleep sets are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sleep {
    /// Not at all.
    Off,
    /// By unconditional dependency.
    Unconditional,
    /// By conditional dependency, where it may be used (SPIN version, section 7).
    Conditional,
}

/// A transition: its thread, and the values that it chooses.
pub(super) type Name = (ThreadId, Vec<u32>);

/// A transition that sleeps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Sleeper {
    pub(super) name: Name,
    /// What it does.
    pub(super) operations: Rc<[Operation]>,
}

/// The paper's sleep′: those of `sleep` that stay asleep when a transition of `thread` is executed.
pub(super) fn behind(
    sleep: &[Sleeper],
    thread: ThreadId,
    operations: &[Operation],
    values: Option<&[(ObjectId, Value)]>,
) -> Vec<Sleeper> {
    let stays = |sleeper: &&Sleeper| {
        let depends = || transitions_depend(operations, &sleeper.operations, values);
        sleeper.name.0 != thread && (is_on(Fault::SleepersStayAsleep) || !depends())
    };
    sleep.iter().filter(stays).cloned().collect()
}
