//! Algorithm 2-LD against the definition of persistent sets (section 4), by brute force on random
//! programs: in every state, whatever the other threads do without executing a transition of the
//! set is independent of it.
//!
//! Independence is judged by execution: whether the one enables or disables the other, and whether
//! both orders lead to one state.

use crate::check;
use crate::generate;

use std::collections::{BTreeSet, HashSet};

use check::brute::every_step;
use check::cases::cases;
use lockred_model::{ModelMachine, Program};
use lockred_papers::stoller::{Settings, Stoller};
use lockred_search::fault::{self, Fault};
use lockred_search::fingerprint::Fingerprint;
use lockred_search::machine::{Flow, Machine, ThreadId};
use proptest::prelude::*;

/// Programs with more states than this are passed over.
const STATES: usize = 400;

/// The states that a thread's transitions lead to, one for each value that it chooses; none if it
/// is blocked.
fn behind(machine: &mut ModelMachine, depth: usize, thread: ThreadId) -> BTreeSet<u128> {
    let mut targets = BTreeSet::new();
    every_step(machine, depth, &mut |machine, mover, _| {
        if mover == thread {
            targets.insert(machine.fingerprint());
        }
        true
    });
    targets
}

/// The states after a transition of `first` and one of `second`, whether `second` could be
/// executed after each of `first`.
fn behind_both(
    machine: &mut ModelMachine,
    depth: usize,
    first: ThreadId,
    second: ThreadId,
) -> (BTreeSet<u128>, BTreeSet<bool>) {
    let (mut targets, mut enabled) = (BTreeSet::new(), BTreeSet::new());
    every_step(machine, depth, &mut |machine, mover, step| {
        if mover == first {
            let over = step.flow == Flow::Over;
            enabled.insert(!over && machine.status(second).can_run());
            if !over {
                targets.extend(behind(machine, depth + 1, second));
            }
        }
        true
    });
    (targets, enabled)
}

/// Whether the transitions of two threads that are pending are independent in the present state.
fn are_independent(machine: &mut ModelMachine, depth: usize, one: ThreadId, two: ThreadId) -> bool {
    let enabled = |machine: &mut ModelMachine, thread| machine.status(thread).can_run();
    let (is_one, is_two) = (enabled(machine, one), enabled(machine, two));
    let (forth, kept_two) = behind_both(machine, depth, one, two);
    let (back, kept_one) = behind_both(machine, depth, two, one);
    let same = |kept: &BTreeSet<bool>, before| kept.iter().all(|&after| after == before);
    same(&kept_two, is_two) && same(&kept_one, is_one) && (!(is_one && is_two) || forth == back)
}

/// Whether the enabled transitions of `set` are persistent in the present state.
fn is_persistent(machine: &mut ModelMachine, depth: usize, set: &[ThreadId]) -> bool {
    let enabled: Vec<ThreadId> =
        set.iter().copied().filter(|&thread| machine.status(thread).can_run()).collect();
    let mut seen = HashSet::new();
    stays(machine, depth, &enabled, &mut seen)
}

fn stays(
    machine: &mut ModelMachine,
    depth: usize,
    set: &[ThreadId],
    seen: &mut HashSet<u128>,
) -> bool {
    let others: Vec<ThreadId> = (0..machine.threads())
        .map(ThreadId)
        .filter(|thread| !set.contains(thread) && machine.status(*thread).can_run())
        .collect();
    for &other in &others {
        if set.iter().any(|&member| !are_independent(machine, depth, other, member)) {
            return false;
        }
    }
    let holds = every_step(machine, depth, &mut |machine, mover, step| {
        let goes_on = others.contains(&mover) && step.flow == Flow::On;
        !goes_on || !seen.insert(machine.fingerprint()) || stays(machine, depth + 1, set, seen)
    });
    holds.is_some()
}

/// A set that the algorithm finds in some state, and that is not persistent there; `most` states
/// are looked at.
fn counterexample(program: &Program, most: usize) -> Option<(String, Vec<ThreadId>)> {
    let mut machine = ModelMachine::new(program);
    let stoller = Stoller::new(machine.classes(), Settings::IF_SSS);
    machine.restore_root();
    let mut search = Search { stoller, seen: HashSet::new(), most, found: None };
    search.go(&mut machine, 0);
    search.found
}

struct Search {
    stoller: Stoller,
    seen: HashSet<u128>,
    most: usize,
    found: Option<(String, Vec<ThreadId>)>,
}

impl Search {
    fn go(&mut self, machine: &mut ModelMachine, depth: usize) {
        for start in (0..machine.threads()).map(ThreadId) {
            if !machine.status(start).can_run() {
                continue;
            }
            let set = self.stoller.persistent_threads(machine, start);
            if set.len() < machine.threads() as usize && !is_persistent(machine, depth, &set) {
                self.found = Some((format!("{:?}", machine.state()), set));
                return;
            }
        }
        every_step(machine, depth, &mut |machine, _, step| {
            let is_new = self.seen.insert(machine.fingerprint());
            if is_new && step.flow == Flow::On && self.seen.len() <= self.most {
                self.go(machine, depth + 1);
            }
            self.found.is_none()
        });
    }
}

fn all_persistent(program: &Program) -> Result<(), TestCaseError> {
    let found = counterexample(program, STATES);
    prop_assert!(found.is_none(), "{:?} is not persistent: {}", found, program);
    Ok(())
}

proptest! {
    #![proptest_config(cases(30, 150, 10_000))]

    #[test]
    fn sets_of_any_program(program in generate::any_program()) {
        all_persistent(&program)?;
    }

    #[test]
    fn sets_over_the_lock_family(program in generate::locks::program()) {
        all_persistent(&program)?;
    }

    #[test]
    fn sets_of_disciplined_programs(program in generate::disciplined::looping()) {
        all_persistent(&program)?;
    }
}

#[test]
fn a_fault_of_figure_3_is_caught() {
    let program = check::parse("mutex a; thread A { lock a; unlock a } thread B { lock a }");
    assert!(counterexample(&program, STATES).is_none());
    let fault = Fault::AcquiresDoNotInterfere;
    assert!(fault::with(fault, || counterexample(&program, STATES)).is_some());
}
