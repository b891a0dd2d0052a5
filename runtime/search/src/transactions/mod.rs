//! Dynamic partial order reduction over whole transactions: the default strategy.
//!
//! Depth first over transactions (R* N? L*, see [`crate::discipline`]) with source sets, sleep sets and ghost footprints, and
//! weak happens-before judging plain data and queues (ALGORITHM.md 2-5; Abdulla, Aronis, Jonsson, Sagonas: Optimal dynamic
//! partial order reduction, POPL 2014). When the discipline is refuted, the search starts again with what it has learned.
//!
//! A transaction that would wait is rolled back to its start; it parks where it waits only if a deadlock could hide there
//! (ALGORITHM.md 3). Which threads can run at a node is found out lazily, by trying.
//!
//! Every data race is reported with its witness: a schedule of the same trace in which nothing orders the two accesses,
//! not even the order in which critical sections happened to run.

mod level;
mod ownership;
mod trace;
mod weak;
mod witness;

use std::collections::HashSet;

use crate::chains::Position;
use crate::discipline::{Discipline, Mode, Run, Wanted, lock_access};
use crate::drive::Drive;
use crate::explore::{Choice, Limits, Observer, Outcome, Stop};
use crate::fault::{Fault, is_on};
use crate::footprint::{Access, Footprint, ObjectId};
use crate::machine::{Status, ThreadId};
use crate::picks::Picks;
use crate::sleep::dependent;
use crate::thread_set::ThreadSet;
use crate::transactional::{End, Racer, Transactional};
use level::Level;
use trace::{Touched, Trace};
use weak::{Unordered, Weak};

