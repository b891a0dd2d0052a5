//! Dynamic partial order reduction over whole transactions: the default strategy.
//!
//! Depth first over transactions (R* N? L*, see [`crate::discipline`]) with source sets, sleep sets
//! and inherited accesses; weak happens-before judges plain data and queues (docs/algorithm.md;
//! Abdulla, Aronis, Jonsson, Sagonas: Optimal dynamic partial order reduction, POPL 2014). When the
//! discipline is refuted, the search starts again with what it has learned.
//!
//! A transaction that would block is undone. It stays blocked in place only if a deadlock may be
//! hidden there (docs/algorithm.md#blocking). Which threads can run at a node is found out lazily,
//! by trying.
//!
//! Every data race is reported with its witness: a schedule of the same trace in which nothing
//! orders the two accesses, not even the order in which critical sections happened to run.
//!
//! What goes beyond source-DPOR over critical sections, each forced by a program that brute force
//! judged differently:
//! - An operation that waits for a value begins a transaction, holds its thread's locks for good,
//!   and its races hide no earlier ones: whether it could have run there is not known.
//! - An abort is a transaction of its own. Where one is explored all other threads are, those that
//!   it cuts off show their races, and what was rolled back is judged as at the end of an execution
//!   (also where all others are asleep).
//! - A transaction ends after a choice of a value, which so is never rolled back.
//! - Ghosts hold all accesses of a sleeper, ends of threads and late joins among them, and nothing
//!   of what it enabled.
//! - A queue is entered before its lock is given back, so that the lock orders it.
//! - Decrements of a reference count commute unless the last one is unordered with another one
//!   ([`Access::decrements`]).
//! - Acts on a channel wait as for a value. Who has offered a message stands still until it is
//!   taken, as after a wait, and then goes on as a both mover. Weak happens-before has the edges
//!   of single messages (`channels`).
//! - A thread that sleeps, where time is ordered, goes on once nobody else can run. So it comes
//!   after all that was before, nothing of which it could be reversed with; those whose time has
//!   come at once are all explored; and who would wait parks, so that it is seen to.
//! - Fences are both movers (`fences`). Where there are any, a relaxed update may acquire or
//!   release through them, so that it does not commute; reference counts do all the same, and what
//!   they read no fence acquires ([`Access::counts`]).
//! - An acquiring read happens after what it reads from when it is checked for races itself.
//! - The witness leaves out what only the later access conflicts with, and is ordered otherwise
//!   (`witness`).

mod channels;
mod estimate;
mod fences;
mod frontier;
mod ownership;
mod race_check;
pub(crate) mod retrace;
mod reverse;
mod trace;
mod weak;
mod witness;

use crate::core::chains::Position;
use crate::core::fault::{Fault, is_on};
use crate::core::footprint::{Access, Footprint, ObjectId, thread_object};
use crate::core::machine::{Status, ThreadId};
use crate::core::picks::Picks;
use crate::core::sleep::{self, wakes};
use crate::core::thread_set::ThreadSet;
use crate::discipline::{Discipline, Mode, Run, Wanted};
use crate::drive::Drive;
pub use crate::drive::frontier::Frontier;
use crate::drive::node::Node;
use crate::drive::observer::{Limits, Observer, Outcome, Stop};
use crate::drive::transactional::{End, Transactional};
use retrace::Reported;
use reverse::Source;
use trace::Trace;
use weak::{Unordered, Weak};

/// Explores every trace of transactions of the machine's program once. `discipline` is what is
/// known in advance, and holds what was learned afterwards.
pub fn explore<M: Transactional>(
    machine: &mut M,
    discipline: &mut Discipline,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    explore_from(None, machine, discipline, limits, observer)
}

/// The same, going on from where another search of the same program stood.
pub fn explore_from<M: Transactional>(
    frontier: Option<Frontier>,
    machine: &mut M,
    discipline: &mut Discipline,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    let mut search = Search::new(Drive::new(machine, limits, observer), discipline);
    search.discipline.take_grown();
    let result = search.run(frontier);
    search.drive.outcome(result)
}

/// Why a pass over the program ends early.
enum Break {
    /// The discipline was refuted: start again.
    Refuted,
    Stop(Stop),
}

