//! Channels that are known as a whole: an act on one is one operation of the search, and its parts
//! are executed without a report ([`crate::scheduler::acts`]).
//!
//! A channel is known from where it was made. The program's own code runs all the same; a
//! [`Channel`] beside it says beforehand whether it would wait, and the thread waits before the
//! function instead: so it never does inside, but where it hands a message over (capacity 0), and
//! after which it goes on when the other side has come. What the function does to memory is
//! reported to nobody, because all that is written there is for the function and its like, all of
//! which are known. Of the user's code nothing runs inside. The exceptions:
//! - Tokens of parking are the thread's, not the channel's, and are reported.
//! - Dropping a receiver drops messages; there only the parts of the channel ([`Class::Channel`])
//!   are reported to nobody.
//!
//! Where something else turns out (a part of a channel outside of the functions that are known, as
//! `select!` does; a wait where there should be none; an end that leaves messages behind for the
//! other one), all channels are explored step by step from then on, as if none were known, and the
//! search starts again. Its schedules say so ([`Schedule::STEP_BY_STEP`]).
//!
//! [`Channel`]: crate::machine::channel::Channel
//! [`Class::Channel`]: lockred_protocol::hooks::Class::Channel
//! [`Schedule::STEP_BY_STEP`]: lockred_protocol::schedule::Schedule::STEP_BY_STEP

use crate::machine::object_ids;
use crate::machine::operation::ChannelOperation;
use crate::machine::state::State;
use lockred_search::discipline::Passing;
use lockred_search::footprint::ObjectId;

/// A function of a channel in which a thread is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Inside {
    /// What it does is reported to nobody.
    Modelled {
        /// The channel.
        channel: usize,
        /// The senders' end is being dropped.
        drops_sender: bool,
    },
    /// The receivers' end is being dropped.
    Drop {
        /// The channel.
        channel: usize,
    },
    /// Of a channel that is explored step by step: an atomic region, or nothing.
    StepByStep {
        /// It is a region.
        region: bool,
    },
}

/// The object of the search that stands for a channel.
pub fn object(state: &State, channel: usize) -> ObjectId {
    let word =
        state.knowledge.channel_words.get(channel).map_or(channel, |word| word.as_ptr() as usize);
    object_ids::first_block(word, 8)
}

/// The word that changes with a channel.
pub fn word(state: &mut State, channel: usize) -> usize {
    state.knowledge.channel_words.make(channel).as_ptr() as usize
}

/// The machine is back at the root: words are what they were.
pub fn restored(state: &State) {
    for (address, channel) in &state.execution.channels {
        if let Some(word) = state.knowledge.channel_words.get(*address) {
            word.set(channel.changes());
        }
    }
}

/// The known channel in whose block an address is.
pub fn find(state: &State, address: usize) -> Option<usize> {
    if state.knowledge.channels_step_by_step {
        return None;
    }
    let (&base, channel) = state.execution.channels.range(..=address).next_back()?;
    (address - base < channel.size).then_some(base)
}

/// Whether an act would not wait now.
pub fn can_proceed(state: &State, operation: &ChannelOperation) -> bool {
    match state.execution.channels.get(&operation.channel) {
        Some(channel) if !state.knowledge.channels_step_by_step => {
            channel.can_proceed(operation.act)
        }
        _ => true,
    }
}

/// What an act does now, or would do if it did not have to wait.
pub fn passing(state: &State, operation: &ChannelOperation) -> Option<Passing> {
    let channel = state.execution.channels.get(&operation.channel)?;
    channel.passing(operation.act, operation.timed)
}

/// The innermost function of a channel in which the running thread is.
pub fn inside(state: &State) -> Option<Inside> {
    let number = state.running? as usize;
    state.execution.threads.get(number)?.channel.inside.last().copied()
}

/// Whether what the running thread does is reported to nobody.
pub fn is_inside_modelled_call(state: &State) -> bool {
    matches!(inside(state), Some(Inside::Modelled { .. }))
}

/// Something is done to a channel that is not known.
pub fn write_out(state: &mut State) {
    state.knowledge.channels_step_by_step = true;
    state.knowledge.object_ids.rename();
    for thread in &mut state.execution.threads {
        for inside in &mut thread.channel.inside {
            if !matches!(inside, Inside::StepByStep { .. }) {
                *inside = Inside::StepByStep { region: false };
            }
        }
    }
}

/// A block is freed. Whether it is that of a known channel, which is reported to nobody; or the
/// running thread is inside of an act.
pub fn freed(state: &mut State, address: usize) -> bool {
    let known = state.execution.channels.remove(&address).is_some();
    known && !state.knowledge.channels_step_by_step || is_inside_modelled_call(state)
}

/// A channel has changed.
pub fn changed(state: &State, channel: usize) {
    if let (Some(word), Some(known)) =
        (state.knowledge.channel_words.get(channel), state.execution.channels.get(&channel))
    {
        word.set(known.changes());
    }
}
