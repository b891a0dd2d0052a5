//! The conditions of Stoller's framework: each is checked, and no claim is made where one is
//! violated.

use crate::check;

use std::collections::BTreeSet;

use check::{by_stoller, parse};
use lockred_model::{Failure, ModelMachine};
use lockred_papers::stoller::system::{Operation, Point, Value};
use lockred_papers::stoller::{Class, Classes, Condition, Settings, Stoller, System};
use lockred_search::fingerprint::Fingerprint;
use lockred_search::footprint::{Footprint, ObjectId};
use lockred_search::machine::{Chooser, Machine, Status, Step, ThreadId};
use lockred_search::transactional::Snapshots;
use lockred_search::{Covered, Findings, Limits};

fn violated(text: &str, classes: impl Fn(&mut Classes)) -> Vec<Condition> {
    let program = parse(text);
    let mut known = ModelMachine::new(&program).classes();
    classes(&mut known);
    let settings = Settings { bound: 50, ..Settings::IF_SSS };
    let limits = Limits { executions: Some(100), operations: 1_000 };
    let (_, outcome, stoller) = by_stoller(&program, &known, settings, limits);
    let conditions: Vec<_> = stoller.violations().iter().map(|v| v.condition).collect();
    assert_eq!(outcome.covered == Covered::Everything, conditions.is_empty());
    conditions
}

#[test]
fn conditions_are_checked() {
    let nothing = |_: &mut Classes| {};
    assert_eq!(violated("plain x; mutex a; thread A { lock a; x = 1; unlock a }", nothing), []);
    // The first transition counts as visible.
    let text = "plain x; thread A { r = x } thread B { i = any 1; r = x }";
    assert_eq!(violated(text, nothing), [Condition::PureVis]);
    let text = "plain x; mutex a; thread A { lock a; while r == 0 { r = x } unlock a }";
    assert_eq!(violated(text, nothing), [Condition::BoundedInvis]);
    let text = "plain x; thread A { i = any 1; await x == 1 }";
    assert_eq!(violated(text, nothing), [Condition::NonBlockInvis]);
    let text = "plain x; mutex a; thread A { lock a; x = 1; unlock a } thread B { lock a; x = 1 }";
    let unshared = |classes: &mut Classes| {
        classes.set(ObjectId(0), Class::Unshared);
    };
    assert_eq!(violated(text, unshared), [Condition::Unshared]);
    let discipline = |classes: &mut Classes| {
        classes.set(ObjectId(0), Class::Discipline);
    };
    assert_eq!(violated(text, discipline), []);
}

/// A machine that does not tell where threads begin and choose.
struct Silent(ModelMachine);

fn silent(point: &mut Point) {
    point.first = false;
    point.choice = false;
}

impl System for Silent {
    fn point(&self, thread: ThreadId, point: &mut Point) {
        self.0.point(thread, point);
        silent(point);
    }

    fn place(&self, thread: ThreadId) -> usize {
        self.0.place(thread)
    }

    fn points(&self) -> Vec<(ThreadId, usize, Point)> {
        let mut points = self.0.points();
        points.iter_mut().for_each(|(_, _, point)| silent(point));
        points
    }

    fn operations(&mut self, thread: ThreadId, operations: &mut BTreeSet<Operation>) {
        self.0.operations(thread, operations);
    }

    fn held(&self, thread: ThreadId, locks: &mut Vec<ObjectId>) {
        self.0.held(thread, locks);
    }

    fn value(&self, object: ObjectId) -> Value {
        self.0.value(object)
    }
}

impl Machine for Silent {
    type Failure = Failure;

    fn is_race(failure: &Failure) -> bool {
        ModelMachine::is_race(failure)
    }

    fn restore_root(&mut self) {
        self.0.restore_root();
    }

    fn threads(&self) -> u32 {
        self.0.threads()
    }

    fn status(&mut self, thread: ThreadId) -> Status {
        self.0.status(thread)
    }

    fn pending(&mut self, thread: ThreadId, footprint: &mut Footprint) {
        self.0.pending(thread, footprint);
    }

    fn step(&mut self, thread: ThreadId, chooser: &mut dyn Chooser, step: &mut Step<Failure>) {
        self.0.step(thread, chooser, step);
    }

    fn finish(&mut self, failures: &mut Vec<Failure>) {
        self.0.finish(failures);
    }
}

impl Fingerprint for Silent {
    fn fingerprint(&self) -> u128 {
        self.0.fingerprint()
    }
}

impl Snapshots for Silent {
    fn save(&mut self, slot: usize) {
        self.0.save(slot);
    }

    fn restore(&mut self, slot: usize) {
        self.0.restore(slot);
    }
}

fn violated_by_silence(text: &str) -> BTreeSet<Condition> {
    let machine = ModelMachine::new(&parse(text));
    let mut stoller = Stoller::new(machine.classes(), Settings::COMPOSED);
    let mut found = Findings::default();
    let outcome = stoller.explore(&mut Silent(machine), Limits::default(), &mut found);
    let violated: BTreeSet<_> = stoller.violations().iter().map(|v| v.condition).collect();
    assert_eq!(outcome.covered == Covered::Everything, violated.is_empty());
    violated
}

#[test]
fn machines_are_checked_for_what_the_model_machine_always_keeps() {
    let text = "plain x; mutex a; thread A { r = x } thread B { lock a; unlock a }";
    assert_eq!(violated_by_silence(text), BTreeSet::from([Condition::InitVis]));
    let text = "plain x; mutex a; thread A { lock a; r = any 2; unlock a }";
    assert_eq!(violated_by_silence(text), BTreeSet::from([Condition::DetermInvis]));
    let text = "plain x; mutex a; thread A { lock a; r = any 1; unlock a }";
    assert_eq!(violated_by_silence(text), BTreeSet::new());
}
