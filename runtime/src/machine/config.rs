//! What the process is for, and how: fixed when it starts, but for what one task sets for parts of
//! it.

use crate::memory::heap::Reuse;
use crate::session::files::StatusPage;
use lockred_protocol::session::{Needs, Request, Task, Time};

/// What the process is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// No session: run the program once, check nothing.
    Free,
    /// Search.
    Explore,
    /// Follow one schedule and record everything.
    Replay,
}

/// See the module.
#[derive(Debug)]
pub struct Config {
    /// What the process is for.
    pub mode: Mode,
    /// What the session asked for; `None` in [`Mode::Free`].
    pub request: Option<Request>,
    /// The session's counters.
    pub status: Option<StatusPage>,
    /// When freed memory is handed out again.
    pub reuse: Reuse,
    /// The search is one by transactions.
    pub by_transactions: bool,
    /// The search is one over states.
    pub by_states: bool,
    /// States are compared: frames of stopped threads are kept, and leftovers cleared.
    pub compares: bool,
    /// Executions are watched by the race detector.
    pub detects: bool,
    /// The search looks at what steps touch.
    pub footprints: bool,
    /// A schedule is being followed.
    pub follows: bool,
    /// Sleeps and timeouts end in the order of time ([`crate::scheduler::timely`]).
    pub orders_time: bool,
    /// What threads do after the process's end is of no interest.
    pub exit_ends: bool,
}

impl Config {
    /// As the session has requested.
    pub fn new(mode: Mode, request: Option<Request>, status: Option<StatusPage>) -> Self {
        let task = request.as_ref().map(|request| &request.task);
        let needs = task.map_or(Needs::WALK, Task::needs);
        let environment = request.as_ref().map(|request| request.environment).unwrap_or_default();
        Self {
            mode,
            request,
            status,
            reuse: if environment.reuse { Reuse::AtOnce } else { Reuse::Late },
            by_transactions: needs.transactions,
            by_states: needs.states,
            compares: needs.states || environment.verify_restores,
            detects: needs.detector,
            footprints: needs.footprints,
            follows: false,
            orders_time: environment.time == Time::Ordered,
            exit_ends: false,
        }
    }

    /// What the session wants done.
    pub fn task(&self) -> Option<&Task> {
        self.request.as_ref().map(|request| &request.task)
    }

    /// Whether waits may return, and weak compare-exchanges fail, for no reason.
    pub fn spurious(&self) -> bool {
        self.request.as_ref().is_some_and(|request| request.environment.spurious)
    }

    /// Whether the program is a test that libtest runs.
    pub fn libtest(&self) -> bool {
        self.request.as_ref().is_some_and(|request| request.libtest)
    }
}
