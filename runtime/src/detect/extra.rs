//! What does not fit into a cell: further records, and the releases of granules that atomic
//! operations act on.

use super::clock::Clock;
use super::record::Record;
use super::sync::Releases;

/// The overflow of one cell.
#[derive(Debug, Default)]
pub(super) struct Extra {
    /// Further records of the granule; none is unused for long.
    pub(super) records: Vec<Record>,
    /// What its atomic stores released.
    pub(super) releases: Releases,
}

/// All extras of the execution under way, with their memory kept across executions.
#[derive(Debug, Default)]
pub(super) struct Extras {
    pool: Vec<Extra>,
    /// How many of the pool the execution under way uses. The others hold remains of earlier
    /// executions.
    used: usize,
    /// Clocks to be reused.
    pub(super) spare: Vec<Clock>,
}

impl Extras {
    /// Forgets all extras in constant time; handles given out before are dead.
    pub(super) fn reset(&mut self) {
        self.used = 0;
    }

    /// The extra behind a cell's handle, made if the handle is 0.
    #[inline]
    pub(super) fn ensure(&mut self, handle: &mut u32) -> (&mut Extra, &mut Vec<Clock>) {
        if *handle == 0 {
            *handle = self.fresh();
        }
        (&mut self.pool[*handle as usize - 1], &mut self.spare)
    }

    /// The extra behind a cell's handle, which is not 0.
    #[inline]
    pub(super) fn get(&mut self, handle: u32) -> (&mut Extra, &mut Vec<Clock>) {
        (&mut self.pool[handle as usize - 1], &mut self.spare)
    }

    /// How many were ever made.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.pool.len()
    }

    fn fresh(&mut self) -> u32 {
        if self.used == self.pool.len() {
            self.pool.push(Extra::default());
        } else {
            let old = &mut self.pool[self.used];
            old.records.clear();
            old.releases.end(!0, &mut self.spare);
        }
        self.used += 1;
        u32::try_from(self.used).expect("fewer than 2^32 shared granules")
    }
}
