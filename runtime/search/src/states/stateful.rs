//! Search over states: transactions, each state visited once, sleep sets.
//!
//! See docs/algorithm.md#stateful-search. States are told apart by their fingerprints, beside which
//! the sleep set is kept with which they were explored (Godefroid, LNCS 1032, chapter 5). On a
//! second visit only threads that were asleep before and are not now are explored. Data and queues
//! are protected by locks that are always held (Flanagan and Qadeer's inference), which every
//! access checks; a refutation starts the search again. A transaction that waits parks if it took a
//! lock, else it is rolled back.
//!
//! It ends on cyclic state spaces, and is better where interleavings converge. Memory grows with
//! the number of states. [`explore_selected`] explores only the threads that a [`Selection`] takes
//! (persistent sets, in lockred-papers).
//!
//! It judges no data races: those need the order of events, which states do not have (see
//! [`crate::transactions`]). It says which objects it cannot exclude them for, because neither a
//! lock nor the creation and joining of threads keeps all accesses apart (`unordered`). (Accesses
//! that two threads could make next in some state can be seen from states, but that takes all
//! threads in all states, sleepers too, and still misses what only relaxed atomics order.)
//!
//! A refutation throws everything away, because that is cheap: in 8,000 searches of random programs
//! (3 threads of at most 9 statements, 4 of at most 6, locks) nine of ten were refuted, twice or
//! thrice each, but the passes thrown away were 2 to 13 % of all transactions, less the larger the
//! programs (measured by a second search with what the first had learned). Keeping the states in
//! whose past nothing refuted was touched could save no more than that.

use crate::core::fault::{Fault, is_on};
use crate::core::fingerprint::Fingerprint;
use crate::core::fingerprint::{self, ByFingerprint};
use crate::core::footprint::{Access, Footprint, ObjectId, thread_object};
use crate::core::machine::{Status, ThreadId};
use crate::core::picks::Picks;
use crate::core::sleep::{self, Sleep, wakes};
use crate::core::thread_set::ThreadSet;
use crate::discipline::{Discipline, Mode, Run, Wanted};
use crate::drive::Drive;
use crate::drive::observer::{Limits, Observer, Outcome, Stop};
use crate::drive::transactional::{End, Transactional};
use crate::states::selection::{All, Asleep, Selection};
use crate::states::unordered::{Found, Past, Unordered};

/// Visits every boundary state of the machine's program. `discipline` is what is known in advance
/// ([`Discipline::by_locks`]), and holds what was learned afterwards.
pub fn explore<M: Transactional + Fingerprint>(
    machine: &mut M,
    discipline: &mut Discipline,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    explore_selected(machine, discipline, limits, observer, All)
}

/// As [`explore`], but explores from every state only the threads that `selection` takes.
pub fn explore_selected<M: Transactional + Fingerprint, S: Selection<M>>(
    machine: &mut M,
    discipline: &mut Discipline,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
    selection: S,
) -> Outcome {
    let mut search = Search {
        drive: Drive::new(machine, limits, observer),
        discipline,
        nodes: Vec::new(),
        depth: 0,
        visited: ByFingerprint::default(),
        run: Run::default(),
        selection,
        stack: ByFingerprint::default(),
        unordered: Unordered::default(),
        waiting: Footprint::default(),
        pasts: Vec::new(),
    };
    search.discipline.take_grown();
    let result = search.run();
    search.drive.outcome(result)
}

