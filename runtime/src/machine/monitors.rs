//! Who looks on while executions are made, beside the search.

use crate::detect::Detector;
use crate::discipline::atomicity::Atomicity;
use crate::discipline::exclusive::Exclusive;
use crate::discipline::observed::Observed;
use crate::locks::order::LockOrder;
use crate::machine::config::{Config, Mode};
use crate::memory::births::Births;
use crate::record::allocations::Allocations;
use crate::record::native_calls::Calls;
use crate::record::recorder::Recorder;
use lockred_protocol::session::Task;

/// See the module.
#[derive(Debug)]
pub struct Monitors {
    /// Locks under each other.
    pub lock_order: LockOrder,
    /// Blocks that are not atomic.
    pub atomicity: Atomicity,
    /// Who may access what, where the discipline is looked at.
    pub exclusive: Exclusive,
    /// The locking discipline, where that is looked at.
    pub observed: Option<Observed>,
    /// The race detector, from the root on; none by transactions, which judge races themselves.
    pub detector: Option<Detector>,
    /// Which thread allocated what.
    pub births: Births,
    /// Where blocks come from, in [`Mode::Replay`], where the discipline is looked at, and where
    /// leaks are looked for.
    pub allocations: Option<Allocations>,
    /// Calls of native code.
    pub native: Calls,
    /// The record, in [`Mode::Replay`].
    pub recorder: Option<Recorder>,
}

impl Monitors {
    /// Those that the request asks for.
    pub fn new(config: &Config) -> Self {
        let (observes, exclusive) = match config.task() {
            Some(Task::Observe { watches, .. }) => (true, Exclusive::new(watches)),
            _ => (false, Exclusive::default()),
        };
        let leaks = config.request.as_ref().is_some_and(|request| request.environment.leaks);
        let replays = config.mode == Mode::Replay;
        Self {
            lock_order: LockOrder::default(),
            atomicity: Atomicity::default(),
            exclusive,
            observed: observes.then(Observed::default),
            detector: None,
            births: Births::default(),
            allocations: (replays || leaks || observes).then(Allocations::default),
            native: Calls::default(),
            recorder: replays.then(Recorder::default),
        }
    }
}