impl From<Stop> for Break {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

struct Search<'a, 'd, M: Transactional> {
    drive: Drive<'a, M>,
    discipline: &'d mut Discipline,
    /// Nodes on the stack; those from `depth + 1` on are kept for their memory.
    nodes: Vec<Node>,
    depth: usize,
    trace: Trace,
    weak: Weak,
    /// The transaction under way.
    run: Run,
    /// Length of the schedule where it began.
    began: usize,
    /// Per thread, the locks that it holds.
    held: Vec<Vec<(ObjectId, Mode)>>,
    inherited: Vec<(ObjectId, Access)>,
    pending: Footprint,
    positions: Vec<Position>,
    initials: ThreadSet,
    unordered: Vec<Unordered>,
    reported: Reported,
}

/// What became of a transaction.
enum Ran {
    /// It reached a boundary (or parked).
    On,
    /// It would wait, and must be rolled back.
    RolledBack,
    /// The execution is over for all threads.
    Over,
}

impl<'a, 'd, M: Transactional> Search<'a, 'd, M> {
    fn new(drive: Drive<'a, M>, discipline: &'d mut Discipline) -> Self {
        Self {
            drive,
            discipline,
            nodes: Vec::new(),
            depth: 0,
            trace: Trace::default(),
            weak: Weak::default(),
            run: Run::default(),
            began: 0,
            held: Vec::new(),
            inherited: Vec::new(),
            pending: Footprint::default(),
            positions: Vec::new(),
            initials: ThreadSet::default(),
            unordered: Vec::new(),
            reported: Reported::default(),
        }
    }
}

impl<M: Transactional> Search<'_, '_, M> {
    fn run(&mut self, mut frontier: Option<Frontier>) -> Result<(), Stop> {
        loop {
            let begun = match frontier.take() {
                Some(frontier) => self.resume(frontier),
                None => self.begin(),
            };
            match begun.and_then(|()| self.pass()) {
                Ok(()) => return Ok(()),
                Err(Break::Stop(stop)) => return Err(stop),
                Err(Break::Refuted) => self.drive.refine(),
            }
        }
    }

    /// Forgets everything but what was learned, and goes to the root.
    fn clear(&mut self) -> Result<(), Break> {
        self.trace.clear();
        self.weak.truncate(0);
        self.held.clear();
        self.depth = 0;
        self.drive.begin_pass()?;
        Ok(())
    }

    /// Begins at the root.
    fn begin(&mut self) -> Result<(), Break> {
        self.clear()?;
        if self.nodes.is_empty() {
            self.nodes.push(Node::default());
        }
        self.nodes[0].clear();
        self.arrive();
        Ok(())
    }

    /// Searches everything that is left, under the discipline as it is.
    fn pass(&mut self) -> Result<(), Break> {
        loop {
            while self.descend()? {}
            if !self.back_up() {
                return Ok(());
            }
            self.report_frontier();
            self.report_share();
            self.drive.begin()?;
            self.return_here();
        }
    }

    /// Explores the branch of the present node, or picks one if there is none. Returns whether the
    /// execution goes on.
    fn descend(&mut self) -> Result<bool, Break> {
        loop {
            let Some(thread) = self.branch()? else { return Ok(false) };
            match self.transact(thread)? {
                Ran::RolledBack => {
                    self.note_roll_back(thread);
                    self.return_here();
                    if self.nodes[self.depth].over {
                        let last = self.nodes[self.depth].rolled_back().len() - 1;
                        self.reverse_rolled_back(last);
                        self.judge_partials()?;
                        self.return_here();
                    }
                    let node = &mut self.nodes[self.depth];
                    if !node.next_branch(self.depth) && !node.source_set.is_empty() {
                        // Everything that was wanted was explored.
                        return Ok(false);
                    }
                }
                Ran::On if self.drive.is_too_long() => {
                    self.want_others();
                    self.drive.give_up();
                    return Ok(false);
                }
                Ran::On => {
                    self.enter_child(thread);
                    return Ok(true);
                }
                Ran::Over => {
                    self.drive.finish()?;
                    self.branch_on_all()?;
                    return Ok(false);
                }
            }
        }
    }

    /// The execution is cut. What the other threads would do is not known, so that no race of
    /// theirs is reversed: each of them that could run is to run where it last began to wait for
    /// its turn. (The search is not complete, but it goes on.)
    fn want_others(&mut self) {
        for thread in (0..self.drive.machine.threads()).map(ThreadId) {
            let nodes = self.nodes[..=self.depth].iter_mut().rev();
            let waits =
                |node: &&mut Node| node.thread != Some(thread) && node.enabled.contains(thread);
            if let Some(node) = nodes.take_while(waits).last() {
                node.add_backtrack_point(thread);
            }
        }
    }

