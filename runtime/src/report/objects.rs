//! What events mean to a reader: kinds of objects, and the words of recorded steps.

use crate::machine::event::{ChannelAct, Event, Executed, Futex};
use crate::machine::operation::Atomic;
use crate::machine::state::State;
use crate::report::record;
use lockred_protocol::hooks::{Class, RmwOp};
use lockred_protocol::message::Step;
use lockred_protocol::sites::SiteId;
use lockred_search::discipline::Passing;
use lockred_search::footprint::Access;

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

/// See [`crate::scheduler::event`].
#[inline(always)]
pub fn on(state: &mut State, event: &Event<'_>) {
    if state.monitors.recorder.is_some() {
        record_event(state, event);
    }
}

#[inline(never)]
fn record_event(state: &mut State, event: &Event<'_>) {
    let no_site = SiteId(0);
    let of = |address: usize, kind: &'static str| Some((address, kind));
    let (operation, object, site) = match *event {
        Event::Atomic(done) => {
            let Executed { operation, reported, .. } = done;
            let is_of_signals = operation.address == state.execution.signals.word;
            if !reported || is_of_signals || !state.below_root {
                return;
            }
            (words(&done), of(operation.address, kind(operation.how.class())), operation.site)
        }
        Event::Passed(ChannelAct { channel, passing, site, .. }) => {
            (words_of_passing(passing), of(channel, "channel"), site)
        }
        Event::Resumed { channel, taken, .. } => {
            let what = if taken { "the message was taken" } else { "no receiver is left" };
            (what.to_owned(), of(channel, "channel"), no_site)
        }
        Event::Futex(address, what) => match words_of_futex(what) {
            Some(what) => (what, of(address, "futex"), no_site),
            None => return,
        },
        Event::ParkedForNoReason(address, site) => {
            let what = "park returns for no reason".to_owned();
            (what, of(address, kind(Class::Park)), site)
        }
        Event::Created { child, .. } => (format!("spawn thread {child}"), None, no_site),
        Event::Joined { target, .. } => (format!("join thread {target}"), None, no_site),
        Event::Slept(nanoseconds) => (format!("sleep {}", in_words(nanoseconds)), None, no_site),
        Event::Looked { late: true } => {
            ("looks at a clock: 24 h have passed".to_owned(), None, no_site)
        }
        Event::Chose { what, picked, of } => (format!("{what} {picked} of {of}"), None, no_site),
        Event::Exits(status) => (format!("exit {status}"), None, no_site),
        Event::Ends => ("end".to_owned(), None, no_site),
        _ => return,
    };
    let object = object.and_then(|(address, kind)| record::object(state, address, kind, None));
    record::step(state, operation, object, site);
}

/// A value of an atomic word: what may be an address is reported as one.
struct Word(u64);

impl std::fmt::Display for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let is_address = (1 << 32..1 << 48).contains(&self.0);
        if is_address { write!(f, "{:#x}", self.0) } else { write!(f, "{}", self.0) }
    }
}

/// An operation in a few words.
fn words(done: &Executed<'_>) -> String {
    let Executed { operation, access, rmw, old, new, wrote, .. } = *done;
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

/// An act on a channel in a few words.
fn words_of_passing(passing: Passing) -> String {
    match passing {
        Passing::Send { number, capacity: 0 } => format!("offers message {number}"),
        Passing::Send { number, .. } => format!("send message {number}"),
        Passing::Receive { number, .. } => format!("receive message {number}"),
        Passing::DropSender => "drop a sender".to_owned(),
        Passing::DropReceiver { .. } | Passing::Close { .. } => "drop the last receiver".to_owned(),
        Passing::Fail => "send: no receiver is left".to_owned(),
        Passing::Peek => "nothing to receive, or no room".to_owned(),
        Passing::Closed => "receive: no sender is left".to_owned(),
    }
}

/// What was done with a futex, in a few words; nothing for what reports do not show.
fn words_of_futex(what: Futex<'_>) -> Option<String> {
    let words = match what {
        Futex::Compared | Futex::Left => return None,
        Futex::Differs { .. } => "futex wait: the value has changed",
        Futex::Returned => "waits, and returns for no reason",
        Futex::Enqueued { .. } => WAITS,
        Futex::Woken { .. } => "wakes up",
        Futex::TimedOut => "times out",
        Futex::Wakes([]) => WAKES_NOBODY,
        Futex::Wakes([one]) => return Some(format!("wakes thread {one}")),
        Futex::Wakes(many) => {
            let many: Vec<_> = many.iter().map(u32::to_string).collect();
            return Some(format!("wakes threads {}", many.join(", ")));
        }
    };
    Some(words.to_owned())
}

/// `250 ms`.
fn in_words(nanoseconds: u64) -> String {
    let units = [(3_600_000_000_000, "h"), (1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let exact =
        units.iter().find(|(unit, _)| nanoseconds >= *unit && nanoseconds.is_multiple_of(*unit));
    match exact {
        Some((unit, name)) => format!("{} {name}", nanoseconds / unit),
        None => format!("{nanoseconds} ns"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_reported_in_the_largest_unit_that_fits() {
        let reported = [0, 1_500, 2_000, 250_000_000, 30_000_000_000, 24 * 3_600_000_000_000];
        let words = ["0 ns", "1500 ns", "2 us", "250 ms", "30 s", "24 h"];
        assert_eq!(reported.map(in_words), words);
    }
}
