//! What the program does to memory of which the plan claims something ([`crate::claims::bytes`]).

use crate::claims::bytes::{Touch, reported};
use crate::machine::config::Mode;
use crate::machine::event::Event;
use crate::machine::hook;
use crate::machine::libtest::Harness;
use crate::machine::state::State;
use crate::session::files::fatal;
use lockred_protocol::plan::Reason;
use lockred_protocol::sites::SiteId;

/// Set in the reason that a hook passes, if the access writes.
const WRITES: u32 = 1 << 8;

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_claim(address: usize, size: usize, reason: u32, site: u32) {
    let writes = reason & WRITES != 0;
    let reason = Reason::from_code(reason & !WRITES)
        .unwrap_or_else(|| fatal("a claim was emitted for an unknown reason"));
    let state = &mut *hook::enter();
    if state.config.mode != Mode::Free {
        state.execution.claims.get_or_insert_default();
        touched(state, address, size, SiteId(site), reason, writes);
    }
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_protected(address: usize, size: usize, lock: usize) {
    let state = &mut *hook::enter();
    if let (Some(_), Some(claims)) = (state.running, &mut state.execution.claims)
        && let Err(refuted) = claims.guard(address, size, lock)
    {
        fatal(&reported(refuted));
    }
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_fresh(address: usize, size: usize) {
    begins(&mut hook::enter(), address, size);
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_ended(block: usize) {
    let state = &mut *hook::enter();
    if state.execution.maps(block)
        && let Some(claims) = &mut state.execution.claims
        && let Ok(size) = crate::memory::heap::size(block)
    {
        claims.drop_last(block, block + size);
    }
}

/// An atomic operation is made, or the runtime accesses memory on the program's behalf.
pub fn operation(state: &mut State, address: usize, size: usize, site: SiteId, writes: bool) {
    touched(state, address, size, site, Reason::Operation, writes);
}

/// See [`crate::scheduler::event`].
#[inline(always)]
pub fn on(state: &mut State, event: &Event<'_>) {
    if let Event::Allocated { block, size } = *event {
        begins(state, block, size);
    }
}

/// Memory begins to live: a block was allocated, or a variable is in scope.
fn begins(state: &mut State, address: usize, size: usize) {
    if let Some(claims) = &mut state.execution.claims {
        claims.forget(address, size);
    }
}

fn touched(
    state: &mut State,
    address: usize,
    size: usize,
    site: SiteId,
    reason: Reason,
    writes: bool,
) {
    let (Some(thread), Some(claims)) = (state.running, &mut state.execution.claims) else {
        return;
    };
    let counts = state.below_root && state.knowledge.harness != Harness::SawOk;
    let touch = Touch { thread, site, reason, writes, counts };
    if let Err(refuted) = claims.touch(address, size, touch, &state.execution.held) {
        fatal(&reported(refuted));
    }
}
