//! What a finished execution amounts to: exit status, deadlock, threads left behind.

use crate::execution::{Exit, Panic};
use crate::failure::{Failure, place};
use crate::machine;
use crate::operation::Pending;
use crate::state::state;
use lockred_search::machine::Flow;
use lockred_trace::codes::{BugKind, WarningKind};
use lockred_trace::message::{Place, Role, Warning};
use lockred_trace::sites::SiteId;

/// libtest's exit status when the test failed.
const TEST_FAILED: i32 = 101;

/// Judges the state in which no thread can run.
pub fn finish(failures: &mut Vec<Failure>) {
    failures.append(&mut state().step.failures);
    state().weak_pair |=
        state().detector.as_ref().is_some_and(crate::detect::Detector::saw_unordered_weak_pair);
    if state().step.flow == Flow::Over {
        return;
    }
    match state().execution.exit {
        Some(exit) => {
            failures.extend(judge_exit(exit));
            warn_stuck();
            crate::leaks::judge();
        }
        None => failures.extend(stuck()),
    }
    warn_panicked();
}

/// A status that is no success.
fn judge_exit(exit: Exit) -> Option<Failure> {
    let state = state();
    let libtest = state.order.as_ref().is_some_and(|order| order.libtest);
    let by_panic = exit.status == TEST_FAILED && (libtest || !state.execution.panics.is_empty());
    if exit.status == 0 && (exit.returned || !libtest) {
        return None;
    }
    if by_panic {
        return Some(panic(&state.execution.panics));
    }
    let message = if libtest {
        format!("the test ends the process with status {}", exit.status)
    } else {
        format!("the program exits with status {}", exit.status)
    };
    let mut place = place(Role::Died, exit.thread, SiteId(0));
    if let Some(recorder) = &state.recorder {
        let exits = |step: &&lockred_trace::message::Step| {
            step.thread == exit.thread && step.operation.starts_with("exit")
        };
        place.stack = recorder.steps.iter().find(exits).map_or_else(Vec::new, |s| s.stack.clone());
    }
    Some(Failure::new(BugKind::Exit, message, &exit.status.to_string()).at(place))
}

/// Whether the panic only follows from another one: of a thread that was joined, or that held a lock.
fn passes_on(panic: &Panic) -> bool {
    panic.message.is_empty()
        || ["Any { .. }", "PoisonError"].iter().any(|sign| panic.message.contains(sign))
        || panic.message.starts_with("a scoped thread panicked")
}

/// The panic that made the test fail: main's last one, or, if that only passes on the panic of a thread, that thread's.
fn panic(panics: &[Panic]) -> Failure {
    let Some(last) = panics.iter().rev().find(|panic| panic.thread == 0).or(panics.last()) else {
        let message = "the test fails without a panic (it returned an error)".to_owned();
        return Failure::new(BugKind::Panic, message, "error").at(place(Role::Died, 0, SiteId(0)));
    };
    let others = panics.iter().rev().filter(|panic| panic.thread != last.thread);
    let first = others.filter(|_| passes_on(last)).find(|panic| !passes_on(panic)).unwrap_or(last);
    let message = match first.message.lines().next() {
        Some(line) => line.to_owned(),
        None => "the test panics".to_owned(),
    };
    let mut failure = Failure::new(BugKind::Panic, message, &first.location).at(Place {
        stack: first.stack.clone(),
        step: Some(first.step),
        ..place(Role::Panicked, first.thread, SiteId(0))
    });
    if !std::ptr::eq(first, last) {
        failure = failure.at(Place {
            stack: last.stack.clone(),
            step: Some(last.step),
            ..place(Role::Panicked, last.thread, SiteId(0))
        });
    }
    failure
}

/// Nobody can run and the process has not ended: a deadlock, or, if some threads go round loops, a livelock.
fn stuck() -> Option<Failure> {
    let state = state();
    let threads = &state.execution.threads;
    let blocked: Vec<usize> =
        (0..threads.len()).filter(|&number| !threads[number].has_ended()).collect();
    if blocked.is_empty() {
        return None;
    }
    let spins = |number: &usize| machine::goes_round(&threads[*number]);
    let spinning: Vec<usize> = blocked.iter().copied().filter(spins).collect();
    let (kind, message) = match (&blocked[..], &spinning[..]) {
        ([one], []) => (BugKind::Deadlock, format!("deadlock: thread {one} waits for ever")),
        (many, []) => {
            (BugKind::Deadlock, format!("deadlock: {} threads wait for ever", many.len()))
        }
        (_, [one]) => (
            BugKind::Livelock,
            format!(
                "livelock: thread {one} goes round a loop for ever, and no other thread can end it"
            ),
        ),
        (_, many) => {
            (BugKind::Livelock, format!("livelock: {} threads go round loops for ever", many.len()))
        }
    };
    let mut sites: Vec<String> = blocked
        .iter()
        .map(|&number| {
            let thread = &threads[number];
            let site = if thread.site == SiteId(0) { thread.last_site } else { thread.site };
            format!("{}{}", site.0, waiting(thread.pending).0)
        })
        .collect();
    sites.sort_unstable();
    let mut failure = Failure::new(kind, message, &sites.join("-"));
    for &number in &blocked {
        failure.places.extend(blocked_places(number as u32));
    }
    Some(failure)
}

