//! State-less selective search, invisible-first search, and search of C(M) (Figure 2; sections 4 and 5).
//!
//! From every state the transitions of a persistent set are explored that do not sleep, each with all values that it may choose. The
//! three differ in what a transition is (`Granularity`): one of the program; one, behind which the thread's invisible ones are
//! executed at once, and do not count for dependency (theorem 3); one composed of these, whose operations all count.

use std::rc::Rc;

use super::classes::Class;
use super::compose::{owner, simplify};
use super::conditions::{Condition, Violation};
use super::lockset::Locksets;
use super::persistent::{Persistent, Prospects};
use super::sleep::{Name, Sleep, Sleeper, behind};
use super::system::{Action, Operation, Point, System, Value};
use super::visited::{Visit, Visited};
use super::{Granularity, Memory, Settings, Stoller, Witness};
use crate::drive::{After, Drive, Run};
use crate::explore::Stop;
use crate::fault::{Fault, is_on};
use crate::footprint::ObjectId;
use crate::machine::ThreadId;
use crate::picks::Picks;

/// A state on the stack.
#[derive(Default)]
struct Level {
    /// Threads whose transitions are left to explore, the next one last.
    left: Vec<ThreadId>,
    /// The threads that can run.
    enabled: Vec<ThreadId>,
    /// The thread whose transitions are under way, and the values of the present one.
    thread: Option<ThreadId>,
    picks: Picks,
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
    stoller: &'s mut Stoller,
    witness: &'s mut dyn Witness<M>,
    levels: Vec<Level>,
    pub(super) locksets: Locksets,
    visited: Visited,
    /// The depth bound has cut an execution.
    pub(super) is_cut: bool,
    point: Point,
    held: Vec<ObjectId>,
}

/// What a transition has done.
struct Executed {
    operations: Vec<Operation>,
    /// The values of objects before it, where conditional dependency may be used.
    values: Option<Vec<(ObjectId, Value)>>,
    is_over: bool,
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

    /// Executes the transition of `thread` that is next, and goes to the state behind it.
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
            self.drive.next()?;
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

