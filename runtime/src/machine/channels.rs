//! Channels that are known as a whole: an act on one is one operation of the search, and its parts
//! are executed without a report.
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
//! other one), all channels are explored step by step from then on, as without this module, and the
//! search starts again. Its schedules say so ([`Schedule::STEP_BY_STEP`]).
//!
//! [`Schedule::STEP_BY_STEP`]: lockred_protocol::schedule::Schedule::STEP_BY_STEP

use crate::loops::read_only_spin::Advice;
use crate::machine::channel::Channel;
use crate::machine::event::{self, ChannelAct, Event};
use crate::machine::hook::Entered;
use crate::machine::loops;
use crate::machine::object_ids;
use crate::machine::operation::ChannelOperation;
use crate::machine::operation::Pending;
use crate::machine::pauses;
use crate::machine::state::{NOTHING, Passed, State, stop};
use crate::memory::words::load;
use lockred_protocol::hooks::{Act, Class, How};
use lockred_protocol::message::Timed;
use lockred_protocol::sites::SiteId;
use lockred_search::discipline::Passing;
use lockred_search::footprint::ObjectId;

/// Operations and pauses inside one act, at most: after that it waits for somebody.
const LONGEST: u32 = 1 << 16;

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

/// Whether an atomic operation of the running thread is executed without being reported. It then
/// waits for nothing, either.
pub fn mutes(state: &mut State, address: usize, how: How) -> bool {
    let class = how.class();
    match inside(state) {
        Some(Inside::Modelled { .. }) => {
            if class.is_lock() {
                crate::monitor::claimed_locks::unseen(state, address);
            }
            let thread = state.thread();
            // Tokens of parking, also those of a wait with a timeout.
            if matches!(class, Class::Park | Class::Unpark | Class::Plain | Class::CondvarWait) {
                return false;
            }
            let guard = thread.guard.take();
            if guard.is_some_and(|guard| !guard.holds(load(address, 4))) || goes_on_for_long(state)
            {
                state.thread().guard = guard;
                write_out(state);
                return false;
            }
            true
        }
        Some(Inside::Drop { .. }) => class == Class::Channel,
        _ => {
            // A channel without room has no parts but a lock and what that guards.
            let part =
                class.is_lock() || matches!(class, Class::Channel | Class::Plain | Class::Unused);
            if part && !state.knowledge.channels_step_by_step && find(state, address).is_some() {
                write_out(state);
            }
            false
        }
    }
}

fn goes_on_for_long(state: &mut State) -> bool {
    let thread = state.thread();
    thread.atomic.passed += 1;
    thread.atomic.passed > LONGEST
}

/// Whether a pause of the running thread is passed over.
pub fn pauses(state: &mut State) -> bool {
    if !is_inside_modelled_call(state) {
        return false;
    }
    if goes_on_for_long(state) {
        write_out(state);
        return false;
    }
    true
}

/// The running thread waits on a futex inside an act: whether it times out at once, as it was
/// chosen to.
pub fn times_out(state: &mut State, deadline: Option<u64>) -> bool {
    match deadline {
        Some(deadline) => {
            crate::machine::timely::advance_to(state, deadline);
            true
        }
        None => {
            write_out(state);
            false
        }
    }
}

/// What a parker's word is when its thread has a token.
const TOKEN: u64 = 1;

/// The running thread is about to take its token. Whether that is in an act on a channel: where it
/// has offered a message, it first waits until this was taken or withdrawn. `passed`: how the
/// caller takes it.
pub fn parks(entered: &mut Entered, address: usize, passed: Passed) -> bool {
    let Some(Inside::Modelled { channel, .. }) = inside(entered) else { return false };
    if load(address, 4) == TOKEN {
        return true;
    }
    let number = entered.thread_number();
    let offering = entered.execution.channels.get(&channel).and_then(Channel::offering);
    if offering == Some(number) {
        let guard = entered.thread().guard.take();
        let site = entered.thread().site;
        stop(entered, Pending::Offering { channel }, passed, site);
        entered.thread().guard = guard;
    }
    let state = &mut **entered;
    match state.thread().channel.answered.take() {
        Some(taken) if !state.knowledge.channels_step_by_step && load(address, 4) == TOKEN => {
            let object = object(state, channel);
            event::notify(entered, &Event::Resumed { channel, object, taken });
            true
        }
        _ => {
            write_out(state);
            false
        }
    }
}

