//! Depth first through the interleavings of a program, as far as a budget and what is known let it:
//! what [`crate::interleavings::naive`] and [`crate::interleavings::bounded`] are made of.
//!
//! Where switches count, a thread that is preempted *sleeps* until a step conflicts with the one
//! that it was about to make: if it went on before that, it could have been preempted after that
//! step instead, with the same trace, for as much or less, and that branch was explored before. It
//! also wakes where another thread comes to wait for what the step would change: after the step
//! that would not have waited, and would have to be preempted. What others slept where a state was
//! met first does not matter to who comes there again: what a sleeper would do is covered for as
//! much as that took, or less, and everything is covered by what was explored before it. A step
//! that ends the execution for all threads lets nobody sleep, as how it ends is judged by what the
//! others have done; and nobody does once a data race has shown, as what steps touch does not tell
//! all then. (After Godefroid: Partial-order methods for the verification of concurrent systems,
//! 1996, section 5; there, any thread sleeps after which another branch was explored, which costs
//! preemptions here.)
//!
//! Going back is restoring the root and running the prefix again, so memory is bounded by the
//! longest execution, and by what is [`Known`].

use crate::core::choice::Choice;
use crate::core::fault::{Fault, is_on};
use crate::core::footprint::{Access, Footprint, ObjectId};
use crate::core::machine::{Machine, Status, ThreadId};
use crate::drive::observer::Stop;
use crate::drive::{After, Drive, Run};
use crate::interleavings::branch::{self, Branch};
use crate::interleavings::causes::conflict;
use std::rc::Rc;

/// What a search knows of the states it has come to.
pub(crate) trait Known<M: Machine> {
    /// An execution begins at the root.
    fn begin(&mut self) {}

    /// A thread made the step that `drive` holds, which chose these values.
    fn on_step(&mut self, thread: ThreadId, drive: &Drive<'_, M>, values: &[Choice]) {
        let _ = (thread, drive, values);
    }

    /// Whether the search is to go on from where the machine stands, coming to it at this cost.
    fn is_new(&mut self, drive: &mut Drive<'_, M>, arrival: &Arrival<'_>) -> bool;
}

/// How a search comes to a state.
pub(crate) struct Arrival<'a> {
    /// Of all threads.
    pub(crate) statuses: &'a [Status],
    /// The thread away from which switches count, if any.
    pub(crate) last: Option<ThreadId>,
    /// What was spent on the way.
    pub(crate) spent: u32,
}

/// What counts, and how much of it is allowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) counts: Counted,
    pub(crate) most: u32,
}

/// What counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Counted {
    /// Switches away from a thread that could have gone on.
    Preemptions,
    /// Switches of any kind.
    Switches,
    /// Runs of threads.
    Operations,
}

/// A node of the search and the branch under way.
struct Node {
    branch: Branch,
    /// The thread away from which switches count.
    last: Option<ThreadId>,
    /// What of the budget was spent on the way here.
    spent: u32,
    /// Threads that sleep here.
    asleep: Vec<Sleeper>,
    /// `last`, once it was gone on with here: to sleep where another thread runs instead.
    preempted: Option<Sleeper>,
}

/// A thread that was preempted, and what it was about to touch.
#[derive(Clone)]
struct Sleeper {
    thread: ThreadId,
    touches: Rc<Vec<(ObjectId, Access)>>,
    /// It would have ended, which others may wait for.
    ends: bool,
}

/// Goes through them. Returns whether the budget left something out.
pub(crate) fn explore<M: Machine>(
    drive: &mut Drive<'_, M>,
    budget: Option<Budget>,
    known: &mut dyn Known<M>,
) -> Result<bool, Stop> {
    let (nodes, wanted) = (Vec::new(), Footprint::default());
    let mut search = Search { drive, nodes, budget, known, left_out: false, raced: false, wanted };
    search.all()?;
    Ok(search.left_out)
}

struct Search<'s, 'd, M: Machine> {
    drive: &'s mut Drive<'d, M>,
    nodes: Vec<Node>,
    budget: Option<Budget>,
    known: &'s mut dyn Known<M>,
    /// The budget left something out.
    left_out: bool,
    /// A data race has shown in some execution.
    raced: bool,
    /// What a thread waits for.
    wanted: Footprint,
}

/// Where a search stands after a step.
enum Next {
    /// At a node with a thread to run.
    Node,
    /// Nobody can run.
    End,
    /// Where nothing is to be gone on with.
    Nothing,
}

impl<M: Machine> Search<'_, '_, M> {
    fn all(&mut self) -> Result<(), Stop> {
        loop {
            self.drive.restart()?;
            self.known.begin();
            self.run_prefix()?;
            self.descend()?;
            loop {
                let Some(node) = self.nodes.last_mut() else { return Ok(()) };
                if node.branch.advance() {
                    break;
                }
                self.nodes.pop();
            }
        }
    }