    /// The branch of the present node ended the execution for all threads. It cuts off what the
    /// others would have done, which never shows their races, with it or with anything else; so
    /// each of them has to run from here, or show what it waits for.
    fn branch_on_all(&mut self) -> Result<(), Break> {
        self.trace.pop();
        self.weak.truncate(self.depth as Position);
        self.return_here();
        self.nodes[self.depth].over = true;
        self.nodes[self.depth].backtrack_everywhere();
        self.reverse_waiting();
        self.judge_partials()
    }

    /// The branch to explore from the present node; none if the execution ends here.
    fn branch(&mut self) -> Result<Option<ThreadId>, Break> {
        let node = &mut self.nodes[self.depth];
        if node.thread.is_some() {
            return Ok(node.thread);
        }
        let Some(thread) = node.first(self.trace.last_thread()) else {
            let ended = node.enabled.is_empty();
            if ended || !is_on(Fault::BlockedBehindSleep) {
                self.reverse_waiting();
            }
            if ended {
                self.leaf()?;
            } else {
                // Those asleep may be about to end the execution for all: nobody else would judge
                // these.
                self.judge_partials()?;
                self.drive.block();
            }
            return Ok(None);
        };
        node.begin(thread, false);
        Ok(Some(thread))
    }

    /// Runs a transaction of `thread` from the present node, reverses its races and appends it.
    fn transact(&mut self, thread: ThreadId) -> Result<Ran, Break> {
        let mut picks = std::mem::take(&mut self.nodes[self.depth].picks);
        let end = self.advance(thread, &mut picks);
        self.nodes[self.depth].picks = picks;
        let end = end?;
        let rolls_back = end == End::Blocked && !self.parks();
        if rolls_back {
            self.require_wanted();
            return Ok(Ran::RolledBack);
        }
        let node = &mut self.nodes[self.depth];
        node.ran = true;
        node.source_set.insert(thread);
        if self.run.footprint.by_time {
            // Others whose time has come could go on instead, and then wait for this one in turn.
            node.backtrack_everywhere();
        }
        self.add_inherited(thread);
        self.reverse_races(thread, Source::Run);
        self.append(thread)?;
        let node = &mut self.nodes[self.depth];
        sleep::add(&mut node.union, &self.run.footprint.accesses);
        sleep::add(&mut node.union, &self.inherited);
        // With other values it might touch the same by other operations.
        let carried = |fixed: &ObjectId| self.inherited.iter().any(|(object, _)| object == fixed);
        let single = node.picks.is_empty();
        node.fixed = self.run.fixed.filter(|fixed| single && !carried(fixed));
        if is_on(Fault::InheritedEnable) {
            let enabled = self.run.footprint.enables.iter();
            node.union.extend(enabled.map(|&thread| (thread_object(thread), Access::Enqueue)));
        }
        Ok(if end == End::Over { Ran::Over } else { Ran::On })
    }

    /// The transaction of `thread` carries what it has from having been asleep.
    fn add_inherited(&mut self, thread: ThreadId) {
        self.collect_inherited(thread, Source::Run);
        if is_on(Fault::InheritedEnable) {
            for thread in (0..self.drive.machine.threads()).map(ThreadId) {
                if self.inherited.contains(&(thread_object(thread), Access::Enqueue)) {
                    self.run.footprint.enables.push(thread);
                }
            }
        }
    }

    /// Runs `thread` to a boundary.
    fn advance(&mut self, thread: ThreadId, picks: &mut Picks) -> Result<End, Break> {
        if self.held.len() <= thread.index() {
            self.held.resize_with(thread.index() + 1, Vec::new);
        }
        picks.rewind();
        self.began = self.drive.schedule.len();
        self.run.begin(thread);
        let monitor = (&mut *self.discipline, &mut self.run, &mut self.held[thread.index()]);
        let end = self.drive.transact(thread, monitor, picks)?;
        self.run.seal();
        // Under what it has learned the transaction may have ended before it came to choose.
        if self.discipline.take_grown() && !is_on(Fault::NoRestart) {
            return Err(Break::Refuted);
        }
        if !picks.agreed() {
            return Err(Stop::Nondeterminism { step: self.drive.schedule.len() }.into());
        }
        Ok(end)
    }