    fn level(&mut self) -> &mut Level {
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

    /// Executes a transition of the thread from the present state.
    fn execute(&mut self, thread: ThreadId) -> Result<Executed, Stop> {
        let mut picks = std::mem::take(&mut self.level().picks);
        picks.rewind();
        let executed = self.execute_with(thread, &mut picks);
        self.level().picks = picks;
        executed
    }

    fn execute_with(&mut self, thread: ThreadId, picks: &mut Picks) -> Result<Executed, Stop> {
        let mut operations = Vec::new();
        let machine = &*self.drive.machine;
        let conditional = self.stoller.settings.sleep == Sleep::Conditional;
        let accessed = self.point.operations.iter().map(|operation| operation.object);
        let values = accessed.map(|object| (object, machine.value(object)));
        let values = conditional.then(|| values.collect());
        let takes = |o: &&Operation| {
            matches!(o.action, Action::Acquire | Action::Wait2)
                && self.stoller.classes.class(o.object) == Class::Synchronization
        };
        let taken = self.point.operations.iter().filter(takes);
        let owners: Vec<_> = taken.map(|o| (o.object, owner(machine, o.object))).collect();
        let mut place = self.drive.machine.place(thread);
        loop {
            operations.extend_from_slice(&self.point.operations);
            if self.step(thread, picks)? == After::Over {
                return Ok(Executed { operations, values, is_over: true });
            }
            let goes_on = self.drive.machine.status(thread).can_run();
            if !goes_on || !self.stoller.classes.is_merged(thread, place) {
                break;
            }
            place = self.drive.machine.place(thread);
            self.drive.machine.point(thread, &mut self.point);
        }
        let granularity = self.stoller.settings.granularity;
        if granularity == Granularity::Single {
            return Ok(Executed { operations, values, is_over: false });
        }
        let composed = granularity == Granularity::Composed;
        let is_over = self.invisible(thread, picks, composed.then_some(&mut operations))?;
        if composed {
            simplify(&mut operations, &owners, self.drive.machine);
        }
        Ok(Executed { operations, values, is_over })
    }

    /// Executes the thread's invisible transitions (the paper's execInvis), and adds their operations if they are wanted.
    /// Returns whether the execution is over.
    fn invisible(
        &mut self,
        thread: ThreadId,
        picks: &mut Picks,
        mut operations: Option<&mut Vec<Operation>>,
    ) -> Result<bool, Stop> {
        for number in 0.. {
            self.drive.machine.point(thread, &mut self.point);
            let has_ended =
                self.point == Point::default() && !self.drive.machine.status(thread).can_run();
            if has_ended || self.stoller.classes.is_visible_point(&self.point) {
                break;
            }
            if !self.drive.machine.status(thread).can_run() {
                self.violate(Condition::NonBlockInvis, thread, None);
                break;
            }
            if number >= self.stoller.settings.bound {
                self.violate(Condition::BoundedInvis, thread, None);
                break;
            }
            match &mut operations {
                Some(operations) => operations.extend_from_slice(&self.point.operations),
                None => self.witness.on_state(self.drive.machine),
            }
            let before = picks.picked().len();
            if self.step(thread, picks)? == After::Over {
                return Ok(true);
            }
            if picks.picked().len() > before {
                self.violate(Condition::DetermInvis, thread, None);
            }
        }
        Ok(false)
    }

    /// Executes a transition of the program by `thread`, which stands at `point`.
    fn step(&mut self, thread: ThreadId, picks: &mut Picks) -> Result<After, Stop> {
        let (checking, place) = (self.settings().checking, self.drive.machine.place(thread));
        let classes = &self.stoller.classes;
        self.drive.machine.held(thread, &mut self.held);
        // Locks that are no synchronization objects protect nothing.
        self.held.retain(|&lock| classes.class(lock) == Class::Synchronization);
        let mut violations = Vec::new();
        for &operation in &self.point.operations {
            if !self.locksets.access(thread, operation, &self.held, (checking, classes)) {
                let is_unshared = classes.class(operation.object) == Class::Unshared;
                let condition =
                    if is_unshared { Condition::Unshared } else { Condition::Discipline };
                violations.push((condition, operation.object));
            }
        }
        self.witness.on_transition(self.drive.machine, thread);
        let after = self.drive.run(thread, Run::Fresh, &mut |of| picks.pick(of))?;
        for (condition, object) in violations {
            self.violate_at(condition, thread, place, Some(object));
        }
        Ok(after)
    }

    fn violate(&mut self, condition: Condition, thread: ThreadId, object: Option<ObjectId>) {
        let place = self.drive.machine.place(thread);
        self.violate_at(condition, thread, place, object);
    }

    /// Notes a violation, which the present schedule shows.
    fn violate_at(
        &mut self,
        condition: Condition,
        thread: ThreadId,
        place: usize,
        object: Option<ObjectId>,
    ) {
        let known = |violation: &Violation| {
            let elsewhere = object.is_none() && violation.place != place;
            violation.condition == condition && violation.object == object && !elsewhere
        };
        if !self.stoller.violations.iter().any(known) {
            let schedule = self.drive.schedule.clone();
            let violation = Violation { condition, thread, place, object, schedule };
            self.stoller.violations.push(violation);
        }
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
            self.drive.next()?;
        } else if depth >= bound || self.drive.is_too_long() {
            level.has_moved = true;
            self.is_cut = true;
            if bound == usize::MAX {
                self.drive.give_up();
            } else {
                // The next pass goes on.
                self.drive.block();
            }
            self.drive.next()?;
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

    /// The last transition led to a state on the stack, or was one of a further visit: nothing may be put off behind it.
    fn close_cycle(&mut self) {
        if self.memory() != Memory::Stateful {
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
                self.drive.next()?;
            }
        }
        if !self.levels.is_empty() {
            self.return_here();
        }
        Ok(())
    }
}
