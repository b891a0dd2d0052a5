//! When a process is asked to stop, and when it is killed: a decision over time, free of any process.

use super::status::Progress;
use lockred_trace::session::{STOP_SIGNAL, WATCHDOG_SIGNAL};
use std::time::{Duration, Instant};

/// How long the heartbeat may stand still below the root.
const STANDSTILL: Duration = Duration::from_secs(10);
/// How long a process has to answer when it is asked to stop.
const ANSWER: Duration = Duration::from_secs(3);
/// How far a search may run over its budget before it is asked to stop.
const OVERRUN: Duration = Duration::from_secs(5);

/// How long a process may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patience {
    /// Before the first thread creation, where there is no heartbeat: the program computes by itself.
    pub before_root: Duration,
    /// Below the root; `None` for no limit.
    pub budget: Option<Duration>,
}

impl Patience {
    /// For a budget in seconds, which the process itself keeps below the root.
    pub fn of_budget(seconds: Option<f64>) -> Self {
        // More than a day is no limit worth its overflow.
        let budget = seconds.filter(|s| *s < 86_400.0).map(Duration::from_secs_f64);
        Self { before_root: budget.unwrap_or(STANDSTILL).max(STANDSTILL), budget }
    }
}

/// Why a process is asked to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Its heartbeat stands still.
    Standstill,
    /// It runs over its budget.
    Overrun,
    /// The user wants it.
    Interrupted,
}

impl Reason {
    /// What to tell when it did not answer and was killed.
    pub fn text(self, progress: &Progress) -> String {
        let place = if progress.below_root {
            format!("in execution {}", progress.counts.executions + 1)
        } else {
            "before its first thread was created".to_owned()
        };
        match self {
            Self::Standstill => format!(
                "the process made no progress {place} for {} s and did not answer; it was killed",
                STANDSTILL.as_secs()
            ),
            Self::Overrun => format!(
                "the process ran over its budget by more than {} s {place} and did not answer; it was killed",
                OVERRUN.as_secs()
            ),
            Self::Interrupted => "interrupted".to_owned(),
        }
    }
}

/// What to do now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// Let it run.
    Nothing,
    /// Send this signal, for this reason.
    Signal(i32, Reason),
    /// Kill it.
    Kill,
}

/// The watchdog of one process.
pub struct Watchdog {
    patience: Patience,
    heartbeat: u64,
    beat_at: Instant,
    root_at: Option<Instant>,
    asked_at: Option<(Instant, Reason)>,
}

impl Watchdog {
    /// Watches a process that starts now.
    pub const fn new(patience: Patience, now: Instant) -> Self {
        Self { patience, heartbeat: 0, beat_at: now, root_at: None, asked_at: None }
    }

    /// What to do, given what the process has done by `now`.
    pub fn look(&mut self, progress: &Progress, interrupted: bool, now: Instant) -> Act {
        if progress.heartbeat != self.heartbeat {
            self.heartbeat = progress.heartbeat;
            self.beat_at = now;
        }
        if progress.below_root && self.root_at.is_none() {
            self.root_at = Some(now);
            self.beat_at = now;
        }
        if let Some((at, reason)) = self.asked_at {
            // Ctrl-C outweighs what it was asked for before: the user is not to wait for a second deadline.
            if interrupted && reason != Reason::Interrupted {
                return self.ask(STOP_SIGNAL, Reason::Interrupted, now);
            }
            return if now.duration_since(at) > ANSWER { Act::Kill } else { Act::Nothing };
        }
        if interrupted {
            return self.ask(STOP_SIGNAL, Reason::Interrupted, now);
        }
        let still = if self.root_at.is_some() { STANDSTILL } else { self.patience.before_root };
        if now.duration_since(self.beat_at) > still {
            return self.ask(WATCHDOG_SIGNAL, Reason::Standstill, now);
        }
        match (self.root_at, self.patience.budget) {
            (Some(root), Some(budget)) if now.duration_since(root) > budget + OVERRUN => {
                self.ask(STOP_SIGNAL, Reason::Overrun, now)
            }
            _ => Act::Nothing,
        }
    }

    fn ask(&mut self, signal: i32, reason: Reason, now: Instant) -> Act {
        self.asked_at = Some((now, reason));
        Act::Signal(signal, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(s: u64) -> Duration {
        Duration::from_secs(s)
    }

    fn below(heartbeat: u64) -> Progress {
        Progress { heartbeat, below_root: true, ..Progress::default() }
    }

    #[test]
    fn a_standstill_below_the_root_is_asked_about_then_killed() {
        let start = Instant::now();
        let mut dog = Watchdog::new(Patience::of_budget(Some(60.0)), start);
        assert_eq!(dog.look(&below(1), false, start), Act::Nothing);
        assert_eq!(dog.look(&below(1), false, start + seconds(9)), Act::Nothing);
        let act = dog.look(&below(1), false, start + seconds(11));
        assert_eq!(act, Act::Signal(WATCHDOG_SIGNAL, Reason::Standstill));
        assert_eq!(dog.look(&below(1), false, start + seconds(13)), Act::Nothing);
        assert_eq!(dog.look(&below(1), false, start + seconds(15)), Act::Kill);
    }

    #[test]
    fn before_the_root_a_program_may_compute_for_its_budget() {
        let start = Instant::now();
        let above = Progress::default();
        let mut dog = Watchdog::new(Patience::of_budget(Some(60.0)), start);
        assert_eq!(dog.look(&above, false, start + seconds(59)), Act::Nothing);
        assert!(matches!(dog.look(&above, false, start + seconds(61)), Act::Signal(..)));
        let mut dog = Watchdog::new(Patience::of_budget(Some(1.0)), start);
        assert_eq!(dog.look(&above, false, start + seconds(9)), Act::Nothing);
        assert!(matches!(dog.look(&above, false, start + seconds(11)), Act::Signal(..)));
    }

    #[test]
    fn an_overrun_of_the_budget_is_stopped() {
        let start = Instant::now();
        let mut dog = Watchdog::new(Patience::of_budget(Some(2.0)), start);
        for second in 0..=7 {
            assert_eq!(dog.look(&below(second), false, start + seconds(second)), Act::Nothing);
        }
        let act = dog.look(&below(8), false, start + seconds(8));
        assert_eq!(act, Act::Signal(STOP_SIGNAL, Reason::Overrun));
    }

    #[test]
    fn an_interruption_is_passed_on_at_once_and_once() {
        let start = Instant::now();
        let mut dog = Watchdog::new(Patience::of_budget(None), start);
        let act = dog.look(&below(1), true, start);
        assert_eq!(act, Act::Signal(STOP_SIGNAL, Reason::Interrupted));
        assert_eq!(dog.look(&below(2), true, start + seconds(1)), Act::Nothing);
        assert_eq!(dog.look(&below(3), true, start + seconds(4)), Act::Kill);
    }
}
