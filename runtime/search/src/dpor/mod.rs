//! Dynamic partial order reduction with source sets, sleep sets and inherited footprints.
//!
//! Depth first over the machine's runs (docs/algorithm.md#exploration; Abdulla, Aronis, Jonsson,
//! Sagonas: Optimal dynamic partial order reduction, POPL 2014, algorithm 1). Every complete
//! execution is one trace (a class of interleavings that differ only in the order of independent
//! runs), and every trace is explored; executions that end because all threads that could run are
//! asleep are counted apart, as blocked.
//!
//! Decrements of a reference count are taken to commute; where one of them comes before the last
//! one only because it happened to, the search starts again with that count's decrements as writes.
//!
//! Departures from the paper: threads may choose values inside a run (all alternatives are
//! explored, as one branch); races that cannot be reversed because of a lock are passed over
//! without hiding earlier ones; a thread that waits where an execution ends takes part in race
//! reversal with its pending operation; the footprint of a run may depend on the state, which
//! inherited accesses make up for. A run that ends the execution for all threads makes the search
//! branch on every other thread there.
//!
//! Going back is restoring the root and running the prefix again, so memory is bounded by the
//! longest execution: O(depth * (threads + footprint)).

mod trace;

use crate::core::chains::{Objects, Position};
use crate::core::footprint::{Access, Footprint, ObjectId};
use crate::core::machine::{Machine, Status, ThreadId};
use crate::core::picks::Picks;
use crate::core::sleep::{Sleep, wakes};
use crate::core::source_set;
use crate::core::thread_set::ThreadSet;
use crate::drive::observer::{Limits, Observer, Outcome, Stop};
use crate::drive::{After, Drive, Run};
use trace::{Touched, Trace};

/// Explores every trace of the machine's program once.
pub fn explore<M: Machine>(
    machine: &mut M,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    let mut search = Search {
        drive: Drive::new(machine, limits, observer),
        nodes: Vec::new(),
        depth: 0,
        trace: Trace::default(),
        inherited: Vec::new(),
        pending: Footprint::default(),
        positions: Vec::new(),
        initials: ThreadSet::default(),
        shared_counts: Objects::default(),
    };
    let result = search.run();
    search.drive.outcome(result)
}

/// A node of the depth-first search, and the branch that is explored from it.
#[derive(Default)]
struct Node {
    /// Threads that can run.
    enabled: ThreadSet,
    /// Those of them that should not run without need.
    low_priority: ThreadSet,
    /// Threads to be explored (the source set), those explored already included.
    source_set: ThreadSet,
    sleep: Sleep,
    /// The branch: the thread that runs and the values it chooses.
    thread: Option<ThreadId>,
    picks: Picks,
    /// What the branch's run looked like, to compare when it is run again.
    signature: u64,
    /// Accesses of the branch's thread with all choices explored so far.
    union: Vec<(ObjectId, Access)>,
}

struct Search<'a, M: Machine> {
    drive: Drive<'a, M>,
    /// Nodes on the stack; those from `depth + 1` on are kept for their memory.
    nodes: Vec<Node>,
    /// The node where the machine stands, or will after the prefix is run again.
    depth: usize,
    trace: Trace,
    inherited: Vec<(ObjectId, Access)>,
    pending: Footprint,
    positions: Vec<Position>,
    initials: ThreadSet,
    /// Reference counts of which it may matter who drops the last reference.
    shared_counts: Objects,
}

/// Why a search from the root ends early.
enum Break {
    /// An assumption was refuted: start again.
    Refuted,
    Stop(Stop),
}

impl From<Stop> for Break {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl<M: Machine> Search<'_, M> {
    fn run(&mut self) -> Result<(), Stop> {
        loop {
            match self.pass() {
                Ok(()) => return Ok(()),
                Err(Break::Stop(stop)) => return Err(stop),
                Err(Break::Refuted) => self.drive.refine(),
            }
        }
    }

    /// One search of everything, under the assumptions as they are.
    fn pass(&mut self) -> Result<(), Break> {
        self.drive.restart()?;
        self.enter_root();
        loop {
            while self.descend()? {}
            if !self.back_up() {
                return Ok(());
            }
            self.drive.restart()?;
            self.run_prefix()?;
        }
    }

