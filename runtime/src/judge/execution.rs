//! What a finished execution amounts to: exit status, threads left behind.

use crate::machine::execution::{Exit, Panic};
use crate::machine::hook::Entered;
use crate::machine::state::State;
use crate::record::failure::Failure;
use crate::record::failure::place;
use crate::scheduler::status;
use lockred_protocol::codes::{BugKind, WarningKind};
use lockred_protocol::message::{Place, Role, Warning};
use lockred_protocol::sites::SiteId;
use lockred_search::machine::Flow;

/// libtest's exit status when the test failed.
const TEST_FAILED: i32 = 101;

/// Judges the state in which no thread can run.
pub fn finish(entered: &mut Entered, failures: &mut Vec<Failure>) {
    failures.append(&mut entered.step.failures);
    crate::monitor::observed::judged(entered);
    entered.verdicts.weak_pair |= entered
        .monitors
        .detector
        .as_ref()
        .is_some_and(crate::detect::Detector::saw_unordered_weak_pair);
    let State { execution, verdicts, .. } = &mut **entered;
    if let Some(claims) = &mut execution.claims {
        verdicts.proved.merge(claims.end());
    }
    if entered.step.flow == Flow::Over {
        return;
    }
    if crate::judge::left_out::leaves_out(entered) {
        return;
    }
    crate::monitor::observed::ends(entered);
    crate::monitor::atomicity::judge(entered);
    crate::monitor::targets::learn(entered);
    match entered.execution.exit {
        Some(exit) => {
            failures.extend(judge_exit(entered, exit));
            warn_stuck(entered);
            crate::monitor::leaks::judge(entered);
            crate::monitor::lock_order::judge(entered);
        }
        None => failures.extend(crate::judge::stuck::judge(entered)),
    }
    warn_panicked(entered);
}

/// A status that is no success.
fn judge_exit(state: &State, exit: Exit) -> Option<Failure> {
    let libtest = state.config.libtest();
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
    if let Some(recorder) = &state.monitors.recorder {
        let exits = |step: &&lockred_protocol::message::Step| {
            step.thread == exit.thread && step.operation.starts_with("exit")
        };
        if let Some(step) = recorder.steps.iter().position(|step| exits(&step)) {
            place.stack.clone_from(&recorder.steps[step].stack);
            place.step = Some(step);
        }
    }
    Some(Failure::new(BugKind::Exit, message, &exit.status.to_string()).at(place))
}

/// How the panic of a scope begins that reports a panic of one of its threads.
const SCOPE_TELLS: &str = "a scoped thread panicked";

/// Whether the panic only follows from another one: of a thread that was joined, or that held a
/// lock.
fn passes_on(panic: &Panic) -> bool {
    panic.message.is_empty()
        || ["Any { .. }", "PoisonError"].iter().any(|sign| panic.message.contains(sign))
        || panic.message.starts_with(SCOPE_TELLS)
}

