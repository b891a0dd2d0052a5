//! Modelled channels: each send or receive is one operation; the atomics inside of it run
//! unreported.
//!
//! A channel is known from where it was made. The program's own code runs all the same; a [`Channel`] beside it says beforehand whether
//! it would wait, and the thread waits before the function instead: so it never does inside, but where it hands a message over (capacity
//! 0), and behind which it goes on when the other side has come. What the function does to memory is told to nobody, because all that is
//! written there is for the function and its like, all of which are known. Of the user's code nothing runs inside. The exceptions:
//! - Tokens of parking are the thread's, not the channel's, and are told.
//! - Dropping a receiver drops messages; there only the parts of the channel ([`Class::Channel`]) are told to nobody.
//!
//! Where something else turns out (a part of a channel outside of the functions that are known, as `select!` does; a wait where there
//! should be none; an end that leaves messages behind for the other one), all channels are written out from then on, as without this
//! module, and the search starts again. Its schedules say so ([`Schedule::WRITTEN_OUT`]).
//!
//! [`Schedule::WRITTEN_OUT`]: lockred_trace::schedule::Schedule::WRITTEN_OUT

use crate::channel::Channel;
use crate::operation::{ChannelOperation, Pending, load};
use crate::spin::Advice;
use crate::state::{NOTHING, Passed, State, installed, state, stop};
use crate::{gate, names, objects, plain, region, rounds, time, waiting};
use lockred_search::discipline::Passing;
use lockred_search::footprint::{Access, ObjectId};
use lockred_trace::hooks::{Act, Class, How, NO_DEADLINE};
use lockred_trace::message::Timed;
use lockred_trace::sites::SiteId;

/// Operations and pauses inside one act, at most: behind them it waits for somebody.
const LONGEST: u32 = 1 << 16;

/// Bytes of a block with a channel of which the allocator knows nothing, at most.
const UNKNOWN_SIZE: usize = 1024;

/// A function of a channel in which a thread is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Inside {
    /// What it does is told to nobody.
    Muted {
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
    /// Of a channel that is written out: an atomic region, or nothing.
    WrittenOut {
        /// It is a region.
        region: bool,
    },
}

/// The object of the search that stands for a channel.
pub fn object(state: &State, channel: usize) -> ObjectId {
    let word = state.channel_words.get(channel).map_or(channel, |word| word.as_ptr() as usize);
    names::first_block(word, 8)
}

/// The word that changes with a channel.
fn word(state: &mut State, channel: usize) -> usize {
    state.channel_words.make(channel).as_ptr() as usize
}

/// The machine is back at the root: words are what they were.
pub fn restored(state: &State) {
    for (address, channel) in &state.execution.channels {
        if let Some(word) = state.channel_words.get(*address) {
            word.set(channel.changes());
        }
    }
}

/// The known channel in whose block an address is.
fn find(state: &State, address: usize) -> Option<usize> {
    if state.channels_written_out {
        return None;
    }
    let (&base, channel) = state.execution.channels.range(..=address).next_back()?;
    (address - base < channel.size).then_some(base)
}

/// Whether an act would not wait now.
pub fn can_proceed(state: &State, operation: &ChannelOperation) -> bool {
    match state.execution.channels.get(&operation.channel) {
        Some(channel) if !state.channels_written_out => channel.can_proceed(operation.act),
        _ => true,
    }
}

/// What an act does now, or would do if it did not have to wait.
pub fn passing(state: &State, operation: &ChannelOperation) -> Option<Passing> {
    let channel = state.execution.channels.get(&operation.channel)?;
    channel.passing(operation.act, operation.timed)
}

/// The innermost function of a channel in which the running thread is.
fn inside() -> Option<Inside> {
    let state = installed()?;
    let number = state.running? as usize;
    state.execution.threads.get(number)?.inside.last().copied()
}

/// Whether what the running thread does is told to nobody.
pub fn is_muted() -> bool {
    matches!(inside(), Some(Inside::Muted { .. }))
}

/// Something is done to a channel that is not known.
fn write_out() {
    let state = state();
    state.channels_written_out = true;
    state.names.rename();
    for thread in &mut state.execution.threads {
        for inside in &mut thread.inside {
            if !matches!(inside, Inside::WrittenOut { .. }) {
                *inside = Inside::WrittenOut { region: false };
            }
        }
    }
}

