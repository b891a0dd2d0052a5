//! The search itself: its stack, and what comes back from the states after the present one.

use crate::core::fault::{Fault, is_on};
use crate::core::fingerprint::Fingerprint;
use crate::core::footprint::{Footprint, ObjectId};
use crate::core::machine::ThreadId;
use crate::core::picks::Picks;
use crate::discipline::{Discipline, Mode, Run};
use crate::drive::Drive;
use crate::drive::observer::{Limits, Observer, Outcome, Stop};
use crate::drive::transactional::{End, Transactional};
use crate::states::unordered::{Past, Unordered};
use crate::transactions::retrace::Reported;

use super::interned::Table;
use super::known::{Known, Pair, Records, Watched};
use super::level::Level;
use super::settings::{First, Settings, Visited};
use super::sharing::Sharing;
use super::summary::{FootId, Summaries, SummaryId};
use super::table::Nodes;
use super::want::want;

/// Explores every state of the machine's program that an order of dependent transactions leads to.
/// `discipline` is what is known in advance ([`Discipline::hybrid`]), and holds what was learned
/// afterwards.
pub fn explore<M: Transactional + Fingerprint>(
    machine: &mut M,
    discipline: &mut Discipline,
    settings: Settings,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> (Outcome, Visited) {
    let mut search = Search {
        drive: Drive::new(machine, limits, observer),
        discipline,
        settings,
        levels: Vec::new(),
        nodes: Nodes::new(settings.keep),
        summaries: Summaries::default(),
        unordered: Unordered::with_queues(),
        shared_parts: Table::default(),
        sharing: Sharing::default(),
        watched: Watched::default(),
        records: Records::default(),
        reported: Reported::default(),
        pairs: Vec::new(),
        run: Run::default(),
        beside: Vec::new(),
        waiting: Footprint::default(),
        living: Vec::new(),
        scores: Vec::new(),
        crowded: false,
        visited: Visited::default(),
    };
    search.discipline.take_grown();
    let result = search.run();
    let outcome = search.drive.outcome(result);
    search.visited.forgotten = search.nodes.forgotten;
    (outcome, search.visited)
}

/// Why a pass over the program ends early.
pub(super) enum Break {
    /// Something was learned: start again.
    Refuted,
    Stop(Stop),
}

impl From<Stop> for Break {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// Of how many transactions about a thread's score is, and how many steps of it make no difference.
const LATELY: u32 = 8;
const STEP: u32 = 2;

pub(super) struct Search<'a, 'd, M: Transactional> {
    pub(super) drive: Drive<'a, M>,
    pub(super) discipline: &'d mut Discipline,
    pub(super) settings: Settings,
    /// The states on the way to the present one, which is the last.
    pub(super) levels: Vec<Level>,
    pub(super) nodes: Nodes,
    pub(super) summaries: Summaries,
    /// All accesses, compared by what is the same in all executions.
    pub(super) unordered: Unordered,
    /// Of footprints, how many objects were shared and what of them was, when that was last asked.
    shared_parts: Table<FootId, (u32, FootId)>,
    pub(super) sharing: Sharing,
    /// Objects whose accesses are compared by weak happens-before.
    pub(super) watched: Watched,
    pub(super) records: Records,
    pub(super) reported: Reported,
    pub(super) pairs: Vec<Pair>,
    /// The transaction under way.
    pub(super) run: Run,
    /// What has run from the present state, since it was left, before the transaction under way.
    pub(super) beside: Vec<(ThreadId, Picks)>,
    /// What a thread waits to do.
    pub(super) waiting: Footprint,
    pub(super) living: Vec<ThreadId>,
    /// Per thread, how much what it did lately made others wanted.
    scores: Vec<u32>,
    /// There are more threads than sets can hold: all are explored.
    pub(super) crowded: bool,
    pub(super) visited: Visited,
}

impl<M: Transactional + Fingerprint> Search<'_, '_, M> {
    fn run(&mut self) -> Result<(), Stop> {
        loop {
            match self.pass() {
                Ok(()) if !is_on(Fault::LateWatch) && self.has_learned() => self.drive.refine(),
                Ok(()) => return Ok(()),
                Err(Break::Stop(stop)) => return Err(stop),
                Err(Break::Refuted) => self.drive.refine(),
            }
        }
    }

    /// Whether something was learned since this was last asked.
    pub(super) fn has_learned(&mut self) -> bool {
        let grown = self.discipline.take_grown();
        let exposed = self.sharing.take_exposed() && !is_on(Fault::SharedLate);
        let loosened = self.unordered.take_loosened();
        std::mem::take(&mut self.watched.more) | loosened | exposed | grown
    }

    /// Searches everything, under what is known.
    fn pass(&mut self) -> Result<(), Break> {
        self.nodes.clear();
        self.sharing.begin();
        self.shared_parts.clear();
        self.levels.clear();
        self.beside.clear();
        self.scores.clear();
        self.visited = Visited::default();
        self.drive.restart()?;
        let root = Level::default();
        self.enter(root, None)?;
        while !self.levels.is_empty() {
            match self.branch() {
                Some(thread) => self.transact(thread)?,
                None => self.leave()?,
            }
        }
        Ok(())
    }

    pub(super) fn level(&mut self) -> &mut Level {
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    /// The branch to explore from the present state; none if everything was explored that has to
    /// be.
    fn branch(&mut self) -> Option<ThreadId> {
        let last = self.levels.len() - 1;
        let level = &mut self.levels[last];
        if let Some(thread) = level.thread {
            if level.picks.advance() {
                return Some(thread);
            }
            level.done.insert(thread);
        }
        let scores = &self.scores;
        let by_score = self.settings.first == First::LeastWanting;
        let score = |thread: ThreadId| {
            let score = scores.get(thread.index()).copied().unwrap_or(0);
            if by_score { score / (LATELY * STEP) } else { 0 }
        };
        let next = level.next_wanted().or_else(|| match level.moved {
            true => None,
            false => level.first(score),
        });
        level.thread = next;
        level.picks.clear();
        next
    }

    /// Runs a transaction of `thread` from the present state, and goes to the next state if it is
    /// new.
    fn transact(&mut self, thread: ThreadId) -> Result<(), Break> {
        let threads = self.drive.machine.threads() as usize;
        let level = self.level();
        let mut picks = std::mem::take(&mut level.picks);
        let mut next = Level {
            held: level.held.clone(),
            pasts: level.pasts.clone(),
            known: level.known.clone(),
            last: Some(thread),
            ..Level::default()
        };
        next.held.resize_with(threads.max(thread.index() + 1), Vec::new);
        let judged = Judged::new(&mut next, false);
        let end = self.advance(thread, &mut picks, judged);
        let chose = !picks.is_empty();
        self.level().picks = picks;
        let end = end?;
        let foot = self.summaries.foot(thread, &self.run.footprint);
        if end == End::Blocked && !self.parks() {
            self.visited.rolled_back += 1;
            let waits = self.rolled_back_on(foot);
            self.add_rest(foot);
            let level = self.level();
            level.rolled_back.push((thread, waits));
            let below = level.summary;
            if level.moved || chose {
                self.want(thread, thread, below);
            }
            self.return_here();
            return Ok(());
        }
        self.visited.transitions += 1;
        let by_time = self.run.footprint.by_time;
        let too_long = self.drive.is_too_long();
        let level = self.level();
        level.moved = true;
        level.foot = Some(foot);
        if by_time {
            // Others whose time has come could go on instead, and then wait for this one in turn.
            level.want_all();
        }
        if end == End::Over || too_long {
            // It cuts off what others would have done.
            level.over = true;
            level.want_all();
            if end == End::Over {
                self.drive.finish()?
            } else {
                self.drive.give_up()
            }
            self.drive.begin()?;
            self.come_back(SummaryId::EMPTY);
            self.return_here();
            return Ok(());
        }
        self.enter(next, Some(thread))
    }

    /// The branch of the present state leads to a state with this summary.
    pub(super) fn come_back(&mut self, below: SummaryId) {
        let last = self.levels.len() - 1;
        let level = &self.levels[last];
        let (Some(foot), Some(thread)) = (level.foot, level.thread) else { return };
        let foot = self.shared_part(foot);
        let (passed, wanted) = self.summaries.pass(foot, below);
        let level = &mut self.levels[last];
        level.summary = self.summaries.unite(level.summary, passed);
        self.note_score(thread, wanted != 0);
        let level = self.level();
        if level.cyclic && !is_on(Fault::CyclesUnexpanded) {
            level.want_all();
            return;
        }
        let mut rest = wanted;
        while rest != 0 {
            let wanted = ThreadId(rest.trailing_zeros());
            rest &= rest - 1;
            self.want(wanted, thread, below);
        }
    }

    /// A footprint without what no other thread accesses.
    fn shared_part(&mut self, foot: FootId) -> FootId {
        let known = self.sharing.shared();
        if let Some(&(shared, part)) = self.shared_parts.get(&foot)
            && shared == known
        {
            return part;
        }
        let sharing = &mut self.sharing;
        let part = self.summaries.part(foot, |object| !sharing.leaves_out(object));
        self.shared_parts.insert(foot, (known, part));
        part
    }

    fn want(&mut self, wanted: ThreadId, explored: ThreadId, below: SummaryId) {
        let last = self.levels.len() - 1;
        let flood = want(&mut self.levels[last], wanted, explored, below, &self.summaries);
        self.visited.floods += u64::from(flood);
    }

    /// A transaction of the thread made others wanted, or not.
    fn note_score(&mut self, thread: ThreadId, wants: bool) {
        if self.scores.len() <= thread.index() {
            self.scores.resize(thread.index() + 1, 0);
        }
        let score = &mut self.scores[thread.index()];
        *score -= *score / LATELY;
        if wants {
            *score += LATELY * STEP * 2;
        }
    }

    /// Puts the machine and all that goes with it back to the present state.
    pub(super) fn return_here(&mut self) {
        let Some(level) = self.levels.last() else { return };
        self.drive.machine.restore(self.levels.len() - 1);
        self.drive.schedule.truncate(level.schedule);
    }

    /// Everything was explored from the present state: goes back to the one before.
    fn leave(&mut self) -> Result<(), Break> {
        let level = self.level();
        let several = level.rolled_back.len() > 1
            && (level.cyclic || level.over)
            && !is_on(Fault::JudgedAtEnds);
        let moved = level.moved;
        if !moved || several && !self.watched.is_empty() && !is_on(Fault::JudgedAlone) {
            self.finish_partials()?;
        }
        if !moved {
            self.end()?;
        }
        let Some(level) = self.levels.pop() else { return Ok(()) };
        let complete = level.low == level.number;
        self.nodes.leave(level.opened, level.summary);
        let below = if complete {
            self.nodes.close(level.opened, &mut self.summaries)
        } else {
            level.summary
        };
        let Some(parent) = self.levels.last_mut() else { return Ok(()) };
        if !complete {
            parent.low = parent.low.min(level.low);
            parent.cyclic = true;
        }
        self.come_back(below);
        self.return_here();
        Ok(())
    }

    /// Nobody can run, and those who were rolled back stand where they wait: the execution ends
    /// here.
    fn end(&mut self) -> Result<(), Break> {
        self.drive.finish_where_all_wait()?;
        Ok(self.drive.begin()?)
    }

    /// Brings the threads that were rolled back here to where they wait, and judges what they did
    /// on the way, one beside the other.
    fn finish_partials(&mut self) -> Result<(), Break> {
        let level = self.level();
        let partials = level.rolled_back.clone();
        let mut beside = Level {
            held: level.held.clone(),
            pasts: level.pasts.clone(),
            known: level.known.clone(),
            ..Level::default()
        };
        let threads = self.drive.machine.threads() as usize;
        beside.held.resize_with(threads, Vec::new);
        for (number, &(thread, _)) in partials.iter().enumerate() {
            if !partials[..number].iter().any(|&(other, _)| other == thread) {
                let mut picks = Picks::default();
                self.advance(thread, &mut picks, Judged::new(&mut beside, true))?;
                self.beside.push((thread, picks));
            }
        }
        self.beside.clear();
        Ok(())
    }
}

/// What a transaction changes of a level.
pub(super) struct Judged<'a> {
    pub(super) held: &'a mut Vec<Vec<(ObjectId, Mode)>>,
    pub(super) pasts: &'a mut Vec<Past>,
    pub(super) known: &'a mut Known,
    /// The transaction was rolled back, and brings its thread to where it waits.
    pub(super) finishes: bool,
}

impl<'a> Judged<'a> {
    fn new(level: &'a mut Level, finishes: bool) -> Self {
        let Level { held, pasts, known, .. } = level;
        Self { held, pasts, known, finishes }
    }
}
