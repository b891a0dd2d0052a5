//! Iterative deepening: SSS_cyc and IF-SSS_cyc (sections 4 and 5.1).
//!
//! Executions of at most 1, 2, 3, … transitions are explored, until none is cut. Persistent sets
//! are not used, since they might put a transition off for ever around a cycle. It ends on acyclic
//! state spaces only, but explores everything as it goes on (theorems 1(b), 3(b) and 8(b) hold
//! although it diverges); the limit of operations ends it otherwise.

use super::search::Search;
use super::system::System;
use lockred_search::{Limits, Stop};

impl<M: System> Search<'_, '_, M> {
    pub(super) fn deepen(&mut self, limits: Limits) -> Result<(), Stop> {
        let mut bound = 0;
        loop {
            bound += 1;
            self.is_cut = false;
            self.run(bound)?;
            if !self.is_cut {
                return Ok(());
            }
            if bound as u64 >= limits.operations {
                self.drive.cut();
                return Ok(());
            }
        }
    }
}
