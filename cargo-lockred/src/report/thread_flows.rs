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
pub struct ThreadFlow {
    /// As people call it.
    pub thread: String,
    /// What it did that has a place in source code, in order.
    pub steps: Vec<FlowStep>,
}

/// A step of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlowStep {
    /// Its place in the order of all steps, from 1. Several steps of a flow may share one.
    pub order: usize,
    /// What was done.
    pub label: String,
    /// Where.
    pub frame: Frame,
    /// The stack, where the report is about this step.
    pub stack: Option<Vec<Frame>>,
}

/// The thread flows of a replayed execution that ended in a bug, whose report this is.
pub fn of(replay: &Replay, bug: &Bug, report: &Report, symbols: &Symbols) -> Vec<ThreadFlow> {
    let names = table::object_names(replay, symbols);
    let mut thread_flows: Vec<ThreadFlow> = Vec::new();
    let mut add = |thread: String, step: FlowStep| match thread_flows
        .iter_mut()
        .find(|flow| flow.thread == thread)
    {
        Some(flow) => flow.steps.push(step),
        None => thread_flows.push(ThreadFlow { thread, steps: vec![step] }),
    };
    let first = replay.steps.len().saturating_sub(MOST);
    for (index, step) in replay.steps.iter().enumerate().skip(first) {
        let frames = symbols.frames(step.site, &step.stack);
        if let Some(frame) = of_program(&frames) {
            let label = table::what(&names, step);
            let (order, frame) = (index + 1, frame.clone());
            add(thread_name(replay, step.thread), FlowStep { order, label, frame, stack: None });
        }
    }
    for place in &report.places {
        if let Some(frame) = place.frame().filter(|frame| frame.line > 0) {
            let step = FlowStep {
                order: order(replay, bug, place, symbols),
                label: place.label.clone(),
                frame: frame.clone(),
                stack: Some(place.frames.clone()),
            };
            add(place.thread.clone(), step);
        }
    }
    for flow in &mut thread_flows {
        flow.steps.sort_by_key(|step| step.order);
        without_doubles(&mut flow.steps);
    }
    thread_flows.sort_by_key(|flow| number(&flow.thread));
    thread_flows
}

/// A step that the report is about is reported in the report's words only.
fn without_doubles(steps: &mut Vec<FlowStep>) {
    let reported: Vec<(usize, Frame)> = steps
        .iter()
        .filter(|step| step.stack.is_some())
        .map(|step| (step.order, step.frame.clone()))
        .collect();
    steps.retain(|step| {
        let double = |(order, frame): &(usize, Frame)| *order == step.order && *frame == step.frame;
        step.stack.is_some() || !reported.iter().any(double)
    });
}

/// The frame to show of a step: the program's own, or that of one of its dependencies.
fn of_program(frames: &[Frame]) -> Option<&Frame> {
    let of = |origin| frames.iter().find(|frame| frame.origin == origin && frame.line > 0);
    of(Origin::User).or_else(|| of(Origin::Dependency)).filter(|frame| !is_harness(frame))
}

/// When a place of the report came about; after everything, where that is not known.
fn order(replay: &Replay, bug: &Bug, place: &Place, symbols: &Symbols) -> usize {
    let same = |reported: &&lockred_protocol::message::Place| {
        Some(reported.role) == place.role
            && thread_name(replay, reported.thread) == place.thread
            && symbols.frames(reported.site, &reported.stack) == place.frames
    };
    let step = bug.places.iter().find(same).and_then(|reported| reported.step);
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
    fn what_the_report_says_is_not_said_twice() {
        let step = |order: usize, line: u32, reported: bool| FlowStep {
            order,
            label: String::new(),
            frame: Frame {
                function: "f".into(),
                file: "x.rs".into(),
                line,
                column: 1,
                origin: Origin::User,
            },
            stack: reported.then(Vec::new),
        };
        let mut steps =
            vec![step(1, 1, false), step(2, 5, false), step(2, 5, true), step(2, 6, false)];
        without_doubles(&mut steps);
        assert_eq!(steps, [step(1, 1, false), step(2, 5, true), step(2, 6, false)]);
    }
}
