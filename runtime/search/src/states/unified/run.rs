//! Running a transaction, and judging what it did.

use crate::core::fault::{Fault, is_on};
use crate::core::fingerprint::Fingerprint;
use crate::core::footprint::{Access, ObjectId};
use crate::core::machine::ThreadId;
use crate::core::picks::Picks;
use crate::discipline::{Discipline, Run, Wanted};
use crate::drive::observer::Stop;
use crate::drive::transactional::{End, Racer, Transactional};
use crate::states::unordered::Found;
use crate::transactions::retrace::report_races;

use super::known::{Pair, Record, Watch, Watched};
use super::level::Waits;
use super::search::{Break, Judged, Search};
use super::summary::FootId;

/// The number of no object.
const NOTHING: ObjectId = ObjectId(u64::MAX);

impl<M: Transactional + Fingerprint> Search<'_, '_, M> {
    /// Runs `thread` to a boundary, or to where it waits, and judges what it did.
    pub(super) fn advance(
        &mut self,
        thread: ThreadId,
        picks: &mut Picks,
        judged: Judged<'_>,
    ) -> Result<End, Break> {
        let Judged { held, pasts, known, finishes } = judged;
        picks.rewind();
        self.run.begin(thread);
        let before = held[thread.index()].clone();
        let monitor = (&mut *self.discipline, &mut self.run, &mut held[thread.index()]);
        let end = self.drive.transact(thread, monitor, picks)?;
        self.run.seal();
        for &(object, access) in &self.run.footprint.accesses {
            self.sharing.note(thread, object, access);
        }
        let (watched, discipline) = (&mut self.watched, &mut *self.discipline);
        let rolled_back = end == End::Blocked
            && !finishes
            && !parks_by(&self.run, discipline, self.drive.machine);
        let left_out = rolled_back && is_on(Fault::JudgedAtEnds);
        let report = |object, found| learn(object, found, watched, discipline);
        if !left_out {
            self.unordered.note(&self.run, &before, pasts, report);
        }
        if self.has_learned() && !is_on(Fault::NoRestart) {
            return Err(Break::Refuted);
        }
        if !left_out {
            let (watched, pairs) = (&self.watched, self.settings.pairs);
            let (records, sharing) = (&mut self.records, &mut self.sharing);
            let (unordered, failed) = (&self.unordered, Vec::new());
            let mut watch =
                Watch { watched, pairs, records, sharing, unordered, weak_values: false, failed };
            known.judge(&self.run, &mut watch, &mut self.pairs);
            let (weak_values, failed) = (watch.weak_values, watch.failed);
            failed.into_iter().for_each(|set| self.unordered.does_not_count(set));
            if weak_values {
                self.watched.shows_weak_values();
                self.unordered.ignore_values();
                self.drive.machine.weak_values();
            }
            self.report(picks)?;
        }
        if self.has_learned() && !is_on(Fault::NoRestart) {
            return Err(Break::Refuted);
        }
        if !picks.agreed() {
            return Err(Stop::Nondeterminism { step: self.drive.schedule.len() }.into());
        }
        Ok(end)
    }

    /// Reports the races that the last transaction, which made these choices, showed.
    fn report(&mut self, picks: &Picks) -> Result<(), Break> {
        let pairs = std::mem::take(&mut self.pairs);
        let sites = |&Pair { earlier, later }: &Pair| {
            (later.object, earlier.thread, earlier.site, later.thread, later.site)
        };
        if pairs.iter().any(|pair| !self.reported.contains(&sites(pair))) {
            let path = self.path(picks);
            if !report_races(&mut self.drive, self.discipline, path, &mut self.reported)? {
                return Err(Break::Refuted);
            }
        }
        for pair in &pairs {
            let Pair { earlier, later } = *pair;
            self.discipline.refute(later.object);
            if !self.reported.insert(sites(pair)) {
                continue;
            }
            let racer = |record: Record| Racer {
                thread: record.thread,
                site: record.site,
                writes: !record.access.only_reads(),
            };
            let failure = self.drive.machine.race(later.object, racer(earlier), racer(later));
            let schedule = self.drive.schedule.clone();
            self.drive.fail(failure, &schedule)?;
        }
        self.pairs = pairs;
        Ok(())
    }

    /// The transactions from the root to the end of the one under way, which made these choices.
    fn path(&self, picks: &Picks) -> Vec<(ThreadId, Picks)> {
        let below = &self.levels[..self.levels.len() - 1];
        let branches = below.iter().filter_map(|level| Some((level.thread?, level.picks.clone())));
        let last = self.run.thread.map(|thread| (thread, picks.clone()));
        branches.chain(self.beside.iter().cloned()).chain(last).collect()
    }

    /// Whether the transaction, which is blocked, parks where it is (docs/algorithm.md#blocking).
    pub(super) fn parks(&self) -> bool {
        parks_by(&self.run, self.discipline, self.drive.machine)
    }

    /// What the transaction, which is rolled back, waits for.
    pub(super) fn rolled_back_on(&self, foot: FootId) -> Waits {
        match self.run.blocked {
            Some(Wanted::Lock(lock, mode)) => Waits::Lock(lock, mode),
            Some(Wanted::End(joined)) => Waits::End(joined),
            Some(Wanted::Value(object, _)) => Waits::Act(object, foot),
            // What the round has read belongs to its footprint.
            Some(Wanted::Change) => Waits::Act(NOTHING, foot),
            None => Waits::Unknown,
        }
    }

    /// Compares what a blocked thread waits to do with what others do.
    pub(super) fn note_waiting(&mut self, thread: ThreadId) {
        let Some(level) = self.levels.last_mut() else { return };
        // Messages are kept apart by their numbers.
        let is_data = |access: Access| {
            !matches!(access, Access::Send { .. } | Access::Receive { .. } | Access::Leave)
        };
        self.waiting.accesses.retain(|&(_, access)| is_data(access));
        let held = level.held.get(thread.index()).map_or(&[][..], Vec::as_slice);
        let (watched, discipline) = (&mut self.watched, &mut *self.discipline);
        let report = |object, found| {
            if !is_on(Fault::WaitersUnreported) {
                learn(object, found, watched, discipline);
            }
        };
        let accesses = &self.waiting.accesses;
        self.unordered.note_waiting(thread, accesses, held, &mut level.pasts, report);
    }
}

/// Learns that operations on an object are not kept apart.
fn learn(object: ObjectId, found: Found, watched: &mut Watched, discipline: &mut Discipline) {
    match found {
        Found::Race(..) => watched.watch(object),
        Found::Weak => watched.watch_values(object),
        Found::Conflict => discipline.show(object),
        Found::Decrements if is_on(Fault::DecrementsCommute) => {}
        Found::Decrements => discipline.refute(object),
    }
}

fn parks_by<M: Transactional>(run: &Run, discipline: &Discipline, machine: &M) -> bool {
    // Who waits for its time can go on only where this one is seen to wait.
    let is_waited_for = run.has_run() && machine.waits_for_time();
    is_waited_for
        || run.holds_new_locks()
            && !is_on(Fault::NeverPark)
            && match run.blocked {
                Some(Wanted::Lock(lock, _)) => discipline.is_held_for_good(lock),
                _ => true,
            }
}
