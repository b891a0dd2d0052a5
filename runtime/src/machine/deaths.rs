//! Schedules under which the process died: an execution that is about to go beyond one ends there
//! instead.
//!
//! The session replays the schedule of a death in a process of its own and says what that shows. A
//! search that goes on, or begins again, comes to the same point; what was a death then is an end
//! of the execution for all threads now, as after any fatal signal, and nobody dies of it twice.

use crate::machine::state::State;
use lockred_protocol::schedule::Schedule;
use lockred_protocol::session::encode_choice;
use lockred_search::machine::Flow;

/// See the module.
#[derive(Debug, Default)]
pub struct Deaths {
    /// As the schedule log has them.
    schedules: Vec<Vec<u64>>,
    /// The schedule under way is one of them.
    reached: bool,
}

impl Deaths {
    /// Of the schedules that the session knows.
    pub fn new(schedules: &[Schedule]) -> Self {
        let words = |schedule: &Schedule| schedule.0.iter().copied().map(encode_choice).collect();
        Self { schedules: schedules.iter().map(words).collect(), reached: false }
    }

    /// A choice was added to the schedule log, which now has so many. `word` gives those.
    pub fn on_choice(&mut self, length: usize, word: impl Fn(usize) -> u64) {
        // The last word tells most apart.
        self.reached = self.schedules.iter().any(|words| {
            words.len() == length && (0..length).rev().all(|index| words[index] == word(index))
        });
    }

    /// Whether the step that was chosen would be the death.
    pub fn take_reached(&mut self) -> bool {
        std::mem::take(&mut self.reached)
    }
}

/// The running thread has chosen a value: if that is where the process died, the execution ends
/// here.
pub fn after_value(state: &mut State) {
    if state.knowledge.deaths.take_reached() {
        crate::machine::state::end_execution(state, Flow::Over);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockred_protocol::schedule::Choice;

    #[test]
    fn only_the_whole_schedule_is_a_death() {
        let schedule = Schedule(vec![Choice::Thread(1), Choice::Value { picked: 1, of: 2 }]);
        let words: Vec<u64> = schedule.0.iter().copied().map(encode_choice).collect();
        let mut deaths = Deaths::new(&[schedule]);
        let other = [words[0], words[1] ^ 2];
        for (schedule_log, dies) in [(&words[..1], false), (&words[..], true), (&other[..], false)]
        {
            deaths.on_choice(schedule_log.len(), |index| schedule_log[index]);
            assert_eq!(deaths.take_reached(), dies, "{schedule_log:?}");
        }
        deaths.on_choice(2, |index| words[index]);
        deaths.on_choice(3, |index| [words[0], words[1], 0][index]);
        assert!(!deaths.take_reached());
    }
}
