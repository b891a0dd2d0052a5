//! Exploring one test in as many processes as it takes: a death ends an execution, never the
//! exploration.
//!
//! When a process dies, the schedule under way is run again in a process of its own. If that shows
//! a bug, or dies as well, the death is the program's: it is a finding, and a search that goes on
//! leaves that schedule out. Else the process was killed from outside, or had no memory left.
//! Either way the next process goes on from the last checkpoint.
//!
//! Nothing here prints or reads symbols, so that tests can be explored side by side.

use super::bugs::REPLAY_SECONDS;
use super::portfolio;
use super::unfinished::Unfinished;
use super::walks;
use crate::error::Result;
use crate::interrupt;
use crate::outcome::Part;
use crate::session::{self, Death, Ending, Failure, Launch, Patience, Progress};
use lockred_protocol::message::{Counts, Exploration, Replay, Stop};
use lockred_protocol::session::{Checkpoint, Request, Target, Task};
use serde::{Deserialize, Serialize};

/// Deaths in a row, without progress between them, that are none of the program's.
const UNEXPLAINED: u32 = 3;

/// Executions of a test that the process may die in before its search is stopped: each costs two
/// processes.
const MOST_DEATHS: usize = 16;

/// Seconds between checkpoints, and the variable that names others (for tests of ours).
const CHECKPOINT_SECONDS: f64 = 1.0;
const CHECKPOINT_VARIABLE: &str = "LOCKRED_CHECKPOINT_SECONDS";

/// What came of the exploration of a test.
#[derive(Clone, PartialEq, Debug)]
pub enum Explored {
    /// The outcome of the search.
    Response(Box<Response>),
    /// The user stopped it, and did not respond.
    Interrupted {
        /// What it had done.
        counts: Counts,
    },
    /// An error of ours ended it.
    Failed(Failure),
}

/// The outcome of a search.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Response {
    /// As the process reported it.
    pub exploration: Exploration,
    /// Executions in which the process died, as their replays reported them; each has a bug.
    pub deaths: Vec<Replay>,
    /// Number of directed walks before the search; `None` without lock-order cycles.
    #[serde(default)]
    pub walks: Option<u64>,
    /// The parts of the search; empty where there was one.
    #[serde(default)]
    pub parts: Vec<Part>,
}

impl Response {
    /// Of one search, in which no process died.
    pub const fn of(exploration: Exploration) -> Self {
        Self { exploration, deaths: Vec::new(), walks: None, parts: Vec::new() }
    }
}

/// How a test is searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// The strategy of the request, alone.
    Alone,
    /// A portfolio of searches, of which that strategy is the first.
    Portfolio,
}