/// Explores every trace of transactions of the machine's program once. `discipline` is what is known in advance, and holds
/// what was learned afterwards.
pub fn explore<M: Transactional>(
    machine: &mut M,
    discipline: &mut Discipline,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    let mut search = Search {
        drive: Drive::new(machine, limits, observer),
        discipline,
        levels: Vec::new(),
        depth: 0,
        trace: Trace::default(),
        weak: Weak::default(),
        run: Run::default(),
        began: 0,
        held: Vec::new(),
        ghost: Vec::new(),
        pending: Footprint::default(),
        positions: Vec::new(),
        initials: ThreadSet::default(),
        unordered: Vec::new(),
        reported: HashSet::new(),
    };
    search.discipline.take_grown();
    let result = search.run();
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
    levels: Vec<Level>,
    depth: usize,
    trace: Trace,
    weak: Weak,
    /// The transaction under way.
    run: Run,
    /// Length of the schedule where it began.
    began: usize,
    /// Per thread, the locks that it holds.
    held: Vec<Vec<(ObjectId, Mode)>>,
    ghost: Vec<(ObjectId, Access)>,
    pending: Footprint,
    positions: Vec<Position>,
    initials: ThreadSet,
    unordered: Vec<Unordered>,
    /// Races that were reported: object, and the two threads and sites.
    reported: HashSet<(ObjectId, ThreadId, u64, ThreadId, u64)>,
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

impl<M: Transactional> Search<'_, '_, M> {
    fn run(&mut self) -> Result<(), Stop> {
        loop {
            match self.pass() {
                Ok(()) => return Ok(()),
                Err(Break::Stop(stop)) => return Err(stop),
                Err(Break::Refuted) => self.drive.refine(),
            }
        }
    }

    /// One search of everything, under the discipline as it is.
    fn pass(&mut self) -> Result<(), Break> {
        self.trace.clear();
        self.weak.truncate(0);
        self.held.clear();
        self.depth = 0;
        self.drive.restart()?;
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        self.levels[0].clear();
        self.arrive();
        loop {
            while self.descend()? {}
            if !self.back_up() {
                return Ok(());
            }
            self.drive.next()?;
            self.return_here();
        }
    }

    /// Explores the branch of the present node, or picks one if there is none. Returns whether the execution goes on.
    fn descend(&mut self) -> Result<bool, Break> {
        loop {
            let Some(thread) = self.branch()? else { return Ok(false) };
            match self.transact(thread)? {
                Ran::RolledBack => {
                    self.note_roll_back(thread);
                    self.return_here();
                    if self.levels[self.depth].over {
                        let last = self.levels[self.depth].rolled_back().len() - 1;
                        self.reverse_rolled_back(last);
                        self.judge_partials()?;
                        self.return_here();
                    }
                    let level = &mut self.levels[self.depth];
                    if !level.next_branch(self.depth) && !level.back.is_empty() {
                        // Everything that was wanted was explored.
                        return Ok(false);
                    }
                }
                Ran::On if self.drive.is_too_long() => {
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

    /// The branch of the present node ended the execution for all threads. It cuts off what the others would have done, which
    /// never shows their races, with it or with anything else; so each of them has to run from here, or show what it waits for.
    fn branch_on_all(&mut self) -> Result<(), Break> {
        self.trace.pop();
        self.weak.truncate(self.depth as Position);
        self.return_here();
        self.levels[self.depth].over = true;
        self.levels[self.depth].want_all();
        self.reverse_waiting();
        self.judge_partials()
    }

    /// The branch to explore from the present node; none if the execution ends here.
    fn branch(&mut self) -> Result<Option<ThreadId>, Break> {
        let level = &mut self.levels[self.depth];
        if level.thread.is_some() {
            return Ok(level.thread);
        }
        let Some(thread) = level.first(self.trace.last_thread()) else {
            let ended = level.enabled.is_empty();
            self.reverse_waiting();
            if ended {
                self.leaf()?;
            } else {
                // Those asleep may be about to end the execution for all: nobody else would judge these.
                self.judge_partials()?;
                self.drive.block();
            }
            return Ok(None);
        };
        level.begin(thread, false);
        Ok(Some(thread))
    }

    /// Runs a transaction of `thread` from the present node, reverses its races and appends it.
    fn transact(&mut self, thread: ThreadId) -> Result<Ran, Break> {
        let mut picks = std::mem::take(&mut self.levels[self.depth].picks);
        let end = self.advance(thread, &mut picks);
        self.levels[self.depth].picks = picks;
        let end = end?;
        let rolls_back = end == End::Blocked && !self.parks();
        if rolls_back {
            self.require_wanted();
            return Ok(Ran::RolledBack);
        }
        let level = &mut self.levels[self.depth];
        level.ran = true;
        level.back.insert(thread);
        self.collect_ghost(thread);
        self.reverse_races(thread, Source::Run);
        self.append(thread)?;
        let level = &mut self.levels[self.depth];
        for access in self.run.footprint.accesses.iter().chain(&self.ghost) {
            if !level.union.contains(access) {
                level.union.push(*access);
            }
        }
        Ok(if end == End::Over { Ran::Over } else { Ran::On })
    }

    /// Runs `thread` to a boundary.
    fn advance(&mut self, thread: ThreadId, picks: &mut Picks) -> Result<End, Break> {
        if self.held.len() <= thread.index() {
            self.held.resize_with(thread.index() + 1, Vec::new);
        }
        picks.rewind();
        self.began = self.drive.schedule.len();
        self.run.begin(thread);
        let gate = (&mut *self.discipline, &mut self.run, &mut self.held[thread.index()]);
        let end = self.drive.transact(thread, gate, picks)?;
        if !picks.agreed() {
            return Err(Stop::Nondeterminism { step: self.drive.schedule.len() }.into());
        }
        self.run.seal();
        if self.discipline.take_grown() && !is_on(Fault::NoRestart) {
            return Err(Break::Refuted);
        }
        Ok(end)
    }

    /// Whether the transaction, which is blocked, parks where it is (ALGORITHM.md 3).
    fn parks(&self) -> bool {
        self.run.holds_new_locks()
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

    /// Appends the transaction that has just run (and was prepared) to the trace, after judging it.
    fn append(&mut self, thread: ThreadId) -> Result<(), Break> {
        let position = self.trace.len();
        let schedule = (self.began, self.drive.schedule.len());
        let mut unordered = std::mem::take(&mut self.unordered);
        for &(object, access) in &self.run.footprint.accesses {
            if access == Access::RefDecLast && self.trace.has_unordered_decrement(thread, object) {
                // It matters who drops the last reference.
                self.discipline.refute(object);
            }
        }
        let deeds = &self.run.deeds;
        self.weak.judge(&self.trace, thread, position as Position, deeds, &mut unordered);
        let judged = unordered.iter().try_for_each(|pair| self.report(thread, pair));
        let refuted = !unordered.is_empty();
        self.unordered = unordered;
        judged?;
        if self.discipline.take_grown() && !is_on(Fault::NoRestart) {
            return Err(Break::Refuted);
        }
        let footprint = &self.run.footprint;
        let touched = Touched { real: &footprint.accesses, ghost: &self.ghost };
        if refuted {
            self.trace.prepare(thread, touched, &footprint.joins);
        }
        self.trace.push(thread, touched, &footprint.enables, &self.run.changes, schedule);
        Ok(())
    }

    /// Weakens the discipline by an unordered pair, the later one of which `thread` has just made, and reports it if it is a
    /// new race.
    fn report(&mut self, thread: ThreadId, pair: &Unordered) -> Result<(), Stop> {
        self.discipline.refute(pair.object);
        let (earlier, site, _) = pair.earlier;
        let sites = (pair.object, earlier, site, thread, pair.later.0);
        if !pair.race || !self.reported.insert(sites) {
            return Ok(());
        }
        let racer = |thread, site, access| Racer { thread, site, writes: access != Access::Read };
        let failure = self.drive.machine.race(
            pair.object,
            racer(earlier, site, pair.earlier.2),
            racer(thread, pair.later.0, pair.later.1),
        );
        let schedule = self.witness(thread, pair);
        self.drive.fail(failure, &schedule)
    }

    /// A schedule of the same trace in which nothing orders two accesses that weak happens-before does not order (ALGORITHM.md
    /// 5, witness), up to the later access. What only this access conflicts with is left out.
    fn witness(&mut self, thread: ThreadId, pair: &Unordered) -> Vec<Choice> {
        if is_on(Fault::NoWitness) {
            return self.drive.schedule.clone();
        }
        let choices = self.run.cut_before(pair.deed, &mut self.pending);
        let touched = Touched { real: &self.pending.accesses, ghost: &[] };
        self.trace.prepare(thread, touched, &self.pending.joins);
        let order = witness::order(&self.trace, &self.weak, pair);
        let parts = order.into_iter().map(|at| self.trace.event(at).schedule);
        let parts = parts.chain([(self.began, self.began + choices)]);
        parts.flat_map(|(from, to)| &self.drive.schedule[from..to]).copied().collect()
    }

    /// Keeps what a thread did that is to be rolled back.
    fn note_roll_back(&mut self, thread: ThreadId) {
        let level = &mut self.levels[self.depth];
        // If it runs with other values, it must be woken by what it wanted with these.
        for access in &self.run.footprint.accesses {
            if !level.union.contains(access) {
                level.union.push(*access);
            }
        }
        if level.wanted || !level.picks.is_empty() {
            level.want_all();
        }
        let rolled = level.roll_back();
        rolled.thread = thread;
        rolled.accesses.clone_from(&self.run.footprint.accesses);
        rolled.joins.clone_from(&self.run.footprint.joins);
        rolled.need.clone_from(&self.run.need);
    }

    /// Puts the machine and all that goes with it back to the present node.
    fn return_here(&mut self) {
        let level = &self.levels[self.depth];
        self.drive.machine.restore(self.depth);
        self.drive.schedule.truncate(level.schedule);
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

    /// Goes back to the deepest node that has something left to explore. Returns whether there is one.
    fn back_up(&mut self) -> bool {
        loop {
            if self.trace.len() > self.depth {
                self.trace.pop();
                self.weak.truncate(self.depth as Position);
            }
            if self.levels[self.depth].next_branch(self.depth) {
                return true;
            }
            if self.depth == 0 {
                return false;
            }
            self.depth -= 1;
        }
    }

    /// Goes to the node behind the transaction of `thread` that was just made.
    fn enter_child(&mut self, thread: ThreadId) {
        if self.levels.len() == self.depth + 1 {
            self.levels.push(Level::default());
        }
        let (above, below) = self.levels.split_at_mut(self.depth + 1);
        let (parent, child) = (&above[self.depth], &mut below[0]);
        child.clear();
        let real = &self.run.footprint.accesses;
        for &ghost in parent.sleep.ghosts() {
            if ghost.thread != thread {
                child.sleep.haunt(ghost);
            }
        }
        for &sleeper in parent.sleep.sleepers() {
            if sleeper.thread == thread {
                continue;
            }
            let kept = above[sleeper.depth as usize].sleep.footprint(sleeper.number);
            let woken = dependent(kept, real) || dependent(kept, &self.ghost);
            if !woken || is_on(Fault::SleepTooLong) {
                child.sleep.inherit(sleeper);
            } else if (sleeper.depth as usize) < self.depth {
                child.sleep.haunt(sleeper);
            }
        }
        self.depth += 1;
        self.arrive();
    }

    /// Keeps the present node and looks who may run.
    fn arrive(&mut self) {
        let level = &mut self.levels[self.depth];
        level.schedule = self.drive.schedule.len();
        self.drive.machine.save(self.depth);
        for thread in (0..self.drive.machine.threads()).map(ThreadId) {
            let status = self.drive.machine.status(thread);
            if status.can_run() {
                level.enabled.insert(thread);
            }
            if status == Status::Reluctant {
                level.reluctant.insert(thread);
            }
        }
    }

    /// Collects what `thread`'s next transaction carries from having been asleep (ALGORITHM.md 4.4).
    fn collect_ghost(&mut self, thread: ThreadId) {
        self.ghost.clear();
        if is_on(Fault::NoGhosts) {
            return;
        }
        for ghost in self.levels[self.depth].sleep.ghosts() {
            if ghost.thread != thread {
                continue;
            }
            let kept = self.levels[ghost.depth as usize].sleep.footprint(ghost.number);
            for access in kept {
                let life = matches!(access.1, Access::End | Access::LateJoin);
                if !life && !self.ghost.contains(access) {
                    self.ghost.push(*access);
                }
            }
        }
    }

    /// Reverses the races of threads that wait here: they would have run elsewhere.
    fn reverse_waiting(&mut self) {
        if is_on(Fault::BlockedLeftOut) {
            return;
        }
        for thread in (0..self.drive.machine.threads()).map(ThreadId) {
            if matches!(self.drive.machine.status(thread), Status::Blocked { .. }) {
                self.drive.machine.pending(thread, &mut self.pending);
                self.run.need.clear();
                self.run.awaits = false;
                for (object, access) in &mut self.pending.accesses {
                    let mode = match access {
                        Access::Lock => Mode::Exclusive,
                        Access::ReadLock => Mode::Shared,
                        _ => {
                            self.run.awaits = true;
                            continue;
                        }
                    };
                    *access = lock_access(mode, false);
                    self.run.need.push((*object, mode));
                }
                self.collect_ghost(thread);
                self.reverse_races(thread, Source::Pending);
            }
        }
        for number in 0..self.levels[self.depth].rolled_back().len() {
            self.reverse_rolled_back(number);
        }
    }

    /// Reverses the races of a thread that was rolled back here.
    fn reverse_rolled_back(&mut self, number: usize) {
        let rolled = &self.levels[self.depth].rolled_back()[number];
        let thread = rolled.thread;
        self.pending.accesses.clone_from(&rolled.accesses);
        self.pending.joins.clone_from(&rolled.joins);
        self.run.need.clone_from(&rolled.need);
        self.run.awaits = false;
        self.collect_ghost(thread);
        self.reverse_races(thread, Source::Pending);
    }

    /// Adds to the nodes above what reverses the races of `thread`'s transaction.
    fn reverse_races(&mut self, thread: ThreadId, source: Source) {
        let footprint = match source {
            Source::Run => &self.run.footprint,
            Source::Pending => &self.pending,
        };
        self.ghost.retain(|access| !footprint.accesses.contains(access));
        let touched = Touched { real: &footprint.accesses, ghost: &self.ghost };
        self.trace.prepare(thread, touched, &footprint.joins);
        let awaits = self.run.awaits;
        self.trace.races(thread, touched, &self.run.need, awaits, &mut self.positions);
        for &position in &self.positions {
            self.trace.initials(position, thread, &mut self.initials);
            let level = &mut self.levels[position as usize];
            level.reverse(thread, &self.initials);
            if awaits {
                // After other transactions that it depends on it may have to wait: so it is to run before them, too.
                level.want(thread);
            }
        }
    }

    /// Nobody can run: brings the threads that were rolled back to where they wait, judges what they did on the way, and
    /// lets the machine judge the state.
    fn leaf(&mut self) -> Result<(), Break> {
        match self.judge_partials() {
            Err(Break::Refuted) if is_on(Fault::EndUnchecked) => {
                self.drive.finish()?;
                return Err(Break::Refuted);
            }
            result => result?,
        }
        let threads = (0..self.drive.machine.threads()).map(ThreadId);
        let mut runs = threads.filter(|&thread| self.drive.machine.status(thread).can_run());
        if runs.next().is_some() {
            // Only under a discipline that is wrong, which other executions show.
            self.drive.block();
            return Ok(());
        }
        Ok(self.drive.finish()?)
    }

    /// Brings the threads that were rolled back here to where they wait, and judges what they did on the way.
    fn judge_partials(&mut self) -> Result<(), Break> {
        let result = self.finish_partials();
        while self.trace.len() > self.depth {
            self.trace.pop();
        }
        self.weak.truncate(self.depth as Position);
        result
    }

    fn finish_partials(&mut self) -> Result<(), Break> {
        for number in 0..self.levels[self.depth].rolled_back().len() {
            let thread = self.levels[self.depth].rolled_back()[number].thread;
            if self.levels[self.depth].rolled_back()[..number].iter().any(|r| r.thread == thread) {
                continue;
            }
            self.advance(thread, &mut Picks::default())?;
            self.ghost.clear();
            let touched = Touched { real: &self.run.footprint.accesses, ghost: &self.ghost };
            self.trace.prepare(thread, touched, &self.run.footprint.joins);
            self.append(thread)?;
        }
        Ok(())
    }
}

/// Whose races are reversed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The transaction that was just made.
    Run,
    /// What a waiting thread would do or did.
    Pending,
}
