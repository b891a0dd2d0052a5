//! A session: how cargo-lockred asks an exploration process to do something, and watches it.
//!
//! A session is a directory, named by the environment variable [`ENV`], with three files:
//! - [`REQUEST_FILE`]: one JSON [`Request`], written by cargo-lockred before the process starts;
//! - [`STATUS_FILE`]: a file of [`STATUS_BYTES`] zero bytes that both sides map shared: progress
//!   and the schedule under way, so that a process that dies leaves behind what it was doing;
//! - [`MESSAGE_FILE`]: JSON lines, each a [`crate::message::Message`], appended by the process.
//!
//! Without the environment variable an instrumented executable runs the program once under a fixed
//! schedule and checks nothing: so `--list` works, and so does starting it by hand.

use crate::codes::BugKind;
use crate::message::Memory;
use crate::schedule::{Choice, Schedule};
use crate::sites::SiteId;
use serde::{Deserialize, Serialize};

pub use crate::strategy::{Needs, Strategy};

/// Environment variable that names the session directory.
pub const ENV: &str = "LOCKRED_SESSION";
/// The request, in the session directory.
pub const REQUEST_FILE: &str = "request.json";
/// The mapped status, in the session directory.
pub const STATUS_FILE: &str = "status";
/// The messages, in the session directory.
pub const MESSAGE_FILE: &str = "messages.jsonl";
/// Files that the program has removed, until they are put back, in the session directory.
pub const KEPT_DIRECTORY: &str = "kept";
/// Exit status of an exploration process that wrote its response to the message file, whatever the
/// response is.
pub const EXIT_RESPONDED: i32 = 0;
/// Exit status of an exploration process that failed by an error of ours (with a `Message::Error`
/// where it still could).
pub const EXIT_INTERNAL: i32 = 70;
/// Exit status of an exploration process that has given the program made-up numbers, and needs
/// [`Environment::numbers`].
pub const EXIT_AGAIN: i32 = 71;
/// Signal by which the session asks the process to stop and respond with what it has (Ctrl-C, the
/// budget, a call that blocks). In the middle of a step it sends `Computing` with the place where
/// it was; the session, which knows why it asked, says what that means.
pub const STOP_SIGNAL: i32 = 61; // SIGRTMIN+27, which programs that are checked do not use

/// What a process is to do.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Request {
    /// [`crate::FORMAT_VERSION`].
    pub version: u32,
    /// Explore or replay.
    pub task: Task,
    /// Whether the program is a libtest binary that was asked to run exactly one test. Then the
    /// thread that libtest would start for the test is refused (the test runs on the main thread),
    /// returning from `main` is success, status 101 is failure, and any other exit is the bug
    /// `exit`.
    pub libtest: bool,
    /// Seed of the randomness that the program gets from the system.
    pub random_seed: u64,
    /// What the environment of the program chooses, beyond what it always does.
    #[serde(default)]
    pub environment: Environment,
    /// Where a search keeps what it takes to go on, and goes on from if there is something.
    #[serde(default)]
    pub checkpoint: Option<Checkpoint>,
    /// Schedules under which the process has died: executions end where they are about to go beyond
    /// one of these.
    #[serde(default)]
    pub deaths: Vec<Schedule>,
    /// Keys of findings that a search passes over, as they are known
    /// ([`crate::message::Finding::key`]).
    #[serde(default)]
    pub passes: Vec<String>,
    /// The process that this one ends with, if it is to end with one: the one that has started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
}

/// How a search keeps what it takes to go on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The file ([`crate::sealed`]). What is in it is the runtime's business.
    pub file: String,
    /// Seconds from one to the next.
    pub seconds: f64,
}

impl Request {
    /// A request to do this to a program of its own, with nothing else said.
    #[must_use]
    pub fn of(task: Task) -> Self {
        Self {
            version: crate::FORMAT_VERSION,
            task,
            libtest: false,
            random_seed: 0,
            environment: Environment::USUAL,
            checkpoint: None,
            deaths: Vec::new(),
            passes: Vec::new(),
            parent: None,
        }
    }
}

