//! What executed operations mean to a reader: object kinds, held locks, and the words of recorded steps.

use crate::execution::Held;
use crate::operation::{Atomic, AtomicOperation};
use crate::record;
use crate::state::State;
use lockred_search::discipline::Passing;
use lockred_search::footprint::Access;
use lockred_trace::hooks::{Class, RmwOp};
use lockred_trace::message::Step;
use lockred_trace::sites::SiteId;

/// How a step is called in which a thread begins to wait for a futex.
pub const WAITS: &str = "waits";

/// How a step is called that wakes nobody.
pub const WAKES_NOBODY: &str = "wakes nobody";

/// How a step begins in which a compare-exchange finds another value.
const EXCHANGE_FAILED: &str = "compare-exchange failed";

/// Whether a step is a compare-exchange that found another value.
pub fn failed_exchange(step: &Step) -> bool {
    step.operation.starts_with(EXCHANGE_FAILED)
}

/// Kind of the object that an operation of this class acts on.
pub const fn kind(class: Class) -> &'static str {
    match class {
        Class::Lock | Class::TryLock | Class::Unlock => "lock",
        Class::ReadLock | Class::TryReadLock | Class::ReadUnlock | Class::Downgrade => "rwlock",
        Class::RefInc | Class::RefDec => "reference count",
        Class::Countdown => "counter",
        Class::Park | Class::Unpark => "parker",
        Class::Wait => "once",
        Class::CondvarWait | Class::CondvarNotify => "condition variable",
        Class::Guarded => "poison flag",
        Class::Plain | Class::Invisible | Class::Unused => "atomic",
        Class::Channel => "channel",
    }
}

/// The recorded number of an object; 0 when nothing is recorded.
pub fn number(state: &mut State, address: usize, kind: &str) -> u32 {
    record::object(state, address, kind, None).unwrap_or(0)
}

/// A lock's word was operated on: keeps account of who holds what.
pub fn keep_held(state: &mut State, operation: &AtomicOperation, wrote: bool) {
    if !wrote {
        crate::locked::failed(state, operation);
        return;
    }
    let stack = crate::unwind::recorded_stack(state);
    let thread = state.thread_number();
    let held = &mut state.execution.held;
    match operation.how.class() {
        Class::Lock | Class::TryLock | Class::ReadLock | Class::TryReadLock => {
            let class = operation.how.class();
            let shared = matches!(class, Class::ReadLock | Class::TryReadLock);
            let waits = matches!(class, Class::Lock | Class::ReadLock);
            crate::nesting::acquires(
                state,
                operation.address,
                operation.site,
                shared,
                waits,
                &stack,
            );
            let step = state.monitors.recorder.as_ref().map(|recorder| recorder.steps.len());
            state.execution.held.push(Held {
                address: operation.address,
                thread,
                site: operation.site,
                shared,
                step,
                stack,
            });
        }
        Class::Downgrade => {
            let lock = |held: &&mut Held| held.address == operation.address;
            if let Some(held) = held.iter_mut().find(lock) {
                held.shared = true;
            }
        }
        _ => {
            let lock = |held: &Held| held.address == operation.address;
            // A guard may be released by another thread than the one that acquired it.
            let own = held.iter().rposition(|held| lock(held) && held.thread == thread);
            if let Some(index) = own.or_else(|| held.iter().rposition(lock)) {
                held.remove(index);
            }
        }
    }
}

/// An atomic operation was executed: records it.
pub fn executed(
    state: &mut State,
    operation: &AtomicOperation,
    access: Access,
    rmw: Option<RmwOp>,
    old: u64,
    new: u64,
) {
    let word_of_signals = state.execution.signals.word;
    if state.monitors.recorder.is_none() || operation.address == word_of_signals {
        return;
    }
    let wrote = match operation.kind {
        Atomic::Load | Atomic::Failed => false,
        Atomic::Store | Atomic::Rmw => true,
        Atomic::CompareExchange { expected } => old == expected,
    };
    let object = number(state, operation.address, kind(operation.how.class()));
    record::step(
        state,
        words(operation, access, rmw, old, new, wrote),
        Some(object),
        operation.site,
    );
}

/// A value of an atomic word: what may be an address is told as one.
struct Word(u64);

impl std::fmt::Display for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let is_address = (1 << 32..1 << 48).contains(&self.0);
        if is_address { write!(f, "{:#x}", self.0) } else { write!(f, "{}", self.0) }
    }
}

