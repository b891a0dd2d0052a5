//! Carrying out a request: the search or the replay, and the response made of what it found.
//!
//! Nobody has the state while a search runs: the machine and the observers that it calls enter
//! ([`crate::machine::hook`]).

use crate::discipline::atomicity::Atomicity;
use crate::discipline::observed::Observed;
use crate::drive::native::Native;
use crate::locks::order::LockOrder;
use crate::machine::hook::{self, Entered};
use crate::machine::object_ids::Use;
use crate::machine::schedule_log::{beginning, from_wire, log_choice, to_wire};
use crate::record::failure::Failure;
use crate::tasks::checkpoint;
use lockred_protocol::codes::{AssumptionKind, BugKind, WarningKind};
use lockred_protocol::message::{
    Assumption, Counts as Reported, Drift, Exploration, Finding, Message, Replay, Stop as Reason,
    Thread, Unsupported,
};
use lockred_protocol::schedule::Schedule;
use lockred_protocol::session::{Checkpoint, Limits, Share, StatusWord, Strategy, encode_share};
use lockred_protocol::sites::SiteId;
use lockred_search::targeted::Aim;
use lockred_search::transactions::Frontier;
use lockred_search::{self as search, Bound, Choice, Counts, Covered, Observer, Outcome, Stop};
use std::time::{Duration, Instant};

/// Steps between two looks at the clock.
const LOOK_EVERY: u32 = 64;

/// Watches a search on behalf of the session. What a search may take is processor time, so that it
/// does not depend on what else the machine does.
pub struct Watch {
    /// Processor time at the beginning.
    start: Duration,
    /// Seconds that other processes have taken for the same search.
    before: f64,
    seconds: Option<f64>,
    /// Processor time at the end.
    deadline: Option<Duration>,
    share: Share,
    /// Processor time at which its share is taken.
    share_deadline: Option<Duration>,
    /// It was over when last looked at.
    share_is_over: bool,
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
    /// When the share that is done was last reported.
    shared: Instant,
    /// The share that was last reported.
    done: Option<f64>,
    /// The search stops, and is to report what is done.
    spent: bool,
    /// It can go on in another process from between two executions only. Other searches begin anew
    /// there, so that nothing is lost if they stop within one.
    goes_on: bool,
}

impl Watch {
    fn new(seconds: Option<f64>, share: Share, keep_going: bool) -> Self {
        let now = Instant::now();
        let mut watch = Self {
            start: crate::session::cpu::time(),
            before: 0.0,
            seconds,
            deadline: None,
            share,
            share_deadline: None,
            share_is_over: false,
            keep_going,
            findings: Vec::new(),
            failures: Vec::new(),
            until_look: 0,
            out_of_time: false,
            checkpoint: hook::enter()
                .config
                .request
                .as_ref()
                .and_then(|request| request.checkpoint.clone()),
            kept: now,
            keeping: Duration::ZERO,
            shared: now,
            done: None,
            spent: false,
            goes_on: true,
        };
        watch.set_deadlines();
        watch
    }

    fn set_deadlines(&mut self) {
        let left = |seconds: f64| Duration::from_secs_f64((seconds - self.before).clamp(0.0, 1e9));
        self.deadline = self.seconds.map(|seconds| self.start + left(seconds));
        self.share_deadline = self.share.seconds.map(|seconds| self.start + left(seconds));
    }

    /// Seconds that the search has taken.
    pub fn seconds(&self) -> f64 {
        self.before + crate::session::cpu::time().saturating_sub(self.start).as_secs_f64()
    }

    /// What was found so far.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Another process has searched so long, and found this.
    pub fn go_on_from(&mut self, seconds: f64, findings: Vec<Finding>) {
        self.before = seconds;
        self.findings = findings;
        self.set_deadlines();
    }
}

/// How often the share of the search that is done is reported.
const SHARE_EVERY: Duration = Duration::from_millis(100);

/// A checkpoint may take this share of the time.
const SHARE: u32 = 50;

impl Observer<Failure> for Watch {
    fn on_choice(&mut self, depth: usize, choice: Choice) {
        log_choice(depth, choice);
    }