/// A state on the stack.
#[derive(Default)]
struct Node {
    /// Threads that are left to explore.
    left: ThreadSet,
    sleep: Sleep,
    /// The branch: the thread that runs and the values it chooses.
    thread: Option<ThreadId>,
    picks: Picks,
    /// The thread has run to a boundary with some values.
    ran: bool,
    /// Some thread has.
    moved: bool,
    /// Threads that were rolled back here.
    rolled_back: Vec<ThreadId>,
    /// Accesses of the branch's thread with all values explored so far.
    union: Vec<(ObjectId, Access)>,
    /// Per thread, the locks that it holds.
    held: Vec<Vec<(ObjectId, Mode)>>,
    /// Per thread, what is before what it does next.
    pasts: Vec<Past>,
    /// Length of the schedule that leads here.
    schedule: usize,
    fingerprint: u128,
    /// Threads that can begin to run.
    enabled: ThreadSet,
    /// The state was visited before: what is left is what was asleep then.
    again: bool,
    /// All threads have to be explored.
    full: bool,
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

struct Search<'a, 'd, M: Transactional, S> {
    drive: Drive<'a, M>,
    discipline: &'d mut Discipline,
    nodes: Vec<Node>,
    depth: usize,
    /// Per state, the threads that were asleep at all visits.
    visited: ByFingerprint<ThreadSet>,
    run: Run,
    /// Which threads are explored.
    selection: S,
    /// How many nodes of the stack have which state.
    stack: ByFingerprint<u32>,
    unordered: Unordered,
    /// What a thread waits to do.
    waiting: Footprint,
    /// Per thread, what is before what it does next, after the last transaction.
    pasts: Vec<Past>,
}

impl<M: Transactional + Fingerprint, S: Selection<M>> Search<'_, '_, M, S> {
    fn run(&mut self) -> Result<(), Stop> {
        loop {
            match self.pass() {
                Ok(()) if self.discipline.take_grown() => self.drive.refine(),
                Ok(()) => return Ok(()),
                Err(Break::Stop(stop)) => return Err(stop),
                Err(Break::Refuted) => self.drive.refine(),
            }
        }
    }

    fn pass(&mut self) -> Result<(), Break> {
        self.visited.clear();
        self.nodes.clear();
        self.stack.clear();
        self.nodes.push(Node::default());
        self.depth = 0;
        self.drive.restart()?;
        self.arrive();
        loop {
            let Some(thread) = self.branch() else {
                self.leave()?;
                if self.depth == 0 {
                    return Ok(());
                }
                self.pop();
                continue;
            };
            self.transact(thread)?;
        }
    }

    /// The branch to explore from the present state.
    fn branch(&mut self) -> Option<ThreadId> {
        let depth = self.depth;
        let node = &mut self.nodes[depth];
        if let Some(thread) = node.thread {
            if node.picks.advance() {
                return Some(thread);
            }
            if node.ran {
                node.sleep.put(thread, depth, &node.union, None);
            }
        }
        let thread = self.next_thread();
        let node = &mut self.nodes[depth];
        node.thread = thread;
        node.left.remove(thread?);
        node.picks.clear();
        node.union.clear();
        node.ran = false;
        node.thread
    }

    /// The thread to explore next from the present state.
    fn next_thread(&mut self) -> Option<ThreadId> {
        let node = &self.nodes[self.depth];
        if node.left.is_empty() || !S::LEAVES_OUT || node.again || node.full {
            return node.left.iter().next();
        }
        let kept = node.sleep.sleepers().iter().map(|sleeper| Asleep {
            thread: sleeper.thread,
            here: sleeper.depth as usize == self.depth,
            accesses: self.nodes[sleeper.depth as usize].sleep.footprint(sleeper.number),
        });
        let asleep: Vec<Asleep<'_>> = kept.collect();
        self.selection.next(self.drive.machine, self.discipline, &node.left, &asleep)
    }

    /// The branch of the node at `depth` leads to a state on the stack, or to one that was visited
    /// while only some threads were explored: if others might be put off for ever, all are
    /// explored.
    fn close_cycle(&mut self, depth: usize, thread: ThreadId) {
        if !S::LEAVES_OUT {
            return;
        }
        let target = self.fingerprint();
        let node = &self.nodes[depth];
        let closes = node.again || self.stack.get(&target).is_some_and(|&number| number > 0);
        if node.full || !closes || is_on(Fault::CyclesUnexpanded) {
            return;
        }
        if !self.selection.loops(self.drive.machine, self.discipline, thread) {
            return;
        }
        let node = &mut self.nodes[depth];
        node.full = true;
        if node.again {
            let awake = |&t: &ThreadId| t != thread && !node.sleep.asleep.contains(t);
            let more: Vec<ThreadId> = node.enabled.iter().filter(awake).collect();
            more.into_iter().for_each(|thread| node.left.insert(thread));
        }
    }

