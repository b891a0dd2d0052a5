//! State-less selective search, invisible-first search, and search of C(M) (Figure 2; sections 4
//! and 5).
//!
//! From every state the transitions of a persistent set are explored that do not sleep, each with
//! all values that it may choose. The three differ in what a transition is (`execute`).

use std::rc::Rc;

use super::execute::Executed;
use super::lockset::Locksets;
use super::persistent::{Persistent, Prospects};
use super::sleep::{Name, Sleep, Sleeper, behind};
use super::system::{Point, System};
use super::visited::{Visit, Visited};
use super::{Memory, Settings, Stoller, Witness};
use lockred_search::Stop;
use lockred_search::drive::Drive;
use lockred_search::fault::{Fault, is_on};
use lockred_search::footprint::ObjectId;
use lockred_search::machine::ThreadId;
use lockred_search::picks::Picks;

/// A state on the stack.
#[derive(Default)]
pub(super) struct Level {
    /// Threads whose transitions are left to explore, the next one last.
    left: Vec<ThreadId>,
    /// The threads that can run.
    enabled: Vec<ThreadId>,
    /// The thread whose transitions are under way, and the values of the present one.
    thread: Option<ThreadId>,
    pub(super) picks: Picks,
    sleep: Vec<Sleeper>,
    /// The transitions that were explored from here.
    done: Vec<Name>,
    /// On a further visit, the only transitions that are explored.
    only: Option<Vec<Name>>,
    /// All enabled transitions are explored, and none sleeps.
    is_full: bool,
    /// An execution went on or ended here.
    has_moved: bool,
    locksets: Locksets,
    fingerprint: u128,
    /// Length of the schedule that leads here.
    schedule: usize,
}

/// A search under way.
pub(super) struct Search<'a, 's, M: System> {
    pub(super) drive: Drive<'a, M>,
    pub(super) stoller: &'s mut Stoller,
    pub(super) witness: &'s mut dyn Witness<M>,
    levels: Vec<Level>,
    pub(super) locksets: Locksets,
    visited: Visited,
    /// The depth bound has cut an execution.
    pub(super) is_cut: bool,
    /// The control point where the thread that runs stands, and the locks that it owns.
    pub(super) point: Point,
    pub(super) held: Vec<ObjectId>,
}

impl<'a, 's, M: System> Search<'a, 's, M> {
    pub(super) fn new(
        drive: Drive<'a, M>,
        stoller: &'s mut Stoller,
        witness: &'s mut dyn Witness<M>,
    ) -> Self {
        Self {
            drive,
            stoller,
            witness,
            levels: Vec::new(),
            locksets: Locksets::default(),
            visited: Visited::default(),
            is_cut: false,
            point: Point::default(),
            held: Vec::new(),
        }
    }

    pub(super) fn settings(&self) -> Settings {
        self.stoller.settings
    }

    pub(super) fn memory(&self) -> Memory {
        self.stoller.settings.memory
    }

    /// Explores executions of at most so many transitions.
    pub(super) fn run(&mut self, bound: usize) -> Result<(), Stop> {
        self.levels.clear();
        self.locksets = Locksets::default();
        self.drive.restart()?;
        self.enter(Vec::new(), bound)?;
        loop {
            let Some(level) = self.levels.last_mut() else { return Ok(()) };
            if level.thread.is_none() {
                level.thread = level.left.pop();
                level.picks.clear();
            }
            match level.thread {
                Some(thread) => self.transition(thread, bound)?,
                None => self.leave()?,
            }
        }
    }

    /// Executes the transition of `thread` that is next, and goes to the state after it.
    fn transition(&mut self, thread: ThreadId, bound: usize) -> Result<(), Stop> {
        let sleeps = |level: &Level, name: &Name| {
            let is_allowed = level.only.as_ref().is_none_or(|only| only.contains(name));
            let sleeps = level.sleep.iter().any(|sleeper| sleeper.name == *name);
            !is_allowed || sleeps || level.done.contains(name)
        };
        self.drive.machine.point(thread, &mut self.point);
        if !self.point.choice && sleeps(self.level(), &(thread, Vec::new())) {
            self.level().thread = None;
            return Ok(());
        }
        let executed = self.execute(thread)?;
        let level = self.level();
        let name = (thread, level.picks.picked());
        if sleeps(level, &name) {
            self.return_here();
            return Ok(());
        }
        level.has_moved = true;
        if executed.is_over {
            self.drive.finish()?;
            self.drive.begin()?;
            self.add_sleeper(name, &executed);
            self.return_here();
            return Ok(());
        }
        let values = executed.values.as_deref();
        self.close_cycle();
        let sleep = behind(&self.level().sleep, thread, &executed.operations, values);
        self.add_sleeper(name, &executed);
        self.enter(sleep, bound)
    }

