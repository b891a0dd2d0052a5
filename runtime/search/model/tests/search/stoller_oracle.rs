//! The searches of Stoller's framework against brute force, each on the programs for which it is
//! claimed to be sound: the same failures and end states (deadlocks), the same control points, and
//! LD′ violated if and only if some execution violates it.

use crate::check;
use crate::generate;
use crate::stoller_brute;

use std::collections::BTreeSet;

use check::brute::every_state;
use check::cases::cases;
use check::leads_to;
use lockred_model::program::{Body, Variable};
use lockred_model::state::Phase;
use lockred_model::{Failure, ModelMachine, Program};
use lockred_papers::stoller::{
    Checking, Classes, Condition, Granularity, Memory, Persistent, Settings, Sleep, Stoller,
    Witness,
};
use lockred_search::footprint::ObjectId;
use lockred_search::machine::{Machine, ThreadId};
use lockred_search::{Covered, Findings, Limits, Stop};
use proptest::prelude::*;

/// Programs with more states than this are passed over.
const STATES: usize = 2_000;
/// Searches are given up after so many executions.
const EXECUTIONS: u64 = 500;

/// Collects control points.
#[derive(Default)]
struct Points(BTreeSet<(u32, usize, Phase)>);

impl Points {
    fn add(&mut self, machine: &ModelMachine, thread: ThreadId) {
        let state = &machine.state().threads[thread.index()];
        self.0.insert((thread.0, state.place, state.phase));
    }
}

impl Witness<ModelMachine> for Points {
    fn on_transition(&mut self, machine: &ModelMachine, thread: ThreadId) {
        self.add(machine, thread);
    }

    fn on_state(&mut self, machine: &ModelMachine) {
        (0..machine.threads()).for_each(|thread| self.add(machine, ThreadId(thread)));
    }
}

/// What brute force knows of a program.
struct Truth {
    failures: BTreeSet<Failure>,
    points: BTreeSet<(u32, usize, Phase)>,
}

fn truth(program: &Program) -> Option<Truth> {
    let mut machine = ModelMachine::new(program).reporting_ends();
    let failures = every_state(&mut machine, STATES)?;
    let mut points = Points::default();
    stoller_brute::every_state(program, &mut |machine| points.on_state(machine));
    Some(Truth { failures, points: points.0 })
}

/// Compares a search that claims to find everything.
fn finds_everything(
    program: &Program,
    classes: &Classes,
    settings: Settings,
    truth: &Truth,
) -> Result<(Stoller, Stop), TestCaseError> {
    let mut machine = ModelMachine::new(program).reporting_ends();
    let (mut seen, mut points) = (Findings::default(), Points::default());
    let mut stoller = Stoller::new(classes.clone(), settings);
    let limits = Limits { executions: Some(EXECUTIONS), operations: 300 };
    let outcome = stoller.explore_seen(&mut machine, limits, &mut seen, &mut points);
    for (failure, schedule) in &seen.schedules {
        prop_assert!(leads_to(program, schedule, failure), "{:?}: {}", settings, program);
    }
    prop_assert!(seen.failures.is_subset(&truth.failures), "{:?}: {}", settings, program);
    prop_assert!(points.0.is_subset(&truth.points), "{:?}: {}", settings, program);
    if outcome.covered == Covered::Everything {
        let missed: Vec<_> = truth.failures.difference(&seen.failures).collect();
        prop_assert!(missed.is_empty(), "{:?} misses {:?} of {}", settings, missed, program);
        prop_assert_eq!(&points.0, &truth.points, "{:?}: {}", settings, program);
    } else {
        let cut = matches!(outcome.stop, Stop::Executions | Stop::Operations);
        let is_known = !stoller.violations().is_empty() || *classes != machine.classes();
        prop_assert!(cut || is_known, "{:?}: {}", settings, program);
    }
    Ok((stoller, outcome.stop))
}

const SLEEPS: [Sleep; 3] = [Sleep::Off, Sleep::Unconditional, Sleep::Conditional];
const MEMORIES: [Memory; 3] = [Memory::Stateless, Memory::Stateful, Memory::Deepening];

/// The searches that rely on no condition.
fn unreduced() -> Vec<Settings> {
    let with = |memory| SLEEPS.map(|sleep| Settings { sleep, memory, ..Settings::SSS });
    MEMORIES.into_iter().flat_map(with).collect()
}

