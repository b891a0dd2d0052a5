//! Finds out that a run comes by the same state twice: condition C of the papers, which cuts runs
//! that make no progress.

use super::state::State;

/// Brent's algorithm: compares with a state that is kept at lengths that are powers of two. Runs
/// shorter than 16 cost nothing.
#[derive(Default)]
pub(super) struct Repetition {
    anchor: Option<State>,
    length: u32,
}

impl Repetition {
    /// The run has come to `state`. Returns whether it was there before, as far as is known.
    pub(super) fn shows(&mut self, state: &State) -> bool {
        if self.anchor.as_ref() == Some(state) {
            return true;
        }
        self.length += 1;
        if self.length >= 16 && self.length.is_power_of_two() {
            self.anchor = Some(state.clone());
        }
        false
    }
}
