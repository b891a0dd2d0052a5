//! What an exploration process sends: the outcome of a search, or the full record of one replayed
//! execution.

use crate::codes::{AssumptionKind, BugKind, WarningKind};
use crate::hooks::Order;
use crate::schedule::Schedule;
use crate::sites::SiteId;
use serde::{Deserialize, Serialize};

/// One line of the message file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Message {
    /// Response to `Task::Explore`.
    Explored(Exploration),
    /// Response to `Task::Replay`.
    Replayed(Replay),
    /// Response to `Task::Minimise`; nothing if the schedule did not fail in that way.
    Minimised(Option<Minimised>),
    /// Response to `Task::Observe`.
    Observed(Observation),
    /// An error of ours.
    Error {
        /// What went wrong, for the person who reports it.
        message: String,
    },
}

/// Counts of a search. See *execution* and *blocked* in docs/glossary.md.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Executions of the final pass, those cut by sleep sets excluded.
    pub executions: u64,
    /// Executions cut by sleep sets.
    pub blocked: u64,
    /// Passes thrown away.
    pub refinements: u64,
    /// Runs of a thread from boundary to boundary.
    pub transactions: u64,
    /// Scheduling points executed.
    pub operations: u64,
}

/// Why a search ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// Every interleaving was covered up to equivalence.
    Complete,
    /// A bug was found and the search was not asked to go on.
    Bug,
    /// The limit on executions.
    Executions,
    /// The limit on time.
    Seconds,
    /// It has taken its share ([`crate::session::Share`]).
    Total,
    /// The same as `Seconds`, within a step that had not come to its end, at this place.
    Computing(Unsupported),
    /// Some execution reached the limit on operations; all others were covered.
    Operations,
    /// Everything within the bound on preemptions was covered, and there is more after it.
    Preemptions,
    /// The session asked it to stop.
    Interrupted,
    /// The test does what cannot be modelled.
    Unsupported(Unsupported),
}

/// A thing that cannot be modelled, with its place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unsupported {
    /// What: names the call, or the operation that differed.
    pub message: String,
    /// Where.
    pub site: SiteId,
    /// Return addresses, innermost first (may be empty).
    pub stack: Vec<u64>,
}

/// Something that the outcome rests on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Assumption {
    /// Which of the closed list.
    pub kind: AssumptionKind,
    /// The concrete case (`calls deflate` …); may be empty.
    pub detail: String,
    /// Where it was first needed.
    pub site: SiteId,
}

/// Outcome of a search.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Exploration {
    /// Why it ended.
    pub stop: Stop,
    /// What it did.
    pub counts: Counts,
    /// Seconds of processor time from the root to the end of the search.
    pub seconds: f64,
    /// Seconds of these that going back took, to the root or a checkpoint.
    #[serde(default)]
    pub restoring: f64,
    /// All executions with at most so many preemptions were covered, where these are counted.
    #[serde(default)]
    pub preemptions: Option<u32>,
    /// About the share of everything that was covered, from 0 to 1, where that can be said.
    #[serde(default)]
    pub share: Option<f64>,
    /// How much of what is true of its accesses the plan knows, where that was compared.
    #[serde(default)]
    pub proved: Option<Proved>,
    /// Number of threads that the widest execution had, main included.
    pub threads: u32,
    /// Bugs, in the order they were found; one per root cause (`key`).
    pub findings: Vec<Finding>,
    /// Findings that fail nothing.
    pub warnings: Vec<Warning>,
    /// What the outcome rests on.
    pub assumptions: Vec<Assumption>,
}

impl Exploration {
    /// What is known of a search whose process gave no response: why it ended, and how far it came.
    #[must_use]
    pub const fn without_response(stop: Stop, counts: Counts, seconds: f64) -> Self {
        Self {
            stop,
            counts,
            seconds,
            restoring: 0.0,
            preemptions: None,
            share: None,
            proved: None,
            threads: 0,
            findings: Vec::new(),
            warnings: Vec::new(),
            assumptions: Vec::new(),
        }
    }
}