    pub(super) fn level(&mut self) -> &mut Level {
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    /// The transition was explored: it sleeps from now on, where it was.
    fn add_sleeper(&mut self, name: Name, executed: &Executed) {
        let keeps = self.settings().sleep != Sleep::Off;
        let level = self.level();
        level.done.push(name.clone());
        if keeps && !level.is_full {
            let operations = Rc::from(&executed.operations[..]);
            level.sleep.push(Sleeper { name, operations });
        }
    }

    /// Goes on to the next transition of the present level.
    fn return_here(&mut self) {
        let depth = self.levels.len() - 1;
        let level = &mut self.levels[depth];
        if !level.picks.advance() {
            level.thread = None;
        }
        self.drive.machine.restore(depth);
        self.drive.schedule.truncate(level.schedule);
        self.locksets.clone_from(&level.locksets);
    }

    /// Goes to the present state, which is explored with this sleep set.
    fn enter(&mut self, sleep: Vec<Sleeper>, bound: usize) -> Result<(), Stop> {
        self.witness.on_state(self.drive.machine);
        let depth = self.levels.len();
        let threads = (0..self.drive.machine.threads()).map(ThreadId);
        let threads = threads.filter(|&thread| self.drive.machine.status(thread).can_run());
        let enabled: Vec<ThreadId> = threads.collect();
        let mut level = Level {
            sleep,
            locksets: self.locksets.clone(),
            schedule: self.drive.schedule.len(),
            enabled,
            ..Level::default()
        };
        self.drive.machine.save(depth);
        if self.memory() == Memory::Stateful {
            level.fingerprint = self.fingerprint();
            if let Visit::Again(awake) = self.visited.visit(level.fingerprint, &mut level.sleep) {
                level.left = level.enabled.clone();
                level.left.retain(|thread| awake.iter().any(|name| name.0 == *thread));
                level.left.reverse();
                level.only = Some(awake);
                self.levels.push(level);
                return Ok(());
            }
            self.stoller.states = self.visited.len();
        }
        if level.enabled.is_empty() {
            level.has_moved = true;
            self.drive.finish()?;
            self.drive.begin()?;
        } else if depth >= bound || self.drive.is_too_long() {
            level.has_moved = true;
            self.is_cut = true;
            if bound == usize::MAX {
                self.drive.give_up();
            } else {
                // The next pass goes on.
                self.drive.block();
            }
            self.drive.begin()?;
        } else {
            level.left = self.persistent(&level.enabled);
            level.left.reverse();
        }
        self.levels.push(level);
        Ok(())
    }

    /// The threads of the paper's PS(s).
    fn persistent(&mut self, enabled: &[ThreadId]) -> Vec<ThreadId> {
        let settings = self.settings();
        let all = settings.persistent == Persistent::Enabled;
        if all || settings.memory == Memory::Deepening || enabled.len() == 1 {
            return enabled.to_vec();
        }
        let machine = &mut *self.drive.machine;
        let known = (settings.checking, &self.locksets);
        let prospects = Prospects::new(machine, &self.stoller.classes, known);
        prospects.smallest(machine, enabled)
    }

    /// The last transition led to a state on the stack, or was one of a further visit: nothing may
    /// be put off after it.
    fn close_cycle(&mut self) {
        let puts_off = self.settings().persistent == Persistent::Algorithm2;
        if self.memory() != Memory::Stateful || !puts_off {
            return;
        }
        let closes = self.visited.is_on_stack(self.fingerprint());
        if let Some(level) = self.levels.last_mut()
            && (closes || level.only.is_some())
            && !level.is_full
            && !is_on(Fault::TransitionsIgnored)
        {
            level.is_full = true;
            level.only = None;
            level.sleep.clear();
            level.left = level.enabled.iter().rev().copied().collect();
        }
    }

    /// Everything was explored from the present state: goes back.
    fn leave(&mut self) -> Result<(), Stop> {
        if let Some(level) = self.levels.pop() {
            if self.stoller.settings.memory == Memory::Stateful {
                self.visited.leave(level.fingerprint);
            }
            if !level.has_moved {
                self.drive.block();
                self.drive.begin()?;
            }
        }
        if !self.levels.is_empty() {
            self.return_here();
        }
        Ok(())
    }
}