/// Explores a test to its end, first by walks towards the targets, if there are any.
///
/// # Errors
/// When no session can be made, or no process started.
pub fn explore(
    launch: &Launch,
    request: &Request,
    targets: &[Target],
    by: By,
    unfinished: &Unfinished,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Explored> {
    if let Some(response) = unfinished.response() {
        return Ok(Explored::Response(Box::new(response)));
    }
    let explored = if targets.is_empty() {
        search(launch, request, by, unfinished, progress)?
    } else {
        let walk = walks::request(request, targets);
        match in_processes(launch, &walk, patience(request), None, progress)? {
            Explored::Response(walked) if walks::end(&walked) => {
                Explored::Response(Box::new(walks::alone(*walked)))
            }
            Explored::Response(walked) => {
                let request = walks::after(&walked, request);
                match search(launch, &request, by, unfinished, progress)? {
                    Explored::Response(searched) => {
                        Explored::Response(Box::new(walks::join(*walked, *searched)))
                    }
                    other => other,
                }
            }
            // The search has done nothing.
            Explored::Interrupted { .. } => Explored::Interrupted { counts: Counts::default() },
            Explored::Failed(failure) => Explored::Failed(failure),
        }
    };
    if let Explored::Response(response) = &explored
        && response.exploration.stop != Stop::Interrupted
    {
        unfinished.keep_response(response);
    }
    Ok(explored)
}

fn search(
    launch: &Launch,
    request: &Request,
    by: By,
    unfinished: &Unfinished,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Explored> {
    match by {
        By::Alone => in_processes(launch, request, patience(request), Some(unfinished), progress),
        By::Portfolio => portfolio::explore(launch, request, unfinished, progress),
    }
}

/// How long the processes of a search may take.
fn patience(request: &Request) -> Patience {
    Patience::of_budget(match request.task {
        Task::Explore { limits, .. } => limits.seconds,
        _ => None,
    })
}

/// Searches a test to its end, without keeping anything for another check to go on from.
///
/// # Errors
/// When no session can be made, or no process started.
pub fn once(
    launch: &Launch,
    request: &Request,
    by: By,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Explored> {
    let alone = |progress| in_processes(launch, request, patience(request), None, progress);
    match (by, tempfile::tempdir()) {
        (By::Alone, _) | (_, Err(_)) => alone(progress),
        (By::Portfolio, Ok(directory)) => {
            let unfinished = Unfinished::new(directory.path(), "", launch, (request, by));
            portfolio::explore(launch, request, &unfinished, progress)
        }
    }
}

/// Searches, or walks, to the end of that. `unfinished`: where a search keeps what it takes to go
/// on.
pub fn in_processes(
    launch: &Launch,
    request: &Request,
    patience: Patience,
    unfinished: Option<&Unfinished>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Explored> {
    let (Task::Explore { keep_going, .. } | Task::Walk { keep_going, .. }) = request.task else {
        unreachable!("only searches and walks are explored");
    };
    let responded = |exploration, deaths| {
        Explored::Response(Box::new(Response { deaths, ..Response::of(exploration) }))
    };
    let mut deaths = unfinished.map(Unfinished::deaths).unwrap_or_default();
    let mut unexplained = 0;
    let mut furthest = 0;
    loop {
        let mut request = request.clone();
        request.checkpoint = unfinished
            .and_then(Unfinished::checkpoint)
            .map(|file| Checkpoint { file, seconds: checkpoint_seconds() });
        request.deaths = deaths.iter().map(|death| death.schedule.clone()).collect();
        let death = match session::run(launch, &request, patience, progress)? {
            Ending::Explored(exploration) => return Ok(responded(*exploration, deaths)),
            Ending::Interrupted { counts } => return Ok(Explored::Interrupted { counts }),
            Ending::Failed(failure) => return Ok(Explored::Failed(failure)),
            Ending::Replayed(_) | Ending::Minimised(_) | Ending::Observed(_) => {
                let message = "the response of the process is to another request".into();
                let failure = Failure {
                    message,
                    counts: Counts::default(),
                    schedule_log: Default::default(),
                };
                return Ok(Explored::Failed(failure));
            }
            Ending::Died(death) => *death,
        };
        if interrupt::requested() {
            return Ok(Explored::Interrupted { counts: death.counts });
        }
        match explain(launch, &request, &death)? {
            Some(replay) => {
                deaths.push(replay);
                if let Some(unfinished) = unfinished {
                    unfinished.keep_deaths(&deaths);
                }
                // Before the first choice there is no other schedule.
                let is_last = death.schedule_log.0.is_empty() || deaths.len() >= MOST_DEATHS;
                if !keep_going || is_last {
                    return Ok(responded(stopped_by(&death), deaths));
                }
            }
            None => {
                if death.counts.operations > furthest {
                    furthest = death.counts.operations;
                    unexplained = 0;
                }
                unexplained += 1;
                if unexplained == UNEXPLAINED {
                    let message = format!("{death} ({UNEXPLAINED} times)");
                    let Death { counts, schedule_log, .. } = death;
                    return Ok(Explored::Failed(Failure { message, counts, schedule_log }));
                }
            }
        }
    }
}

/// Runs the schedule of a death in a process of its own. Gives what that shows if it ends in a bug.
fn explain(launch: &Launch, request: &Request, death: &Death) -> Result<Option<Replay>> {
    let request = Request {
        task: Task::Replay { schedule: death.schedule_log.clone() },
        checkpoint: None,
        deaths: Vec::new(),
        ..request.clone()
    };
    let patience = Patience::of_budget(Some(REPLAY_SECONDS));
    Ok(match session::run(launch, &request, patience, &mut |_| ())? {
        Ending::Replayed(mut replay) => {
            // A crash cuts off what it chose last.
            if replay.schedule.0.len() < death.schedule_log.0.len() {
                replay.schedule = death.schedule_log.clone();
            }
            let shows = replay.bug.is_some() && replay.drift.is_none();
            shows.then_some(*replay)
        }
        Ending::Died(again) if again.repeats(death) => {
            Some(Death { schedule_log: death.schedule_log.clone(), ..*again }.into_replay())
        }
        _ => None,
    })
}

/// The outcome of a search that stops at the first bug, which is a death.
fn stopped_by(death: &Death) -> Exploration {
    Exploration::without_response(Stop::Bug, death.counts, 0.0)
}

fn checkpoint_seconds() -> f64 {
    let wanted = std::env::var(CHECKPOINT_VARIABLE).ok().and_then(|text| text.parse().ok());
    wanted.unwrap_or(CHECKPOINT_SECONDS)
}

#[cfg(test)]
#[path = "explore_tests.rs"]
mod tests;