/// Accesses of a program, by site, and what is known of them before it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Proved {
    /// Those that were executed.
    pub ran: u64,
    /// Those of them whose memory one thread alone touched as long as it lived, or nobody wrote, in
    /// all executions.
    pub unshared: u64,
    /// Those of these of which a rule says so.
    pub proved: u64,
    /// Those of the others whose memory one lock protected at all accesses since two threads
    /// touched it, or nobody wrote since then.
    pub protected: u64,
    /// Those of these of which the plan says so.
    pub known: u64,
}

/// A bug as the search found it; its details come from replaying the schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// Which of the closed list.
    pub kind: BugKind,
    /// One line.
    pub message: String,
    /// Two findings with equal keys have one root cause: kind and sites, independent of schedule
    /// and addresses.
    pub key: String,
    /// The schedule that shows it.
    pub schedule: Schedule,
}

/// How much an execution takes up to where its failure shows. The less of the first, the better,
/// then of the second, then of the third.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Measure {
    /// Sleeps, timeouts and late looks at clocks that others were too slow for.
    #[serde(default)]
    pub overtaken: u32,
    /// Switches away from a thread that could have gone on.
    pub preemptions: u32,
    /// Threads that have run.
    pub threads: u32,
    /// Runs of threads from one scheduling point to the next.
    pub steps: u64,
}

/// The least schedule that was found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Minimised {
    /// The schedule.
    pub schedule: Schedule,
    /// What it takes.
    pub measure: Measure,
    /// What the given one takes.
    pub given: Measure,
    /// No schedule with fewer preemptions fails in this way: all of them were gone through.
    pub minimal: bool,
    /// What the search for it took, in steps.
    pub steps: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// It is to be followed with [`crate::session::Time::Ordered`]: no sleep is overtaken.
    #[serde(default)]
    pub ordered: bool,
    /// No schedule in which no sleep is overtaken fails in this way: all of them were gone through.
    #[serde(default)]
    pub only_overtaken: bool,
    /// Time ended it, so that it may come to something else another time.
    pub out_of_time: bool,
}

/// A warning.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Warning {
    /// Which of the closed list.
    pub kind: WarningKind,
    /// One line.
    pub message: String,
    /// Where.
    pub site: SiteId,
    /// Return addresses, innermost first (may be empty).
    pub stack: Vec<u64>,
    /// Where it takes several places to see it, instead of `site` and `stack`. Objects are numbered
    /// within them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
    /// The block that it is about. Its address is left out, as it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<Home>,
    /// The execution that shows it, where a replay says more of it ([`Replay::warnings`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
}

/// A sleep, a wait with a timeout or a look at a clock by whose end another thread had not gone on,
/// although it could have.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Overtaken {
    /// What it was.
    pub what: Timed,
    /// How long it took, in nanoseconds.
    pub nanoseconds: u64,
    /// Where.
    pub site: SiteId,
    /// Return addresses, innermost first.
    pub stack: Vec<u64>,
    /// Whose it was.
    pub thread: u32,
    /// The other thread, if there was one, and what it would have done next.
    pub by: Option<(u32, SiteId)>,
    /// How many steps were recorded before.
    pub step: usize,
}

/// What takes time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timed {
    /// A sleep.
    Sleep,
    /// A wait with a timeout.
    Timeout,
    /// From one look at a clock to another.
    Look,
}

