//! The hooks of plain memory accesses.

use crate::detect::AccessKind;
use crate::machine::event::Event;
use crate::machine::event::Plain;
use crate::machine::hook::{self, Entered};
use crate::machine::state::State;
use crate::machine::watch::watching;
use crate::scheduler::event;
use lockred_protocol::sites::SiteId;

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_read(address: usize, size: usize, site: u32) {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    if let Some(entered) = &mut hook::enter_if_ready() {
        check(entered, Plain { address, size, site: SiteId(site), writes: false });
    }
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_write(address: usize, size: usize, site: u32) {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    if let Some(entered) = &mut hook::enter_if_ready() {
        write(entered, address, size, site);
    }
}

/// The running thread writes plain memory.
pub fn write(entered: &mut Entered, address: usize, size: usize, site: u32) {
    check(entered, Plain { address, size, site: SiteId(site), writes: true });
}

/// The runtime reads memory on the running thread's behalf.
pub fn reads(entered: &mut Entered, address: usize, size: usize) {
    crate::monitor::claims::operation(entered, address, size, SiteId(0), false);
    check(entered, Plain { address, size, site: SiteId(0), writes: false });
}

/// The runtime writes memory on the running thread's behalf.
pub fn writes(entered: &mut Entered, address: usize, size: usize) {
    crate::monitor::claims::operation(entered, address, size, SiteId(0), true);
    write(entered, address, size, 0);
}

/// See [`lockred_protocol::hooks`]: no other thread can reach the memory, so that neither monitor
/// nor detector need to know.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_check(address: usize, size: usize, writes: u32, site: u32) {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let Some(entered) = &mut hook::enter_if_ready() else { return };
    if size == 0 || !is_checked(entered) {
        return;
    }
    let kind = if writes == 1 { AccessKind::Write } else { AccessKind::Read };
    crate::hooks::memory_safety::check(entered, kind, address, size, SiteId(site));
    if writes == 1 && watching() {
        crate::monitor::loops::writes(entered, address, size);
    }
}

/// Whether plain accesses are those of the program's threads, and of interest.
#[inline]
fn is_checked(state: &State) -> bool {
    state.below_root
        && state.running.is_some()
        && !crate::machine::channels::is_inside_modelled_call(state)
}

fn check(entered: &mut Entered, access: Plain) {
    let Plain { address, size, site, writes } = access;
    if size == 0 || !is_checked(entered) {
        return;
    }
    crate::faults::leaving::at_access(entered, size);
    let kind = if writes { AccessKind::Write } else { AccessKind::Read };
    crate::hooks::memory_safety::check(entered, kind, address, size, site);
    if watching() {
        event::notify_inlined(entered, &Event::Plain(access));
    }
}
