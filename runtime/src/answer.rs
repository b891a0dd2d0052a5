//! Carrying out an order: the search or the replay, and the answer made of what it found.

use crate::atomicity::Atomicity;
use crate::checkpoint;
use crate::failure::Failure;
use crate::machine::Native;
use crate::names::Use;
use crate::native::Call;
use crate::nesting::Nesting;
use crate::observed::Observed;
use crate::state::{State, state};
use lockred_search::targeted::Aim;
use lockred_search::transactions::Frontier;
use lockred_search::{self as search, Bound, Choice, Counts, Covered, Observer, Outcome, Stop};
use lockred_trace::codes::{AssumptionKind, BugKind, WarningKind};
use lockred_trace::message::{
    Assumption, Counts as Told, Drift, Exploration, Finding, Message, Replay, Stop as Reason,
    Thread, Unsupported,
};
use lockred_trace::schedule::{self, Schedule};
use lockred_trace::session::{
    Checkpoint, Limits, StatusWord, Strategy, TRAIL_CAPACITY, decode_choice, encode_share,
};
use lockred_trace::sites::SiteId;
use std::time::{Duration, Instant};

/// Steps between two looks at the clock.
const LOOK_EVERY: u32 = 64;

/// Watches a search on behalf of the session. What a search may take is processor time, so that it does not depend on what else the machine
/// does.
pub struct Watch {
    /// Processor time at the beginning.
    start: Duration,
    /// Seconds that other processes have taken for the same search.
    before: f64,
    seconds: Option<f64>,
    /// Processor time at the end.
    deadline: Option<Duration>,
    keep_going: bool,
    findings: Vec<Finding>,
    /// The findings in full, with the lengths of the schedules that lead to them.
    failures: Vec<(Failure, usize)>,
    until_look: u32,
    out_of_time: bool,
    /// How checkpoints are kept, when the last one was, and how long that took.
    checkpoint: Option<Checkpoint>,
    kept: Instant,
    keeping: Duration,
    /// When the share that is done was last told.
    shared: Instant,
}

impl Watch {
    fn new(seconds: Option<f64>, keep_going: bool) -> Self {
        let now = Instant::now();
        let mut watch = Self {
            start: crate::cpu::time(),
            before: 0.0,
            seconds,
            deadline: None,
            keep_going,
            findings: Vec::new(),
            failures: Vec::new(),
            until_look: 0,
            out_of_time: false,
            checkpoint: state().order.as_ref().and_then(|order| order.checkpoint.clone()),
            kept: now,
            keeping: Duration::ZERO,
            shared: now,
        };
        watch.set_deadline();
        watch
    }

    fn set_deadline(&mut self) {
        let left = |seconds: f64| Duration::from_secs_f64((seconds - self.before).clamp(0.0, 1e9));
        self.deadline = self.seconds.map(|seconds| self.start + left(seconds));
    }

    /// Seconds that the search has taken.
    pub fn seconds(&self) -> f64 {
        self.before + crate::cpu::time().saturating_sub(self.start).as_secs_f64()
    }

    /// What was found so far.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Another process has searched so long, and found this.
    pub fn go_on_from(&mut self, seconds: f64, findings: Vec<Finding>) {
        self.before = seconds;
        self.findings = findings;
        self.set_deadline();
    }
}

/// How often the share of the search that is done is told.
const SHARE_EVERY: Duration = Duration::from_millis(100);

/// A checkpoint may take this share of the time.
const SHARE: u32 = 50;

/// A choice as the formats have it.
pub fn told(choice: Choice) -> schedule::Choice {
    match choice {
        Choice::Thread(thread) => schedule::Choice::Thread(thread.0),
        Choice::Value { picked, of } => schedule::Choice::Value { picked, of },
    }
}

/// What schedules begin with.
pub fn beginning() -> impl Iterator<Item = schedule::Choice> {
    state().channels_written_out.then_some(Schedule::WRITTEN_OUT).into_iter()
}

