//! A schedule: the choices that determine one execution below the root.

use serde::{Deserialize, Serialize};

/// One choice. A thread runs from one boundary to its next; values chosen inside that run follow
/// it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// The thread (numbered in creation order within the execution, main is 0) that runs next.
    Thread(u32),
    /// An alternative taken at a choice point inside the run: which waiter a notify wakes, ….
    Value {
        /// The alternative, `0..of`.
        picked: u32,
        /// How many there were.
        of: u32,
    },
}

/// The choices of one execution, in order, perhaps after [`Schedule::STEP_BY_STEP`]. An execution
/// that is longer goes on with any enabled thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Schedule(pub Vec<Choice>);

impl Schedule {
    /// Begins a schedule under which channels do what they are written to do, step by step: an
    /// alternative out of one.
    pub const STEP_BY_STEP: Choice = Choice::Value { picked: 0, of: 1 };

    /// Whether channels do what they are written to do.
    #[must_use]
    pub fn is_step_by_step(&self) -> bool {
        self.0.first() == Some(&Self::STEP_BY_STEP)
    }

    /// Number of thread switches: neighbouring runs of different threads.
    #[must_use]
    pub fn switches(&self) -> usize {
        let threads = self.0.iter().filter_map(|c| match c {
            Choice::Thread(t) => Some(*t),
            Choice::Value { .. } => None,
        });
        threads.clone().zip(threads.skip(1)).filter(|(a, b)| a != b).count()
    }
}
