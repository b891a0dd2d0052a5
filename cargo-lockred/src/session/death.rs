//! What is left of a process that died by a signal which it could not survive.

use super::signal;
use lockred_protocol::codes::BugKind;
use lockred_protocol::message::{Bug, Counts, Place, Replay, Role};
use lockred_protocol::schedule::{Choice, Schedule};
use lockred_protocol::sites::SiteId;
use std::fmt;

/// The death of a process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Death {
    /// The signal.
    pub signal: i32,
    /// What it noted when the signal came; nothing where it could not (`SIGKILL`).
    pub last: Option<LastWords>,
    /// What it had done.
    pub counts: Counts,
    /// The schedule under way.
    pub schedule_log: Schedule,
    /// What it printed.
    pub output: Option<String>,
}

/// What a process notes about a fatal signal before it does anything else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LastWords {
    /// The signal.
    pub signal: i32,
    /// The address that it was about.
    pub address: u64,
    /// The thread that ran; none where lockred itself did.
    pub thread: Option<u32>,
    /// Its return addresses, innermost first.
    pub stack: Vec<u64>,
}

impl Death {
    /// The signal that it died of. (A process that notes one kills itself then.)
    pub fn cause(&self) -> i32 {
        self.last.as_ref().map_or(self.signal, |last| last.signal)
    }

    /// Whether it is the death of another process that ran the schedule of that one.
    pub fn repeats(&self, other: &Self) -> bool {
        self.cause() == other.cause() && self.schedule_log.0.starts_with(&other.schedule_log.0)
    }

    /// As a replay that ended with it: of one that died too, there is nothing else to show.
    pub fn into_replay(self) -> Replay {
        let name = signal::name(self.cause());
        let thread = self.last.as_ref().and_then(|last| last.thread);
        // Where it could not say which thread ran, it was the one that was chosen last.
        let running = self.schedule_log.0.iter().rev().find_map(|choice| match choice {
            Choice::Thread(thread) => Some(*thread),
            Choice::Value { .. } => None,
        });
        let message = match (&self.last, thread.or(running)) {
            (Some(last), Some(thread)) => {
                format!("{name} in thread {thread} at address {:#x}", last.address)
            }
            _ => format!("the process dies by {name}"),
        };
        let reported = self.last.is_some();
        let died = |thread| Place {
            role: Role::Died,
            thread,
            site: SiteId(0),
            stack: self.last.map(|last| last.stack).unwrap_or_default(),
            object: None,
            step: None,
            order: None,
        };
        let note = match reported {
            true => {
                "the process did not survive it, as the program had overwritten memory that is not its own; \
                 the stack is what looks like one"
            }
            false => {
                "the process is gone before it can report where; it is so whenever this schedule is run"
            }
        };
        let bug = Bug {
            kind: BugKind::Signal,
            message,
            key: format!("{}:death:{name}", BugKind::Signal.code()),
            places: thread.or(running).filter(|_| reported).map(died).into_iter().collect(),
            notes: vec![note.into()],
        };
        Replay {
            overtaken: Vec::new(),
            bug: Some(bug),
            drift: None,
            schedule: self.schedule_log,
            threads: Vec::new(),
            objects: Vec::new(),
            steps: Vec::new(),
            output: Vec::new(),
            warnings: Vec::new(),
            scaled: Vec::new(),
            unsupported: None,
            shared: None,
        }
    }
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hint = match self.cause() {
            libc::SIGBUS => "; a full disk can be the reason",
            libc::SIGKILL => "; the system may be out of memory",
            _ => "",
        };
        write!(f, "the process died by {}{hint}", signal::name(self.cause()))?;
        match &self.output {
            Some(output) => write!(f, "; it printed:\n{output}"),
            None => Ok(()),
        }
    }
}