/// Leaves a choice where the session finds it if the process dies.
pub fn trail(depth: usize, choice: Choice) {
    if let Some(status) = state().status {
        let mut depth = depth;
        for first in beginning() {
            status.trail(0, crate::session::trail_word(first));
            depth += 1;
        }
        status.trail(depth, crate::session::trail_word(told(choice)));
        if depth < TRAIL_CAPACITY {
            state().deaths.on_choice(depth + 1, |index| status.trail_word(index));
        }
    }
}

/// The choices of the execution under way, if they are all kept.
pub fn schedule_so_far() -> Option<Schedule> {
    let status = state().status?;
    let length = status.trail_length();
    let choices = (0..length).map(|index| decode_choice(status.trail_word(index)));
    (length < TRAIL_CAPACITY).then(|| Schedule(choices.collect()))
}

/// A choice as the search has it.
pub fn meant(choice: schedule::Choice) -> Choice {
    match choice {
        schedule::Choice::Thread(thread) => Choice::Thread(search::machine::ThreadId(thread)),
        schedule::Choice::Value { picked, of } => Choice::Value { picked, of },
    }
}

impl Observer<Failure> for Watch {
    fn on_choice(&mut self, depth: usize, choice: Choice) {
        trail(depth, choice);
    }

    fn on_step(&mut self, counts: &Counts) -> bool {
        let Some(status) = state().status else { return true };
        status.beat();
        let stop = crate::leaving::stop_requested();
        if self.until_look > 0 && !stop {
            self.until_look -= 1;
            return true;
        }
        self.until_look = LOOK_EVERY;
        status.set(StatusWord::Executions, counts.executions);
        status.set(StatusWord::Blocked, counts.blocked);
        status.set(StatusWord::Refinements, counts.refinements);
        status.set(StatusWord::Transactions, counts.transactions);
        status.set(StatusWord::Operations, counts.operations);
        self.out_of_time = self.deadline.is_some_and(|deadline| crate::cpu::time() >= deadline);
        !self.out_of_time && !stop
    }

    fn wants_share(&mut self) -> bool {
        self.shared.elapsed() >= SHARE_EVERY
    }

    fn on_share(&mut self, share: f64) {
        if let Some(status) = state().status {
            status.set(StatusWord::Share, encode_share(share));
        }
        self.shared = Instant::now();
    }

    fn on_bound(&mut self, most: u32) {
        if let Some(status) = state().status {
            status.set(StatusWord::Preemptions, u64::from(most) + 1);
        }
    }

    fn wants_frontier(&mut self) -> bool {
        let Some(checkpoint) = &self.checkpoint else { return false };
        let pause = Duration::from_secs_f64(checkpoint.seconds.clamp(0.0, 1e9));
        self.kept.elapsed() >= pause.max(self.keeping * SHARE)
    }

    fn on_frontier(&mut self, frontier: &Frontier) {
        let begun = Instant::now();
        if let Some(checkpoint) = &self.checkpoint {
            checkpoint::keep(checkpoint, self, frontier);
        }
        self.kept = Instant::now();
        self.keeping = self.kept - begun;
    }

    fn on_failure(&mut self, failure: Failure, schedule: &[Choice]) -> bool {
        let schedule = Schedule(beginning().chain(schedule.iter().copied().map(told)).collect());
        // What shows under the schedule of another finding follows from that: usually the same mistake.
        if crate::timely::is_known(state(), &failure.key) {
            return true;
        }
        let follows = |known: &Finding| known.key == failure.key || known.schedule == schedule;
        if !self.findings.iter().any(follows) {
            let length = schedule.0.len() - usize::from(schedule.is_written_out());
            self.findings.push(Finding {
                kind: failure.kind,
                message: failure.message.clone(),
                key: failure.key.clone(),
                schedule,
            });
            self.failures.push((failure, length));
            if let Some(status) = state().status {
                status.set(StatusWord::Bugs, self.findings.len() as u64);
            }
        }
        self.keep_going
    }
}

