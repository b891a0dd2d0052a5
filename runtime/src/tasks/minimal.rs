//! The least schedule that shows a bug, on the native machine: single operations, watched by the
//! exact race detector.

use crate::drive::native::Native;
use crate::machine::hook;
use crate::machine::schedule_log::{beginning, from_wire, log_choice, to_wire};
use crate::record::failure::Failure;
use lockred_protocol::codes::BugKind;
use lockred_protocol::message::{Measure, Message, Minimised};
use lockred_protocol::schedule::Schedule;
use lockred_search::minimise::{Asker, Effort, Proof};
use lockred_search::{self as search, Choice};
use std::time::Duration;

/// Steps of one execution, at least: a longer one than this and than twice the given one is given
/// up.
const LONGEST: u64 = 20_000;

/// Steps between two looks at the clock.
const LOOK_EVERY: u32 = 64;

/// The bug that is looked for, and until when.
pub struct Wanted {
    kind: BugKind,
    /// Its key; nothing for the first data race that shows.
    key: Option<String>,
    /// Processor time at the beginning.
    start: Duration,
    limit: Duration,
    until_look: u32,
}

impl Wanted {
    /// A bug of this kind and key.
    pub fn new(kind: BugKind, key: String, seconds: f64) -> Self {
        let limit = Duration::from_secs_f64(seconds.clamp(0.0, 1e9));
        Self { kind, key: Some(key), start: crate::session::cpu::time(), limit, until_look: 0 }
    }

    /// What was computed for it so far.
    fn elapsed(&self) -> Duration {
        crate::session::cpu::time().saturating_sub(self.start)
    }

    /// Whether the process's end shows it: then nothing after that can.
    const fn is_judged_at_exit(&self) -> bool {
        matches!(self.kind, BugKind::Panic | BugKind::Exit)
    }
}

impl Asker<Failure> for Wanted {
    fn is_wanted(&mut self, failure: &Failure) -> bool {
        if failure.kind == self.kind && self.key.is_none() {
            self.key = Some(failure.key.clone());
        }
        self.key.as_ref() == Some(&failure.key)
    }

    fn on_choice(&mut self, depth: usize, choice: Choice) {
        log_choice(depth, choice);
    }

    fn on_step(&mut self) -> bool {
        if let Some(status) = hook::enter().config.status {
            status.beat();
        }
        if crate::faults::leaving::stop_requested() {
            return false;
        }
        if self.until_look > 0 {
            self.until_look -= 1;
            return true;
        }
        self.until_look = LOOK_EVERY;
        self.elapsed() < self.limit
    }
}

/// Looks for it, with at most so many steps.
pub fn respond(schedule: &Schedule, mut wanted: Wanted, steps: u64, rooted: bool) -> Message {
    if !rooted || !crate::tasks::harness::learn() {
        return Message::Minimised(None);
    }
    hook::enter().config.exit_ends = wanted.is_judged_at_exit();
    let followed = &schedule.0[usize::from(schedule.is_step_by_step())..];
    let choices: Vec<Choice> = followed.iter().copied().map(from_wire).collect();
    // Local changes only make the rest cheaper.
    let mut effort = Effort { steps, local: steps / 4, longest: LONGEST, overtaken: 0 };
    match timely(&choices, effort, &mut wanted) {
        Timely::Found(found) => return reported_of(Some(found), &wanted, (true, false)),
        Timely::None => effort.overtaken = 1,
        Timely::Unknown => {}
    }
    let only_overtaken = effort.overtaken > 0;
    let mut found = search::minimise(&mut Native::default(), &choices, effort, &mut wanted);
    if found.is_none() && wanted.kind == BugKind::DataRace {
        // Several accesses may race at once: the detector reports the pair that it comes to first.
        wanted.key = None;
        found = search::minimise(&mut Native::default(), &choices, effort, &mut wanted);
    }
    reported_of(found, &wanted, (false, only_overtaken))
}

/// What a search for schedules in which no sleep is overtaken has come to.
enum Timely {
    /// One that fails in the same way, made minimal.
    Found(search::minimise::Minimised),
    /// There is none.
    None,
    /// It was not needed, or its effort has ended.
    Unknown,
}

/// Looks for a schedule that fails in the same way, and in which no sleep is overtaken, if one is
/// in the given one.
fn timely(choices: &[Choice], effort: Effort, wanted: &mut Wanted) -> Timely {
    let look = Effort { steps: 1, local: 0, ..effort };
    let given = search::minimise(&mut Native::default(), choices, look, wanted);
    if given.is_none_or(|given| given.given.overtaken == 0) {
        return Timely::Unknown;
    }
    let step_by_step = hook::with(|state| {
        state.config.orders_time = true;
        std::mem::replace(&mut state.knowledge.channels_step_by_step, true)
    });
    let limits = search::Limits { executions: None, operations: LONGEST };
    let mut seeker = Seeker { wanted: &mut *wanted, left: effort.steps / 2, schedule: None };
    let outcome = search::dpor::explore(&mut Native::default(), limits, &mut seeker);
    if let Some(schedule) = seeker.schedule {
        let found = search::minimise(&mut Native::default(), &schedule, effort, wanted);
        if let Some(found) = found {
            return Timely::Found(found);
        }
    }
    let state = &mut *hook::enter();
    state.config.orders_time = false;
    state.knowledge.channels_step_by_step = step_by_step;
    // What cannot be modelled there may be no part of the schedule that is looked for.
    state.verdicts.unsupported = None;
    if outcome.stop == search::Stop::Complete { Timely::None } else { Timely::Unknown }
}

/// Looks for the failure in a search of all schedules of a kind, with so many steps.
struct Seeker<'a> {
    wanted: &'a mut Wanted,
    left: u64,
    /// The first that shows it.
    schedule: Option<Vec<Choice>>,
}

impl search::Observer<Failure> for Seeker<'_> {
    fn on_choice(&mut self, depth: usize, choice: Choice) {
        self.wanted.on_choice(depth, choice);
    }

    fn on_step(&mut self, _: &search::Counts) -> bool {
        self.left -= 1;
        self.left > 0 && self.wanted.on_step()
    }

    fn on_failure(&mut self, failure: Failure, schedule: &[Choice]) -> bool {
        let shows = self.wanted.is_wanted(&failure);
        if shows {
            self.schedule = Some(schedule.to_vec());
        }
        !shows
    }
}

/// The response; whether it is of ordered time, and whether no such schedule fails.
fn reported_of(
    found: Option<search::minimise::Minimised>,
    wanted: &Wanted,
    (ordered, only_overtaken): (bool, bool),
) -> Message {
    Message::Minimised(found.map(|found| Minimised {
        ordered,
        only_overtaken,
        schedule: schedule(found.schedule),
        measure: measure(found.measure),
        given: measure(found.given),
        minimal: found.proof >= Proof::Preemptions,
        steps: found.steps,
        seconds: wanted.elapsed().as_secs_f64(),
        out_of_time: found.interrupted,
    }))
}

/// A schedule as the formats have it.
fn schedule(choices: Vec<Choice>) -> Schedule {
    Schedule(beginning(&hook::enter()).chain(choices.into_iter().map(to_wire)).collect())
}

/// A measure as the formats have it.
const fn measure(measure: search::minimise::Measure) -> Measure {
    let search::minimise::Measure { overtaken, preemptions, threads, steps } = measure;
    Measure { overtaken, preemptions, threads, steps }
}