    /// Runs a transaction of `thread` from the present state, and goes to the next state if it is
    /// new.
    fn transact(&mut self, thread: ThreadId) -> Result<(), Break> {
        let mut picks = std::mem::take(&mut self.nodes[self.depth].picks);
        let mut held = self.nodes[self.depth].held.clone();
        held.resize_with(self.drive.machine.threads() as usize, Vec::new);
        let end = self.advance(thread, &mut picks, &mut held[thread.index()]);
        let node = &mut self.nodes[self.depth];
        node.picks = picks;
        sleep::add(&mut node.union, &self.run.footprint.accesses);
        let end = end?;
        let parks = self.run.holds_new_locks() || self.is_waited_for();
        let node = &mut self.nodes[self.depth];
        if end == End::Blocked && !parks {
            node.rolled_back.push(thread);
            self.return_here();
            return Ok(());
        }
        node.ran = true;
        node.moved = true;
        if end == End::Over || self.drive.is_too_long() {
            if end == End::Over {
                node.full = true;
                self.drive.finish()?
            } else {
                self.drive.give_up()
            }
            self.drive.begin()?;
            self.return_here();
            return Ok(());
        }
        self.enter_child(thread, held);
        self.close_cycle(self.depth - 1, thread);
        if self.arrive() {
            return Ok(());
        }
        self.drive.block();
        self.drive.begin()?;
        self.pop();
        Ok(())
    }

    /// Goes back to the state before.
    fn pop(&mut self) {
        if let Some(node) = self.nodes.pop()
            && let Some(number) = self.stack.get_mut(&node.fingerprint)
        {
            *number -= 1;
        }
        self.depth -= 1;
        self.return_here();
    }

    fn advance(
        &mut self,
        thread: ThreadId,
        picks: &mut Picks,
        held: &mut Vec<(ObjectId, Mode)>,
    ) -> Result<End, Break> {
        picks.rewind();
        self.run.begin(thread);
        let end = self.drive.transact(thread, (self.discipline, &mut self.run, held), picks)?;
        self.run.seal();
        self.note(thread);
        let parks = self.run.holds_new_locks() || self.is_waited_for();
        let rolled_back = end == End::Blocked && !parks;
        if S::LEAVES_OUT && !rolled_back {
            held.iter().for_each(|&(lock, _)| self.discipline.split(lock));
            if let (End::Blocked, Some(Wanted::End(awaited))) = (end, self.run.blocked) {
                self.run.footprint.touch(thread_object(awaited), Access::LateJoin);
            }
        }
        if self.discipline.take_grown() { Err(Break::Refuted) } else { Ok(end) }
    }

    /// Compares what the transaction did with what others do in other states, and finds out what is
    /// before what each thread does next.
    fn note(&mut self, thread: ThreadId) {
        let node = &self.nodes[self.depth];
        let held = node.held.get(thread.index()).map_or(&[][..], Vec::as_slice);
        self.pasts.clone_from(&node.pasts);
        let (machine, discipline) = (&mut *self.drive.machine, &mut *self.discipline);
        let report = |object, found| match found {
            Found::Race(earlier, later) => machine.may_race(object, earlier, later),
            Found::Conflict | Found::Decrements => discipline.refute(object),
            Found::Weak => machine.weak_values(),
        };
        self.unordered.note(&self.run, held, &mut self.pasts, report);
    }

