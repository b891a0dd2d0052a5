//! The least schedule of a finding, looked for in a process of its own before anything is reported
//! of it.
//!
//! The effort is counted in steps, so that what is found does not depend on the machine; seconds
//! only guard against programs whose steps take very long. Where the process dies on the way, the
//! schedule stays as it was found.

use super::examine::Examiner;
use crate::executable::list::Test;
use crate::outcome::Size;
use crate::printing::words::count;
use crate::session::{self, Ending, Patience};
use lockred_protocol::codes::BugKind;
use lockred_protocol::message::{Finding, Minimised};
use lockred_protocol::session::{Task, Time};

/// Steps that may be made for one bug: about two seconds at the million or so that a small test
/// makes in one.
const STEPS: u64 = 2_000_000;

/// The same for a livelock, whose threads go round their loops a thousand times in what is one
/// step.
const LIVELOCK_STEPS: u64 = 2_000;

/// Seconds of processor time after which it ends all the same.
const SECONDS: f64 = 20.0;

/// Looks for it; nothing if there is none to report, or if it cannot be looked for: the finding is
/// reported all the same.
pub fn of(examiner: &Examiner<'_>, test: &Test, finding: &Finding) -> Option<Minimised> {
    let Finding { kind, key, schedule, .. } = finding.clone();
    let steps = if kind == BugKind::Livelock { LIVELOCK_STEPS } else { STEPS };
    let task = Task::Minimise { schedule, kind, key, steps, seconds: SECONDS };
    let request = examiner.request(task, test);
    let patience = Patience::of_budget(Some(SECONDS));
    match session::run(&examiner.launch(test), &request, patience, &mut |_| ()) {
        Ok(Ending::Minimised(least)) => least.map(|least| *least),
        _ => None,
    }
}

/// When sleeps end in it.
pub fn time(least: &Minimised, examiner: &Examiner<'_>, test: &Test) -> Time {
    if least.ordered { Time::Ordered } else { examiner.time(test) }
}

/// What it takes.
pub const fn size(least: &Minimised) -> Size {
    Size { measure: least.measure, minimal: least.minimal, out_of_time: least.out_of_time }
}

/// `1 preemption, 2 threads, 9 steps; no schedule with fewer preemptions shows it`.
pub fn words(size: &Size) -> String {
    let measure = &size.measure;
    let numbers = [
        count(measure.preemptions.into(), "preemption"),
        count(measure.threads.into(), "thread"),
        count(measure.steps, "step"),
    ];
    let least = match (size.minimal, measure.preemptions) {
        (_, 0) => "",
        (true, _) => "; no schedule with fewer preemptions shows it",
        (false, _) if size.out_of_time => {
            "; the time ran out in which to look for fewer preemptions"
        }
        (false, _) => "; there may be one with fewer preemptions",
    };
    format!("{}{least}", numbers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockred_protocol::message::Measure;

    #[test]
    fn a_size_is_reported_in_words() {
        let reported = |preemptions, minimal| {
            let measure = Measure { overtaken: 0, preemptions, threads: 1, steps: 2 };
            words(&Size { measure, minimal, out_of_time: false })
        };
        assert_eq!(reported(0, true), "0 preemptions, 1 thread, 2 steps");
        let one = "1 preemption, 1 thread, 2 steps";
        assert_eq!(
            reported(1, true),
            format!("{one}; no schedule with fewer preemptions shows it")
        );
        assert_eq!(reported(1, false), format!("{one}; there may be one with fewer preemptions"));
    }
}