/// Whether an atomic operation of the running thread is executed without being told. It then waits for nothing, either.
pub fn mutes(address: usize, how: How) -> bool {
    let class = how.class();
    match inside() {
        Some(Inside::Muted { .. }) => {
            if class.is_lock() {
                crate::locked::unseen(address);
            }
            let thread = state().thread();
            // Tokens of parking, also those of a wait with a timeout.
            if matches!(class, Class::Park | Class::Unpark | Class::Plain | Class::CondvarWait) {
                return false;
            }
            let guard = thread.guard.take();
            if guard.is_some_and(|guard| !guard.holds(load(address, 4))) || goes_on_for_long() {
                state().thread().guard = guard;
                write_out();
                return false;
            }
            true
        }
        Some(Inside::Drop { .. }) => class == Class::Channel,
        _ => {
            // A channel without room has no parts but a lock and what that guards.
            let part =
                class.is_lock() || matches!(class, Class::Channel | Class::Plain | Class::Unused);
            if part && !state().channels_written_out && find(state(), address).is_some() {
                write_out();
            }
            false
        }
    }
}

fn goes_on_for_long() -> bool {
    let thread = state().thread();
    thread.passed += 1;
    thread.passed > LONGEST
}

/// Whether a pause of the running thread is passed over.
pub fn pauses() -> bool {
    if !is_muted() {
        return false;
    }
    if goes_on_for_long() {
        write_out();
        return false;
    }
    true
}

/// The running thread waits on a futex inside an act: whether it times out at once, as it was chosen to.
pub fn times_out(deadline: Option<u64>) -> bool {
    match deadline {
        Some(deadline) => {
            time::advance_to(deadline);
            true
        }
        None => {
            write_out();
            false
        }
    }
}

/// What a parker's word is when its thread has a token.
const TOKEN: u64 = 1;

/// The running thread is about to take its token. Whether that is in an act on a channel: where it has offered a message, it first waits
/// until this was taken or withdrawn. `passed`: how the caller takes it.
pub fn parks(address: usize, passed: Passed) -> bool {
    let Some(Inside::Muted { channel, .. }) = inside() else { return false };
    if load(address, 4) == TOKEN {
        return true;
    }
    let number = state().thread_number();
    let offering = state().execution.channels.get(&channel).and_then(Channel::offering);
    if offering == Some(number) {
        let guard = state().thread().guard.take();
        let site = state().thread().site;
        stop(Pending::Offering { channel }, passed, site);
        state().thread().guard = guard;
    }
    let state = state();
    match state.thread().answered.take() {
        Some(taken) if !state.channels_written_out && load(address, 4) == TOKEN => {
            let object = object(state, channel);
            crate::machine::sign(
                &mut state.step.signature,
                410 + u64::from(taken),
                channel,
                SiteId(0),
            );
            if plain::watching() {
                gate::resumed(object, taken);
                if let Some(detector) = &mut state.detector {
                    detector.resume(number, channel, taken);
                }
            }
            objects::resumed(channel, taken);
            true
        }
        _ => {
            write_out();
            false
        }
    }
}

/// A count was changed by the running thread: perhaps that of the ends of a channel, to none.
pub fn counted(how: How, count: u64) {
    if how.class() != Class::RefDec {
        return;
    }
    let Some(inside) = inside() else { return };
    state().thread().counted = true;
    if count != 0 {
        return;
    }
    match inside {
        Inside::Muted { channel, drops_sender: true } => {
            let state = state();
            let Some(known) = state.execution.channels.get_mut(&channel) else { return };
            known.lose_senders();
            let leaves = known.leaves_messages();
            changed(state, channel);
            if leaves {
                write_out();
            }
        }
        Inside::Drop { channel } => {
            let Some(known) = state().execution.channels.get(&channel) else { return };
            pass(channel, known.abandoning(), SiteId(0));
            let left = state().execution.channels.get(&channel);
            if left.is_some_and(Channel::leaves_messages) {
                write_out();
            }
        }
        _ => {}
    }
}

/// A block is freed. Whether it is that of a known channel, which is told to nobody; or the running thread is inside of an act.
pub fn freed(state: &mut State, address: usize) -> bool {
    let known = state.execution.channels.remove(&address).is_some();
    known && !state.channels_written_out || is_muted()
}

