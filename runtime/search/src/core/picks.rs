//! The values that a run chooses, as an odometer over all their combinations.

use crate::core::thin::Thin;

/// The values of one run.
#[derive(Clone, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Picks {
    /// Picked, and out of how many.
    values: Thin<(u32, u32)>,
    /// How many the run that is under way has taken.
    taken: usize,
    /// The run asked for a choice out of another number than before.
    differs: bool,
}

impl Picks {
    /// Forgets all values.
    pub fn clear(&mut self) {
        self.values.clear();
        self.rewind();
    }

    /// Whether no run has chosen anything.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// A run begins.
    pub fn rewind(&mut self) {
        self.taken = 0;
        self.differs = false;
    }

    /// The next value of the run: as before, or the first one.
    pub fn pick(&mut self, of: u32) -> u32 {
        if self.taken == self.values.len() {
            self.values.push((0, of));
        }
        let (picked, before) = self.values[self.taken];
        self.taken += 1;
        if before != of {
            self.differs = true;
            return picked.min(of - 1);
        }
        picked
    }

    /// How many values the run that is under way has taken.
    pub const fn taken(&self) -> usize {
        self.taken
    }

    /// The values, as far as they are known.
    pub fn picked(&self) -> Vec<u32> {
        self.values.iter().map(|&(picked, _)| picked).collect()
    }

    /// The values that were picked, each with how many there were.
    pub fn values(&self) -> &[(u32, u32)] {
        &self.values
    }

    /// Whether the run that has ended took the values as before.
    pub fn agreed(&self) -> bool {
        !self.differs && self.taken == self.values.len()
    }

    /// Goes on to the next combination: another value at the last choice that has one left. Returns
    /// whether there is one.
    pub fn advance(&mut self) -> bool {
        while let Some((picked, of)) = self.values.pop() {
            if picked + 1 < of {
                self.values.push((picked + 1, of));
                return true;
            }
        }
        false
    }
}