    fn on_step(&mut self, counts: &Counts) -> bool {
        let Some(status) = hook::enter().config.status else { return true };
        status.beat();
        if !self.goes_on && self.is_spent(counts) {
            return false;
        }
        let stop = crate::faults::leaving::stop_requested();
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
        let now = crate::session::cpu::time();
        self.out_of_time = self.deadline.is_some_and(|deadline| now >= deadline);
        self.share_is_over = self.share_deadline.is_some_and(|deadline| now >= deadline);
        !self.out_of_time && !stop
    }

    fn is_spent(&mut self, counts: &Counts) -> bool {
        let most = self.share.operations;
        self.spent = self.share_is_over || most.is_some_and(|most| counts.operations >= most);
        self.spent
    }

    fn wants_share(&mut self) -> bool {
        self.spent || self.shared.elapsed() >= SHARE_EVERY
    }

    fn on_share(&mut self, share: f64) {
        if let Some(status) = hook::enter().config.status {
            status.set(StatusWord::Share, encode_share(share));
        }
        self.shared = Instant::now();
        self.done = Some(share);
    }

    fn on_bound(&mut self, most: u32) {
        if let Some(status) = hook::enter().config.status {
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
            checkpoint::keep(&hook::enter(), checkpoint, self, frontier);
        }
        self.kept = Instant::now();
        self.keeping = self.kept - begun;
    }

    fn on_failure(&mut self, failure: Failure, schedule: &[Choice]) -> bool {
        let state = &*hook::enter();
        let schedule = schedule.iter().copied().map(to_wire);
        let schedule = Schedule(beginning(state).chain(schedule).collect());
        // What shows under the schedule of another finding follows from that: usually the same
        // mistake.
        if crate::scheduler::timely::is_known(state, &failure.key) {
            return true;
        }
        let follows = |known: &Finding| known.key == failure.key || known.schedule == schedule;
        if !self.findings.iter().any(follows) {
            let length = schedule.0.len() - usize::from(schedule.is_step_by_step());
            self.findings.push(Finding {
                kind: failure.kind,
                message: failure.message.clone(),
                key: failure.key.clone(),
                schedule,
            });
            self.failures.push((failure, length));
            if let Some(status) = state.config.status {
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
        watch.goes_on = strategy == Strategy::Transactions;
        explore_all(strategy, bounds, watch)
    })
}

/// Walks towards the targets of the request. Without a root there is nowhere to walk, and the one
/// execution is for the search to judge.
pub fn walk(aim: Aim, limits: Limits, keep_going: bool, rooted: bool) -> Message {
    search_by(limits, keep_going, |bounds, watch| {
        if !rooted {
            let (stop, covered) = (Stop::Executions, Covered::Some);
            return Outcome { stop, covered, counts: Counts::default() };
        }
        if !begin() {
            return interrupted();
        }
        search::targeted::explore(&mut Native::default(), aim, bounds, watch)
    })
}

/// A search begins below the root. `false`: the session has asked to stop.
fn begin() -> bool {
    let goes_on = crate::tasks::harness::learn();
    // What that has run has no schedule.
    hook::enter().monitors.atomicity = Atomicity::default();
    goes_on
}

/// The session has asked to stop before there was anything to report.
fn interrupted() -> Outcome {
    Outcome { stop: Stop::Interrupted, covered: Covered::Some, counts: Counts::default() }
}

fn search_by(
    limits: Limits,
    keep_going: bool,
    search: impl FnOnce(search::Limits, &mut Watch) -> Outcome,
) -> Message {
    let mut watch = Watch::new(limits.seconds, limits.share, keep_going);
    let bounds = search::Limits { executions: limits.executions, operations: limits.operations };
    let outcome = search(bounds, &mut watch);
    let entered = &mut hook::enter();
    let stop = reason(entered, &outcome, &watch);
    let state = &mut **entered;
    if state.verdicts.weak_pair {
        let kind = AssumptionKind::MemoryModelSc;
        state.verdicts.assumptions.push(Assumption {
            kind,
            detail: String::new(),
            site: SiteId(0),
        });
    }
    if watch.findings.iter().all(|finding| finding.kind != BugKind::Deadlock) {
        let cycles = state.monitors.lock_order.warnings(stop == Reason::Complete);
        state.verdicts.warnings.extend(cycles);
    }
    crate::judge::left_out::judge(state);
    crate::discipline::atomicity::report(&state.monitors.atomicity, &mut state.verdicts.warnings);
    if !watch.findings.is_empty() {
        // A mistake is reported first; what it leaves behind says little.
        state.verdicts.warnings.retain(|warning| warning.kind != WarningKind::Leak);
    }
    Message::Explored(Exploration {
        stop,
        counts: counts(&outcome.counts),
        seconds: watch.seconds(),
        restoring: state.root.as_ref().map_or(0.0, crate::machine::root::Root::restoring),
        preemptions: match outcome.covered {
            Covered::Within(Bound::Preemptions(most)) => Some(most),
            _ => None,
        },
        share: watch.done,
        proved: state.verdicts.proved.proved(),
        threads: state.knowledge.most_threads,
        findings: watch.findings,
        warnings: std::mem::take(&mut state.verdicts.warnings),
        assumptions: std::mem::take(&mut state.verdicts.assumptions),
    })
}

/// Walks at random below the root, and reports who accesses what under which locks.
pub fn observe(executions: u64, seed: u64, operations: u64, rooted: bool) -> Message {
    if rooted && crate::tasks::harness::learn() {
        // What that has run is none of these executions.
        hook::enter().monitors.observed = Some(Observed::default());
        let limits = search::Limits { executions: Some(executions), operations };
        search::random::explore(&mut Native::default(), seed, limits, &mut Looker);
    }
    let state = &mut *hook::enter();
    if crate::faults::leaving::stop_requested()
        && let Some(observed) = &mut state.monitors.observed
    {
        observed.cut();
    }
    Message::Observed(crate::monitor::observed::observation(state))
}

/// Looks on while the discipline is observed, as long as that can come to something.
struct Looker;

impl Observer<Failure> for Looker {
    fn on_choice(&mut self, depth: usize, choice: Choice) {
        log_choice(depth, choice);
    }

