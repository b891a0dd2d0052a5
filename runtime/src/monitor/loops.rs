//! Loops that wait, as events show them: [`crate::loops::read_only_spin`] and
//! [`crate::loops::writing_spin`] have what is known of each thread's.

use crate::loops::writing_spin;
use crate::machine::event::{ChannelAct, Event, Executed, Futex, Plain};
use crate::machine::loops;
use crate::machine::operation::Atomic;
use crate::machine::state::State;
use crate::memory::words::load;
use lockred_protocol::sites::SiteId;
use lockred_search::footprint::Access;

/// See [`crate::scheduler::event`].
#[inline(always)]
pub fn on(state: &mut State, event: &Event<'_>) {
    match event {
        Event::Plain(Plain { address, size, writes: true, .. }) => writes(state, *address, *size),
        Event::Plain(_) => {}
        Event::Atomic(done) => atomic(state, done),
        Event::Passed(passed) => pass(state, *passed),
        Event::Futex(address, what) => futex(state, *address, *what),
        Event::Ends => {
            loops::leave_loop(state, SiteId(0));
            loops::progress(state);
        }
        _ => {}
    }
}

/// A write beyond the running thread's stack tells rounds of its loops apart.
pub fn writes(state: &mut State, address: usize, size: usize) {
    let thread = state.thread();
    if !thread.region.is_stack(address) {
        thread.loops.writing_spin.plain_write(address, size);
        loops::progress(state);
    }
}

fn atomic(state: &mut State, done: &Executed<'_>) {
    let Executed { operation, access, old, new, wrote, .. } = *done;
    let changed = wrote && new != old;
    let acted = changed || operation.kind == Atomic::Store;
    let scales = u64::from(state.knowledge.scales);
    let thread = state.thread();
    thread.loops.acts += scales;
    thread.last_site = operation.site;
    thread.loops.writing_spin.operation(hash(done), acted);
    let gave_up = if acted {
        thread.loops.read_only_spin.acts()
    } else {
        thread.loops.read_only_spin.read(operation.site, operation.address, operation.size, old)
    };
    if gave_up {
        loops::gave_up(state, operation.site);
    }
    loops::catch_up(state);
    if changed && writing_spin::counts(operation.how.class(), access) {
        loops::progress(state);
    }
}

/// What tells an operation of a round from others.
fn hash(Executed { operation, old, new, .. }: &Executed<'_>) -> u64 {
    let mut hash = u64::from(operation.site.0);
    for word in [operation.address as u64, *old, *new] {
        hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    hash
}

/// The running thread has acted on a channel; or goes round a loop, and has found there what it
/// found before.
pub fn pass(state: &mut State, ChannelAct { channel, passing, site, .. }: ChannelAct) {
    let word = crate::machine::channels::word(state, channel);
    let acts = passing.access() != Access::Read;
    let value = load(word, 8);
    let thread = state.thread();
    if site != SiteId(0) {
        thread.last_site = site;
    }
    thread
        .loops
        .writing_spin
        .operation(u64::from(site.0) ^ (word as u64).rotate_left(20) ^ value, acts);
    let spin = &mut thread.loops.read_only_spin;
    let gave_up = if acts { spin.acts() } else { spin.read(site, word, 8, value) };
    if gave_up {
        loops::gave_up(state, site);
    }
    loops::catch_up(state);
    if acts {
        loops::progress(state);
    }
}

fn futex(state: &mut State, address: usize, what: Futex<'_>) {
    match what {
        Futex::Enqueued { .. } => loops::progress(state),
        Futex::Woken { .. } => {
            state.thread().loops.writing_spin.leave(0);
            loops::catch_up(state);
        }
        Futex::TimedOut => {
            state.thread().loops.writing_spin.operation(address as u64, true);
            loops::timed_out(state);
        }
        Futex::Wakes([]) => state.thread().loops.writing_spin.operation(address as u64, true),
        Futex::Wakes(_) => loops::leave_loop(state, SiteId(0)),
        Futex::Compared | Futex::Differs { .. } | Futex::Returned | Futex::Left => {}
    }
}