    /// Compares what a blocked thread waits to do with what others do.
    fn note_waiting(&mut self, thread: ThreadId) {
        self.drive.machine.pending(thread, &mut self.waiting);
        let node = &mut self.nodes[self.depth];
        let held = node.held.get(thread.index()).map_or(&[][..], Vec::as_slice);
        let (discipline, accesses) = (&mut *self.discipline, &self.waiting.accesses);
        let machine = &mut *self.drive.machine;
        let report = |object, found| match found {
            Found::Race(earlier, later) => machine.may_race(object, earlier, later),
            Found::Conflict | Found::Decrements => discipline.refute(object),
            Found::Weak => machine.weak_values(),
        };
        self.unordered.note_waiting(thread, accesses, held, &mut node.pasts, report);
    }

    /// Whether somebody's time comes only where the thread that ran is seen to wait.
    fn is_waited_for(&self) -> bool {
        self.run.has_run() && self.drive.machine.waits_for_time()
    }

    fn enter_child(&mut self, thread: ThreadId, held: Vec<Vec<(ObjectId, Mode)>>) {
        let mut child = Node { held, pasts: self.pasts.clone(), ..Node::default() };
        for &sleeper in self.nodes[self.depth].sleep.sleepers() {
            let kept = self.nodes[sleeper.depth as usize].sleep.footprint(sleeper.number);
            if sleeper.thread != thread
                && !self.run.footprint.by_time
                && !wakes(kept, &self.run.footprint.accesses)
            {
                child.sleep.inherit(sleeper);
            }
        }
        self.depth += 1;
        self.nodes.push(child);
    }

    /// The present state, and what is before what its threads do next.
    fn fingerprint(&self) -> u128 {
        let pasts = &self.nodes[self.depth].pasts;
        fingerprint::of(&(self.drive.machine.fingerprint(), pasts))
    }

    /// Keeps the present state, and looks who is to be explored from it. Returns whether anything
    /// is, or whether the state is new.
    fn arrive(&mut self) -> bool {
        let node = &mut self.nodes[self.depth];
        node.schedule = self.drive.schedule.len();
        self.drive.machine.save(self.depth);
        let mut enabled = ThreadSet::default();
        for thread in (0..self.drive.machine.threads()).map(ThreadId) {
            match self.drive.machine.status(thread) {
                Status::Enabled | Status::LowPriority => enabled.insert(thread),
                Status::Blocked { .. } => self.note_waiting(thread),
                Status::Ended => {}
            }
        }
        let node = &mut self.nodes[self.depth];
        let asleep = node.sleep.asleep.clone();
        let fingerprint = self.fingerprint();
        let node = &mut self.nodes[self.depth];
        node.fingerprint = fingerprint;
        node.enabled = enabled.clone();
        *self.stack.entry(fingerprint).or_default() += 1;
        if let Some(stored) = self.visited.get_mut(&fingerprint) {
            let again = stored.iter().filter(|&thread| !asleep.contains(thread));
            let again: Vec<ThreadId> = again.filter(|&thread| enabled.contains(thread)).collect();
            stored.retain(|thread| asleep.contains(thread));
            node.sleep.keep(stored);
            again.iter().for_each(|&thread| node.left.insert(thread));
            // What ends here was reported at the first visit.
            node.moved = true;
            node.again = true;
            return !again.is_empty();
        }
        for thread in enabled.iter().filter(|&thread| !asleep.contains(thread)) {
            node.left.insert(thread);
        }
        node.moved = enabled.intersects(&asleep);
        self.visited.insert(fingerprint, asleep);
        true
    }

    fn return_here(&mut self) {
        self.drive.machine.restore(self.depth);
        self.drive.schedule.truncate(self.nodes[self.depth].schedule);
    }

    /// Everything was explored from the present state: if nobody could move, the execution ends
    /// here.
    fn leave(&mut self) -> Result<(), Break> {
        let node = &mut self.nodes[self.depth];
        if node.moved {
            return Ok(());
        }
        let partials = std::mem::take(&mut node.rolled_back);
        let mut held = std::mem::take(&mut node.held);
        held.resize_with(self.drive.machine.threads() as usize, Vec::new);
        for thread in partials {
            self.advance(thread, &mut Picks::default(), &mut held[thread.index()])?;
        }
        self.drive.finish_where_all_wait()?;
        Ok(self.drive.begin()?)
    }
}