/// A channel has changed.
fn changed(state: &State, channel: usize) {
    if let (Some(word), Some(known)) =
        (state.channel_words.get(channel), state.execution.channels.get(&channel))
    {
        word.set(known.changes());
    }
}

/// The running thread does this to a channel: everybody who wants to know is told.
fn pass(channel: usize, passing: Passing, site: SiteId) {
    let state = state();
    let number = state.thread_number();
    let Some(known) = state.execution.channels.get_mut(&channel) else { return };
    if let Some((sender, taken)) = known.pass(number, passing) {
        state.execution.threads[sender as usize].answered = Some(taken);
    }
    changed(state, channel);
    if !state.below_root {
        return;
    }
    let object = object(state, channel);
    if plain::watching() {
        gate::passed(object, passing);
        crate::atomicity::passed(state, channel, passing.access(), site);
        if let Some(detector) = &mut state.detector {
            detector.pass(number, channel, passing);
        }
    }
    let access = match passing.access() {
        Access::Read => Access::Read,
        _ => Access::Write,
    };
    state.step.footprint.touch(object, access);
    if let Some(woken) = passing.wakes() {
        state.step.footprint.enables.push(woken);
    }
    let (what, message) = match passing {
        Passing::Send { number, .. } => (400, number),
        Passing::Receive { number, .. } => (401, number),
        Passing::Depart => (402, 0),
        Passing::Abandon { .. } | Passing::Close { .. } => (403, 0),
        Passing::Fail => (404, 0),
        Passing::Peek => (405, 0),
        Passing::Closed => (406, 0),
    };
    crate::machine::sign(&mut state.step.signature, what, channel, site);
    state.step.signature ^= u64::from(message).rotate_left(17);
    loops(channel, passing, site);
    objects::channel(channel, passing, site);
}

/// Tells those who notice loops that wait.
fn loops(channel: usize, passing: Passing, site: SiteId) {
    let state = state();
    let word = word(state, channel);
    let acts = passing.access() != Access::Read;
    let value = load(word, 8);
    let thread = state.thread();
    if site != SiteId(0) {
        thread.last_site = site;
    }
    thread.rounds.operation(u64::from(site.0) ^ (word as u64).rotate_left(20) ^ value, acts);
    let gave_up = if acts { thread.spin.acts() } else { thread.spin.read(site, word, 8, value) };
    if gave_up {
        waiting::gave_up(site);
    }
    rounds::catch_up();
    if acts {
        rounds::progress();
    }
}

/// Lets the running thread reach an act: it stops where that is a scheduling point, and waits where it has to. Whether it does so as it goes
/// round a loop, and finds what it has found before: that is told to nobody.
fn arrive(operation: ChannelOperation, site: SiteId) -> bool {
    let state = state();
    let ready = can_proceed(state, &operation);
    if !state.below_root {
        // A main that waits before it creates threads: that is the root.
        if !ready {
            stop(Pending::Channel(operation), NOTHING, site);
        }
        return false;
    }
    state.thread().in_region = false;
    let looks = matches!(passing(state, &operation), Some(Passing::Peek | Passing::Closed));
    if looks && !operation.timed {
        let word = word(state, operation.channel);
        match state.thread().spin.before_read(site, word, 8, true) {
            Advice::Stop => {}
            Advice::Skip => return true,
            Advice::Wait => {
                let ChannelOperation { act, channel, timed } = operation;
                waiting::wait_for_change([act as u64, channel as u64, timed.into(), 0], site);
                return false;
            }
        }
    } else if operation.timed && !ready {
        waiting::begin_timed();
    } else {
        waiting::leave_reads(site);
    }
    let state = crate::state::state();
    let alone = state.execution.live == 1 && state.execution.exit.is_none();
    if !(alone && ready) {
        stop(Pending::Channel(operation), NOTHING, site);
    }
    false
}