/// An operation in a few words.
fn words(
    operation: &AtomicOperation,
    access: Access,
    rmw: Option<RmwOp>,
    old: u64,
    new: u64,
    wrote: bool,
) -> String {
    let (old, new) = (Word(old), Word(new));
    match (operation.how.class(), operation.kind) {
        (Class::Lock, _) if wrote => "lock".into(),
        (Class::TryLock, Atomic::CompareExchange { .. }) if wrote => "try lock: locked".into(),
        (Class::TryLock, _) if !wrote => "try lock: busy".into(),
        (Class::Unlock, _) => "unlock".into(),
        (Class::ReadLock, _) if wrote => "read lock".into(),
        (Class::TryReadLock, _) if wrote => "try read lock: locked".into(),
        (Class::ReadUnlock, _) => "read unlock".into(),
        (Class::Downgrade, _) => "downgrade to read lock".into(),
        (Class::Park, _) => "park".into(),
        (Class::Unpark, _) => "unpark".into(),
        (Class::RefInc, _) if access == Access::RefInc => format!("count {old} -> {new}"),
        (Class::RefDec | Class::Countdown, _) if wrote => format!("count {old} -> {new}"),
        (_, Atomic::Load) => format!("load -> {old}"),
        (_, Atomic::Failed) => format!("weak exchange failed for no reason: {old}"),
        (_, Atomic::Store) => format!("store {new}"),
        (_, Atomic::CompareExchange { .. }) if wrote => format!("compare-exchange {old} -> {new}"),
        (_, Atomic::CompareExchange { expected }) => {
            format!("{EXCHANGE_FAILED}: {old}, not {}", Word(expected))
        }
        (_, Atomic::Rmw) => {
            let name = rmw.map_or("update", rmw_name);
            format!("{name} {old} -> {new}")
        }
    }
}

const fn rmw_name(op: RmwOp) -> &'static str {
    match op {
        RmwOp::Xchg => "swap",
        RmwOp::Add => "add",
        RmwOp::Sub => "sub",
        RmwOp::And => "and",
        RmwOp::Nand => "nand",
        RmwOp::Or => "or",
        RmwOp::Xor => "xor",
        RmwOp::Max | RmwOp::UMax => "max",
        RmwOp::Min | RmwOp::UMin => "min",
    }
}

/// The running thread parked, and went on for no reason.
pub fn parked_for_no_reason(state: &mut State, address: usize, site: SiteId) {
    let object = number(state, address, kind(Class::Park));
    record::step(state, "park returns for no reason".into(), Some(object), site);
}

/// The running thread acted on a channel that is known as a whole.
pub fn channel(state: &mut State, address: usize, passing: Passing, site: SiteId) {
    let object = number(state, address, "channel");
    let what = match passing {
        Passing::Send { number, capacity: 0 } => format!("offers message {number}"),
        Passing::Send { number, .. } => format!("send message {number}"),
        Passing::Receive { number, .. } => format!("receive message {number}"),
        Passing::Depart => "drop a sender".to_owned(),
        Passing::Abandon { .. } | Passing::Close { .. } => "drop the last receiver".to_owned(),
        Passing::Fail => "send: no receiver is left".to_owned(),
        Passing::Peek => "nothing to receive, or no room".to_owned(),
        Passing::Closed => "receive: no sender is left".to_owned(),
    };
    record::step(state, what, Some(object), site);
}

/// The message that the running thread had offered was taken, or withdrawn.
pub fn resumed(state: &mut State, address: usize, taken: bool) {
    let object = number(state, address, "channel");
    let what = if taken { "the message was taken" } else { "no receiver is left" };
    record::step(state, what.to_owned(), Some(object), SiteId(0));
}

/// A futex call did something.
pub fn futex(state: &mut State, address: usize, what: &str, woken: &[u32]) {
    if state.monitors.recorder.is_none() {
        return;
    }
    let object = number(state, address, "futex");
    let words = match woken {
        [] if what == "wakes" => WAKES_NOBODY.to_owned(),
        [] => what.to_owned(),
        [one] => format!("wakes thread {one}"),
        many => {
            let many: Vec<_> = many.iter().map(u32::to_string).collect();
            format!("wakes threads {}", many.join(", "))
        }
    };
    record::step(state, words, Some(object), SiteId(0));
}

/// The running thread spawned a thread.
pub fn spawned(state: &mut State, child: u32) {
    record::step(state, format!("spawn thread {child}"), None, SiteId(0));
}

/// The running thread joined a thread.
pub fn joined(state: &mut State, target: u32) {
    record::step(state, format!("join thread {target}"), None, SiteId(0));
}

/// The running thread ended.
pub fn ended(state: &mut State, _number: u32) {
    record::step(state, "end".into(), None, SiteId(0));
}

/// The running thread ended the process.
pub fn exits(state: &mut State, status: i32) {
    record::step(state, format!("exit {status}"), None, SiteId(0));
}
