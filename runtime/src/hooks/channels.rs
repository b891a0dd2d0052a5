//! Hooks of the functions of channels that are known as a whole ([`crate::machine::channels`]).

use crate::hooks::plain;
use crate::machine::channel::Channel;
use crate::machine::channels::Inside;
use crate::machine::channels::changed;
use crate::machine::channels::find;
use crate::machine::channels::inside;
use crate::machine::channels::word;
use crate::machine::channels::write_out;
use crate::machine::hook;
use crate::machine::region;
use crate::machine::watch::watching;
use crate::memory::words::load;
use crate::scheduler::acts::enter;
use lockred_protocol::hooks::{Act, NO_DEADLINE};
use lockred_protocol::sites::SiteId;
use lockred_search::discipline::Passing;

/// Bytes of a block with a channel of which the allocator knows nothing, at most.
const UNKNOWN_SIZE: usize = 1024;

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_channel_made(ends: *const usize, capacity: u64, keeps: u32) {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let Some(entered) = &mut hook::enter_if_ready() else { return };
    let state = &mut **entered;
    if state.running.is_none() || state.knowledge.channels_step_by_step {
        return;
    }
    // SAFETY: the hook's contract: the function has just written its result there, four words.
    let words = unsafe { std::slice::from_raw_parts(ends, 4) };
    let is_block =
        |&address: &usize| address > 1 << 16 && crate::memory::arena::range().contains(&address);
    let mut twice = (0..4).filter(|&at| words[at + 1..].contains(&words[at])).map(|at| words[at]);
    let Some(channel) = twice.find(is_block) else { return };
    let capacity = match capacity {
        u64::MAX => Passing::UNBOUNDED,
        capacity => u32::try_from(capacity).unwrap_or(Passing::UNBOUNDED),
    };
    let size = crate::memory::heap::size(channel).unwrap_or(UNKNOWN_SIZE);
    word(state, channel);
    state.execution.channels.insert(channel, Channel::new(size, capacity, keeps != 0));
    changed(state, channel);
}

/// A moment in nanoseconds, where it is known.
fn deadline(seconds: u64, nanoseconds: u32) -> Option<u64> {
    seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds.into())
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_channel_enter(
    act: u32,
    channel: usize,
    seconds: u64,
    nanoseconds: u32,
    site: u32,
) {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let Some(entered) = &mut hook::enter_if_ready() else { return };
    let state = &mut **entered;
    if state.running.is_none() {
        return;
    }
    let act = Act::from_code(act)
        .unwrap_or_else(|| crate::session::files::fatal("an unknown act on a channel was emitted"));
    if let Some(Inside::Modelled { .. }) = inside(state) {
        let last = state.thread().channel.inside.last().copied();
        state.thread().channel.inside.extend(last);
        return;
    }
    let address = if act.has_handle() { load(channel, 8) as usize } else { channel };
    let inside = match find(state, address) {
        Some(channel) if nanoseconds == u32::MAX => {
            // Whether it has a deadline is not known.
            let _ = channel;
            write_out(state);
            None
        }
        Some(channel) => {
            let timed = nanoseconds != NO_DEADLINE;
            state.thread().channel.until = deadline(seconds, nanoseconds).filter(|_| timed);
            enter(entered, act, channel, timed, SiteId(site))
        }
        None => None,
    };
    let thread = entered.thread();
    let step_by_step = Inside::StepByStep { region: act.is_region() };
    if inside.is_none() && act.is_region() {
        region::enter(thread);
    }
    thread.channel.inside.push(inside.unwrap_or(step_by_step));
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_channel_leave(result: usize, size: usize, site: u32) {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let Some(entered) = &mut hook::enter_if_ready() else { return };
    let state = &mut **entered;
    if state.running.is_none() {
        return;
    }
    // A panic that was caught inside has ended it already.
    let left = state.thread().channel.inside.pop();
    state.thread().channel.until = None;
    let drops =
        matches!(left, Some(Inside::Modelled { drops_sender: true, .. } | Inside::Drop { .. }));
    if drops && !state.thread().channel.counted {
        // Whether this was the last one is not known: the count is not recognised.
        write_out(state);
    }
    match left {
        Some(Inside::StepByStep { region: true }) => region::leave(state.thread()),
        Some(Inside::Modelled { .. }) if result != 0 && watching() => {
            // Where the caller wants the result is the caller's.
            plain::write(entered, result, size, site);
        }
        _ => {}
    }
}
