//! Acts on channels that are known as a whole ([`channels`]): the running thread waits before a
//! function of one, and what it does inside is reported as one operation.

use crate::loops::read_only_spin::Advice;
use crate::machine::channel::Channel;
use crate::machine::channels::{self, Inside};
use crate::machine::event::{ChannelAct, Event};
use crate::machine::hook::Entered;
use crate::machine::loops;
use crate::machine::operation::{ChannelOperation, Pending};
use crate::machine::state::{NOTHING, Passed, State};
use crate::memory::words::load;
use crate::scheduler::stops::stop;
use crate::scheduler::{event, pauses};
use lockred_protocol::hooks::{Act, Class, How};
use lockred_protocol::message::Timed;
use lockred_protocol::sites::SiteId;
use lockred_search::discipline::Passing;

/// Operations and pauses inside one act, at most: after that it waits for somebody.
const LONGEST: u32 = 1 << 16;

/// Whether an atomic operation of the running thread is executed without being reported. It then
/// waits for nothing, either.
pub fn mutes(state: &mut State, address: usize, how: How) -> bool {
    let class = how.class();
    match channels::inside(state) {
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
                channels::write_out(state);
                return false;
            }
            true
        }
        Some(Inside::Drop { .. }) => class == Class::Channel,
        _ => {
            // A channel without room has no parts but a lock and what that guards.
            let part =
                class.is_lock() || matches!(class, Class::Channel | Class::Plain | Class::Unused);
            if part
                && !state.knowledge.channels_step_by_step
                && channels::find(state, address).is_some()
            {
                channels::write_out(state);
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
    if !channels::is_inside_modelled_call(state) {
        return false;
    }
    if goes_on_for_long(state) {
        channels::write_out(state);
        return false;
    }
    true
}

/// The running thread waits on a futex inside an act: whether it times out at once, as it was
/// chosen to.
pub fn times_out(state: &mut State, deadline: Option<u64>) -> bool {
    match deadline {
        Some(deadline) => {
            crate::scheduler::timely::advance_to(state, deadline);
            true
        }
        None => {
            channels::write_out(state);
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
    let Some(Inside::Modelled { channel, .. }) = channels::inside(entered) else { return false };
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
            let object = channels::object(state, channel);
            event::notify(entered, &Event::Resumed { channel, object, taken });
            true
        }
        _ => {
            channels::write_out(state);
            false
        }
    }
}

/// A count was changed by the running thread: perhaps that of the ends of a channel, to none.
pub fn counted(entered: &mut Entered, how: How, count: u64) {
    if how.class() != Class::RefDec {
        return;
    }
    let Some(inside) = channels::inside(entered) else { return };
    entered.thread().channel.counted = true;
    if count != 0 {
        return;
    }
    match inside {
        Inside::Modelled { channel, drops_sender: true } => {
            let Some(known) = entered.execution.channels.get_mut(&channel) else { return };
            known.lose_senders();
            let leaves = known.leaves_messages();
            channels::changed(entered, channel);
            if leaves {
                channels::write_out(entered);
            }
        }
        Inside::Drop { channel } => {
            let Some(known) = entered.execution.channels.get(&channel) else { return };
            let abandons = known.dropping_receiver();
            pass(entered, channel, abandons, SiteId(0));
            let left = entered.execution.channels.get(&channel);
            if left.is_some_and(Channel::leaves_messages) {
                channels::write_out(entered);
            }
        }
        _ => {}
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
    channels::changed(state, channel);
    if state.below_root {
        let object = channels::object(state, channel);
        event::notify(entered, &Event::Passed(ChannelAct { channel, object, passing, site }));
    }
}

/// Lets the running thread reach an act: it stops where that is a scheduling point, and waits where
/// it has to. Whether it does so as it goes round a loop, and finds what it has found before: that
/// is reported to nobody.
fn arrive(entered: &mut Entered, operation: ChannelOperation, site: SiteId) -> bool {
    let state = &mut **entered;
    let ready = channels::can_proceed(state, &operation);
    if !state.below_root {
        // A main that waits before it creates threads: that is the root.
        if !ready {
            stop(entered, Pending::Channel(operation), NOTHING, site);
        }
        return false;
    }
    state.thread().atomic.open = false;
    let looks =
        matches!(channels::passing(state, &operation), Some(Passing::Peek | Passing::Closed));
    if looks && !operation.timed {
        let word = channels::word(state, operation.channel);
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
        channels::write_out(entered);
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
        crate::scheduler::timely::ended(entered, Timed::Timeout, waited, until);
    }
    let state = &mut **entered;
    let passing = state.execution.channels.get(&channel)?.passing(act, gives_up)?;
    state.thread().atomic.passed = 0;
    state.thread().channel.counted = false;
    state.thread().channel.answered = None;
    if repeats {
        let object = channels::object(state, channel);
        crate::monitor::loops::pass(state, ChannelAct { channel, object, passing, site });
        return Some(modelled);
    }
    pass(entered, channel, passing, site);
    if gives_up && entered.below_root {
        loops::timed_out(entered);
    }
    Some(modelled)
}
