//! The least that each failure takes, by Dijkstra's algorithm over all states (A note on two
//! problems in connexion with graphs, 1959). It shares no code with the searches that it judges.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashSet};

use lockred_model::{Failure, Watched};
use lockred_search::fingerprint::Fingerprint;
use lockred_search::machine::{Chooser, Flow, Machine, Status, Step, ThreadId};
use lockred_search::minimise::Measure;

/// A state on the way to failures, by what it took.
struct Node {
    machine: Watched,
    threads: BTreeSet<ThreadId>,
    last: Option<ThreadId>,
    goes_on: bool,
}

/// Takes the values that it is given, then 0; remembers how many there were of each.
struct Given {
    values: Vec<u32>,
    asked: Vec<u32>,
}

impl Chooser for Given {
    fn choose(&mut self, of: u32) -> u32 {
        let value = self.values.get(self.asked.len()).copied().unwrap_or(0);
        self.asked.push(of);
        value
    }
}

/// Which switches away from another thread count as preemptions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counted {
    /// Overtaken sleeps, and then preemptions.
    Overtaken,
    /// Away from a thread that could have gone on.
    Preemptions,
    /// All.
    Switches,
}

/// The least measure of each failure below the root. None if there are more than `most` states.
pub fn least(
    mut root: Watched,
    counted: Counted,
    most: usize,
) -> Option<BTreeMap<Failure, Measure>> {
    let mut found: BTreeMap<Failure, Measure> = BTreeMap::new();
    let mut nodes: Vec<Option<Node>> = Vec::new();
    let mut queue = BinaryHeap::new();
    let mut done = HashSet::new();
    root.restore_root();
    let threads = BTreeSet::new();
    nodes.push(Some(Node { machine: root, threads, last: None, goes_on: false }));
    queue.push(Reverse((Measure::default(), 0)));
    while let Some(Reverse((measure, number))) = queue.pop() {
        let Some(Node { machine, threads, last, goes_on }) = nodes[number].take() else { continue };
        if !done.insert((machine.fingerprint(), threads.clone(), last, goes_on)) {
            continue;
        }
        if done.len() > most {
            return None;
        }
        let mut report = |failures: Vec<Failure>, measure: Measure| {
            for failure in failures {
                let known = found.entry(failure).or_insert(measure);
                *known = measure.min(*known);
            }
        };
        let mut moved = false;
        for thread in (0..machine.threads()).map(ThreadId) {
            if !machine.clone().status(thread).can_run() {
                continue;
            }
            moved = true;
            let mut left = vec![Vec::new()];
            while let Some(values) = left.pop() {
                let mut next = machine.clone();
                let mut given = Given { values, asked: Vec::new() };
                let mut step = Step::default();
                next.step(thread, &mut given, &mut step);
                // What was not given could have been any other value.
                for at in given.values.len()..given.asked.len() {
                    for value in 1..given.asked[at] {
                        let mut values = given.values.clone();
                        values.resize(at, 0);
                        values.push(value);
                        left.push(values);
                    }
                }
                let mut threads = threads.clone();
                threads.insert(thread);
                let preempts = goes_on && last != Some(thread);
                let overtaken = if counted == Counted::Overtaken { step.overtaken } else { 0 };
                let measure = Measure {
                    overtaken: measure.overtaken + overtaken,
                    preemptions: measure.preemptions + u32::from(preempts),
                    threads: threads.len() as u32,
                    steps: measure.steps + 1,
                };
                report(step.failures, measure);
                if step.flow == Flow::Over {
                    report(super::brute::finish(&mut next), measure);
                    continue;
                }
                let goes_on =
                    counted == Counted::Switches || next.status(thread) == Status::Enabled;
                nodes.push(Some(Node { machine: next, threads, last: Some(thread), goes_on }));
                queue.push(Reverse((measure, nodes.len() - 1)));
            }
        }
        if !moved {
            report(super::brute::finish(&mut machine.clone()), measure);
        }
    }
    Some(found)
}