    /// Explores the branch of the present node, or picks one if there is none. Returns whether the
    /// execution goes on.
    fn descend(&mut self) -> Result<bool, Break> {
        let Some(thread) = self.branch()? else { return Ok(false) };
        let node = &mut self.nodes[self.depth];
        node.picks.rewind();
        let after = self.drive.run(thread, Run::Fresh, &mut |of| node.picks.pick(of))?;
        if !node.picks.agreed() {
            return Err(Stop::Nondeterminism { step: self.depth }.into());
        }
        node.signature = self.drive.step.signature;
        self.see_decrements();
        self.collect_inherited(thread);
        self.reverse_races(thread, Source::Step);
        self.check_last_decrement(thread)?;
        let node = &mut self.nodes[self.depth];
        let footprint = &self.drive.step.footprint;
        let by_time = footprint.by_time;
        let touched = Touched { real: &footprint.accesses, inherited: &self.inherited, by_time };
        self.trace.push(thread, touched, &footprint.enables, &footprint.meets);
        if by_time {
            // Others whose time has come could go on instead, and then wait for this one in turn.
            for other in node.enabled.iter() {
                node.source_set.insert(other);
            }
        }
        for access in footprint.accesses.iter().chain(&self.inherited) {
            if !node.union.contains(access) {
                node.union.push(*access);
            }
        }
        match after {
            After::On => {
                self.enter_child(thread);
                Ok(true)
            }
            After::Over => {
                // It cuts off all other threads' runs, which never show their races with it.
                for other in node.enabled.iter() {
                    node.source_set.insert(other);
                }
                self.enter_child(thread);
                self.reverse_waiting();
                self.drive.finish()?;
                Ok(false)
            }
            After::Cut => {
                self.drive.give_up();
                Ok(false)
            }
        }
    }

    /// Decrements of reference counts of which it matters who is the last do not commute.
    fn see_decrements(&mut self) {
        for (object, access) in &mut self.drive.step.footprint.accesses {
            if access.decrements() && self.shared_counts.contains(object) {
                *access = Access::Write;
            }
        }
    }

    /// The decrements of a reference count commute only if all come before the last one in any
    /// case.
    fn check_last_decrement(&mut self, thread: ThreadId) -> Result<(), Break> {
        let accesses = self.drive.step.footprint.accesses.iter();
        let mut last = accesses.filter(|&&(_, access)| access == Access::RefDecLast);
        match last.find(|&&(count, _)| self.trace.has_unordered_decrement(thread, count)) {
            Some(&(count, _)) => {
                self.shared_counts.insert(count);
                Err(Break::Refuted)
            }
            None => Ok(()),
        }
    }

    /// The branch to explore from the present node; none if the execution ends here.
    fn branch(&mut self) -> Result<Option<ThreadId>, Stop> {
        let node = &mut self.nodes[self.depth];
        if node.thread.is_some() {
            return Ok(node.thread);
        }
        if node.enabled.is_empty() {
            self.reverse_waiting();
            self.drive.finish()?;
            return Ok(None);
        }
        let Some(thread) = node.first(self.trace.last_thread()) else {
            self.reverse_waiting();
            self.drive.block();
            return Ok(None);
        };
        node.source_set.insert(thread);
        node.begin(thread);
        Ok(Some(thread))
    }

    /// Goes back to the deepest node that has something left to explore. Returns whether there is
    /// one.
    fn back_up(&mut self) -> bool {
        loop {
            if self.trace.len() > self.depth {
                self.trace.pop();
            }
            if self.nodes[self.depth].next_branch(self.depth) {
                return true;
            }
            if self.depth == 0 {
                return false;
            }
            self.depth -= 1;
        }
    }

    /// Runs the branches of all nodes above the present one again.
    fn run_prefix(&mut self) -> Result<(), Stop> {
        for (step, node) in self.nodes[..self.depth].iter_mut().enumerate() {
            let differs = Stop::Nondeterminism { step };
            let Some(thread) = node.thread else { return Err(differs) };
            let exists = thread.0 < self.drive.machine.threads();
            if !exists || !self.drive.machine.status(thread).can_run() {
                return Err(differs);
            }
            node.picks.rewind();
            let after = self.drive.run(thread, Run::Again, &mut |of| node.picks.pick(of))?;
            let same = node.picks.agreed() && self.drive.step.signature == node.signature;
            if after != After::On || !same {
                return Err(differs);
            }
        }
        let here = &mut self.nodes[self.depth];
        let can_run = here.thread.is_some_and(|thread| {
            thread.0 < self.drive.machine.threads() && self.drive.machine.status(thread).can_run()
        });
        if can_run { Ok(()) } else { Err(Stop::Nondeterminism { step: self.depth }) }
    }

    fn enter_root(&mut self) {
        while self.trace.len() > 0 {
            self.trace.pop();
        }
        self.depth = 0;
        if self.nodes.is_empty() {
            self.nodes.push(Node::default());
        }
        self.nodes[0].clear();
        self.arrive();
    }

    /// Goes to the node after the run of `thread` that was just made.
    fn enter_child(&mut self, thread: ThreadId) {
        if self.nodes.len() == self.depth + 1 {
            self.nodes.push(Node::default());
        }
        let (above, below) = self.nodes.split_at_mut(self.depth + 1);
        let (parent, child) = (&above[self.depth], &mut below[0]);
        child.clear();
        let real = &self.drive.step.footprint.accesses;
        for &inherited in parent.sleep.inherited() {
            if inherited.thread != thread {
                child.sleep.add_inherited(inherited);
            }
        }
        let by_time = self.drive.step.footprint.by_time;
        for &sleeper in parent.sleep.sleepers() {
            // Others whose time has come go on once this thread waits, and find what it has done.
            if sleeper.thread == thread || by_time {
                continue;
            }
            let kept = above[sleeper.depth as usize].sleep.footprint(sleeper.number);
            if !wakes(kept, real) && !wakes(kept, &self.inherited) {
                child.sleep.inherit(sleeper);
            } else if (sleeper.depth as usize) < self.depth {
                child.sleep.add_inherited(sleeper);
            }
        }
        self.depth += 1;
        self.arrive();
    }