/// What a blocked thread waits for: in words, and the address of the object.
fn waiting(pending: Pending) -> (&'static str, Option<usize>) {
    match pending {
        Pending::Atomic(operation) if operation.goes_round() => ("loop", None),
        Pending::Atomic(operation) => ("lock", Some(operation.address)),
        Pending::FutexQueued { address, .. } => ("futex", Some(address)),
        Pending::Channel(operation) => ("channel", Some(operation.channel)),
        Pending::Offering { channel } => ("channel", Some(channel)),
        Pending::Join { .. } => ("thread", None),
        Pending::Spinning | Pending::Idling => ("loop", None),
        _ => ("", None),
    }
}

/// Where a blocked thread waits, and where it acquired what it holds.
fn blocked_places(number: u32) -> Vec<Place> {
    let state = state();
    let thread = &state.execution.threads[number as usize];
    let (kind, address) = waiting(thread.pending);
    let role = if machine::goes_round(thread) { Role::Spins } else { Role::Waits };
    let mut waits = place(role, number, thread.site);
    if state.recorder.is_some() {
        waits.stack.clone_from(&thread.stopped);
    }
    if let Some(recorder) = &mut state.recorder {
        waits.object = match thread.pending {
            Pending::Join { target } => {
                let region = state.execution.threads[target as usize].region;
                Some(recorder.object(region.base(), &format!("thread {target}"), None))
            }
            _ => address.map(|address| recorder.object(address, kind, None)),
        };
        waits.step = Some(recorder.steps.len());
    }
    let mut places = vec![waits];
    let held = state.execution.held.iter().filter(|held| held.thread == number);
    places.extend(held.map(|held| crate::lives::held_place(Role::Holds, held)));
    places
}

/// Tells a warning once, with the stack of a thread.
fn warn(kind: WarningKind, message: String, site: SiteId, thread: u32) {
    let told = |known: &Warning| known.kind == kind && known.message == message;
    if !state().warnings.iter().any(told) {
        let stack = crate::state::stack_of(thread);
        state().warnings.push(Warning { kind, message, site, stack });
    }
}

/// Threads that wait for ever although the test has ended.
fn warn_stuck() {
    for (number, thread) in state().execution.threads.iter().enumerate() {
        if !thread.has_ended() && !machine::goes_round(thread) && !state().execution.cut {
            let message = format!("thread {number} is blocked for ever when the test has ended");
            warn(WarningKind::ThreadStuck, message, thread.site, number as u32);
        }
    }
}

/// Threads that panicked, and nobody joined them.
fn warn_panicked() {
    for panic in &state().execution.panics {
        let thread = &state().execution.threads[panic.thread as usize];
        if panic.thread != 0 && thread.has_ended() && !thread.joined {
            let message = format!(
                "thread {} panicked at {}, and nobody joined it",
                panic.thread, panic.location
            );
            warn(WarningKind::ThreadPanicked, message, SiteId(0), panic.thread);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::panic;
    use crate::execution::Panic;

    fn panicked(thread: u32, message: &str) -> Panic {
        let (location, stack) = (format!("src/lib.rs:{thread}:1"), Vec::new());
        Panic { thread, location, message: message.to_owned(), stack, step: 0 }
    }

    #[test]
    fn the_mistake_is_told_and_not_what_follows_from_it() {
        let poisoned = "called `Result::unwrap()` on an `Err` value: PoisonError { .. }";
        let joined = "called `Result::unwrap()` on an `Err` value: Any { .. }";
        let mistake = "called `Option::unwrap()` on a `None` value";
        let told = |panics: &[Panic]| panic(panics).message;
        assert_eq!(told(&[panicked(1, mistake), panicked(0, poisoned)]), mistake);
        let three = [panicked(2, mistake), panicked(1, poisoned), panicked(0, joined)];
        assert_eq!(told(&three), mistake);
        assert_eq!(told(&[panicked(1, "handled"), panicked(0, mistake)]), mistake);
        assert_eq!(told(&[panicked(0, poisoned)]), poisoned);
    }
}
