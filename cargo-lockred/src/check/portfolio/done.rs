//! What the slices of a part came to, and what all parts came to together.

use super::Portfolio;
use super::parts::{Budget, EXHAUSTIVE, PARTS};
use crate::check::explore::Response;
use crate::check::walks;
use crate::outcome::{Ended, Part};
use lockred_protocol::message::{
    Assumption, Counts, Exploration, Finding, Proved, Replay, Stop, Warning,
};
use serde::{Deserialize, Serialize};

/// What the slices of a part came to.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Done {
    /// What all of them did.
    pub counts: Counts,
    /// Seconds of processor time that all of them took.
    pub seconds: f64,
    /// Why the last one ended; `None` before there was one.
    pub stop: Option<Stop>,
    /// An error of ours ended it.
    pub failed: bool,
    restoring: f64,
    threads: u32,
    preemptions: Option<u32>,
    proved: Option<Proved>,
    share: Option<f64>,
    findings: Vec<Finding>,
    warnings: Vec<Warning>,
    assumptions: Vec<Assumption>,
    deaths: Vec<Replay>,
}

impl Done {
    /// Whether it has no further slice.
    pub fn is_over(&self) -> bool {
        !matches!(self.stop, None | Some(Stop::Total))
    }

    /// Bugs that it has found.
    pub const fn bugs(&self) -> usize {
        self.findings.len() + self.deaths.len()
    }

    /// Counts what a slice did that went on from `before`.
    pub fn count(&mut self, counts: Counts, (operations, _): (u64, f64)) {
        if operations > 0 {
            self.counts = counts;
            return;
        }
        let all = &mut self.counts;
        all.executions += counts.executions;
        all.blocked += counts.blocked;
        all.refinements += counts.refinements;
        all.transactions += counts.transactions;
        all.operations += counts.operations;
    }

    /// Adds a slice that went on from `before`. With `goes_on` its response has all that earlier
    /// ones found.
    pub fn add(&mut self, slice: Response, before: (u64, f64), goes_on: bool) {
        let Response { exploration, deaths, .. } = slice;
        self.count(exploration.counts, before);
        self.seconds += exploration.seconds - before.1;
        self.restoring += exploration.restoring;
        self.threads = self.threads.max(exploration.threads);
        self.preemptions = self.preemptions.max(exploration.preemptions);
        self.proved = exploration.proved;
        self.share = exploration.share;
        if goes_on {
            (self.warnings, self.assumptions) = (exploration.warnings, exploration.assumptions);
            self.deaths = deaths;
        } else {
            walks::add_warnings(&mut self.warnings, exploration.warnings);
            add_assumptions(&mut self.assumptions, exploration.assumptions);
            self.deaths.extend(deaths);
        }
        walks::add_findings(&mut self.findings, exploration.findings);
        self.stop = Some(exploration.stop);
    }

    /// As it is reported.
    fn reported(&self, part: usize) -> Option<Part> {
        let stop = self.stop.as_ref()?;
        let ended = if self.failed { Ended::Error } else { Ended::of(stop) };
        let reason = match stop {
            Stop::Unsupported(reason) if part != EXHAUSTIVE => Some(reason.message.clone()),
            _ => None,
        };
        Some(Part {
            search: PARTS[part].search,
            counts: self.counts,
            seconds: self.seconds,
            ended,
            preemptions: self.preemptions,
            share: self.share,
            bugs: self.bugs(),
            reason,
        })
    }
}

fn add_assumptions(all: &mut Vec<Assumption>, new: Vec<Assumption>) {
    for assumption in new {
        if !all.contains(&assumption) {
            all.push(assumption);
        }
    }
}

impl Portfolio {
    /// What it came to in the end.
    pub fn response(self, whole: Budget) -> Response {
        let left = self.left(whole);
        let bugs = self.parts.iter().any(|done| done.bugs() > 0);
        let computing = self.parts.iter().find_map(|done| match &done.stop {
            Some(stop @ Stop::Computing(_)) => Some(stop.clone()),
            _ => None,
        });
        let exhaustive = &self.parts[EXHAUSTIVE].stop;
        let stop = match (self.proof(), exhaustive, computing) {
            (Some(_), ..) => Stop::Complete,
            (None, Some(stop), _) if *stop != Stop::Total => stop.clone(),
            (_, _, Some(computing)) => computing,
            _ if left.operations == Some(0) => Stop::Total,
            _ if left.is_over(whole) => Stop::Seconds,
            _ if bugs => Stop::Bug,
            _ => Stop::Seconds,
        };
        self.joined(stop)
    }

    /// What all parts found, with the counts of the part that has covered everything, or else those
    /// of the exhaustive search.
    pub fn joined(self, stop: Stop) -> Response {
        let proof = self.proof();
        let main = proof.unwrap_or(EXHAUSTIVE);
        let seconds = self.seconds();
        let several = self.parts.iter().filter(|done| done.stop.is_some()).count() > 1;
        let reported = self.parts.iter().enumerate().filter_map(|(part, done)| done.reported(part));
        let parts: Vec<Part> = if several { reported.collect() } else { Vec::new() };
        let base = &self.parts[main];
        let mut exploration = Exploration {
            restoring: self.parts.iter().map(|done| done.restoring).sum(),
            proved: self.parts[EXHAUSTIVE].proved,
            threads: self.parts.iter().map(|done| done.threads).max().unwrap_or(0),
            warnings: base.warnings.clone(),
            assumptions: base.assumptions.clone(),
            share: base.share,
            ..Exploration::without_response(stop, base.counts, seconds)
        };
        let mut deaths = Vec::new();
        for done in self.parts {
            walks::add_findings(&mut exploration.findings, done.findings);
            deaths.extend(done.deaths);
            // What has covered everything has seen all that there is to warn of, and rests on
            // nothing of the others.
            if proof.is_none() && done.counts != Counts::default() {
                walks::add_warnings(&mut exploration.warnings, done.warnings);
                add_assumptions(&mut exploration.assumptions, done.assumptions);
            }
        }
        if several {
            walks::hide_what_follows(&mut exploration);
        }
        Response { exploration, deaths, walks: None, parts }
    }
}
