//! When a process is asked to stop, and when it is killed: a decision over what it has computed and
//! what it waits for, free of any process.
//!
//! What a process may take is processor time, which does not depend on what else the machine does.
//! A process that sleeps in the kernel takes none; it is given a number of looks, all of which have
//! to find it asleep. One that is starved or stopped is not asleep, and is waited for.

use super::sight::{Sight, Wait};
use super::status::Progress;
use std::time::Duration;

/// How often a process is looked at.
pub const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Looks in a row that find a process asleep, below the root: nothing in it can end that.
const ASLEEP: u32 = 100;
/// The same before the root, where it may wait for another process: a minute.
const ASLEEP_BEFORE_ROOT: u32 = 600;
/// Who computes less than this between two looks is asleep in both.
const DOZING: Duration = Duration::from_millis(1);

/// What a process may compute until it has responded, when it is asked to stop.
const RESPONSE: Duration = Duration::from_secs(10);
/// What it may compute until it is asked again: a call that it was in may have come back.
const AGAIN: Duration = Duration::from_secs(1);
/// Looks that may find it asleep then, and looks that a user who wants it to stop waits for.
const LAST_LOOKS: u32 = 30;
/// How far a search may run over its budget, which it keeps by itself between steps.
const OVERRUN: Duration = Duration::from_secs(1);

/// How long a process may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patience {
    /// Processor time, both before the first thread creation, and below the root; `None` for no
    /// limit.
    budget: Option<Duration>,
}

impl Patience {
    /// For a budget in seconds of processor time, which the process itself keeps below the root,
    /// between steps.
    pub fn of_budget(seconds: Option<f64>) -> Self {
        // More than a day is no limit worth its overflow.
        let budget = seconds.filter(|s| *s < 86_400.0).map(Duration::from_secs_f64);
        Self { budget }
    }

    /// Looks that may find a process asleep before its root.
    fn asleep_before_root(self) -> u32 {
        let looks = self.budget.map_or(0, |budget| budget.as_millis() / LOOK_EVERY.as_millis());
        ASLEEP_BEFORE_ROOT.max(u32::try_from(looks).unwrap_or(u32::MAX))
    }
}

/// Why a process is asked to stop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// It runs over its budget.
    Overrun,
    /// It sleeps.
    Asleep(Wait),
    /// The user wants it.
    Interrupted,
}

/// A process was asked to stop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// Why.
    pub reason: Reason,
    /// Whether its first thread was created.
    pub below_root: bool,
    /// What it had computed since it came to its last scheduling point, or was started.
    pub computed: Duration,
}

impl Asked {
    /// Why its test goes no further, in words.
    pub fn text(&self) -> String {
        let seconds = self.computed.as_secs();
        match &self.reason {
            Reason::Overrun if self.below_root => format!(
                "a thread has computed for {seconds} s of processor time without an operation that others could see; \
                 --max-seconds raises the limit"
            ),
            Reason::Overrun => format!(
                "the test has computed for {seconds} s of processor time without creating a thread; \
                 --max-seconds raises the limit"
            ),
            Reason::Asleep(wait) => wait.to_string(),
            Reason::Interrupted => "interrupted".to_owned(),
        }
    }
}

/// What to do now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// Let it run.
    Nothing,
    /// Ask it to stop, for the first time or again.
    Ask,
    /// Kill it.
    Kill,
}

/// The watchdog of one process. Times are processor time.
pub struct Watchdog {
    patience: Patience,
    /// When it was last known to make progress, and how far it was.
    heartbeat: u64,
    beat_at: Duration,
    root_at: Option<Duration>,
    /// Looks in a row that found it asleep, and when it was looked at last.
    asleep: u32,
    looked_at: Duration,
    /// Why it was asked to stop first, when it was, and when it was asked last; looks since then,
    /// and those of them that found it asleep.
    asked: Option<Asked>,
    asked_at: Duration,
    asked_again_at: Duration,
    looks: u32,
}

impl Watchdog {
    /// Watches a process that starts now.
    pub const fn new(patience: Patience) -> Self {
        Self {
            patience,
            heartbeat: 0,
            beat_at: Duration::ZERO,
            root_at: None,
            asleep: 0,
            looked_at: Duration::ZERO,
            asked: None,
            asked_at: Duration::ZERO,
            asked_again_at: Duration::ZERO,
            looks: 0,
        }
    }

    /// Why the process was asked to stop, if it was.
    pub fn into_asked(self) -> Option<Asked> {
        self.asked
    }

    /// What to do, given what the process has done so far and what it does now.
    pub fn look(&mut self, progress: &Progress, sight: &Sight, interrupted: bool) -> Act {
        let now = sight.cpu.max(self.looked_at);
        if progress.heartbeat != self.heartbeat {
            self.heartbeat = progress.heartbeat;
            self.beat_at = now;
        }
        if progress.below_root && self.root_at.is_none() {
            self.root_at = Some(now);
            self.beat_at = now;
        }
        let dozes = sight.asleep && now.saturating_sub(self.looked_at) < DOZING;
        self.asleep = if dozes { self.asleep + 1 } else { 0 };
        self.looked_at = now;
        match &self.asked {
            Some(asked) if asked.reason == Reason::Interrupted || !interrupted => {
                let hurried = asked.reason == Reason::Interrupted;
                self.wait(hurried, now)
            }
            // Ctrl-C outweighs what it was asked for before: the user is not to wait for a second
            // deadline.
            _ => match self.reason(sight, interrupted, now) {
                Some(reason) => self.ask(reason, now),
                None => Act::Nothing,
            },
        }
    }

    /// Why the process is to stop now, if it is.
    fn reason(&self, sight: &Sight, interrupted: bool, now: Duration) -> Option<Reason> {
        let (since, looks, overrun) = match self.root_at {
            Some(root) => (root, ASLEEP, OVERRUN),
            None => (Duration::ZERO, self.patience.asleep_before_root(), Duration::ZERO),
        };
        if interrupted {
            Some(Reason::Interrupted)
        } else if self.asleep >= looks {
            Some(Reason::Asleep(sight.wait(looks)))
        } else {
            let over = |budget| now.saturating_sub(since) > budget + overrun;
            self.patience.budget.filter(|&budget| over(budget)).map(|_| Reason::Overrun)
        }
    }

    fn ask(&mut self, reason: Reason, now: Duration) -> Act {
        let computed = now.saturating_sub(self.beat_at);
        self.asked = Some(Asked { reason, below_root: self.root_at.is_some(), computed });
        (self.asked_at, self.asked_again_at) = (now, now);
        (self.looks, self.asleep) = (0, 0);
        Act::Ask
    }

    /// It was asked. `hurried`: by the user.
    fn wait(&mut self, hurried: bool, now: Duration) -> Act {
        self.looks += 1;
        let sleeps_on = self.asleep > LAST_LOOKS || hurried && self.looks > LAST_LOOKS;
        if sleeps_on || now.saturating_sub(self.asked_at) > RESPONSE {
            return Act::Kill;
        }
        // A call that a signal has ended may have been made again.
        let asleep_again = self.asleep > 0 && self.asleep.is_multiple_of(10);
        if asleep_again || now.saturating_sub(self.asked_again_at) > AGAIN {
            self.asked_again_at = now;
            return Act::Ask;
        }
        Act::Nothing
    }
}

#[cfg(test)]
#[path = "watchdog_tests.rs"]
mod tests;