    /// Runs the branch of a node.
    fn run(&mut self, step: usize, kind: Run) -> Result<After, Stop> {
        let node = &mut self.nodes[step];
        let thread = node.branch.thread;
        let values = self.drive.schedule.len() + 1;
        let run = |drive: &mut Drive<'_, M>, thread, pick: &mut dyn FnMut(u32) -> u32| {
            drive.run(thread, kind, pick)
        };
        let after = node.branch.run(step, kind, self.drive, run)?;
        self.raced |= self.drive.has_raced();
        if kind == Run::Fresh && node.last == Some(thread) {
            let ends = self.drive.machine.status(thread) == Status::Ended;
            node.was_gone_on_with(&self.drive.step.footprint.accesses, ends, after);
        }
        self.known.on_step(thread, self.drive, &self.drive.schedule[values..]);
        Ok(after)
    }

    /// Runs the branches of all nodes but the last again.
    fn run_prefix(&mut self) -> Result<(), Stop> {
        for step in 0..self.nodes.len().saturating_sub(1) {
            self.run(step, Run::Again)?;
        }
        Ok(())
    }

    /// Runs the branch of the last node, and goes on to the end of an execution, or to what is
    /// known.
    fn descend(&mut self) -> Result<(), Stop> {
        let mut next = if self.nodes.is_empty() { self.open() } else { Next::Node };
        loop {
            match next {
                Next::Node => {}
                Next::End => return self.drive.finish(),
                Next::Nothing => {
                    self.drive.block();
                    return Ok(());
                }
            }
            match self.run(self.nodes.len() - 1, Run::Fresh)? {
                After::Over => return self.drive.finish(),
                After::Cut => {
                    self.drive.give_up();
                    return Ok(());
                }
                After::On => next = self.open(),
            }
        }
    }

    /// Adds a node for the present state, if there is anything to run in it.
    fn open(&mut self) -> Next {
        let statuses = branch::statuses(self.drive.machine);
        let mut left = branch::can_run(&statuses);
        let (last, spent, sleepers) = match self.nodes.last() {
            None => (None, 0, Vec::new()),
            Some(parent) => {
                let status = statuses[parent.branch.thread.index()];
                let last = self.budget.is_some_and(|budget| budget.counts_behind(status));
                let spent = parent.spent + self.cost(parent.last, parent.branch.thread);
                let last = last.then_some(parent.branch.thread);
                (last, spent, self.sleepers(self.nodes.len() - 1, status))
            }
        };
        let arrival = Arrival { statuses: &statuses, last, spent };
        if !self.known.is_new(self.drive, &arrival) {
            return Next::Nothing;
        }
        if left.is_empty() {
            return Next::End;
        }
        left.retain(|&thread| sleepers.iter().all(|sleeper| sleeper.thread != thread));
        if let Some(budget) = self.budget {
            let before = left.len();
            left.retain(|&thread| spent + self.cost(last, thread) <= budget.most);
            self.left_out |= left.len() < before;
        }
        // Who could go on without a switch goes on first.
        if let Some(place) = left.iter().position(|&thread| Some(thread) == last) {
            let last = left.remove(place);
            left.push(last);
        }
        // Nobody is left if a switch that has to be made exceeds the budget.
        let Some(branch) = Branch::first(left) else { return Next::Nothing };
        self.nodes.push(Node { branch, last, spent, asleep: sleepers, preempted: None });
        Next::Node
    }

    /// Who sleeps after the branch of a node that was just run, which left its thread in this
    /// status.
    fn sleepers(&mut self, node: usize, status: Status) -> Vec<Sleeper> {
        let node = &self.nodes[node];
        let preempted = node.preempted.iter().filter(|last| last.thread != node.branch.thread);
        if self.raced || (node.asleep.is_empty() && preempted.clone().next().is_none()) {
            return Vec::new();
        }
        let done = &self.drive.step.footprint.accesses;
        let waits = matches!(status, Status::Blocked { .. } | Status::LowPriority);
        let waits = waits && !is_on(Fault::WaitersForgotten);
        self.wanted.clear();
        if waits {
            self.drive.machine.pending(node.branch.thread, &mut self.wanted);
        }
        let wakes = |sleeper: &Sleeper| {
            conflict(&sleeper.touches, done)
                || conflict(&sleeper.touches, &self.wanted.accesses)
                || (waits && sleeper.ends)
        };
        let all = node.asleep.iter().chain(preempted);
        all.filter(|sleeper| is_on(Fault::NeverWoken) || !wakes(sleeper)).cloned().collect()
    }

    /// What it takes to run `thread`, where switches away from `last` count.
    fn cost(&self, last: Option<ThreadId>, thread: ThreadId) -> u32 {
        match self.budget {
            None => 0,
            Some(Budget { counts: Counted::Operations, .. }) => 1,
            Some(_) => u32::from(last.is_some_and(|last| last != thread)),
        }
    }
}

impl Node {
    /// `last` has gone on, and touched this; so it did with other values before.
    fn was_gone_on_with(&mut self, touched: &[(ObjectId, Access)], ends: bool, after: After) {
        let ends_all = after != After::On;
        let is_first = self.branch.picks.values().iter().all(|&(picked, _)| picked == 0);
        match &mut self.preempted {
            sleeper if ends_all => *sleeper = None,
            Some(sleeper) => {
                Rc::make_mut(&mut sleeper.touches).extend(touched);
                sleeper.ends |= ends;
            }
            sleeper if is_first => {
                let touches = Rc::new(touched.to_vec());
                *sleeper = Some(Sleeper { thread: self.branch.thread, touches, ends });
            }
            // One of the others has ended the execution.
            None => {}
        }
    }
}

impl Budget {
    /// Whether switches away from a thread that is left with this status count.
    fn counts_behind(self, status: Status) -> bool {
        match self.counts {
            Counted::Preemptions => status == Status::Enabled,
            Counted::Switches => true,
            Counted::Operations => false,
        }
    }
}
