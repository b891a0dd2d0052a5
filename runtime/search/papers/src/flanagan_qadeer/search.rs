//! The fixpoint: from the initial state on, every thread steps wherever no other thread is in a
//! transaction.
//!
//! Section 4.2: INIT, the initial state is reached; STEP, if a state is reached in which all
//! threads but t are in N, so is every state to which t steps from it. Section 6: while the
//! protecting locks are inferred, ACCESS removes locks; "Q is increasing and the protecting sets
//! are decreasing", so nothing is ever thrown away.
//!
//! Here: a list of states whose steps have to be looked at. When a predicate becomes weaker, the
//! states in which it decides who may step or what the phase becomes are looked at again: those
//! where the next action of some thread accesses the object. (If the user's predicates ask for
//! values of variables, others may depend on it, and all states are looked at again.) States that
//! were reached with the stronger predicate stay: they are reached by the program, too. When the
//! list is empty, states are taken out of L as condition C wants it (`condition_c`), which may put
//! others on the list.
//!
//! An execution is counted where no thread can run, and given up as blocked where it comes to a
//! known state or where the thread in whose transaction it is waits: who waits before its commit is
//! left by the search there, though others could run.

use std::collections::{HashMap, HashSet};

use super::action::{Action, Guarded};
use super::condition_c::{self, Graph};
use super::phase::{Exclusive, Movers, Part, Phase};
use super::predicates::{Predicates, Weakened};
use super::validity::{Rely, Violation, violated};
use lockred_search::drive::{After, Drive, Run};
use lockred_search::fault::{Fault, is_on};
use lockred_search::fingerprint::{self, ByFingerprint};
use lockred_search::footprint::ObjectId;
use lockred_search::machine::ThreadId;
use lockred_search::picks::Picks;
use lockred_search::{Choice, Limits, Observer, Outcome, Stop};

/// Visits what the predicates leave of the machine's states. `predicates`: the given ones, and what
/// was inferred before; holds what was inferred afterwards. Memory grows with the number of states,
/// which are kept.
pub fn explore<M: Guarded>(
    machine: &mut M,
    predicates: &mut Predicates,
    movers: Movers,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    let mut search = Search {
        drive: Drive::new(machine, limits, observer),
        predicates,
        movers,
        limits,
        states: Vec::new(),
        numbers: ByFingerprint::default(),
        left: Vec::new(),
        accessing: HashMap::new(),
        kept: 0,
        cut: HashSet::new(),
    };
    let result = search.run();
    let boundaries = search.states.iter().filter(|state| state.active.is_none()).count();
    search.predicates.states = (search.states.len() as u64, boundaries as u64);
    search.drive.outcome(result)
}

/// A state that was reached. The machine keeps its store under the same number.
struct State {
    phases: Vec<Phase>,
    /// The state it was reached from first, and the run that led here.
    before: u32,
    run: Vec<Choice>,
    depth: u64,
    /// It is on the list.
    is_left: bool,
    /// Its steps were looked at once.
    is_known: bool,
    /// The thread in whose transaction it is.
    active: Option<(ThreadId, Part)>,
    /// If that is after its commit: where its steps lead.
    steps: Vec<u32>,
}

struct Search<'a, 'p, M: Guarded> {
    drive: Drive<'a, M>,
    predicates: &'p mut Predicates,
    movers: Movers,
    limits: Limits,
    states: Vec<State>,
    numbers: ByFingerprint<u32>,
    /// States whose steps are to be looked at.
    left: Vec<u32>,
    /// States where the next action of some thread accesses the object.
    accessing: HashMap<ObjectId, Vec<u32>>,
    /// So many states keep condition C. (What leads out of L goes on to, since L only becomes
    /// smaller.)
    kept: usize,
    /// Local states of threads that were taken out of L.
    cut: HashSet<(ThreadId, u128)>,
}

impl<M: Guarded> Search<'_, '_, M> {
    fn run(&mut self) -> Result<(), Stop> {
        self.drive.restart()?;
        self.check_sharing()?;
        let threads = self.drive.machine.threads() as usize;
        self.reach(vec![Phase::Init; threads], 0, Vec::new());
        loop {
            while let Some(number) = self.left.pop() {
                self.states[number as usize].is_left = false;
                self.visit(number)?;
            }
            if !self.cut_endless() {
                return Ok(());
            }
        }
    }

    /// Condition (i) for the user's predicates.
    fn check_sharing(&mut self) -> Result<(), Stop> {
        if is_on(Fault::SharingUnchecked) {
            return Ok(());
        }
        let threads = self.drive.machine.threads();
        let shared = self.predicates.all_given().filter_map(|(object, predicate)| {
            let (one, other) = predicate.shared(threads)?;
            Some(Violation::Shared { object, one, other })
        });
        for violation in shared.collect::<Vec<_>>() {
            self.report(violation)?;
            self.predicates.drop(violation.object());
        }
        Ok(())
    }