/// A count was changed by the running thread: perhaps that of the ends of a channel, to none.
pub fn counted(entered: &mut Entered, how: How, count: u64) {
    if how.class() != Class::RefDec {
        return;
    }
    let Some(inside) = inside(entered) else { return };
    entered.thread().channel.counted = true;
    if count != 0 {
        return;
    }
    match inside {
        Inside::Modelled { channel, drops_sender: true } => {
            let Some(known) = entered.execution.channels.get_mut(&channel) else { return };
            known.lose_senders();
            let leaves = known.leaves_messages();
            changed(entered, channel);
            if leaves {
                write_out(entered);
            }
        }
        Inside::Drop { channel } => {
            let Some(known) = entered.execution.channels.get(&channel) else { return };
            let abandons = known.dropping_receiver();
            pass(entered, channel, abandons, SiteId(0));
            let left = entered.execution.channels.get(&channel);
            if left.is_some_and(Channel::leaves_messages) {
                write_out(entered);
            }
        }
        _ => {}
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

/// The running thread does this to a channel.
fn pass(entered: &mut Entered, channel: usize, passing: Passing, site: SiteId) {
    let state = &mut **entered;
    let number = state.thread_number();
    let Some(known) = state.execution.channels.get_mut(&channel) else { return };
    if let Some((sender, taken)) = known.pass(number, passing) {
        state.execution.threads[sender as usize].channel.answered = Some(taken);
    }
    changed(state, channel);
    if state.below_root {
        let object = object(state, channel);
        event::notify(entered, &Event::Passed(ChannelAct { channel, object, passing, site }));
    }
}

/// Lets the running thread reach an act: it stops where that is a scheduling point, and waits where
/// it has to. Whether it does so as it goes round a loop, and finds what it has found before: that
/// is reported to nobody.
fn arrive(entered: &mut Entered, operation: ChannelOperation, site: SiteId) -> bool {
    let state = &mut **entered;
    let ready = can_proceed(state, &operation);
    if !state.below_root {
        // A main that waits before it creates threads: that is the root.
        if !ready {
            stop(entered, Pending::Channel(operation), NOTHING, site);
        }
        return false;
    }
    state.thread().atomic.open = false;
    let looks = matches!(passing(state, &operation), Some(Passing::Peek | Passing::Closed));
    if looks && !operation.timed {
        let word = word(state, operation.channel);
        match state.thread().loops.read_only_spin.before_read(site, word, 8, true) {
            Advice::Stop => {}
            Advice::Skip => return true,
            Advice::Wait => {
                let ChannelOperation { act, channel, timed } = operation;
                pauses::wait_for_change(
                    entered,
                    [act as u64, channel as u64, timed.into(), 0],
                    site,
                );
                return false;
            }
        }
    } else if operation.timed && !ready {
        loops::begin_timed(state);
    } else {
        loops::leave_reads(state, site);
    }
    let state = &mut **entered;
    let alone = state.execution.live == 1 && state.execution.exit.is_none();
    if !(alone && ready) {
        stop(entered, Pending::Channel(operation), NOTHING, site);
    }
    false
}

/// The running thread begins an act on a known channel; none if the channel turns out to be written
/// out.
pub fn enter(
    entered: &mut Entered,
    act: Act,
    channel: usize,
    timed: bool,
    site: SiteId,
) -> Option<Inside> {
    let modelled = Inside::Modelled { channel, drops_sender: act == Act::DropSender };
    match act {
        Act::Clone | Act::Disconnect => return Some(modelled),
        Act::DropReceiver => {
            entered.thread().channel.counted = false;
            return Some(Inside::Drop { channel });
        }
        Act::Send | Act::TrySend | Act::Receive | Act::TryReceive | Act::Look | Act::DropSender => {
        }
    }
    let known = entered.execution.channels.get(&channel)?;
    // Whether a partner waits is seen from a try to hand over; how long it does, by partners of one
    // that gives up.
    if known.capacity == 0 && (act == Act::TrySend || timed && act == Act::Send) {
        write_out(entered);
        return None;
    }
    let operation = ChannelOperation { act, channel, timed };
    let repeats = arrive(entered, operation, site);
    let state = &mut **entered;
    if state.knowledge.channels_step_by_step {
        return None;
    }
    let gives_up = timed && !state.execution.channels.get(&channel)?.can_proceed(act);
    if gives_up && state.below_root {
        let until = state.thread().channel.until;
        let waited = until.unwrap_or(0).saturating_sub(state.execution.clock);
        crate::machine::timely::ended(entered, Timed::Timeout, waited, until);
    }
    let state = &mut **entered;
    let passing = state.execution.channels.get(&channel)?.passing(act, gives_up)?;
    state.thread().atomic.passed = 0;
    state.thread().channel.counted = false;
    state.thread().channel.answered = None;
    if repeats {
        let object = object(state, channel);
        crate::monitor::loops::pass(state, ChannelAct { channel, object, passing, site });
        return Some(modelled);
    }
    pass(entered, channel, passing, site);
    if gives_up && entered.below_root {
        loops::timed_out(entered);
    }
    Some(modelled)
}
