//! Where a search by transactions stands between two executions, as one plain value from which
//! another process goes on.
//!
//! A frontier is the path to the next branch with what every node on it has explored and has still
//! to explore, and what was learned. The trace, its clocks and the states of the machine are not
//! part of it: they follow from the path, which is run again. Races on the path were reversed when
//! it was first run, so that a search which goes on explores exactly what it would have explored
//! without the interruption, with the same counts.

use crate::core::footprint::ObjectId;
use crate::core::machine::ThreadId;
use crate::discipline::Discipline;
use crate::drive::node::Node;
use crate::drive::observer::Counts;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// See the module.
#[derive(Serialize, Deserialize)]
pub struct Frontier {
    /// Counts, executions that a refuted assumption threw away, and whether an execution was cut.
    pub(crate) progress: (Counts, u64, bool),
    pub(crate) discipline: Discipline,
    /// The nodes of the path, the last one with the branch that is explored next.
    pub(crate) nodes: Vec<Node>,
    /// Races that were reported.
    pub(crate) reported: HashSet<(ObjectId, ThreadId, u64, ThreadId, u64)>,
}

impl Frontier {
    /// How much was done until here.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.progress.0
    }

    /// How many nodes it has, which is how much there is to write.
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.nodes.len()
    }
}