    /// Looks who can run at the present node.
    fn arrive(&mut self) {
        let node = &mut self.nodes[self.depth];
        for thread in (0..self.drive.machine.threads()).map(ThreadId) {
            let status = self.drive.machine.status(thread);
            if status.can_run() {
                node.enabled.insert(thread);
            }
            if status == Status::LowPriority {
                node.low_priority.insert(thread);
            }
        }
        self.trace.arrive(&node.enabled);
    }

    /// Collects what `thread`'s next run carries from having been asleep.
    fn collect_inherited(&mut self, thread: ThreadId) {
        self.inherited.clear();
        for inherited in self.nodes[self.depth].sleep.inherited() {
            if inherited.thread != thread {
                continue;
            }
            self.nodes[inherited.depth as usize].sleep.carry(*inherited, None, &mut self.inherited);
        }
    }

    /// Reverses the races of threads that wait where an execution ends: they would have run
    /// elsewhere.
    fn reverse_waiting(&mut self) {
        for thread in (0..self.drive.machine.threads()).map(ThreadId) {
            if matches!(self.drive.machine.status(thread), Status::Blocked { .. }) {
                self.drive.machine.pending(thread, &mut self.pending);
                self.collect_inherited(thread);
                self.reverse_races(thread, Source::Pending);
            }
        }
    }

    /// Adds to the nodes above what reverses the races of `thread`'s run.
    fn reverse_races(&mut self, thread: ThreadId, source: Source) {
        let footprint = match source {
            Source::Step => &self.drive.step.footprint,
            Source::Pending => &self.pending,
        };
        self.inherited.retain(|access| !footprint.accesses.contains(access));
        let by_time = footprint.by_time;
        let touched = Touched { real: &footprint.accesses, inherited: &self.inherited, by_time };
        self.trace.prepare(thread, touched, &footprint.joins);
        self.trace.races(thread, touched, &mut self.positions);
        let waited = self.trace.waited(thread);
        for &position in &self.positions {
            let node = &mut self.nodes[position as usize];
            self.trace.initials(position, thread, &mut self.initials);
            node.reverse(thread, &self.initials);
            // After the other runs that it depends on it may have to wait: so it is to run before
            // them, too.
            if waited && node.enabled.contains(thread) {
                self.trace.initials_at_once(position, thread, touched, &mut self.initials);
                node.reverse(thread, &self.initials);
            }
        }
    }
}

/// Whose races are reversed.
#[derive(Clone, Copy)]
enum Source {
    /// The run that was just made.
    Step,
    /// The pending operation of a waiting thread.
    Pending,
}

impl Node {
    fn clear(&mut self) {
        self.enabled.clear();
        self.low_priority.clear();
        self.source_set.clear();
        self.sleep.clear();
        self.thread = None;
    }

    /// The thread to explore first: the last one if it can, else the lowest; low-priority ones
    /// last.
    fn first(&self, last: Option<ThreadId>) -> Option<ThreadId> {
        let awake = |thread: &ThreadId| {
            self.enabled.contains(*thread) && !self.sleep.asleep.contains(*thread)
        };
        let willing = |thread: &ThreadId| awake(thread) && !self.low_priority.contains(*thread);
        last.filter(willing)
            .or_else(|| self.enabled.iter().find(willing))
            .or_else(|| self.enabled.iter().find(awake))
    }

    fn begin(&mut self, thread: ThreadId) {
        self.thread = Some(thread);
        self.picks.clear();
        self.union.clear();
    }

    /// Goes on to the next branch: other values of the same thread, else the next thread. Returns
    /// whether there is one.
    fn next_branch(&mut self, depth: usize) -> bool {
        let Some(thread) = self.thread else { return false };
        if self.picks.advance() {
            return true;
        }
        self.sleep.put(thread, depth, &self.union, None);
        let next = self.source_set.iter().find(|&other| !self.sleep.asleep.contains(other));
        match next {
            Some(next) => {
                self.begin(next);
                true
            }
            None => {
                self.thread = None;
                false
            }
        }
    }

    /// Makes sure that something that can begin with `initials` is explored from here, for a race
    /// with a run of `thread`.
    fn reverse(&mut self, thread: ThreadId, initials: &ThreadSet) {
        if initials.intersects(&self.source_set) || initials.intersects(&self.sleep.asleep) {
            return;
        }
        let choice = source_set::choice(thread, initials, &self.enabled, &self.low_priority);
        if let Some(chosen) = choice {
            self.source_set.insert(chosen);
        } else if initials.iter().any(|other| other != thread) {
            for other in self.enabled.iter() {
                self.source_set.insert(other);
            }
        }
    }
}
