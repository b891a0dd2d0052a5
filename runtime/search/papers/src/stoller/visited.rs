//! Traditional selective search: the states that were explored, with their sleep sets (sections
//! 5.2, 7 and 10; Godefroid, LNCS 1032, figure 6.2).
//!
//! Beside every state are the transitions that were asleep at all visits. On a further visit those
//! of them are explored that are awake now. What the lockset algorithm keeps is part of the state
//! (section 10).
//!
//! The ignoring problem: persistent sets might put off a transition for ever around a cycle.
//! Godefroid's proviso explores all enabled transitions where all those of the persistent set lead
//! to states on the stack. Here all are where any does, or was explored on a further visit: that is
//! more than is needed, and can be reported while the search goes on. No transition sleeps there:
//! what sleeps is taken for explored after the cycle, where it may have been put off until here.

use super::lockset::Checking;
use super::search::Search;
use super::sleep::{Name, Sleeper};
use super::system::System;
use lockred_search::fingerprint::{self, ByFingerprint};

/// The states that were explored, and those on the stack.
#[derive(Default)]
pub(super) struct Visited {
    asleep: ByFingerprint<Vec<Name>>,
    stack: ByFingerprint<u32>,
}

/// What a visit found.
pub(super) enum Visit {
    /// The state is new.
    First,
    /// It was explored before, but for these transitions.
    Again(Vec<Name>),
}

impl Visited {
    pub(super) fn len(&self) -> u64 {
        self.asleep.len() as u64
    }

    pub(super) fn is_on_stack(&self, state: u128) -> bool {
        self.stack.get(&state).is_some_and(|&number| number > 0)
    }

    /// The state is visited with this sleep set, which loses the transitions that were awake
    /// before.
    pub(super) fn visit(&mut self, state: u128, sleep: &mut Vec<Sleeper>) -> Visit {
        *self.stack.entry(state).or_default() += 1;
        let Some(stored) = self.asleep.get_mut(&state) else {
            self.asleep.insert(state, sleep.iter().map(|sleeper| sleeper.name.clone()).collect());
            return Visit::First;
        };
        let sleeps = |name: &Name| sleep.iter().any(|sleeper| sleeper.name == *name);
        let (still, awake) = stored.drain(..).partition(sleeps);
        *stored = still;
        sleep.retain(|sleeper| stored.contains(&sleeper.name));
        Visit::Again(awake)
    }

    /// The search goes back from the state.
    pub(super) fn leave(&mut self, state: u128) {
        if let Some(number) = self.stack.get_mut(&state) {
            *number -= 1;
        }
    }
}

impl<M: System> Search<'_, '_, M> {
    /// The present state, with what the lockset algorithm keeps if it runs.
    pub(super) fn fingerprint(&self) -> u128 {
        let state = self.drive.machine.fingerprint();
        match self.settings().checking {
            Checking::Off => state,
            Checking::Ld | Checking::LdPrime => fingerprint::of(&(state, &self.locksets)),
        }
    }
}