/// Full record of one execution under a given schedule.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Replay {
    /// The bug that this execution ended in, if any.
    pub bug: Option<Bug>,
    /// The first point where the execution could not follow the schedule, if any: its step, and
    /// what was expected.
    pub drift: Option<Drift>,
    /// What the schedule was continued with, if it was shorter than the execution: the whole
    /// schedule as executed.
    pub schedule: Schedule,
    /// The threads, by number; main is 0.
    pub threads: Vec<Thread>,
    /// The objects that steps and bugs refer to.
    pub objects: Vec<Object>,
    /// The visible operations in order.
    pub steps: Vec<Step>,
    /// The program's output, in order.
    pub output: Vec<Output>,
    /// What it warns of, in full.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Loops that it ended early.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scaled: Vec<Assumption>,
    /// Sleeps that were overtaken on the way to the end of the schedule.
    #[serde(default)]
    pub overtaken: Vec<Overtaken>,
    /// Set when the replay met something that cannot be modelled.
    pub unsupported: Option<Unsupported>,
    /// What the program used first that other processes may change, in words.
    #[serde(default)]
    pub shared: Option<String>,
}

/// Where a replay left its schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Drift {
    /// Index into the schedule.
    pub step: usize,
    /// How many of [`Replay::steps`] came before.
    pub recorded: usize,
    /// What did not fit.
    pub message: String,
}

/// A thread of a recorded execution.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Thread {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The thread that created it.
    pub parent: Option<u32>,
    /// Where it was created (return addresses, innermost first).
    pub created: Vec<u64>,
}

/// An object of a recorded execution.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Object {
    /// `mutex`, `rwlock`, `condvar`, `once`, `parker`, `thread`, `atomic`, `memory`, `futex`, ….
    pub kind: String,
    /// Its address.
    pub address: u64,
    /// Bytes, where they are known.
    pub size: Option<u64>,
    /// What it lies in, where its address alone does not say what it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<Home>,
}

/// What memory lies in that has no name in the executable. From here on the debug information tells
/// its type.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Home {
    /// A block of the heap.
    Block {
        /// Its first address.
        start: u64,
        /// Its bytes.
        size: u64,
        /// Where it was allocated: return addresses, innermost first.
        allocated: Vec<u64>,
    },
    /// The frame of a function on the stack of a thread.
    Frame {
        /// Where the function goes on.
        instruction: u64,
        /// Its stack pointer there.
        stack_pointer: u64,
        /// Its frame pointer (`rbp`) there.
        frame_pointer: u64,
    },
}

/// One visible operation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Step {
    /// Who.
    pub thread: u32,
    /// What, in one or a few words: `lock`, `unlock`, `load -> 1`, `store 2`, `spawn thread 1`,
    /// `wait`, `notify one (wakes thread 2)`, ….
    pub operation: String,
    /// On what, as an index into [`Replay::objects`].
    pub object: Option<u32>,
    /// Where.
    pub site: SiteId,
    /// Return addresses, innermost first.
    pub stack: Vec<u64>,
}

/// A piece of output.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Output {
    /// Who wrote it.
    pub thread: u32,
    /// 1 or 2.
    pub descriptor: i32,
    /// What, lossily decoded.
    pub text: String,
    /// Number of steps executed before it.
    pub step: usize,
}

/// A bug with everything that a report needs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Bug {
    /// Which of the closed list.
    pub kind: BugKind,
    /// One line.
    pub message: String,
    /// See [`Finding::key`].
    pub key: String,
    /// The places that show it: both accesses of a race; per blocked thread what it waits for and
    /// what it holds; the panic.
    pub places: Vec<Place>,
    /// Further sentences that help (`thread 1 was notified before it waited`).
    pub notes: Vec<String>,
}