    fn report(&mut self, violation: Violation) -> Result<(), Stop> {
        let failure = self.drive.machine.violation(violation);
        let schedule = self.drive.schedule.clone();
        self.drive.fail(failure, &schedule)
    }

    /// The machine is in a state with these phases. Keeps it if it is new. Returns its number, and
    /// whether it is new.
    fn reach(&mut self, phases: Vec<Phase>, before: u32, run: Vec<Choice>) -> (u32, bool) {
        let fingerprint = fingerprint::of(&(self.drive.machine.fingerprint(), &phases));
        let number = self.states.len() as u32;
        if let Some(&known) = self.numbers.get(&fingerprint) {
            return (known, false);
        }
        self.numbers.insert(fingerprint, number);
        self.drive.machine.save(number as usize);
        for thread in (0..self.drive.machine.threads()).map(ThreadId) {
            let action = self.drive.machine.action(thread).unwrap_or_default();
            for object in action.objects() {
                self.accessing.entry(object).or_default().push(number);
            }
        }
        let depth = self.states.get(before as usize).map_or(0, |state| state.depth + 1);
        self.states.push(State {
            phases,
            before,
            run,
            depth,
            is_left: true,
            is_known: false,
            active: None,
            steps: Vec::new(),
        });
        self.left.push(number);
        (number, true)
    }

    fn look_again(&mut self, number: u32) {
        let state = &mut self.states[number as usize];
        if !state.is_left && !is_on(Fault::VisitedStaysVisited) {
            state.is_left = true;
            self.left.push(number);
        }
    }

    /// The choices that lead to the state.
    fn path(&self, number: u32) -> Vec<Choice> {
        let mut runs = Vec::new();
        let mut at = number;
        while at > 0 {
            let state = &self.states[at as usize];
            runs.push(&state.run);
            at = state.before;
        }
        runs.into_iter().rev().flatten().copied().collect()
    }

    /// Looks at the steps from the state.
    fn visit(&mut self, number: u32) -> Result<(), Stop> {
        self.drive.machine.restore(number as usize);
        self.drive.resume(&self.path(number));
        let threads = self.drive.machine.threads();
        let active: Vec<_> = (0..threads)
            .map(|thread| (ThreadId(thread), self.part(number, ThreadId(thread))))
            .filter(|&(_, part)| part != Part::None)
            .collect();
        self.states[number as usize].active = active.first().copied();
        // Every other thread is in N: true for the thread that is not, if there is just one.
        let may_step = |&thread: &ThreadId| active.iter().all(|&(other, _)| other == thread);
        let may_step: Vec<_> = (0..threads).map(ThreadId).filter(may_step).collect();
        for &thread in &may_step {
            if !self.respects(thread)? {
                self.look_again(number);
                return Ok(());
            }
        }
        let first = !std::mem::replace(&mut self.states[number as usize].is_known, true);
        let runnable: Vec<_> = (0..threads)
            .map(ThreadId)
            .filter(|&thread| self.drive.machine.status(thread).can_run())
            .collect();
        if runnable.is_empty() {
            if first {
                self.drive.finish()?;
                self.drive.begin()?;
            }
            return Ok(());
        }
        if self.states[number as usize].depth >= self.limits.operations {
            if first {
                self.drive.give_up();
                self.drive.begin()?;
            }
            return Ok(());
        }
        let steppers: Vec<_> = runnable.into_iter().filter(|t| may_step.contains(t)).collect();
        if steppers.is_empty() && first {
            self.drive.block();
            self.drive.begin()?;
        }
        steppers.into_iter().try_for_each(|thread| self.steps(number, thread, first))
    }

    /// The part of the partition in which the thread is.
    fn part(&self, number: u32, thread: ThreadId) -> Part {
        let state = &self.states[number as usize];
        let machine = &*self.drive.machine;
        let phase = state.phases[thread.index()];
        let next = phase == Phase::Left
            && !self.cut.contains(&self.cut_at(number, thread))
            && machine.action(thread).is_some_and(|a| self.predicates.before(machine, thread, &a));
        phase.part(next, self.movers)
    }

    /// What is taken out of L together with the thread's part of the state, which the machine is
    /// in.
    fn cut_at(&self, number: u32, thread: ThreadId) -> (ThreadId, u128) {
        let local = self.drive.machine.local(thread);
        (thread, if is_on(Fault::CutAlone) { u128::from(number) } else { local })
    }

    /// Rule ACCESS and δ: whether the thread, in the present state, has exclusive access where it
    /// has to. Else predicates become weaker.
    fn respects(&mut self, thread: ThreadId) -> Result<bool, Stop> {
        if is_on(Fault::BlockedUnseen) && !self.drive.machine.status(thread).can_run() {
            return Ok(true);
        }
        let Some(action) = self.drive.machine.action(thread) else { return Ok(true) };
        let violated = violated(self.drive.machine, self.predicates, thread, &action);
        for &object in &violated {
            self.weaken(object, thread, &action)?;
        }
        Ok(violated.is_empty())
    }

