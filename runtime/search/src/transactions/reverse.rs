//! Race reversal: whose transactions race with earlier ones, and what that adds to the nodes above
//! (docs/algorithm.md#race-reversal).

use crate::core::fault::{Fault, is_on};
use crate::core::footprint::Access;
use crate::core::machine::{Status, ThreadId};
use crate::discipline::{Mode, lock_access};
use crate::drive::transactional::Transactional;

use super::Search;
use super::trace::Touched;

/// Whose races are reversed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The transaction that was just made.
    Run,
    /// What a waiting thread would do or did.
    Pending,
}

impl<M: Transactional> Search<'_, '_, M> {
    /// Collects what `thread`'s next transaction carries from having been asleep
    /// (docs/algorithm.md#inherited-accesses).
    pub(super) fn collect_inherited(&mut self, thread: ThreadId, source: Source) {
        self.inherited.clear();
        if is_on(Fault::NothingInherited) {
            return;
        }
        let fixed = match source {
            Source::Run => self.run.fixed,
            Source::Pending => None,
        };
        for inherited in self.nodes[self.depth].sleep.inherited() {
            if inherited.thread != thread {
                continue;
            }
            self.nodes[inherited.depth as usize].sleep.carry(
                *inherited,
                fixed,
                &mut self.inherited,
            );
        }
    }

    /// Reverses the races of threads that wait here: they would have run elsewhere.
    pub(super) fn reverse_waiting(&mut self) {
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
                self.collect_inherited(thread, Source::Pending);
                self.reverse_races(thread, Source::Pending);
            }
        }
        for number in 0..self.nodes[self.depth].rolled_back().len() {
            self.reverse_rolled_back(number);
        }
    }

    /// Reverses the races of a thread that was rolled back here.
    pub(super) fn reverse_rolled_back(&mut self, number: usize) {
        let rolled = &self.nodes[self.depth].rolled_back()[number];
        let thread = rolled.thread;
        self.pending.accesses.clone_from(&rolled.accesses);
        self.pending.joins.clone_from(&rolled.joins);
        self.run.need.clone_from(&rolled.need);
        self.run.awaits = false;
        self.collect_inherited(thread, Source::Pending);
        self.reverse_races(thread, Source::Pending);
    }

    /// Finds out what comes before `thread`'s transaction.
    pub(super) fn prepare(&mut self, thread: ThreadId, source: Source) {
        let footprint = match source {
            Source::Run => &self.run.footprint,
            Source::Pending => &self.pending,
        };
        self.inherited.retain(|access| !footprint.accesses.contains(access));
        let by_time = footprint.by_time;
        let touched = Touched { real: &footprint.accesses, inherited: &self.inherited, by_time };
        self.trace.prepare(thread, touched, &footprint.joins);
    }

    /// Adds to the nodes above what reverses the races of `thread`'s transaction.
    pub(super) fn reverse_races(&mut self, thread: ThreadId, source: Source) {
        self.prepare(thread, source);
        let footprint = match source {
            Source::Run => &self.run.footprint,
            Source::Pending => &self.pending,
        };
        let by_time = footprint.by_time;
        let touched = Touched { real: &footprint.accesses, inherited: &self.inherited, by_time };
        let awaits = self.run.awaits;
        self.trace.races(thread, touched, &self.run.need, awaits, &mut self.positions);
        for &position in &self.positions {
            self.trace.initials(position, thread, &mut self.initials);
            let node = &mut self.nodes[position as usize];
            node.reverse(thread, &self.initials);
            if awaits {
                // After other transactions that it depends on it may have to wait: so it is to run
                // before them, too.
                node.add_backtrack_point(thread);
            }
        }
    }
}
