//! Judging transactions by weak happens-before, reporting races, and the ends of executions
//! (docs/algorithm.md#weak-happens-before, docs/algorithm.md#blocking).

use crate::core::chains::Position;
use crate::core::choice::Choice;
use crate::core::fault::{Fault, is_on};
use crate::core::footprint::Access;
use crate::core::machine::ThreadId;
use crate::core::picks::Picks;
use crate::drive::observer::Stop;
use crate::drive::transactional::{Racer, Transactional};

use super::trace::Touched;
use super::weak::Unordered;
use super::{Break, Search, witness};

impl<M: Transactional> Search<'_, '_, M> {
    /// Appends the transaction that has just run (and was prepared) to the trace, after judging it.
    pub(super) fn append(&mut self, thread: ThreadId) -> Result<(), Break> {
        let position = self.trace.len();
        let schedule = (self.began, self.drive.schedule.len());
        let mut unordered = std::mem::take(&mut self.unordered);
        for &(object, access) in &self.run.footprint.accesses {
            if access == Access::RefDecLast && self.trace.has_unordered_decrement(thread, object) {
                // It matters who drops the last reference.
                self.discipline.refute(object);
            }
        }
        self.weak.judge(&self.trace, thread, position as Position, &self.run, &mut unordered);
        if self.weak.take_weak_values() {
            self.drive.machine.weak_values();
        }
        let judged = unordered.iter().try_for_each(|pair| self.report(thread, pair));
        let refuted = !unordered.is_empty();
        self.unordered = unordered;
        judged?;
        if self.discipline.take_grown() && !is_on(Fault::NoRestart) {
            return Err(Break::Refuted);
        }
        let footprint = &self.run.footprint;
        let by_time = footprint.by_time;
        let touched = Touched { real: &footprint.accesses, inherited: &self.inherited, by_time };
        if refuted {
            self.trace.prepare(thread, touched, &footprint.joins);
        }
        self.trace.push(thread, touched, footprint, &self.run.changes, schedule);
        Ok(())
    }

    /// Weakens the discipline by an unordered pair, the later one of which `thread` has just made,
    /// and reports it if it is a new race.
    pub(super) fn report(&mut self, thread: ThreadId, pair: &Unordered) -> Result<(), Stop> {
        self.discipline.refute(pair.object);
        let (earlier, site, _) = pair.earlier;
        let sites = (pair.object, earlier, site, thread, pair.later.0);
        let new = self.reported.insert(sites) || is_on(Fault::NoWitness);
        if !pair.race || !new {
            return Ok(());
        }
        let racer =
            |thread, site, access: Access| Racer { thread, site, writes: !access.only_reads() };
        let failure = self.drive.machine.race(
            pair.object,
            racer(earlier, site, pair.earlier.2),
            racer(thread, pair.later.0, pair.later.1),
        );
        let schedule = self.witness(thread, pair);
        self.drive.fail(failure, &schedule)
    }

    /// A schedule of the same trace in which nothing orders two accesses that weak happens-before
    /// does not order (docs/algorithm.md#witness), up to the later access. What only this access
    /// conflicts with is left out.
    pub(super) fn witness(&mut self, thread: ThreadId, pair: &Unordered) -> Vec<Choice> {
        if is_on(Fault::NoWitness) {
            return self.drive.schedule.clone();
        }
        let choices = self.run.cut_before(pair.event, &mut self.pending);
        let by_time = self.run.footprint.by_time;
        let touched = Touched { real: &self.pending.accesses, inherited: &[], by_time };
        self.trace.prepare(thread, touched, &self.pending.joins);
        let order = witness::order(&self.trace, &self.weak, pair);
        let parts = order.into_iter().map(|at| self.trace.event(at).schedule);
        let parts = parts.chain([(self.began, self.began + choices)]);
        parts.flat_map(|(from, to)| &self.drive.schedule[from..to]).copied().collect()
    }

    /// Brings the threads that were rolled back here to where they wait, and judges what they did
    /// on the way.
    pub(super) fn judge_partials(&mut self) -> Result<(), Break> {
        let result = self.finish_partials();
        while self.trace.len() > self.depth {
            self.trace.pop();
        }
        self.weak.truncate(self.depth as Position);
        result
    }

    pub(super) fn finish_partials(&mut self) -> Result<(), Break> {
        for number in 0..self.nodes[self.depth].rolled_back().len() {
            let thread = self.nodes[self.depth].rolled_back()[number].thread;
            if self.nodes[self.depth].rolled_back()[..number].iter().any(|r| r.thread == thread) {
                continue;
            }
            self.advance(thread, &mut Picks::default())?;
            self.inherited.clear();
            let by_time = self.run.footprint.by_time;
            let accesses = &self.run.footprint.accesses;
            let touched = Touched { real: accesses, inherited: &self.inherited, by_time };
            self.trace.prepare(thread, touched, &self.run.footprint.joins);
            self.append(thread)?;
        }
        Ok(())
    }

    /// Nobody can run: brings the threads that were rolled back to where they wait, judges what
    /// they did on the way, and lets the machine judge the state.
    pub(super) fn leaf(&mut self) -> Result<(), Break> {
        match self.judge_partials() {
            Err(Break::Refuted) if is_on(Fault::EndUnchecked) => {
                self.drive.finish()?;
                return Err(Break::Refuted);
            }
            result => result?,
        }
        Ok(self.drive.finish_where_all_wait()?)
    }
}
