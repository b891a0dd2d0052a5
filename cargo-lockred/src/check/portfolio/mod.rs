//! A portfolio of searches of one test: the exhaustive search first, and where that has not ended
//! after a short while, other searches in turn with it.
//!
//! Each slice of a part is a process of its own, as walks are; parts share nothing. The exhaustive
//! search goes on where it stood, from its checkpoint; random parts have other numbers in each
//! round; the others begin anew with more time. A test is over when a part has covered everything,
//! at the first bug unless the check goes on, or at the end of its budget.

mod done;
pub mod parts;

use super::explore::{Explored, Response, in_processes};
use super::unfinished::Unfinished;
use crate::error::Result;
use crate::interrupt;
use crate::session::{Launch, Patience, Progress};
use done::Done;
use lockred_protocol::message::{Counts, Exploration, Stop, Unsupported};
use lockred_protocol::session::{Request, Share, Task};
use lockred_protocol::sites::SiteId;
use parts::{Budget, EXHAUSTIVE, PARTS, place};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What the slices so far came to. It is kept to go on from.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Portfolio {
    /// Slices that were made or passed over.
    slices: u32,
    /// Of each part, by its place in the table.
    parts: Vec<Done>,
}

/// Explores a test by all parts. The share of the request is the budget in operations.
///
/// # Errors
/// When no session can be made, or no process started.
pub fn explore(
    launch: &Launch,
    request: &Request,
    unfinished: &Unfinished,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Explored> {
    let Task::Explore { limits, keep_going, .. } = request.task else {
        unreachable!("only searches are explored");
    };
    let whole = Budget { operations: limits.share.operations, seconds: limits.seconds };
    let mut portfolio = unfinished.portfolio().unwrap_or_default();
    portfolio.parts.resize_with(PARTS.len(), Done::default);
    while let Some((part, share)) = portfolio.next(whole) {
        if interrupt::requested() {
            return Ok(portfolio.interrupted());
        }
        let (before, begun) = portfolio.before(part, unfinished);
        let slice = portfolio.request(request, part, share, before);
        let seen = portfolio.clone();
        let mut progress = |now: &Progress| progress(&seen.progress(part, begun, now));
        let kept = (part == EXHAUSTIVE).then_some(unfinished);
        let patience = Patience::of_budget(whole.seconds);
        match in_processes(launch, &slice, patience, kept, &mut progress)? {
            Explored::Response(response) => {
                let stop = response.exploration.stop.clone();
                portfolio.add(part, *response, before);
                match stop {
                    Stop::Interrupted => return Ok(portfolio.interrupted()),
                    _ if portfolio.has_ended(keep_going) => break,
                    _ => {}
                }
            }
            Explored::Interrupted { counts } => {
                portfolio.parts[part].count(counts, before);
                return Ok(portfolio.interrupted());
            }
            Explored::Failed(failure) if part == EXHAUSTIVE => {
                return Ok(Explored::Failed(failure));
            }
            Explored::Failed(failure) => {
                let place =
                    Unsupported { message: failure.message, site: SiteId(0), stack: Vec::new() };
                let stop = Stop::Unsupported(place);
                let response =
                    Response::of(Exploration::without_response(stop, failure.counts, 0.0));
                portfolio.add(part, response, before);
                portfolio.parts[part].failed = true;
            }
        }
        portfolio.slices += 1;
        unfinished.keep_portfolio(&portfolio);
    }
    Ok(Explored::Response(Box::new(portfolio.response(whole))))
}

impl Portfolio {
    /// The next slice, unless the budget is over.
    fn next(&mut self, whole: Budget) -> Option<(usize, Share)> {
        while self.parts[place(self.slices).0].is_over() {
            self.slices += 1;
        }
        let left = self.left(whole);
        if left.is_over(whole) {
            return None;
        }
        let runs = |part: usize| !self.parts[part].is_over();
        Some((place(self.slices).0, parts::slice(self.slices, left, whole, &runs)))
    }

    fn left(&self, whole: Budget) -> Budget {
        let operations = self.parts.iter().map(|done| done.counts.operations).sum();
        whole.less(operations, self.seconds())
    }

    fn seconds(&self) -> f64 {
        self.parts.iter().map(|done| done.seconds).sum()
    }

    /// What the next slice of a part goes on from: its counts and seconds, for what is limited and
    /// for what is shown. Only the exhaustive search goes on; the others count from 0.
    fn before(&self, part: usize, unfinished: &Unfinished) -> ((u64, f64), Counts) {
        let done = &self.parts[part];
        match part == EXHAUSTIVE && unfinished.has_checkpoint() {
            true => ((done.counts.operations, done.seconds), Counts::default()),
            false => ((0, 0.0), done.counts),
        }
    }

    /// The request for a slice of a part.
    fn request(
        &self,
        whole: &Request,
        part: usize,
        share: Share,
        (operations, seconds): (u64, f64),
    ) -> Request {
        let mut request = whole.clone();
        let round = place(self.slices).1.unwrap_or(0);
        if let Task::Explore { strategy, limits, .. } = &mut request.task {
            if part != EXHAUSTIVE {
                *strategy = PARTS[part].search.strategy(parts::seed(whole.random_seed, round));
            }
            // Of all that is left, whatever its share is: an execution can be long.
            limits.seconds = limits.seconds.map(|all| (all - self.seconds() + seconds).max(0.0));
            limits.share = Share {
                operations: share.operations.map(|slice| slice + operations),
                seconds: share.seconds.map(|slice| slice + seconds),
            };
        }
        request
    }

    /// What is shown while a slice runs that had done `begun` in other processes.
    fn progress(&self, part: usize, begun: Counts, now: &Progress) -> Progress {
        let mut counts = now.counts;
        counts.executions += begun.executions;
        let found: usize = self.parts.iter().map(Done::bugs).sum();
        Progress {
            doing: Some(PARTS[part].doing),
            counts,
            bugs: now.bugs.max(found as u64),
            elapsed: now.elapsed + Duration::from_secs_f64(self.seconds()),
            ..*now
        }
    }

    fn add(&mut self, part: usize, response: Response, before: (u64, f64)) {
        let goes_on = part == EXHAUSTIVE;
        self.parts[part].add(response, before, goes_on);
    }

    /// Whether nothing is left to do although there is budget.
    fn has_ended(&self, keep_going: bool) -> bool {
        let found = !keep_going && self.parts.iter().any(|done| done.bugs() > 0);
        found || self.parts[EXHAUSTIVE].is_over() || self.proof().is_some() || self.is_computing()
    }

    /// The part that has covered everything.
    fn proof(&self) -> Option<usize> {
        let proves = |&part: &usize| {
            !PARTS[part].search.samples() && self.parts[part].stop == Some(Stop::Complete)
        };
        (0..PARTS.len()).find(proves)
    }

    /// Whether the time was up in the middle of a step.
    fn is_computing(&self) -> bool {
        self.parts.iter().any(|done| matches!(done.stop, Some(Stop::Computing(_))))
    }

    /// The user stopped it.
    fn interrupted(mut self) -> Explored {
        if self.parts.iter().all(|done| done.counts == Counts::default() && done.bugs() == 0) {
            return Explored::Interrupted { counts: Counts::default() };
        }
        self.parts[EXHAUSTIVE].stop = Some(Stop::Interrupted);
        Explored::Response(Box::new(self.joined(Stop::Interrupted)))
    }
}
#[cfg(test)]
mod tests;
