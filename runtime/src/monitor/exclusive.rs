//! Predicates of who may access memory (`#[lockred::exclusive_when]`), where the discipline is
//! observed: access predicates of Flanagan and Qadeer ("Transactions for software model checking",
//! SoftMC 2003), which there decide what is atomic, and here are only looked after.
//!
//! A thread that accesses the memory has to satisfy the predicate then. That is worth something
//! only if the predicate is valid: no two threads satisfy it at a time, and a step of one thread
//! does not make it false for another. The memory is named by the request, in words that mean the
//! same in all executions; a value is looked at from the first such access on, whenever a thread
//! accesses something or stops. All that has changed since the last look was then done by the
//! thread that runs. Hooks are off meanwhile.

use crate::machine::event::{Event, Freed};
use crate::machine::hook::{self, Entered};
use crate::machine::state::State;
use lockred_protocol::message::{Broken, BrokenRule, Memory};
use lockred_protocol::sites::SiteId;
use std::collections::BTreeSet;

/// As the crate `lockred` has it (`runtime/annotations/src/exclusive.rs`).
#[repr(C)]
struct Predicate {
    holds: usize,
    call: unsafe extern "C" fn(usize, usize) -> bool,
}

/// See [`crate::scheduler::event`].
#[inline(always)]
pub fn on(state: &mut State, event: &Event<'_>) {
    if let Event::Freed(Freed { address, size, block: true, .. }) = *event {
        state.monitors.exclusive.freed(address..address + size);
    }
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_me() -> u64 {
    let Some(entered) = &mut hook::enter_if_ready() else { return 0 };
    let state = &mut **entered;
    u64::from(state.monitors.exclusive.asked.unwrap_or_else(|| state.thread_number()))
}

/// Whether a predicate is being asked, whose operations are none of the program's.
#[inline]
pub fn asks(state: &State) -> bool {
    state.monitors.exclusive.asked.is_some()
}

/// The running thread accesses memory with this name at this address: the predicates that it does
/// not satisfy.
pub fn accessed(entered: &mut Entered, memory: &Memory, address: usize) -> Vec<u64> {
    let exclusive = &entered.monitors.exclusive;
    let watches = exclusive.watches.iter().filter(|watch| watch.memory == *memory);
    let watches: Vec<(u64, usize)> =
        watches.map(|watch| (watch.predicate, address - watch.back as usize)).collect();
    let thread = entered.thread_number();
    let mut refused = Vec::new();
    for &(predicate, value) in &watches {
        if !holds(entered, (predicate, value), thread) {
            refused.push(predicate);
        }
    }
    for watch in watches {
        let who = who(entered, watch);
        entered.monitors.exclusive.values.entry(watch).or_insert(who);
    }
    refused
}

/// Looks who satisfies the predicates now. What has changed was done by the running thread.
/// `place`: where it is, if that is known.
pub fn look(entered: &mut Entered, place: Option<(SiteId, &[u64])>) {
    let state = &mut **entered;
    if state.monitors.exclusive.watches.is_empty() || asks(state) {
        return;
    }
    let thread = state.thread_number();
    if let Some((site, stack)) = place {
        state.monitors.exclusive.last = (thread, site, stack.to_vec());
    }
    let watches: Vec<(u64, usize)> = state.monitors.exclusive.values.keys().copied().collect();
    for watch in watches {
        let now = who(entered, watch);
        let state = &mut **entered;
        let before = state.monitors.exclusive.values.insert(watch, now.clone()).unwrap_or_default();
        let alive = |other: &&u32| !state.execution.threads[**other as usize].has_ended();
        let lost = before.difference(&now).filter(alive).find(|other| **other != thread);
        let two = || Some([*now.first()?, *now.iter().nth(1)?]);
        let (rule, threads) = match (lost, two()) {
            (Some(lost), _) => (BrokenRule::Lost, [*lost, thread]),
            (None, Some(two)) => (BrokenRule::Both, two),
            (None, None) => continue,
        };
        let (last, site, stack) = state.monitors.exclusive.last.clone();
        let known = |broken: &Broken| broken.predicate == watch.0 && broken.rule == rule;
        if last == thread && !state.monitors.exclusive.broken.iter().any(known) {
            let broken = Broken { predicate: watch.0, rule, threads, site, stack };
            state.monitors.exclusive.broken.push(broken);
        }
    }
}

/// The threads that satisfy a predicate.
fn who(entered: &mut Entered, watch: (u64, usize)) -> BTreeSet<u32> {
    let threads = &entered.execution.threads;
    let alive: Vec<u32> =
        (0..).zip(threads).filter(|(_, thread)| !thread.has_ended()).map(|(at, _)| at).collect();
    alive.into_iter().filter(|&thread| holds(entered, watch, thread)).collect()
}

/// Whether a thread satisfies a predicate of a value.
fn holds(entered: &mut Entered, (predicate, value): (u64, usize), thread: u32) -> bool {
    entered.monitors.exclusive.asked = Some(thread);
    crate::machine::watch::pause(true);
    // SAFETY: the request names a predicate of the executable, and its value lives: the field is
    // about to be accessed, or was and is not freed.
    let holds = entered.outside(|| unsafe {
        let predicate = &*(predicate as *const Predicate);
        (predicate.call)(predicate.holds, value)
    });
    crate::machine::watch::pause(false);
    entered.monitors.exclusive.asked = None;
    holds
}