    /// Whether the transaction, which is blocked, parks where it is (docs/algorithm.md#blocking).
    fn parks(&self) -> bool {
        // Who waits for its time can go on only where this one is seen to wait.
        let is_waited_for = self.run.has_run() && self.drive.machine.waits_for_time();
        is_waited_for
            || self.run.holds_new_locks()
                && !is_on(Fault::NeverPark)
                && match self.run.blocked {
                    Some(Wanted::Lock(lock, _)) => self.discipline.is_held_for_good(lock),
                    _ => true,
                }
    }

    fn require_wanted(&mut self) {
        if let Some(Wanted::Lock(lock, mode)) = self.run.blocked {
            self.run.need.push((lock, mode));
        }
    }

    /// Keeps what a thread did that is to be rolled back.
    fn note_roll_back(&mut self, thread: ThreadId) {
        let node = &mut self.nodes[self.depth];
        // If it runs with other values, it must be woken by what it wanted with these.
        sleep::add(&mut node.union, &self.run.footprint.accesses);
        if node.wanted || !node.picks.is_empty() {
            node.backtrack_everywhere();
        }
        let rolled = node.roll_back();
        rolled.thread = thread;
        rolled.accesses.clone_from(&self.run.footprint.accesses);
        rolled.joins.clone_from(&self.run.footprint.joins);
        rolled.need.clone_from(&self.run.need);
    }

    /// Puts the machine and all that goes with it back to the present node.
    fn return_here(&mut self) {
        let node = &self.nodes[self.depth];
        self.drive.machine.restore(self.depth);
        self.drive.schedule.truncate(node.schedule);
        self.recount_held();
    }

    /// Locks that threads hold at the present node.
    fn recount_held(&mut self) {
        self.held.iter_mut().for_each(Vec::clear);
        let held = &mut self.held;
        self.trace.for_each_held(|thread, lock, mode| {
            if held.len() <= thread.index() {
                held.resize_with(thread.index() + 1, Vec::new);
            }
            held[thread.index()].push((lock, mode));
        });
    }

    /// Goes back to the deepest node that has something left to explore. Returns whether there is
    /// one.
    fn back_up(&mut self) -> bool {
        loop {
            if self.trace.len() > self.depth {
                self.trace.pop();
                self.weak.truncate(self.depth as Position);
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

    /// Goes to the node after the transaction of `thread` that was just made.
    fn enter_child(&mut self, thread: ThreadId) {
        if self.nodes.len() == self.depth + 1 {
            self.nodes.push(Node::default());
        }
        let (above, below) = self.nodes.split_at_mut(self.depth + 1);
        let (parent, child) = (&above[self.depth], &mut below[0]);
        child.clear();
        let real = &self.run.footprint.accesses;
        for &inherited in parent.sleep.inherited() {
            if inherited.thread != thread {
                child.sleep.add_inherited(inherited);
            }
        }
        let by_time = self.run.footprint.by_time;
        for &sleeper in parent.sleep.sleepers() {
            // Others whose time has come go on once this thread waits, and find what it has done.
            if sleeper.thread == thread || by_time {
                continue;
            }
            let kept = above[sleeper.depth as usize].sleep.footprint(sleeper.number);
            let woken = wakes(kept, real) || wakes(kept, &self.inherited);
            if !woken || is_on(Fault::SleepTooLong) {
                child.sleep.inherit(sleeper);
            } else if (sleeper.depth as usize) < self.depth {
                child.sleep.add_inherited(sleeper);
            }
        }
        self.depth += 1;
        self.arrive();
    }

    /// Keeps the present node and looks who may run.
    fn arrive(&mut self) {
        let node = &mut self.nodes[self.depth];
        node.schedule = self.drive.schedule.len();
        for thread in (0..self.drive.machine.threads()).map(ThreadId) {
            let status = self.drive.machine.status(thread);
            if status.can_run() {
                node.enabled.insert(thread);
            }
            if status == Status::LowPriority {
                node.low_priority.insert(thread);
            }
        }
        // Nothing runs from where nobody can, and so nothing goes back there.
        if !node.enabled.is_empty() {
            self.drive.machine.save(self.depth);
        }
    }
}