/// What is explored of the environment although it need not happen in any execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Environment {
    /// Waits may return, and weak compare-exchanges fail, for no reason.
    pub spurious: bool,
    /// A thread gets the memory that it freed last again at once, so that addresses come back.
    #[serde(default)]
    pub reuse: bool,
    /// Blocks that are still allocated at the end, and that nothing points to, are warned of.
    #[serde(default)]
    pub leaks: bool,
    /// Where randomness from the system comes from.
    pub random: Random,
    /// When sleeps and timeouts end.
    #[serde(default)]
    pub time: Time,
    /// The program learns the kernel's own numbers of processes from the start, and no made-up
    /// ones.
    #[serde(default)]
    pub numbers: bool,
    /// Every restore from a copy of the state is compared with running the steps again. (A test of
    /// lockred itself.)
    #[serde(default)]
    pub verify_restores: bool,
    /// Memory is copied whole, as where the system has no images or does not tell what was written.
    /// (A test of lockred itself.)
    #[serde(default)]
    pub without_images: bool,
}

impl Environment {
    /// What happens unless more is asked for.
    pub const USUAL: Self = Self {
        spurious: false,
        reuse: false,
        leaks: false,
        random: Random::Fixed,
        time: Time::Any,
        numbers: false,
        verify_restores: false,
        without_images: false,
    };
}

/// When sleeps and timeouts end, and looks at clocks find that much time has passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Time {
    /// At any time.
    #[default]
    Any,
    /// Only once no thread can run, in the order of their moments.
    Ordered,
}

/// Randomness that the program gets from the system.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Random {
    /// One stream, made of the request's seed.
    #[default]
    Fixed,
    /// Each request is answered in a few ways.
    Explore,
}

/// What a process can be asked for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Search, and respond with one [`crate::message::Exploration`].
    Explore {
        /// How.
        strategy: Strategy,
        /// Until when.
        limits: Limits,
        /// Go on after the first bug.
        keep_going: bool,
    },
    /// Look for the least schedule that fails in the same way, and respond with one
    /// [`crate::message::Message::Minimised`].
    Minimise {
        /// One that fails.
        schedule: Schedule,
        /// How.
        kind: BugKind,
        /// See [`crate::message::Finding::key`].
        key: String,
        /// How much may be done, counted in steps.
        steps: u64,
        /// Seconds of processor time after which it ends all the same.
        seconds: f64,
    },
    /// Look at the locking discipline in a few executions at random, and respond with one
    /// [`crate::message::Observation`].
    Observe {
        /// How many.
        executions: u64,
        /// Seed of the walks.
        seed: u64,
        /// Scheduling points in one, at most.
        operations: u64,
        /// Memory of which predicates say who may access it.
        #[serde(default)]
        watches: Vec<Watch>,
    },
    /// Walk at random towards cycles in the order of locks, and respond with one
    /// [`crate::message::Exploration`], whose executions are the walks.
    Walk {
        /// The cycles, in the order in which they are walked towards.
        targets: Vec<Target>,
        /// Walks towards each, at most.
        walks: u64,
        /// Scheduling points in the walks towards one target after which no further walk towards
        /// it begins.
        operations: u64,
        /// Seed of the walks.
        seed: u64,
        /// Until when.
        limits: Limits,
        /// Go on after the first bug.
        keep_going: bool,
    },
    /// Run one schedule, recording everything, and respond with one [`crate::message::Replay`].
    Replay {
        /// What to follow.
        schedule: Schedule,
    },
}

/// A cycle in the order of locks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Target {
    /// Its nestings: where the lock is acquired that is held, and where the one that is acquired
    /// under it.
    pub nestings: Vec<[SiteId; 2]>,
}

/// Memory in a value, of which a predicate says who may access it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Watch {
    /// The memory.
    pub memory: Memory,
    /// Bytes from where the value begins to it.
    pub back: u64,
    /// The address of the predicate in the executable.
    pub predicate: u64,
}

impl Task {
    /// What the process has to prepare for it.
    #[must_use]
    pub fn needs(&self) -> Needs {
        match self {
            Self::Explore { strategy, .. } => strategy.needs(),
            Self::Minimise { schedule, .. } => {
                let channels_step_by_step = schedule.is_step_by_step();
                Needs { channels_step_by_step, ..Needs::OPERATIONS }
            }
            Self::Replay { schedule } => {
                let channels_step_by_step = schedule.is_step_by_step();
                Needs { channels_step_by_step, ..Needs::WALK }
            }
            Self::Observe { .. } | Self::Walk { .. } => Needs::WALK,
        }
    }
}

/// Where a search stops although it is not complete.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Number of executions, `None` for no limit.
    pub executions: Option<u64>,
    /// Seconds of processor time, `None` for no limit.
    pub seconds: Option<f64>,
    /// Scheduling points in one execution; an execution that reaches it is cut and the search is
    /// not complete.
    pub operations: u64,
    /// What the search may take until it stops between two executions.
    #[serde(default)]
    pub share: Share,
}