/// What a place of a bug shows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A plain read.
    Read,
    /// A plain write.
    Write,
    /// An atomic read.
    AtomicRead,
    /// An atomic write or read-modify-write.
    AtomicWrite,
    /// A thread waits here for `object`.
    Waits,
    /// A thread acquired `object` here and holds it.
    Holds,
    /// A thread acquired `object` here, under another lock.
    Nests,
    /// A thread panicked here.
    Panicked,
    /// A thread aborted, exited or got a signal here.
    Died,
    /// A thread spins here.
    Spins,
    /// A thread allocates a block here: that is one side of the mistake.
    Allocates,
    /// A thread frees a block here: that is the mistake, or one side of it.
    Frees,
    /// A thread had freed the block here.
    Freed,
    /// A thread had acquired `object` here, and held it when it freed the block.
    Held,
    /// The block was allocated here.
    Allocated,
    /// A thread notified `object` here, when nobody waited.
    NotifiedNobody,
    /// A thread notified `object` here, and woke another one than those that wait.
    NotifiedOther,
    /// An atomic operation whose memory order is too weak to order two accesses: see `order`.
    WeakOrder,
    /// The program says here how something is meant to be.
    Said,
    /// A thread sleeps here, waits with a timeout or looks at a clock, and others are slower.
    Sleeps,
    /// A thread could have gone on here all the while.
    Slow,
}

impl Role {
    /// Whether it shows where a lock was acquired.
    #[must_use]
    pub const fn is_lock(self) -> bool {
        matches!(self, Self::Holds | Self::Held)
    }
}

/// One place of a bug.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Place {
    /// What it shows.
    pub role: Role,
    /// Who.
    pub thread: u32,
    /// Where.
    pub site: SiteId,
    /// Return addresses, innermost first.
    pub stack: Vec<u64>,
    /// On what, as an index into [`Replay::objects`].
    pub object: Option<u32>,
    /// The step during or after which it happened, as an index into [`Replay::steps`].
    pub step: Option<usize>,
    /// Of [`Role::WeakOrder`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Stronger>,
}

/// The memory order of an atomic operation, and the weakest with which it would be strong enough.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stronger {
    /// What it has.
    pub has: Order,
    /// What it needs.
    pub needs: Order,
    /// It is the order of a compare-exchange that failed.
    pub fails: bool,
}

/// What was seen of the locking discipline in a few executions.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Observation {
    /// Executions that came to their ends.
    pub executions: u64,
    /// Some had more accesses than are looked at.
    pub cut: bool,
    /// Accesses to memory that several threads use.
    pub accesses: Vec<AccessSeen>,
    /// Predicates that are not what they have to be.
    #[serde(default)]
    pub broken: Vec<Broken>,
}

/// A predicate of who may access memory that is no such predicate.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Broken {
    /// Which ([`crate::session::Watch::predicate`]).
    pub predicate: u64,
    /// What is wrong.
    pub rule: BrokenRule,
    /// The two threads that satisfy it; or who satisfied it, and who made that false.
    pub threads: [u32; 2],
    /// The last access before that showed.
    pub site: SiteId,
    /// Return addresses there, innermost first.
    pub stack: Vec<u64>,
}

/// What is wrong with a predicate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BrokenRule {
    /// Two threads satisfy it at a time.
    Both,
    /// One thread has made it false for another.
    Lost,
}

/// Memory of a program, in words that mean the same in all executions of it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Memory {
    /// Its address; in a block of the heap, the bytes before it there.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// What it lies in, where its address alone does not say what it is. Blocks begin at 0.
    pub home: Option<Home>,
}

/// A lock that was held.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct LockSeen {
    /// Its word.
    pub lock: Memory,
    /// With others who might hold it, too.
    pub shared: bool,
}

/// An access at one place of the program, with one set of locks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AccessSeen {
    /// To what.
    pub memory: Memory,
    /// Where.
    pub site: SiteId,
    /// Return addresses, innermost first.
    pub stack: Vec<u64>,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// The locks that its thread held.
    pub held: Vec<LockSeen>,
    /// Predicates that its thread did not satisfy, although it had to
    /// ([`crate::session::Watch::predicate`]).
    #[serde(default)]
    pub refused: Vec<u64>,
    /// Executions in which something had to order it with what other threads did.
    pub counted: u64,
    /// Executions in which it initialised the memory, or came when all others were done.
    pub apart: u64,
}
