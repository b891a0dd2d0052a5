//! Blocks of code that are meant to be atomic, as the program enters them and acts in them
//! ([`crate::discipline::atomicity`]).

use crate::discipline::atomicity::Act;
use crate::machine::config::Mode;
use crate::machine::event::{ChannelAct, Event, Executed, Plain};
use crate::machine::hook;
use crate::machine::state::State;
use lockred_protocol::hooks::How;
use lockred_protocol::message::Role;
use lockred_protocol::sites::SiteId;
use lockred_search::footprint::Access;

/// Bytes of one access that are looked at: others are copies of large memory, whose first bytes
/// stand for it.
const MOST_BYTES: usize = 256;

/// Blocks are judged: in a search over executions, and in replays of what it found.
fn judges(state: &State) -> bool {
    state.config.mode != Mode::Free && state.running.is_some() && !state.config.by_states
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_block_begin(text: usize, length: usize) {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let Some(entered) = &mut hook::enter_if_ready().filter(|state| judges(state)) else { return };
    let state = &mut **entered;
    // SAFETY: the hook's contract: a text that lives as long as the program.
    let name = unsafe { std::slice::from_raw_parts(text as *const u8, length) };
    let thread = state.thread_number();
    state.execution.blocks.begin(thread, name);
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_block_end() {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let Some(entered) = &mut hook::enter_if_ready().filter(|state| judges(state)) else { return };
    let state = &mut **entered;
    let thread = state.thread_number();
    state.execution.blocks.end(thread);
}

/// See [`crate::scheduler::event`].
#[inline(always)]
pub fn on(state: &mut State, event: &Event<'_>) {
    if state.execution.blocks.are_open() || matches!(event, Event::Created { .. }) {
        inside(state, event);
    }
}

/// The same, while some thread is in a block.
#[inline(never)]
fn inside(state: &mut State, event: &Event<'_>) {
    match *event {
        Event::Plain(Plain { address, size, site, writes }) => {
            let access = if writes { Access::Write } else { Access::Read };
            let role = if writes { Role::Write } else { Role::Read };
            acts(state, (address, size), access, site, role);
        }
        Event::Atomic(Executed { operation, access, wrote, watched: true, .. }) => {
            let primitive = operation.how.has(How::PRIMITIVE) || operation.how.class().is_lock();
            if !primitive {
                let role = if wrote { Role::AtomicWrite } else { Role::AtomicRead };
                let place = (operation.address, operation.size as usize);
                acts(state, place, access, operation.site, role);
            }
        }
        Event::Passed(ChannelAct { channel, passing, site, .. })
            if crate::machine::watch::watching() =>
        {
            acts(state, (channel, 1), passing.access(), site, Role::AtomicWrite);
        }
        Event::Created { child, .. } => {
            let parent = state.thread_number();
            state.execution.blocks.create(parent, child);
        }
        _ => {}
    }
}

fn acts(
    state: &mut State,
    (address, size): (usize, usize),
    access: Access,
    site: SiteId,
    role: Role,
) {
    let stack = if state.monitors.recorder.is_some() {
        crate::coroutine::unwind::stack()
    } else {
        Vec::new()
    };
    let act = Act { thread: state.thread_number(), site, role, stack };
    state.execution.blocks.act(address..address + size.min(MOST_BYTES), access, &act);
}

/// The execution has come to its end, and counts.
pub fn judge(state: &mut State) {
    for cycle in state.execution.blocks.take_found() {
        if !state.monitors.atomicity.knows(&cycle)
            && let Some(schedule) = crate::machine::schedule_log::schedule_so_far(state)
        {
            state.monitors.atomicity.add(cycle, schedule);
        }
    }
}
