//! Deadlocks and livelocks: nobody can run, and the process has not ended. Who waits for whom, in
//! words, once that is being recorded.

use crate::machine::operation::{ChannelOperation, Pending};
use crate::machine::state::State;
use crate::machine::thread::Thread;
use crate::monitor::allocations;
use crate::monitor::pointer_graph::Heap;
use crate::record::failure::Failure;
use crate::record::failure::place;
use crate::report::objects;
use crate::report::record;
use crate::scheduler::status;
use lockred_protocol::codes::BugKind;
use lockred_protocol::hooks::Act;
use lockred_protocol::message::{Place, Role, Step};
use lockred_protocol::sites::SiteId;

/// A lock of std's whose waiters wait on the word beside its own: as far away as that.
const NEIGHBOUR: usize = 4;

/// What a thread waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
enum On {
    /// A lock that is held, or was left locked, by these threads.
    Lock(Vec<u32>),
    /// The end of a thread.
    End(u32),
    /// That a count comes to nothing: the ends of a scope's threads, say.
    Others,
    /// To be notified by the condition variable at an address.
    Notification(usize),
    /// To be unparked.
    Token,
    /// A message.
    Message,
    /// That there is room for a message, or that one is taken.
    Room,
    /// What its loop reads.
    Loop,
    /// Anything else.
    Other,
}

/// Nobody can run and the process has not ended: a deadlock, or, if some threads go round loops, a
/// livelock.
pub fn judge(state: &mut State) -> Option<Failure> {
    let threads = &state.execution.threads;
    let stuck: Vec<u32> = (0..threads.len())
        .filter(|&number| !threads[number].has_ended())
        .map(|n| n as u32)
        .collect();
    if stuck.is_empty() {
        return None;
    }
    let waits: Vec<(u32, On)> =
        stuck.iter().map(|&number| (number, waits_for(state, number))).collect();
    let spinning = waits.iter().filter(|(_, on)| *on == On::Loop).count();
    let kind = if spinning > 0 { BugKind::Livelock } else { BugKind::Deadlock };
    let message = match spinning {
        0 => {
            format!("deadlock: {}", deadlock(&waits, |thread| threads[thread as usize].has_ended()))
        }
        _ => livelock(&waits, spinning),
    };
    let mut sites: Vec<String> = stuck
        .iter()
        .map(|&number| {
            let thread = &threads[number as usize];
            let site = if thread.site == SiteId(0) { thread.last_site } else { thread.site };
            format!("{}{}", site.0, object(thread.pending).0)
        })
        .collect();
    sites.sort_unstable();
    let mut failure = Failure::new(kind, message, &sites.join("-"));
    for (number, on) in &waits {
        failure.places.extend(places(state, *number, on));
    }
    if kind == BugKind::Deadlock {
        failure.places.extend(waits.iter().filter_map(|(number, on)| notified(state, *number, on)));
        failure.notes.extend(waits.iter().filter_map(|(number, _)| other_end(state, *number)));
    }
    crate::report::debugger::bug(state);
    Some(failure)
}

/// What a blocked thread waits for: in words that tell root causes apart, and the address of the
/// object.
fn object(pending: Pending) -> (&'static str, Option<usize>) {
    match pending {
        Pending::Atomic(operation) if operation.goes_round() => ("loop", None),
        Pending::Atomic(operation) => ("lock", Some(operation.address)),
        Pending::FutexQueued { address, .. } => ("futex", Some(address)),
        Pending::Channel(operation) => ("channel", Some(operation.channel)),
        Pending::Offering { channel } => ("channel", Some(channel)),
        Pending::Join { .. } => ("thread", None),
        Pending::Spinning | Pending::Stuttering => ("loop", None),
        _ => ("", None),
    }
}

/// What reports call the object that a blocked thread waits for.
fn kind(thread: &Thread) -> &'static str {
    match thread.pending {
        Pending::Atomic(operation) => objects::kind(operation.how.class()),
        pending => object(pending).0,
    }
}