    /// Makes the thread's next step from the state, with all values that it may choose.
    fn steps(&mut self, number: u32, thread: ThreadId, first: bool) -> Result<(), Stop> {
        self.drive.machine.restore(number as usize);
        let path = self.path(number);
        self.drive.resume(&path);
        let Some(action) = self.drive.machine.action(thread) else { return Ok(()) };
        let before = self.predicates.before(self.drive.machine, thread, &action);
        let rely = Rely::before(self.drive.machine, self.predicates, thread, &action);
        let mut picks = Picks::default();
        let mut targets = Vec::new();
        loop {
            self.drive.machine.restore(number as usize);
            self.drive.resume(&path);
            picks.rewind();
            let after = self.drive.run(thread, Run::Fresh, &mut |of| picks.pick(of))?;
            if self.states[number as usize].active.is_some() {
                // It goes on with a transaction that was counted.
                self.drive.counts.transactions -= 1;
            }
            for violation in rely.after(self.drive.machine) {
                self.report(violation)?;
                self.drop(violation.object());
            }
            match after {
                After::Over => {
                    self.drive.finish()?;
                    self.drive.begin()?;
                }
                After::On | After::Cut => {
                    let phases = self.phases(number, thread, (before, &action));
                    let run = self.drive.schedule[path.len()..].to_vec();
                    let (target, is_new) = self.reach(phases, number, run);
                    targets.push(target);
                    if !is_new && first {
                        self.drive.block();
                        self.drive.begin()?;
                    }
                }
            }
            if !picks.advance() {
                break;
            }
        }
        let state = &mut self.states[number as usize];
        if state.active == Some((thread, Part::Left)) {
            state.steps = targets;
        }
        Ok(())
    }

    /// The phases after a step of the thread.
    fn phases(
        &self,
        number: u32,
        thread: ThreadId,
        (before, action): (bool, &Action),
    ) -> Vec<Phase> {
        let machine = &*self.drive.machine;
        let mut phases = self.states[number as usize].phases.clone();
        let ended = machine.action(thread).is_none() && !is_on(Fault::EndIsRight);
        let exclusive = Exclusive {
            before,
            after: self.predicates.after(machine, thread, action)
                && !(ended && machine.is_awaited(thread)),
            acquires: action.acquires,
        };
        let phase = &mut phases[thread.index()];
        *phase = phase.next(exclusive, self.movers);
        for failure in &self.drive.step.failures {
            if let Some(wrong) = machine.wrong(failure) {
                phases[wrong.index()] = Phase::Wrong;
            }
        }
        phases
    }

    /// The thread makes an action for which the object's predicate does not hold.
    fn weaken(&mut self, object: ObjectId, thread: ThreadId, action: &Action) -> Result<(), Stop> {
        if self.predicates.weaken(self.drive.machine, thread, action.waits, object)
            == Weakened::Given
        {
            self.report(Violation::Unguarded { object, thread, site: action.site })?;
        } else {
            self.drive.counts.refinements += 1;
        }
        self.depends_on(object);
        Ok(())
    }

    /// The user's predicate does not stand.
    fn drop(&mut self, object: ObjectId) {
        self.predicates.drop(object);
        self.depends_on(object);
    }

    /// The object's predicate has become weaker: looks again at what depends on it.
    fn depends_on(&mut self, object: ObjectId) {
        let all = self.predicates.all_given().any(|(_, predicate)| predicate.asks_values());
        let states: Vec<u32> = if all {
            (0..self.states.len() as u32).collect()
        } else {
            self.accessing.get(&object).cloned().unwrap_or_default()
        };
        states.into_iter().for_each(|number| self.look_again(number));
    }

    /// Condition C: takes states out of L where a transaction could not end. Returns whether there
    /// were any.
    fn cut_endless(&mut self) -> bool {
        if is_on(Fault::NoConditionC) {
            return false;
        }
        let endless = condition_c::endless(&States { all: &self.states, kept: self.kept });
        if endless.is_empty() {
            return false;
        }
        self.kept = self.states.len();
        for &number in &endless {
            if let Some((thread, _)) = self.states[number].active {
                self.drive.machine.restore(number);
                let cut = self.cut_at(number as u32, thread);
                self.cut.insert(cut);
            }
        }
        // Others may have the same local state.
        for number in 0..self.states.len() {
            let Some((thread, Part::Left)) = self.states[number].active else { continue };
            self.drive.machine.restore(number);
            if self.cut.contains(&self.cut_at(number as u32, thread)) {
                self.look_again(number as u32);
            }
        }
        true
    }
}

struct States<'a> {
    all: &'a [State],
    kept: usize,
}

impl Graph for States<'_> {
    fn len(&self) -> usize {
        self.all.len()
    }

    fn steps(&self, number: usize) -> Option<&[u32]> {
        let state = &self.all[number];
        let is_in_l = matches!(state.active, Some((_, Part::Left)));
        (is_in_l && number >= self.kept).then_some(&state.steps)
    }
}
