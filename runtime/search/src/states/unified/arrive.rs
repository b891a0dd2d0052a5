//! Arriving at a state: whether it is known, and how the threads stand there.

use crate::core::fault::{Fault, is_on};
use crate::core::fingerprint::{self, Fingerprint};
use crate::core::footprint::{Access, ObjectId};
use crate::core::machine::{Status, ThreadId};
use crate::discipline::{Mode, lock_access};
use crate::drive::transactional::{Awaited, Transactional};

use super::level::{Level, Standing, Waits};
use super::search::{Break, Search};
use super::summary::{FootId, SummaryId};
use super::table::Node;

/// Threads that sets of threads in summaries can hold.
const CROWD: u32 = 64;

impl<M: Transactional + Fingerprint> Search<'_, '_, M> {
    /// The machine stands at a state to which the branch has led: goes on from there if it is new,
    /// or else comes back at once.
    pub(super) fn enter(&mut self, mut level: Level, last: Option<ThreadId>) -> Result<(), Break> {
        if !level.known.is_empty() {
            self.find_living();
            level.known.settle(&self.records, &self.living, &self.unordered);
        }
        let (pasts, known) = (&level.pasts, &level.known);
        let state = self.drive.machine.fingerprint();
        level.fingerprint = if is_on(Fault::KnowledgeForgotten) {
            fingerprint::of(&(state, pasts))
        } else {
            fingerprint::of(&(state, pasts, known))
        };
        if let Some(node) = self.nodes.get(level.fingerprint) {
            let below = match node {
                Node::Open(number) => {
                    self.visited.cycles += 1;
                    let from = self.level();
                    from.low = from.low.min(number);
                    from.cyclic = true;
                    SummaryId::EMPTY
                }
                Node::Closed(_) if is_on(Fault::SummariesForgotten) => SummaryId::EMPTY,
                Node::Closed(summary) => summary,
            };
            self.come_back(below);
            self.return_here();
            return Ok(());
        }
        level.opened = self.nodes.opened();
        level.number = self.nodes.open(level.fingerprint);
        level.low = level.number;
        level.schedule = self.drive.schedule.len();
        level.last = last;
        self.visited.states += 1;
        self.drive.machine.save(self.levels.len());
        self.levels.push(level);
        self.look_around();
        if !is_on(Fault::LateWatch) && self.has_learned() {
            return Err(Break::Refuted);
        }
        Ok(())
    }

    /// Threads that have begun and have not ended.
    fn find_living(&mut self) {
        self.living.clear();
        for thread in (0..self.drive.machine.threads()).map(ThreadId) {
            let machine = &mut *self.drive.machine;
            if machine.has_begun(thread) && machine.status(thread) != Status::Ended {
                self.living.push(thread);
            }
        }
    }

    /// Looks how the threads stand at the present state, which is new.
    fn look_around(&mut self) {
        let threads = self.drive.machine.threads();
        if threads > CROWD && !std::mem::replace(&mut self.crowded, true) {
            self.watched.more = true;
        }
        for thread in (0..threads).map(ThreadId) {
            let status = self.drive.machine.status(thread);
            let standing = match status {
                Status::Ended => Standing::Ended,
                Status::Enabled | Status::LowPriority => {
                    let level = self.level();
                    level.enabled.insert(thread);
                    if status == Status::LowPriority {
                        level.reluctant.insert(thread);
                    }
                    Standing::Able
                }
                Status::Blocked { .. } if !self.drive.machine.has_begun(thread) => {
                    Standing::NotBegun
                }
                Status::Blocked { on } => Standing::Waits(self.waits(thread, on)),
            };
            self.level().standings.push(standing);
        }
        if self.crowded || self.settings.everybody {
            self.level().want_all();
        }
    }

    /// What a blocked thread waits for. What it waits to do belongs to what can be executed from
    /// here, and is compared with what others do.
    fn waits(&mut self, thread: ThreadId, on: ObjectId) -> Waits {
        self.drive.machine.pending(thread, &mut self.waiting);
        let mut lock = None;
        for (object, access) in &mut self.waiting.accesses {
            let mode = match access {
                Access::Lock => Mode::Exclusive,
                Access::ReadLock => Mode::Shared,
                _ => continue,
            };
            *access = lock_access(mode, false);
            lock = lock.or(Some(Waits::Lock(*object, mode)));
        }
        for &(object, access) in &self.waiting.accesses {
            self.sharing.note(thread, object, access);
        }
        let foot = self.summaries.foot(thread, &self.waiting);
        if !self.waiting.accesses.is_empty() && !is_on(Fault::WaitersLeftOut) {
            self.add_rest(foot);
        }
        if lock.is_none() {
            self.note_waiting(thread);
        }
        if let Some(lock) = lock {
            return lock;
        }
        match self.drive.machine.awaited(thread) {
            Awaited::Unknown => Waits::Unknown,
            Awaited::End(joined) => Waits::End(joined),
            Awaited::Act => Waits::Act(on, foot),
        }
    }

    /// Something can be executed from the present state that leads no further.
    pub(super) fn add_rest(&mut self, foot: FootId) {
        let (rest, _) = self.summaries.pass(foot, SummaryId::EMPTY);
        let before = self.level().summary;
        self.level().summary = self.summaries.unite(before, rest);
    }
}
