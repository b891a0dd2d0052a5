//! What strategies are said to need is what they use: a search that needs no footprints is the same
//! without them, others are not.

use crate::check;

use check::{Seen, parse};
use lockred_model::{Failure, ModelMachine};
use lockred_search::discipline::TransactionMonitor;
use lockred_search::fingerprint::Fingerprint;
use lockred_search::footprint::{Footprint, ObjectId};
use lockred_search::machine::{Chooser, Machine, Status, Step, ThreadId};
use lockred_search::transactional::{End, Racer, Snapshots, Transactional};
use lockred_search::{Limits, Outcome, Strategy, explore};

/// A machine that does not report what steps touch, as the native one where nobody has to know.
struct Blind(ModelMachine);

impl Machine for Blind {
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

    fn pending(&mut self, _: ThreadId, footprint: &mut Footprint) {
        footprint.clear();
    }

    fn step(&mut self, thread: ThreadId, chooser: &mut dyn Chooser, step: &mut Step<Failure>) {
        self.0.step(thread, chooser, step);
        step.footprint.clear();
    }

    fn finish(&mut self, failures: &mut Vec<Failure>) {
        self.0.finish(failures);
    }
}

impl Snapshots for Blind {
    fn save(&mut self, slot: usize) {
        self.0.save(slot);
    }

    fn restore(&mut self, slot: usize) {
        self.0.restore(slot);
    }
}

impl Transactional for Blind {
    fn advance(
        &mut self,
        thread: ThreadId,
        monitor: &mut TransactionMonitor<'_>,
        failures: &mut Vec<Failure>,
    ) -> End {
        self.0.advance(thread, monitor, failures)
    }

    fn race(&self, object: ObjectId, earlier: Racer, later: Racer) -> Failure {
        self.0.race(object, earlier, later)
    }
}

impl Fingerprint for Blind {
    fn fingerprint(&self) -> u128 {
        self.0.fingerprint()
    }
}

const PROGRAM: &str = "atomic f g h; thread A { f = 1; g = 1; r = h; h = r + 1 }
    thread B { g = 2; f = 2; r = h; h = r + 1 } thread C { r = f; f = r + 1; q = g; assert q != 1 }";

fn by<M: Transactional<Failure = Failure> + Fingerprint>(
    machine: &mut M,
    strategy: Strategy,
) -> (Seen, Outcome) {
    let limits = Limits { executions: Some(2_000), ..Limits::default() };
    let mut seen = Seen::default();
    let outcome = explore(machine, strategy, limits, &mut seen);
    (seen, outcome)
}

#[test]
fn a_search_asks_for_footprints_if_it_needs_them_and_only_then() {
    let machine = || ModelMachine::new(&parse(PROGRAM)).reporting_ends();
    for strategy in Strategy::ALL {
        let needs = strategy.needs();
        if needs.transactions {
            // They make footprints of what is reported to the monitor.
            assert!(!needs.footprints);
            continue;
        }
        let seeing = by(&mut machine(), strategy);
        let blind = by(&mut Blind(machine()), strategy);
        assert_eq!(seeing != blind, needs.footprints, "{}", strategy.name());
    }
}

#[test]
fn only_strategies_that_sample_never_end() {
    for strategy in Strategy::ALL {
        let short = parse("atomic f; thread A { f = 1 } thread B { f = 2 }");
        let (_, outcome) = by(&mut ModelMachine::new(&short), strategy);
        let ended = outcome.stop == lockred_search::Stop::Complete;
        assert_ne!(ended, strategy.samples(), "{}", strategy.name());
    }
}
