//! What brute force says about the user's access predicates, written anew over all states: it
//! shares no judgement with the search.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use lockred_model::{Failure, ModelMachine, Program};
use lockred_papers::flanagan_qadeer::{Accessed, Action, Atom, Guarded, Predicate, Waits};
use lockred_search::fingerprint::Fingerprint;
use lockred_search::footprint::ObjectId;
use lockred_search::machine::{Machine, ThreadId};

use super::check::brute::every_step;

/// Whether it is a failure of one thread, which the search claims to find.
pub fn is_of_thread(failure: &Failure) -> bool {
    matches!(
        failure,
        Failure::Assertion { .. }
            | Failure::Misuse { .. }
            | Failure::Freed { .. }
            | Failure::Overflow { .. }
            | Failure::Abort { .. }
    )
}

/// The objects whose given predicates are none of the program: condition (i) does not hold in some
/// store, or a step of some reachable state violates (ii) or δ. What is violated no longer stands
/// for the rest.
pub fn objections(program: &Program) -> BTreeSet<ObjectId> {
    let mut machine = ModelMachine::new(program);
    let threads = machine.threads();
    let mut standing: BTreeMap<ObjectId, &Predicate> =
        program.exclusive.iter().map(|(object, predicate)| (*object, predicate)).collect();
    let all: BTreeSet<ObjectId> = standing.keys().copied().collect();
    standing.retain(|_, predicate| !is_shared(predicate, threads));
    loop {
        let before = standing.len();
        if before == 0 {
            return all;
        }
        let inferred = protecting(&mut machine, &standing);
        let mut violated = BTreeSet::new();
        every_transition(&mut machine, &mut |states, thread, action| {
            for (&object, predicate) in &standing {
                if violates(states, (thread, action), (object, predicate), (&standing, &inferred)) {
                    violated.insert(object);
                }
            }
        });
        standing.retain(|object, _| !violated.contains(object));
        if standing.len() == before {
            return all.into_iter().filter(|object| !standing.contains_key(object)).collect();
        }
    }
}

/// A machine before and after a step.
type Pair<'a> = (&'a ModelMachine, &'a ModelMachine);