/// The panic that made the test fail: main's last one, or, if that only passes on another one,
/// that.
fn panic(panics: &[Panic]) -> Failure {
    let Some(last) = panics.iter().rev().find(|panic| panic.thread == 0).or(panics.last()) else {
        let message = "the test fails without a panic (it returned an error)".to_owned();
        return Failure::new(BugKind::Panic, message, "error").at(place(Role::Died, 0, SiteId(0)));
    };
    let others = panics.iter().rev().filter(|panic| !std::ptr::eq(*panic, last));
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

/// Reports a warning once, with the stack of a thread.
fn warn(entered: &mut Entered, kind: WarningKind, message: String, site: SiteId, thread: u32) {
    let reported = |known: &Warning| known.kind == kind && known.message == message;
    if !entered.verdicts.warnings.iter().any(reported) {
        let stack = crate::scheduler::stops::stack_of(entered, thread);
        entered.verdicts.warnings.push(Warning {
            kind,
            message,
            site,
            stack,
            places: Vec::new(),
            home: None,
            schedule: None,
        });
    }
}

/// Threads that wait for ever although the test has ended.
fn warn_stuck(entered: &mut Entered) {
    for number in 0..entered.execution.threads.len() {
        let thread = &entered.execution.threads[number];
        if !thread.has_ended() && !status::goes_round(thread) && !entered.execution.cut {
            let message = format!("thread {number} is blocked for ever when the test has ended");
            let site = thread.site;
            warn(entered, WarningKind::ThreadStuck, message, site, number as u32);
        }
    }
}

/// Threads that panicked, and nobody joined them, nor reported it in their place: one warning for
/// those of a place.
fn warn_panicked(entered: &mut Entered) {
    for (location, thread, number) in unjoined(entered) {
        let at = format!("panicked at {location}, and nobody joined");
        let message = match number {
            1 => format!("thread {thread} {at} it"),
            _ => format!("thread {thread} and {} more {at} them", number - 1),
        };
        let known = |reported: &Warning| {
            reported.kind == WarningKind::ThreadPanicked && reported.message.contains(&at)
        };
        match entered.verdicts.warnings.iter_mut().find(|reported| known(reported)) {
            // Where most of them did in one execution.
            Some(reported) if panicked(&reported.message) < number => reported.message = message,
            Some(_) => {}
            None => warn(entered, WarningKind::ThreadPanicked, message, SiteId(0), thread),
        }
    }
}

/// Places of panics that nobody learnt of, each with the first thread and how many they are.
fn unjoined(state: &State) -> Vec<(String, u32, usize)> {
    let panics = &state.execution.panics;
    let mut places: Vec<(String, u32, usize)> = Vec::new();
    for panic in panics {
        let thread = &state.execution.threads[panic.thread as usize];
        let tells = |other: &Panic| {
            thread.parent == Some(other.thread) && other.message.starts_with(SCOPE_TELLS)
        };
        if panic.thread != 0
            && thread.has_ended()
            && !thread.handle.joined
            && !panics.iter().any(tells)
        {
            match places.iter_mut().find(|(location, ..)| *location == panic.location) {
                Some((.., number)) => *number += 1,
                None => places.push((panic.location.clone(), panic.thread, 1)),
            }
        }
    }
    places
}

/// How many threads panicked by the words of a warning.
fn panicked(message: &str) -> usize {
    let who = message.split(" panicked at ").next().unwrap_or_default();
    let more = who.split_once(" and ").and_then(|(_, rest)| rest.strip_suffix(" more"));
    1 + more.and_then(|number| number.parse::<usize>().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{panic, panicked as number};
    use crate::machine::execution::Panic;

    fn panicked(thread: u32, message: &str) -> Panic {
        let (location, stack) = (format!("src/lib.rs:{thread}:1"), Vec::new());
        Panic { thread, location, message: message.to_owned(), stack, step: 0 }
    }

    #[test]
    fn a_warning_says_how_many_threads_panicked() {
        assert_eq!(number("thread 1 panicked at a and 7 more:1:1, and nobody joined it"), 1);
        assert_eq!(number("thread 3 and 99 more panicked at a:1:1, and nobody joined them"), 100);
    }

    #[test]
    fn the_mistake_is_reported_and_not_what_follows_from_it() {
        let poisoned = "called `Result::unwrap()` on an `Err` value: PoisonError { .. }";
        let joined = "called `Result::unwrap()` on an `Err` value: Any { .. }";
        let mistake = "called `Option::unwrap()` on a `None` value";
        let reported = |panics: &[Panic]| panic(panics).message;
        assert_eq!(reported(&[panicked(1, mistake), panicked(0, poisoned)]), mistake);
        let three = [panicked(2, mistake), panicked(1, poisoned), panicked(0, joined)];
        assert_eq!(reported(&three), mistake);
        assert_eq!(reported(&[panicked(1, "handled"), panicked(0, mistake)]), mistake);
        assert_eq!(reported(&[panicked(0, poisoned)]), poisoned);
        // A scope passes on that its own function has panicked, too.
        assert_eq!(
            reported(&[panicked(0, mistake), panicked(1, poisoned), panicked(0, "")]),
            mistake
        );
    }
}