/// Those that rely on the discipline and check it.
fn reduced() -> Vec<Settings> {
    let granularities = [Granularity::Single, Granularity::InvisibleFirst, Granularity::Composed];
    let mut all = Vec::new();
    for granularity in granularities {
        for persistent in [Persistent::Enabled, Persistent::Algorithm2] {
            let settings = Settings { granularity, persistent, ..Settings::IF_SSS };
            let with = |memory| SLEEPS.map(|sleep| Settings { sleep, memory, ..settings });
            all.extend(MEMORIES.into_iter().flat_map(with));
        }
    }
    all
}

/// Some of the searches, so that each program does not take long.
fn some(all: Vec<Settings>) -> impl Strategy<Value = Vec<Settings>> {
    prop::sample::subsequence(all, 5)
}

/// Searches without any condition on any program without loops.
fn unreduced_agree(program: &Program, searches: &[Settings]) -> Result<(), TestCaseError> {
    let Some(truth) = truth(program) else { return Ok(()) };
    let classes = ModelMachine::new(program).classes();
    for &settings in searches {
        finds_everything(program, &classes, settings, &truth)?;
    }
    Ok(())
}

/// Searches that check LD′. The theorems do not claim that a search goes on rightly after a
/// violation, nor does the outcome.
fn reduced_agree(
    program: &Program,
    initial: &[Option<u8>; 3],
    searches: &[Settings],
) -> Result<(), TestCaseError> {
    let Some(truth) = truth(program) else { return Ok(()) };
    let mut classes = ModelMachine::new(program).classes();
    for (variable, thread) in initial.iter().enumerate() {
        if let Some(thread) = thread {
            let thread = ThreadId(u32::from(*thread) % program.threads.len() as u32);
            classes.initialized_by(ObjectId(variable as u64), thread);
        }
    }
    let violated = stoller_brute::violates(program, &|Variable(x)| {
        classes.initial_thread(ObjectId(x.into())).map(|thread| Body(thread.0 as u8))
    });
    for &settings in searches {
        let (stoller, stop) = finds_everything(program, &classes, settings, &truth)?;
        let mut conditions = stoller.violations().iter().map(|violation| violation.condition);
        prop_assert!(conditions.all(|c| c == Condition::Discipline), "{:?} {}", settings, program);
        let found = !stoller.violations().is_empty();
        prop_assert!(violated || !found, "{:?}: {}", settings, program);
        // With threads that initialize, violations may be missed.
        if stop == Stop::Complete && initial.iter().all(Option::is_none) {
            prop_assert_eq!(found, violated, "{:?}: {}", settings, program);
        }
        // With the discipline known to hold, checking it is needless.
        if !violated {
            let settings = Settings { checking: Checking::Off, ..settings };
            finds_everything(program, &classes, settings, &truth)?;
        }
    }
    Ok(())
}

/// Searches that remember states, on programs with loops.
fn stateful_agree(program: &Program, searches: &[Settings]) -> Result<(), TestCaseError> {
    let Some(truth) = truth(program) else { return Ok(()) };
    let classes = ModelMachine::new(program).classes();
    for &settings in searches {
        let settings = Settings { memory: Memory::Stateful, ..settings };
        finds_everything(program, &classes, settings, &truth)?;
    }
    Ok(())
}

fn initial() -> impl Strategy<Value = [Option<u8>; 3]> {
    prop::array::uniform3(prop::option::weighted(0.3, 0..4u8))
}

proptest! {
    #![proptest_config(cases(20, 600, 20_000))]

    #[test]
    fn search_without_reduction(program in generate::any_program(), some in some(unreduced())) {
        unreduced_agree(&program, &some)?;
    }

    #[test]
    fn search_without_reduction_over_the_lock_family(
        program in generate::locks::program(),
        some in some(unreduced()),
    ) {
        unreduced_agree(&program, &some)?;
    }

    #[test]
    fn programs_that_keep_the_discipline(
        program in generate::disciplined::kept(),
        some in some(reduced()),
    ) {
        reduced_agree(&program, &[None; 3], &some)?;
    }

    #[test]
    fn programs_that_may_break_it(
        program in generate::disciplined::any(),
        initial in initial(),
        some in some(reduced()),
    ) {
        reduced_agree(&program, &initial, &some)?;
    }

    #[test]
    fn programs_with_loops(
        program in generate::disciplined::looping(),
        some in some(reduced()),
    ) {
        stateful_agree(&program, &some)?;
    }
}