/// What a search may take until it stops between two executions, where another process can go on.
/// What other processes took that it goes on from counts.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Share {
    /// Scheduling points, prefixes that are run again included.
    pub operations: Option<u64>,
    /// Seconds of processor time.
    pub seconds: Option<f64>,
}

/// Size of the status file: one page of counters, then the schedule log.
pub const STATUS_BYTES: usize = STATUS_SCHEDULE + SCHEDULE_CAPACITY * 8;
/// Offset of the stack of a death in the status file: return addresses, innermost first.
pub const STATUS_DEATH: usize = 1024;
/// Return addresses that are kept of it.
pub const DEATH_FRAMES: usize = 64;
/// Offset of the schedule log in the status file.
pub const STATUS_SCHEDULE: usize = 4096;
/// Choices that the schedule log holds; a longer schedule is cut there.
pub const SCHEDULE_CAPACITY: usize = 1 << 20;

/// The counters of the status page: word `i` is the `u64` at byte offset `8 * i`, read and written
/// atomically.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum StatusWord {
    /// Grows while the process makes progress (at least once per scheduling point below the root).
    Heartbeat = 0,
    /// A [`Phase`] code.
    Phase = 1,
    /// Executions of the pass under way.
    Executions = 2,
    /// Executions cut by sleep sets.
    Blocked = 3,
    /// Passes thrown away by refuted facts.
    Refinements = 4,
    /// Transactions (runs of a thread from boundary to boundary).
    Transactions = 5,
    /// Operations (scheduling points executed).
    Operations = 6,
    /// Length of the schedule log: the schedule of the execution under way.
    ScheduleLength = 7,
    /// Bugs found so far.
    Bugs = 8,
    /// A fatal signal that the process could not survive, or [`STOP_SIGNAL`] while it is in a call
    /// and cannot stop; 0 for none. Written before anything else is done about it.
    DeathSignal = 9,
    /// The address that it was about.
    DeathAddress = 10,
    /// The thread that ran, counted from 1; 0 for none.
    DeathThread = 11,
    /// Number of return addresses in [`STATUS_DEATH`].
    DeathFrames = 12,
    /// The share of the search that is done, as far as that can be reported ([`encode_share`]); 0
    /// where it cannot.
    Share = 13,
    /// The number of preemptions up to which executions are explored now, counted from 1; 0 where
    /// none is counted.
    Preemptions = 14,
}

/// What the process is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Phase {
    /// Not yet in the runtime, or before the program's first thread creation.
    BeforeRoot = 0,
    /// Exploring or replaying below the root.
    BelowRoot = 1,
    /// The response is written.
    Responded = 2,
}

/// Parts of the whole in which a share is written.
const SHARES: f64 = 1e15;

/// A share, from 0 to 1, as a word of the status page.
#[must_use]
pub fn encode_share(share: f64) -> u64 {
    (share.clamp(0.0, 1.0) * SHARES) as u64 + 1
}

/// The share that a word of the status page stands for, if any.
#[must_use]
pub fn decode_share(word: u64) -> Option<f64> {
    Some(word.checked_sub(1)? as f64 / SHARES)
}

/// One choice as a word of the schedule log.
#[must_use]
pub fn encode_choice(choice: Choice) -> u64 {
    match choice {
        Choice::Thread(thread) => u64::from(thread) << 1,
        Choice::Value { picked, of } => u64::from(of) << 32 | u64::from(picked) << 1 | 1,
    }
}

/// The choice that a word of the schedule log stands for.
#[must_use]
pub fn decode_choice(word: u64) -> Choice {
    if word & 1 == 0 {
        Choice::Thread((word >> 1) as u32)
    } else {
        Choice::Value { picked: (word as u32) >> 1, of: (word >> 32) as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_survive_the_page() {
        assert_eq!(decode_share(0), None);
        for share in [0.0, 0.25, 1.0] {
            assert_eq!(decode_share(encode_share(share)), Some(share));
        }
    }

    #[test]
    fn choices_survive_the_schedule_log() {
        for choice in [
            Choice::Thread(0),
            Choice::Thread(u32::MAX),
            Choice::Value { picked: 0, of: 1 },
            Choice::Value { picked: 6, of: 7 },
        ] {
            assert_eq!(decode_choice(encode_choice(choice)), choice);
        }
    }
}