/// Searches below the root, or judges the one execution if there is no root.
pub fn explore(strategy: Strategy, limits: Limits, keep_going: bool, rooted: bool) -> Message {
    search_by(limits, keep_going, |bounds, watch| {
        if !rooted {
            return judge_only(watch);
        }
        if !begin() {
            return interrupted();
        }
        explore_all(strategy, bounds, watch)
    })
}

/// Walks towards the targets of the order. Without a root there is nowhere to walk, and the one execution is for the search to judge.
pub fn walk(aim: Aim, limits: Limits, keep_going: bool, rooted: bool) -> Message {
    search_by(limits, keep_going, |bounds, watch| {
        if !rooted {
            let (stop, covered) = (Stop::Executions, Covered::Some);
            return Outcome { stop, covered, counts: Counts::default() };
        }
        if !begin() {
            return interrupted();
        }
        search::explore(&mut Native::default(), search::Strategy::Targeted(aim), bounds, watch)
    })
}

/// A search begins below the root. `false`: the session has asked to stop.
fn begin() -> bool {
    let goes_on = crate::harness::learn();
    // What that has run has no schedule.
    state().atomicity = Atomicity::default();
    goes_on
}

/// The session has asked to stop before there was anything to tell.
fn interrupted() -> Outcome {
    Outcome { stop: Stop::Interrupted, covered: Covered::Some, counts: Counts::default() }
}

fn search_by(
    limits: Limits,
    keep_going: bool,
    search: impl FnOnce(search::Limits, &mut Watch) -> Outcome,
) -> Message {
    let mut watch = Watch::new(limits.seconds, keep_going);
    let bounds = search::Limits { executions: limits.executions, operations: limits.operations };
    let outcome = search(bounds, &mut watch);
    let state = state();
    let stop = reason(state, &outcome, &watch);
    if state.weak_pair {
        let kind = AssumptionKind::MemoryModelSc;
        state.assumptions.push(Assumption { kind, detail: String::new(), site: SiteId(0) });
    }
    if watch.findings.iter().all(|finding| finding.kind != BugKind::Deadlock) {
        state.warnings.extend(crate::nesting::warnings(stop == Reason::Complete));
    }
    crate::assumed::judge();
    crate::atomicity::tell(&mut state.warnings);
    if !watch.findings.is_empty() {
        // A mistake is told first; what it leaves behind says little.
        state.warnings.retain(|warning| warning.kind != WarningKind::Leak);
    }
    Message::Explored(Exploration {
        stop,
        counts: counts(&outcome.counts),
        seconds: watch.seconds(),
        restoring: state.root.as_ref().map_or(0.0, crate::root::Root::restoring),
        preemptions: match outcome.covered {
            Covered::Within(Bound::Preemptions(most)) => Some(most),
            _ => None,
        },
        proved: state.proved.proved(),
        threads: state.most_threads,
        findings: watch.findings,
        warnings: std::mem::take(&mut state.warnings),
        assumptions: std::mem::take(&mut state.assumptions),
    })
}

/// Walks at random below the root, and tells who accesses what under which locks.
pub fn observe(executions: u64, seed: u64, operations: u64, rooted: bool) -> Message {
    if rooted && crate::harness::learn() {
        // What that has run is none of these executions.
        state().observed = Some(Observed::default());
        let limits = search::Limits { executions: Some(executions), operations };
        let strategy = search::Strategy::Random { seed };
        search::explore(&mut Native::default(), strategy, limits, &mut Looker);
    }
    if crate::leaving::stop_requested()
        && let Some(observed) = &mut state().observed
    {
        observed.cut();
    }
    Message::Observed(crate::observed::observation())
}

/// Looks on while the discipline is observed, as long as that can come to something.
struct Looker;

impl Observer<Failure> for Looker {
    fn on_choice(&mut self, depth: usize, choice: Choice) {
        trail(depth, choice);
    }

    fn on_step(&mut self, counts: &Counts) -> bool {
        if let Some(status) = state().status {
            status.beat();
        }
        let in_vain = state().observed.as_ref().is_some_and(|seen| seen.is_in_vain(counts));
        !in_vain && !crate::leaving::stop_requested()
    }

    fn on_failure(&mut self, _: Failure, _: &[Choice]) -> bool {
        true
    }
}