    fn on_step(&mut self, counts: &Counts) -> bool {
        let state = hook::enter();
        if let Some(status) = state.config.status {
            status.beat();
        }
        let in_vain = state.monitors.observed.as_ref().is_some_and(|seen| seen.is_in_vain(counts));
        !in_vain && !crate::faults::leaving::stop_requested()
    }

    fn on_failure(&mut self, _: Failure, _: &[Choice]) -> bool {
        true
    }
}

fn explore_all(strategy: Strategy, limits: search::Limits, watch: &mut Watch) -> Outcome {
    let mut machine = Native::default();
    hook::with(|state| {
        if state.config.compares {
            crate::coroutine::scrub::begin();
        }
        if state.config.by_transactions {
            // What main holds already was not taken in the search.
            for held in &state.execution.held {
                state.knowledge.object_ids.use_word(held.address, Use::Refused);
            }
        }
    });
    let kept = watch.checkpoint.clone();
    let frontier = kept.and_then(|kept| checkpoint::take_up(&mut hook::enter(), &kept, watch));
    search::explore_from(frontier, &mut machine, strategy, limits, watch)
}

/// The program ended before it created a thread: one execution, nothing to search.
fn judge_only(watch: &mut Watch) -> Outcome {
    let mut failures = Vec::new();
    let mut entered = hook::enter();
    if entered.verdicts.left.is_some() {
        return interrupted();
    }
    if entered.verdicts.unsupported.is_none() {
        crate::judge::execution::finish(&mut entered, &mut failures);
    }
    let unsupported = entered.verdicts.unsupported.is_some();
    drop(entered);
    let failed = !failures.is_empty();
    for failure in failures {
        watch.on_failure(failure, &[]);
    }
    let stop = match unsupported {
        true => Stop::Unsupported,
        false if failed && !watch.keep_going => Stop::Failure,
        false => Stop::Complete,
    };
    let counts = Counts { executions: 1, ..Counts::default() };
    let covered = if stop == Stop::Complete { Covered::Everything } else { Covered::Some };
    Outcome { stop, covered, counts }
}

fn counts(counts: &Counts) -> Reported {
    let Counts { executions, blocked, refinements, transactions, operations } = *counts;
    Reported { executions, blocked, refinements, transactions, operations }
}

/// Why a search ended, in the session's words.
fn reason(entered: &mut Entered, outcome: &Outcome, watch: &Watch) -> Reason {
    match outcome.stop {
        Stop::Complete => Reason::Complete,
        Stop::Failure => Reason::Bug,
        Stop::Executions => Reason::Executions,
        Stop::Total => Reason::Total,
        Stop::Operations => Reason::Operations,
        Stop::Bound => Reason::Preemptions,
        Stop::Interrupted => match entered.verdicts.left.take() {
            left if crate::faults::leaving::came_from_outside().is_some() => {
                Reason::Unsupported(at(left.unwrap_or_default()))
            }
            Some(stack) => Reason::Computing(at(stack)),
            None if watch.out_of_time => Reason::Seconds,
            None if watch.spent && !watch.goes_on => Reason::Total,
            None => Reason::Interrupted,
        },
        Stop::Unsupported => {
            Reason::Unsupported(entered.verdicts.unsupported.take().unwrap_or_else(|| {
                Unsupported {
                    message: "something that cannot be modelled".into(),
                    site: SiteId(0),
                    stack: Vec::new(),
                }
            }))
        }
        Stop::Nondeterminism { step } => {
            Reason::Unsupported(crate::drive::nondeterminism::nondeterminism(entered, step, None))
        }
    }
}

/// Where a step was left. Unless a signal came from outside, the session knows why it asked for
/// that.
fn at(stack: Vec<u64>) -> Unsupported {
    let message = crate::faults::leaving::came_from_outside().unwrap_or_default();
    Unsupported { message, site: SiteId(0), stack }
}

/// The failure that a schedule of this length was kept for: the first that shows at its end or
/// after it. Earlier ones are others.
fn shown(failures: Vec<(Failure, usize)>, length: usize) -> Option<Failure> {
    let index = failures.iter().position(|&(_, at)| at >= length).unwrap_or(0);
    failures.into_iter().nth(index).map(|(failure, _)| failure)
}

/// Watches a replay: what comes long after the bug does not matter, and may be endless.
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
        self.recorded.resize(depth + 1, crate::report::record::steps(&hook::enter()));
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

/// Follows a schedule and reports everything.
pub fn replay(schedule: &Schedule, operations: u64, rooted: bool) -> Message {
    let length = schedule.0.len() - usize::from(schedule.is_step_by_step());
    let left = crate::record::recorder::BEHIND;
    let watch = Watch::new(None, Share::default(), true);
    let mut follower = Follower { watch, length, left, recorded: Vec::new() };
    let goes_on = !rooted || crate::tasks::harness::learn();
    let (executed, drift) = if rooted && goes_on {
        hook::with(|state| {
            state.monitors.lock_order = LockOrder::default();
            state.monitors.atomicity = Atomicity::default();
            state.config.follows = true;
        });
        let followed = &schedule.0[usize::from(schedule.is_step_by_step())..];
        let choices: Vec<Choice> = followed.iter().copied().map(from_wire).collect();
        let limits = search::Limits { executions: Some(1), operations };
        let replayed = search::replay(&mut Native::default(), &choices, limits, &mut follower);
        (replayed.executed, replayed.drift)
    } else {
        if !rooted {
            judge_only(&mut follower.watch);
        }
        (Vec::new(), None)
    };
    let state = &mut *hook::enter();
    let recorder = state.monitors.recorder.take().unwrap_or_default();
    let threads = state.execution.threads.iter().map(|thread| Thread {
        name: thread.handle.name.clone(),
        parent: thread.parent,
        created: thread.created.clone(),
    });
    let scaled = state
        .verdicts
        .assumptions
        .iter()
        .filter(|reported| reported.kind == AssumptionKind::ScaledLoops);
    // What is recorded before the first choice after the schedule.
    let end = follower.recorded.get(length).copied().unwrap_or(usize::MAX);
    let overtaken = recorder.overtaken.into_iter().filter(|overtaken| overtaken.step < end);
    let bug = shown(follower.watch.failures, length).map(Failure::into_bug);
    // What shows a bug need not come to its end.
    let left = state.verdicts.left.take().filter(|_| bug.is_none()).map(at);
    Message::Replayed(Replay {
        overtaken: overtaken.collect(),
        bug,
        drift: drift.map(|(step, message)| {
            let recorded = follower.recorded.get(step).copied().unwrap_or(recorder.steps.len());
            Drift { step, recorded, message }
        }),
        schedule: Schedule(beginning(state).chain(executed.into_iter().map(to_wire)).collect()),
        threads: threads.collect(),
        objects: recorder.objects,
        steps: recorder.steps,
        output: recorder.output,
        warnings: [state.monitors.lock_order.warnings(true), state.monitors.atomicity.warnings()]
            .concat(),
        scaled: scaled.cloned().collect(),
        unsupported: state.verdicts.unsupported.take().or(left),
        shared: crate::world::shared::first(),
    })
}