/// What a thread that cannot run waits for. Which futex belongs to a condition variable, and what
/// is a count, is known while recording only.
fn waits_for(state: &State, number: u32) -> On {
    let thread = &state.execution.threads[number as usize];
    if status::goes_round(thread) {
        return On::Loop;
    }
    let recorded =
        |address| state.monitors.recorder.as_ref().and_then(|recorder| recorder.kind(address));
    match thread.pending {
        Pending::Join { target } => On::End(target),
        Pending::Offering { .. } => On::Room,
        Pending::Channel(operation) if operation.act == Act::Receive => On::Message,
        Pending::Channel(_) => On::Room,
        Pending::Atomic(_) if kind(thread) == "parker" => On::Token,
        Pending::Atomic(operation)
            if matches!(recorded(operation.address), Some("reference count" | "counter")) =>
        {
            On::Others
        }
        Pending::Atomic(operation) => lock(state, operation.address, 0),
        Pending::FutexQueued { address, .. } => match recorded(address) {
            Some("condition variable") => On::Notification(address),
            Some("parker") => On::Token,
            _ => lock(state, address, NEIGHBOUR),
        },
        _ => On::Other,
    }
}

/// A lock whose word is that near to an address, and that somebody holds.
fn lock(state: &State, address: usize, distance: usize) -> On {
    let mut holders: Vec<u32> = Vec::new();
    for held in &state.execution.held {
        if held.address.abs_diff(address) <= distance && !holders.contains(&held.thread) {
            holders.push(held.thread);
        }
    }
    if holders.is_empty() { On::Other } else { On::Lock(holders) }
}