fn explore_all(strategy: Strategy, limits: search::Limits, watch: &mut Watch) -> Outcome {
    let mut machine = Native::default();
    if state().compares {
        crate::scrub::begin();
    }
    if state().by_transactions {
        // What main holds already was not taken in the search.
        let state = state();
        for held in &state.execution.held {
            state.names.use_word(held.address, Use::Refused);
        }
    }
    let strategy = match strategy {
        Strategy::Transactions => {
            let order = watch.checkpoint.clone();
            let frontier = order.and_then(|order| checkpoint::take_up(&order, watch));
            let mut discipline = search::discipline::Discipline::default();
            return search::transactions::explore_from(
                frontier,
                &mut machine,
                &mut discipline,
                limits,
                watch,
            );
        }
        Strategy::Stateful => {
            let mut discipline = search::discipline::Discipline::by_locks();
            return search::stateful::explore(&mut machine, &mut discipline, limits, watch);
        }
        Strategy::Dpor => search::Strategy::Dpor,
        Strategy::Naive => search::Strategy::Naive,
        Strategy::Bounded { preemptions } => {
            search::Strategy::Bounded(Bound::Preemptions(preemptions))
        }
        Strategy::Random { seed } => search::Strategy::Random { seed },
    };
    search::explore(&mut machine, strategy, limits, watch)
}

/// The program ended before it created a thread: one execution, nothing to search.
fn judge_only(watch: &mut Watch) -> Outcome {
    if state().left.is_some() {
        return interrupted();
    }
    let mut failures = Vec::new();
    if state().unsupported.is_none() {
        crate::judge::finish(&mut failures);
    }
    let failed = !failures.is_empty();
    for failure in failures {
        watch.on_failure(failure, &[]);
    }
    let stop = match state().unsupported {
        Some(_) => Stop::Unsupported,
        None if failed && !watch.keep_going => Stop::Failure,
        None => Stop::Complete,
    };
    let counts = Counts { executions: 1, ..Counts::default() };
    let covered = if stop == Stop::Complete { Covered::Everything } else { Covered::Some };
    Outcome { stop, covered, counts }
}

fn counts(counts: &Counts) -> Told {
    let Counts { executions, blocked, refinements, transactions, operations } = *counts;
    Told { executions, blocked, refinements, transactions, operations }
}

/// Why a search ended, in the session's words.
fn reason(state: &mut State, outcome: &Outcome, watch: &Watch) -> Reason {
    match outcome.stop {
        Stop::Complete => Reason::Complete,
        Stop::Failure => Reason::Bug,
        Stop::Executions => Reason::Executions,
        Stop::Operations => Reason::Operations,
        Stop::Bound => Reason::Preemptions,
        Stop::Interrupted => match state.left.take() {
            left if crate::leaving::came_from_outside().is_some() => {
                Reason::Unsupported(at(left.unwrap_or_default()))
            }
            Some(stack) => Reason::Computing(at(stack)),
            None if watch.out_of_time => Reason::Seconds,
            None => Reason::Interrupted,
        },
        Stop::Unsupported => {
            Reason::Unsupported(state.unsupported.take().unwrap_or_else(|| Unsupported {
                message: "something that cannot be modelled".into(),
                site: SiteId(0),
                stack: Vec::new(),
            }))
        }
        Stop::Nondeterminism { step } => Reason::Unsupported(nondeterminism(step, None)),
    }
}

/// Where a step was left. Unless a signal came from outside, the session knows why it asked for that.
fn at(stack: Vec<u64>) -> Unsupported {
    let message = crate::leaving::came_from_outside().unwrap_or_default();
    Unsupported { message, site: SiteId(0), stack }
}

/// A step that was made again was another one.
pub fn nondeterminism(step: usize, differing: Option<(Option<Call>, Option<Call>)>) -> Unsupported {
    let (why, suspected) = crate::native::suspect(differing);
    let state = state();
    let thread = state.step.thread;
    Unsupported {
        message: format!(
            "the program does not behave alike under the same schedule (first seen at step {step}, in thread {thread}): {why}"
        ),
        site: suspected.unwrap_or(state.step.site),
        stack: if suspected.is_some() { Vec::new() } else { crate::state::stack_of(thread) },
    }
}