/// Calls `see` for every step of every reachable state, and for every thread that waits before one,
/// as a step that changes nothing.
fn every_transition(machine: &mut ModelMachine, see: &mut dyn FnMut(Pair<'_>, ThreadId, &Action)) {
    fn visit(
        machine: &mut ModelMachine,
        depth: usize,
        visited: &mut HashSet<u128>,
        see: &mut dyn FnMut(Pair<'_>, ThreadId, &Action),
    ) {
        let before = machine.clone();
        for thread in (0..machine.threads()).map(ThreadId) {
            if let (false, Some(action)) = (machine.status(thread).can_run(), before.action(thread))
            {
                see((&before, &before), thread, &action);
            }
        }
        every_step(machine, depth, &mut |machine, thread, step| {
            let action = before.action(thread).expect("who steps has not ended");
            see((&before, machine), thread, &action);
            let over = step.flow != lockred_search::machine::Flow::On;
            if !over && visited.insert(machine.fingerprint()) {
                visit(machine, depth + 1, visited, see);
            }
            true
        });
    }
    machine.restore_root();
    visit(machine, 0, &mut HashSet::new(), see);
}

/// Whether two threads satisfy the predicate in some store: tried with every holder of each lock
/// and every value that is named, or another.
fn is_shared(predicate: &Predicate, threads: u32) -> bool {
    let atoms: BTreeSet<Atom> = predicate.0.iter().flatten().copied().collect();
    let mut stores: Vec<BTreeMap<ObjectId, i64>> = vec![BTreeMap::new()];
    for &atom in &atoms {
        let (object, values): (ObjectId, Vec<i64>) = match atom {
            Atom::Held(lock) => (lock, (-1..i64::from(threads)).collect()),
            Atom::Value(variable, _) => {
                let named = atoms.iter().filter_map(|other| match *other {
                    Atom::Value(x, value) if x == variable => Some(i64::from(value)),
                    _ => None,
                });
                (variable, named.chain([1 << 40]).collect())
            }
            Atom::By(_) => continue,
        };
        if stores[0].contains_key(&object) {
            continue;
        }
        let grown = stores.iter().flat_map(|store| {
            values.iter().map(move |&value| {
                let mut store = store.clone();
                store.insert(object, value);
                store
            })
        });
        stores = grown.collect();
    }
    let holds = |store: &BTreeMap<ObjectId, i64>, t: u32| {
        predicate.0.iter().any(|atoms| {
            atoms.iter().all(|atom| match *atom {
                Atom::Held(lock) => store[&lock] == i64::from(t),
                Atom::By(thread) => thread.0 == t,
                Atom::Value(variable, value) => store[&variable] == i64::from(value),
            })
        })
    };
    stores.iter().any(|store| (0..threads).filter(|&t| holds(store, t)).count() > 1)
}

/// Who owns what of the objects without a given predicate: the locks (and threads, reported as
/// objects beyond all others) that were held at every access of the program. None: no access is
/// ever made.
type Inferred = BTreeMap<ObjectId, BTreeSet<ObjectId>>;

fn owned_by(thread: ThreadId) -> ObjectId {
    ObjectId(u64::MAX - u64::from(thread.0))
}

fn holdings(machine: &ModelMachine, thread: ThreadId) -> BTreeSet<ObjectId> {
    machine.held(thread).into_iter().chain([owned_by(thread)]).collect()
}

fn protecting(machine: &mut ModelMachine, standing: &BTreeMap<ObjectId, &Predicate>) -> Inferred {
    let mut inferred = Inferred::new();
    loop {
        let before = inferred.clone();
        every_transition(machine, &mut |(machine, _), thread, action| {
            for object in objects(action).filter(|object| !standing.contains_key(object)) {
                let mut held = holdings(machine, thread);
                if let Waits::Free(lock) = action.waits {
                    held.insert(lock);
                }
                let guards = match inferred.get(&object) {
                    Some(guards) => guards.intersection(&held).copied().collect(),
                    None if machine.is_lock(object) => {
                        held.into_iter().filter(|&lock| lock == object).collect()
                    }
                    None => held,
                };
                inferred.insert(object, guards);
            }
        });
        if inferred == before {
            return inferred;
        }
    }
}

fn objects(action: &Action) -> impl Iterator<Item = ObjectId> + '_ {
    action.accessed.iter().filter_map(|accessed| match accessed {
        Accessed::Object(object) => Some(*object),
        Accessed::Ghost { .. } => None,
    })
}

fn holds(machine: &ModelMachine, thread: ThreadId, predicate: &Predicate) -> bool {
    predicate.0.iter().any(|atoms| atoms.iter().all(|&atom| is_true(machine, thread, atom)))
}

fn is_true(machine: &ModelMachine, thread: ThreadId, atom: Atom) -> bool {
    match atom {
        Atom::Held(lock) => machine.holder(lock) == Some(thread),
        Atom::By(named) => named == thread,
        Atom::Value(variable, value) => machine.value(variable) == Some(value),
    }
}

/// Whether the step violates δ or (ii) for the object.
fn violates(
    (before, behind): Pair<'_>,
    (by, action): (ThreadId, &Action),
    (object, predicate): (ObjectId, &Predicate),
    (standing, inferred): (&BTreeMap<ObjectId, &Predicate>, &Inferred),
) -> bool {
    let others = || (0..before.threads()).map(ThreadId).filter(move |&other| other != by);
    let accesses = |object| objects(action).any(|accessed| accessed == object);
    if accesses(object) && !holds(before, by, predicate) {
        // Safe: while the action is enabled, no other thread has exclusive access.
        let excluded = |atom: &Atom, other: ThreadId| match (*atom, action.waits) {
            (Atom::By(thread), _) => thread != other,
            (Atom::Held(lock), Waits::Free(free)) => lock == free,
            (Atom::Value(x, value), Waits::Value(y, awaited)) => x == y && value != awaited,
            (Atom::Value(x, value), Waits::Positive(y)) => x == y && value < 1,
            _ => false,
        };
        let safe = predicate
            .0
            .iter()
            .all(|atoms| others().all(|other| atoms.iter().any(|atom| excluded(atom, other))));
        if !safe {
            return true;
        }
    }
    let owns = |variable: ObjectId| match (standing.get(&variable), inferred.get(&variable)) {
        (Some(predicate), _) => holds(before, by, predicate),
        // Whoever accesses it holds all of them, so one that `by` holds keeps others off.
        (None, Some(guards)) => !guards.is_disjoint(&holdings(before, by)),
        (None, None) => true,
    };
    let knows = |atom: &Atom| match *atom {
        Atom::By(_) => true,
        Atom::Held(lock) => accesses(lock) || before.holder(lock) == Some(by),
        Atom::Value(variable, _) => accesses(variable) || owns(variable),
    };
    let touched = predicate.0.iter().flatten().any(|atom| match *atom {
        Atom::Held(object) | Atom::Value(object, _) => accesses(object),
        Atom::By(_) => false,
    });
    touched
        && others().any(|of| {
            let rest = |machine: &ModelMachine| -> BTreeSet<BTreeSet<Atom>> {
                let possible = predicate.0.iter().filter(|atoms| {
                    atoms.iter().all(|atom| !knows(atom) || is_true(machine, of, *atom))
                });
                possible.map(|a| a.iter().filter(|atom| !knows(atom)).copied().collect()).collect()
            };
            rest(before) != rest(behind)
        })
}