/// `thread 1`, `thread 1 and thread 2`, `thread 1, thread 2 and thread 3`.
fn listed(threads: &[u32]) -> String {
    let words: Vec<String> = threads.iter().map(|thread| format!("thread {thread}")).collect();
    match &words[..] {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Threads that wait for each other in a cycle, the lowest number first. Who waits for several is
/// taken to wait for the first.
fn cycle(waits: &[(u32, On)]) -> Option<Vec<u32>> {
    let next = |thread: u32| {
        let (_, on) = waits.iter().find(|(waiter, _)| *waiter == thread)?;
        match on {
            On::Lock(holders) => {
                // Who holds a lock itself and waits for it waits for itself first of all.
                Some(if holders.contains(&thread) { thread } else { holders[0] })
            }
            On::End(target) => Some(*target),
            _ => None,
        }
    };
    for &(start, _) in waits {
        let mut path = vec![start];
        while let Some(thread) = next(path[path.len() - 1]) {
            if let Some(index) = path.iter().position(|&before| before == thread) {
                let mut cycle = path.split_off(index);
                let lowest = cycle.iter().enumerate().min_by_key(|&(_, thread)| thread);
                let lowest = lowest.map_or(0, |(index, _)| index);
                cycle.rotate_left(lowest);
                return Some(cycle);
            }
            path.push(thread);
        }
    }
    None
}

/// What keeps threads waiting, in one line.
fn deadlock(waits: &[(u32, On)], has_ended: impl Fn(u32) -> bool) -> String {
    match cycle(waits).as_deref() {
        Some([one]) => return format!("thread {one} waits for a lock that it holds itself"),
        Some([one, other]) => {
            return format!("thread {one} and thread {other} wait for each other");
        }
        Some(all) => return format!("{} wait for each other in a cycle", listed(all)),
        None => {}
    }
    // Those that wait for others of them are stuck because these are.
    let is_cause = |on: &On| match on {
        On::End(_) | On::Others => false,
        On::Lock(holders) => holders.iter().all(|&holder| has_ended(holder)),
        _ => true,
    };
    let causes: Vec<&(u32, On)> = waits.iter().filter(|(_, on)| is_cause(on)).collect();
    let [(thread, on)] = causes[..] else {
        return match waits {
            [(one, _)] => format!("thread {one} waits for ever"),
            many => format!("{} threads wait for ever", many.len()),
        };
    };
    match on {
        On::Notification(_) => format!("thread {thread} waits for a notification that never comes"),
        On::Token => format!("thread {thread} is parked, and nobody is left to unpark it"),
        On::Message => format!("thread {thread} waits for a message that nobody is left to send"),
        On::Room => {
            format!("thread {thread} waits for a message to be taken, and nobody is left to do so")
        }
        On::Lock(holders) => {
            format!("thread {thread} waits for a lock that {} left locked", listed(holders))
        }
        _ => format!("thread {thread} waits for ever"),
    }
}

fn livelock(waits: &[(u32, On)], spinning: usize) -> String {
    match waits.iter().find(|(_, on)| *on == On::Loop) {
        Some((one, _)) if spinning == 1 => format!(
            "livelock: thread {one} goes round a loop for ever, and no other thread can end it"
        ),
        _ => format!("livelock: {spinning} threads go round loops for ever"),
    }
}

/// Where a blocked thread waits, and where it acquired what it holds.
fn places(state: &mut State, number: u32, on: &On) -> Vec<Place> {
    let thread = &state.execution.threads[number as usize];
    let role = if *on == On::Loop { Role::Spins } else { Role::Waits };
    let mut waits = place(role, number, thread.site);
    if let Some(recorder) = &state.monitors.recorder {
        waits.stack.clone_from(&thread.stopped);
        waits.step = Some(recorder.steps.len());
        waits.object = match thread.pending {
            Pending::Join { target } => {
                let region = state.execution.threads[target as usize].region;
                record::object(state, region.base(), &format!("thread {target}"), None)
            }
            pending => object(pending).1.and_then(|address| {
                let thread = &state.execution.threads[number as usize];
                // Who waits beside the word of a lock waits for the lock.
                let near = |held: &&crate::record::held::Held| {
                    held.address.abs_diff(address) <= NEIGHBOUR && matches!(on, On::Lock(_))
                };
                let kind = kind(thread);
                let lock = state.execution.held.iter().find(near);
                let address = lock.map_or(address, |held| held.address);
                record::object(state, address, kind, None)
            }),
        };
    }
    let mut places = vec![waits];
    let held = allocations::held_by(state, number);
    places.extend(allocations::held_places(state, Role::Holds, held));
    places
}

/// The notification that a thread would have needed: the last one that came before it waited and
/// woke nobody, or else one that woke somebody else.
fn notified(state: &State, number: u32, on: &On) -> Option<Place> {
    let On::Notification(address) = *on else { return None };
    let recorder = state.monitors.recorder.as_ref()?;
    let (step, role) = notification(&recorder.steps, number, recorder.number(address)?)?;
    let reported = &recorder.steps[step];
    Some(Place {
        stack: reported.stack.clone(),
        object: reported.object,
        step: Some(step),
        ..place(role, reported.thread, reported.site)
    })
}

/// See [`notified`]: the step of a notification of an object, and what it did.
fn notification(steps: &[Step], waiter: u32, object: u32) -> Option<(usize, Role)> {
    let of_object = |&(_, step): &(usize, &Step)| step.object == Some(object);
    let of_waiter =
        |&(_, step): &(usize, &Step)| step.thread == waiter && step.operation == objects::WAITS;
    let mut others = steps.iter().enumerate().filter(of_object);
    let begins = others.clone().rfind(of_waiter).map_or(0, |(index, _)| index);
    let to_nobody = |&(_, step): &(usize, &Step)| step.operation == objects::WAKES_NOBODY;
    let lost = others.clone().filter(|&(index, _)| index < begins).rfind(to_nobody);
    match lost {
        Some((index, _)) => Some((index, Role::NotifiedNobody)),
        None => others
            .rfind(|(index, step)| *index > begins && step.operation.starts_with("wakes thread"))
            .map(|(index, _)| (index, Role::NotifiedOther)),
    }
}

/// Who keeps the other end of the channel that a thread waits for: that end is there, or the thread
/// would not wait. What looks like a pointer is one.
fn other_end(state: &State, number: u32) -> Option<String> {
    state.monitors.recorder.as_ref()?;
    let (channel, receives) = match state.execution.threads[number as usize].pending {
        Pending::Channel(ChannelOperation { channel, act, .. }) => (channel, act == Act::Receive),
        Pending::Offering { channel } => (channel, false),
        _ => return None,
    };
    let (end, act) = match receives {
        true => (format!("a sender of the channel that thread {number} receives from"), "send"),
        false => (format!("the receiver of the channel that thread {number} sends to"), "receive"),
    };
    let heap = Heap::of(&state.execution);
    let others = (0..).zip(&state.execution.threads).filter(|(other, thread)| {
        *other != number && !thread.has_ended() && heap.reaches(thread, channel)
    });
    let keepers: Vec<u32> = others.map(|(other, _)| other).collect();
    Some(match &keepers[..] {
        [] if heap.is_global(channel) => format!("{end} of the channel is kept in a static"),
        [] => format!(
            "{end} of the channel is still there, and no other thread keeps it: thread {number} does itself, or it was forgotten"
        ),
        [one] => {
            format!("{end} of the channel is kept by thread {one}, which waits and does not {act}")
        }
        many => {
            format!("{end} of the channel is kept by {}, which wait and do not {act}", listed(many))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(waits: &[(u32, On)]) -> String {
        deadlock(waits, |thread| thread == 9)
    }

    #[test]
    fn cycles_are_reported() {
        assert_eq!(
            reported(&[(0, On::Lock(vec![1])), (1, On::Lock(vec![0]))]),
            "thread 0 and thread 1 wait for each other"
        );
        assert_eq!(
            reported(&[(0, On::End(1)), (1, On::Lock(vec![1]))]),
            "thread 1 waits for a lock that it holds itself"
        );
        // Two readers, of which one wants to write.
        assert_eq!(
            reported(&[(1, On::Lock(vec![2, 1])), (2, On::Message)]),
            "thread 1 waits for a lock that it holds itself"
        );
        let three = [
            (0, On::End(2)),
            (1, On::Lock(vec![3])),
            (2, On::Lock(vec![1])),
            (3, On::Lock(vec![2])),
        ];
        assert_eq!(
            reported(&three),
            "thread 1, thread 3 and thread 2 wait for each other in a cycle"
        );
    }

    #[test]
    fn without_a_cycle_the_one_that_the_others_wait_for_is_reported() {
        assert_eq!(
            reported(&[(0, On::End(1)), (1, On::Notification(8))]),
            "thread 1 waits for a notification that never comes"
        );
        assert_eq!(
            reported(&[(0, On::Message), (1, On::Lock(vec![0]))]),
            "thread 0 waits for a message that nobody is left to send"
        );
        assert_eq!(
            reported(&[(0, On::Lock(vec![9]))]),
            "thread 0 waits for a lock that thread 9 left locked"
        );
        assert_eq!(
            reported(&[(0, On::Others), (2, On::Notification(8))]),
            "thread 2 waits for a notification that never comes"
        );
        assert_eq!(reported(&[(0, On::Token), (1, On::Token)]), "2 threads wait for ever");
        assert_eq!(reported(&[(0, On::Other)]), "thread 0 waits for ever");
    }

    #[test]
    fn the_notification_that_was_lost_is_found() {
        let step = |thread, operation: &str, object| Step {
            thread,
            operation: operation.into(),
            object: Some(object),
            site: SiteId(0),
            stack: Vec::new(),
        };
        let of = |steps: Vec<Step>| notification(&steps, 1, 7);
        let lost = vec![
            step(0, objects::WAKES_NOBODY, 7),
            step(0, objects::WAKES_NOBODY, 8),
            step(1, objects::WAITS, 7),
        ];
        assert_eq!(of(lost), Some((0, Role::NotifiedNobody)));
        let other = vec![
            step(2, objects::WAITS, 7),
            step(1, objects::WAITS, 7),
            step(0, "wakes thread 2", 7),
        ];
        assert_eq!(of(other), Some((2, Role::NotifiedOther)));
        // Who waited before, and was woken, had its own.
        let late = vec![step(0, objects::WAKES_NOBODY, 8), step(1, objects::WAITS, 7)];
        assert_eq!(of(late), None);
    }
}