/// The failure that a schedule of this length was kept for: the first that shows at its end or behind it. Earlier ones are others.
fn shown(failures: Vec<(Failure, usize)>, length: usize) -> Option<Failure> {
    let index = failures.iter().position(|&(_, at)| at >= length).unwrap_or(0);
    failures.into_iter().nth(index).map(|(failure, _)| failure)
}

/// Watches a replay: what comes long behind the bug does not matter, and may be endless.
struct Follower {
    watch: Watch,
    /// Where the bug is to show.
    length: usize,
    /// Steps that may still be made once it has.
    left: usize,
    /// Of each choice, how many steps were recorded before it.
    recorded: Vec<usize>,
}

impl Observer<Failure> for Follower {
    fn on_choice(&mut self, depth: usize, choice: Choice) {
        self.recorded.truncate(depth);
        self.recorded.resize(depth + 1, crate::record::steps());
        self.watch.on_choice(depth, choice);
    }

    fn on_step(&mut self, counts: &Counts) -> bool {
        if self.watch.failures.iter().any(|&(_, at)| at >= self.length) {
            self.left -= 1;
        }
        self.left > 0 && self.watch.on_step(counts)
    }

    fn on_failure(&mut self, failure: Failure, schedule: &[Choice]) -> bool {
        self.watch.on_failure(failure, schedule)
    }
}

/// Follows a schedule and tells everything.
pub fn replay(schedule: &Schedule, operations: u64, rooted: bool) -> Message {
    let length = schedule.0.len() - usize::from(schedule.is_written_out());
    let left = crate::record::BEHIND;
    let watch = Watch::new(None, true);
    let mut follower = Follower { watch, length, left, recorded: Vec::new() };
    let goes_on = !rooted || crate::harness::learn();
    let (executed, drift) = if rooted && goes_on {
        state().nesting = Nesting::default();
        state().atomicity = Atomicity::default();
        state().follows = true;
        let followed = &schedule.0[usize::from(schedule.is_written_out())..];
        let choices: Vec<Choice> = followed.iter().copied().map(meant).collect();
        let limits = search::Limits { executions: Some(1), operations };
        let replayed = search::replay(&mut Native::default(), &choices, limits, &mut follower);
        (replayed.executed, replayed.drift)
    } else {
        if !rooted {
            judge_only(&mut follower.watch);
        }
        (Vec::new(), None)
    };
    let state = state();
    let recorder = state.recorder.take().unwrap_or_default();
    let threads = state.execution.threads.iter().map(|thread| Thread {
        name: thread.name.clone(),
        parent: thread.parent,
        created: thread.created.clone(),
    });
    let scaled = state.assumptions.iter().filter(|told| told.kind == AssumptionKind::ScaledLoops);
    // What is recorded before the first choice behind the schedule.
    let end = follower.recorded.get(length).copied().unwrap_or(usize::MAX);
    let overtaken = recorder.overtaken.into_iter().filter(|overtaken| overtaken.step < end);
    let bug = shown(follower.watch.failures, length).map(Failure::into_bug);
    // What shows a bug need not come to its end.
    let left = state.left.take().filter(|_| bug.is_none()).map(at);
    Message::Replayed(Replay {
        overtaken: overtaken.collect(),
        bug,
        drift: drift.map(|(step, message)| {
            let recorded = follower.recorded.get(step).copied().unwrap_or(recorder.steps.len());
            Drift { step, recorded, message }
        }),
        schedule: Schedule(beginning().chain(executed.into_iter().map(told)).collect()),
        threads: threads.collect(),
        objects: recorder.objects,
        steps: recorder.steps,
        output: recorder.output,
        warnings: [crate::nesting::warnings(true), crate::atomicity::warnings()].concat(),
        scaled: scaled.cloned().collect(),
        unsupported: state.unsupported.take().or(left),
    })
}
