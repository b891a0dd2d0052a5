//! What a transition of the search is (sections 5.1 and 5.2): one of the program (SSS); one, after
//! which the thread's invisible ones are executed at once, and do not count for dependency (IF-SSS,
//! theorem 3); one composed of these, whose operations all count (C(M)). The discipline and the
//! conditions are checked at every transition of the program.

use super::Granularity;
use super::classes::Class;
use super::compose::{owner, simplify};
use super::conditions::{Condition, Violation};
use super::search::Search;
use super::sleep::Sleep;
use super::system::{Action, Operation, Point, System, Value};
use lockred_search::Stop;
use lockred_search::drive::{After, Run};
use lockred_search::footprint::ObjectId;
use lockred_search::machine::ThreadId;
use lockred_search::picks::Picks;

/// What a transition has done.
pub(super) struct Executed {
    pub(super) operations: Vec<Operation>,
    /// The values of objects before it, where conditional dependency may be used.
    pub(super) values: Option<Vec<(ObjectId, Value)>>,
    pub(super) is_over: bool,
}

impl<M: System> Search<'_, '_, M> {
    /// Executes a transition of the thread from the present state.
    pub(super) fn execute(&mut self, thread: ThreadId) -> Result<Executed, Stop> {
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

    /// Executes the thread's invisible transitions (the paper's execInvis), and adds their
    /// operations if they are wanted. Returns whether the execution is over.
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
            let before = picks.taken();
            if self.step(thread, picks)? == After::Over {
                return Ok(true);
            }
            if picks.taken() > before {
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
}
