//! LD′ by its definition, on all executions of a program up to what it tells apart. It shares no
//! code with the lockset algorithm.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use lockred_model::program::{Body, Mutex, Variable};
use lockred_model::{ModelMachine, Program};
use lockred_search::fingerprint::Fingerprint;
use lockred_search::footprint::Access;
use lockred_search::machine::{Flow, Machine};

use crate::check::brute::every_step;

/// The accesses of an execution to an object after initialization.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct Accesses {
    is_written: bool,
    /// The locks that were owned at each access, as far as they are the same; none before the
    /// first.
    locks: Option<BTreeSet<Mutex>>,
}

#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct Past(BTreeMap<Variable, Accesses>);

/// Calls `visit` in all reachable states.
pub fn every_state(program: &Program, visit: &mut dyn FnMut(&ModelMachine)) {
    let mut machine = ModelMachine::new(program);
    machine.restore_root();
    let mut seen = HashSet::new();
    fn go(
        machine: &mut ModelMachine,
        depth: usize,
        seen: &mut HashSet<u128>,
        visit: &mut dyn FnMut(&ModelMachine),
    ) {
        visit(machine);
        every_step(machine, depth, &mut |machine, _, step| {
            let ends = step.flow != Flow::On;
            if seen.insert(machine.fingerprint()) && !ends {
                go(machine, depth + 1, seen, visit);
            }
            true
        });
    }
    go(&mut machine, 0, &mut seen, visit);
}

/// Whether some execution violates LD′. `initial`: who initializes a variable.
pub fn violates(program: &Program, initial: &dyn Fn(Variable) -> Option<Body>) -> bool {
    let tries = |a: Mutex| {
        let text = format!("{program}");
        [format!("try {a}"), format!("tryread {a}"), format!("read {a}"), format!("unread {a}")]
            .iter()
            .any(|word| text.contains(word.as_str()))
    };
    let monitors = (0..program.mutexes).map(Mutex).filter(|&a| !tries(a)).collect();
    let mut machine = ModelMachine::new(program);
    machine.restore_root();
    let mut search = Search { program, initial, monitors, seen: HashSet::new(), found: false };
    search.go(&mut machine, 0, &Past::default());
    search.found
}

struct Search<'a> {
    program: &'a Program,
    initial: &'a dyn Fn(Variable) -> Option<Body>,
    monitors: BTreeSet<Mutex>,
    seen: HashSet<(u128, Past)>,
    found: bool,
}

impl Search<'_> {
    fn go(&mut self, machine: &mut ModelMachine, depth: usize, past: &Past) {
        let owners = machine.state().owners.clone();
        every_step(machine, depth, &mut |machine, thread, step| {
            let me = Body(thread.0 as u8);
            let owns = |a: &Mutex| owners[usize::from(a.0)] == Some(me);
            let held: BTreeSet<Mutex> = self.monitors.iter().copied().filter(owns).collect();
            let mut past = past.clone();
            for &(object, access) in &step.footprint.accesses {
                let Some(declared) = self.program.variables.get(object.0 as usize) else {
                    continue;
                };
                if !declared.atomic {
                    let x = Variable(object.0 as u8);
                    self.found |= !self.access(&mut past, x, me, access != Access::Read, &held);
                }
            }
            let is_new = self.seen.insert((machine.fingerprint(), past.clone()));
            if is_new && !self.found && step.flow == Flow::On {
                self.go(machine, depth + 1, &past);
            }
            !self.found
        });
    }

    /// Returns whether the discipline holds for the variable so far.
    fn access(
        &self,
        past: &mut Past,
        x: Variable,
        me: Body,
        writes: bool,
        held: &BTreeSet<Mutex>,
    ) -> bool {
        if let Some(initial) = (self.initial)(x)
            && !past.0.contains_key(&x)
        {
            past.0.insert(x, Accesses::default());
            return initial == me;
        }
        let accesses = past.0.entry(x).or_default();
        accesses.is_written |= writes;
        let locks = match &accesses.locks {
            None => held.clone(),
            Some(locks) => locks & held,
        };
        let holds = !accesses.is_written || !locks.is_empty();
        accesses.locks = Some(locks);
        holds
    }
}
