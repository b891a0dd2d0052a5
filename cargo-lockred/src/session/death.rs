//! What is left of a process that died by a signal which it could not survive.

use crate::report::bug::signal_name;
use lockred_trace::codes::BugKind;
use lockred_trace::message::{Bug, Counts, Place, Replay, Role};
use lockred_trace::schedule::Schedule;
use lockred_trace::sites::SiteId;
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
    pub trail: Schedule,
    /// What it printed.
    pub output: Option<String>,
}

/// What a process notes about a fatal signal before it does anything else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LastWords {
    /// The address that the signal was about.
    pub address: u64,
    /// The thread that ran; none where lockred itself did.
    pub thread: Option<u32>,
    /// Its return addresses, innermost first.
    pub stack: Vec<u64>,
}

impl Death {
    /// As a replay that ended with it: of one that died too, there is nothing else to show.
    pub fn into_replay(self) -> Replay {
        let name = signal_name(self.signal);
        let thread = self.last.as_ref().and_then(|last| last.thread);
        let message = match (&self.last, thread) {
            (Some(last), Some(thread)) => {
                format!("{name} in thread {thread} at address {:#x}", last.address)
            }
            _ => format!("the process dies by {name}"),
        };
        let died = |thread| Place {
            role: Role::Died,
            thread,
            site: SiteId(0),
            stack: self.last.map(|last| last.stack).unwrap_or_default(),
            object: None,
            step: None,
        };
        let note = "the process did not survive it, as the program had overwritten memory that is not its own; \
                    the steps that led here are not known";
        let bug = Bug {
            kind: BugKind::Signal,
            message,
            key: format!("{}:death:{name}", BugKind::Signal.code()),
            places: thread.map(died).into_iter().collect(),
            notes: vec![note.into()],
        };
        Replay {
            bug: Some(bug),
            drift: None,
            schedule: self.trail,
            threads: Vec::new(),
            objects: Vec::new(),
            steps: Vec::new(),
            output: Vec::new(),
            unsupported: None,
        }
    }
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hint = match self.signal {
            libc::SIGBUS => "; a full disk can be the reason",
            libc::SIGKILL => "; the system may be out of memory",
            _ => "",
        };
        write!(f, "the process died by {}{hint}", signal_name(self.signal))?;
        match &self.output {
            Some(output) => write!(f, "; it printed:\n{output}"),
            None => Ok(()),
        }
    }
}