/// See [`lockred_trace::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_channel_made(ends: *const usize, capacity: u64, keeps: u32) {
    let _leftovers = crate::scrub::Leftovers;
    let Some(state) = installed() else { return };
    if state.running.is_none() || state.channels_written_out {
        return;
    }
    // SAFETY: the hook's contract: the function has just written its result there, four words.
    let words = unsafe { std::slice::from_raw_parts(ends, 4) };
    let is_block = |&address: &usize| address > 1 << 16 && crate::arena::range().contains(&address);
    let mut twice = (0..4).filter(|&at| words[at + 1..].contains(&words[at])).map(|at| words[at]);
    let Some(channel) = twice.find(is_block) else { return };
    let capacity = match capacity {
        u64::MAX => Passing::UNBOUNDED,
        capacity => u32::try_from(capacity).unwrap_or(Passing::UNBOUNDED),
    };
    let size = crate::heap::size(channel).unwrap_or(UNKNOWN_SIZE);
    word(state, channel);
    state.execution.channels.insert(channel, Channel::new(size, capacity, keeps != 0));
    changed(state, channel);
}

/// See [`lockred_trace::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_channel_enter(act: u32, channel: usize, nanoseconds: u32, site: u32) {
    let _leftovers = crate::scrub::Leftovers;
    let Some(state) = installed() else { return };
    if state.running.is_none() {
        return;
    }
    let act = Act::from_code(act)
        .unwrap_or_else(|| crate::state::fatal("an unknown act on a channel was emitted"));
    if let Some(Inside::Muted { .. }) = inside() {
        let last = state.thread().inside.last().copied();
        state.thread().inside.extend(last);
        return;
    }
    let address = if act.has_handle() { load(channel, 8) as usize } else { channel };
    let inside = match find(state, address) {
        Some(channel) if nanoseconds == u32::MAX => {
            // Whether it has a deadline is not known.
            let _ = channel;
            write_out();
            None
        }
        Some(channel) => enter(act, channel, nanoseconds != NO_DEADLINE, SiteId(site)),
        None => None,
    };
    let thread = crate::state::state().thread();
    let written_out = Inside::WrittenOut { region: act.is_region() };
    if inside.is_none() && act.is_region() {
        region::enter(thread);
    }
    thread.inside.push(inside.unwrap_or(written_out));
}

/// The running thread begins an act on a known channel; none if the channel turns out to be written out.
fn enter(act: Act, channel: usize, timed: bool, site: SiteId) -> Option<Inside> {
    let muted = Inside::Muted { channel, drops_sender: act == Act::DropSender };
    match act {
        Act::Clone | Act::Disconnect => return Some(muted),
        Act::DropReceiver => {
            state().thread().counted = false;
            return Some(Inside::Drop { channel });
        }
        Act::Send | Act::TrySend | Act::Receive | Act::TryReceive | Act::Look | Act::DropSender => {
        }
    }
    let known = state().execution.channels.get(&channel)?;
    // Whether a partner waits is seen from a try to hand over; how long it does, by partners of one that gives up.
    if known.capacity == 0 && (act == Act::TrySend || timed && act == Act::Send) {
        write_out();
        return None;
    }
    let operation = ChannelOperation { act, channel, timed };
    let repeats = arrive(operation, site);
    let state = state();
    if state.channels_written_out {
        return None;
    }
    let gives_up = timed && !state.execution.channels.get(&channel)?.can_proceed(act);
    if gives_up && state.below_root {
        // How long it has waited is told by nobody.
        crate::timely::ended(Timed::Timeout, 0, None);
    }
    let state = crate::state::state();
    let passing = state.execution.channels.get(&channel)?.passing(act, gives_up)?;
    state.thread().passed = 0;
    state.thread().counted = false;
    state.thread().answered = None;
    if repeats {
        loops(channel, passing, site);
        return Some(muted);
    }
    pass(channel, passing, site);
    if gives_up && crate::state::state().below_root {
        rounds::timed_out();
    }
    Some(muted)
}

/// See [`lockred_trace::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_channel_leave(result: usize, size: usize, site: u32) {
    let _leftovers = crate::scrub::Leftovers;
    let Some(state) = installed() else { return };
    if state.running.is_none() {
        return;
    }
    // A panic that was caught inside has ended it already.
    let left = state.thread().inside.pop();
    let drops =
        matches!(left, Some(Inside::Muted { drops_sender: true, .. } | Inside::Drop { .. }));
    if drops && !state.thread().counted {
        // Whether this was the last one is not known: the count is not recognised.
        write_out();
    }
    match left {
        Some(Inside::WrittenOut { region: true }) => region::leave(state.thread()),
        Some(Inside::Muted { .. }) if result != 0 && plain::watching() => {
            // Where the caller wants the result is the caller's.
            plain::__lr_write(result, size, site);
        }
        _ => {}
    }
}
