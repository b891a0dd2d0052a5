//! The interleaving of a bug, thread by thread: the steps that it went through, in the order of the
//! whole, with their places.

use super::table;
use super::{Place, Report};
use crate::executable::symbols::{Frame, Origin, Symbols};
use crate::report::bug::thread_name;
use crate::report::render::is_harness;
use lockred_protocol::message::{Bug, Replay};

/// Steps that are kept of an execution: its last ones, where the bug is.
const MOST: usize = 1000;

/// What one thread did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Strand {
    /// As people call it.
    pub thread: String,
    /// What it did that has a place in source code, in order.
    pub moments: Vec<Moment>,
}

/// A step of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moment {
    /// Its place in the order of all steps, from 1. Several moments may belong to one step.
    pub order: usize,
    /// What was done.
    pub label: String,
    /// Where.
    pub frame: Frame,
    /// The stack, where the report is about this moment.
    pub stack: Option<Vec<Frame>>,
}

/// The strands of a replayed execution that ended in a bug, whose report this is.
pub fn of(replay: &Replay, bug: &Bug, report: &Report, symbols: &Symbols) -> Vec<Strand> {
    let names = table::object_names(replay, symbols);
    let mut strands: Vec<Strand> = Vec::new();
    let mut add = |thread: String, moment: Moment| match strands
        .iter_mut()
        .find(|strand| strand.thread == thread)
    {
        Some(strand) => strand.moments.push(moment),
        None => strands.push(Strand { thread, moments: vec![moment] }),
    };
    let first = replay.steps.len().saturating_sub(MOST);
    for (index, step) in replay.steps.iter().enumerate().skip(first) {
        let frames = symbols.frames(step.site, &step.stack);
        if let Some(frame) = of_program(&frames) {
            let label = table::what(&names, step);
            let (order, frame) = (index + 1, frame.clone());
            add(thread_name(replay, step.thread), Moment { order, label, frame, stack: None });
        }
    }
    for place in &report.places {
        if let Some(frame) = place.frame().filter(|frame| frame.line > 0) {
            let moment = Moment {
                order: order(replay, bug, place, symbols),
                label: place.label.clone(),
                frame: frame.clone(),
                stack: Some(place.frames.clone()),
            };
            add(place.thread.clone(), moment);
        }
    }
    for strand in &mut strands {
        strand.moments.sort_by_key(|moment| moment.order);
        without_doubles(&mut strand.moments);
    }
    strands.sort_by_key(|strand| number(&strand.thread));
    strands
}

/// A step that the report is about is told in the report's words only.
fn without_doubles(moments: &mut Vec<Moment>) {
    let told: Vec<(usize, Frame)> = moments
        .iter()
        .filter(|moment| moment.stack.is_some())
        .map(|moment| (moment.order, moment.frame.clone()))
        .collect();
    moments.retain(|moment| {
        let double =
            |(order, frame): &(usize, Frame)| *order == moment.order && *frame == moment.frame;
        moment.stack.is_some() || !told.iter().any(double)
    });
}

/// The frame to show of a step: the program's own, or that of one of its dependencies.
fn of_program(frames: &[Frame]) -> Option<&Frame> {
    let of = |origin| frames.iter().find(|frame| frame.origin == origin && frame.line > 0);
    of(Origin::User).or_else(|| of(Origin::Dependency)).filter(|frame| !is_harness(frame))
}

/// When a place of the report came about; behind everything, where that is not known.
fn order(replay: &Replay, bug: &Bug, place: &Place, symbols: &Symbols) -> usize {
    let same = |told: &&lockred_protocol::message::Place| {
        Some(told.role) == place.role
            && thread_name(replay, told.thread) == place.thread
            && symbols.frames(told.site, &told.stack) == place.frames
    };
    let step = bug.places.iter().find(same).and_then(|told| told.step);
    step.map_or(replay.steps.len().max(1), |step| (step + 1).min(replay.steps.len().max(1)))
}

/// Main, then the others by their numbers.
fn number(thread: &str) -> u32 {
    let digits = thread.strip_prefix("thread ").and_then(|rest| rest.split(' ').next());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn main_comes_first_and_threads_by_their_numbers() {
        let mut threads = ["thread 10", "thread 2 `worker`", "main"];
        threads.sort_by_key(|thread| number(thread));
        assert_eq!(threads, ["main", "thread 2 `worker`", "thread 10"]);
    }

    #[test]
    fn what_the_report_tells_is_not_told_twice() {
        let moment = |order: usize, line: u32, told: bool| Moment {
            order,
            label: String::new(),
            frame: Frame {
                function: "f".into(),
                file: "x.rs".into(),
                line,
                column: 1,
                origin: Origin::User,
            },
            stack: told.then(Vec::new),
        };
        let mut moments =
            vec![moment(1, 1, false), moment(2, 5, false), moment(2, 5, true), moment(2, 6, false)];
        without_doubles(&mut moments);
        assert_eq!(moments, [moment(1, 1, false), moment(2, 5, true), moment(2, 6, false)]);
    }
}
