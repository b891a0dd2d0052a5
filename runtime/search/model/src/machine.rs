//! The machine that runs model programs, one visible operation a step.
//!
//! A thread stops right before its next visible operation; local statements run on the way there.
//! Under sequential consistency, with mutexes that any waiting thread may get next, and condition
//! variables that wake any waiter and do not wake by themselves, unless the program says otherwise.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::calls::link;
use super::code::{Instruction, fences, spawned};
use super::foresee::Rests;
use super::program::{Barrier, Body, Channel, Condvar, Mutex, Once, Program, Statement, Variable};
use super::spins::Spins;
use super::state::{Phase, State, Thread};
use super::stoller::Layout;
use super::targets::Nesting;
use lockred_papers::flanagan_qadeer::Violation;
use lockred_search::discipline::Ordering;
use lockred_search::fingerprint;
use lockred_search::fingerprint::Fingerprint;
use lockred_search::footprint::{Access, Footprint, ObjectId};
use lockred_search::machine::{Approach, Chooser, Machine, Status, Step, ThreadId};

/// What the machine reports.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Failure {
    /// An assertion of the thread does not hold.
    Assertion {
        /// The thread.
        thread: Body,
        /// The instruction.
        place: usize,
    },
    /// The thread unlocks, or waits with, a mutex that it does not hold; spawns a thread again;
    /// allocates what is allocated.
    Misuse {
        /// The thread.
        thread: Body,
        /// The instruction.
        place: usize,
    },
    /// The thread accesses a variable that is not allocated (any more).
    Freed {
        /// The thread.
        thread: Body,
        /// The instruction.
        place: usize,
    },
    /// Calls of the thread are nested too deep.
    Overflow {
        /// The thread.
        thread: Body,
        /// The instruction.
        place: usize,
    },
    /// The thread aborts.
    Abort {
        /// The thread.
        thread: Body,
        /// The instruction.
        place: usize,
    },
    /// No thread can run, and these have not ended.
    Deadlock {
        /// The threads.
        waiting: Vec<Body>,
    },
    /// No thread can run but such as go round loops for ever, and no other has ended
    /// ([`ModelMachine::noticing_spins`]).
    Livelock {
        /// The threads that go round loops.
        spinning: Vec<Body>,
        /// The others that have not ended.
        waiting: Vec<Body>,
    },
    /// Two accesses to a plain variable, one of them a write, that nothing orders.
    Race {
        /// The variable.
        variable: Variable,
        /// The thread and instruction of one of them (the lower).
        one: (Body, usize),
        /// The thread and instruction of the other.
        other: (Body, usize),
    },
    /// An access predicate that the program names is none (reported by `flanagan_qadeer` only).
    Violation(Violation),
    /// Not a failure: the state in which an execution ended ([`ModelMachine::reporting_ends`]).
    End(Box<State>),
}

/// A model program at some state.
#[derive(Clone, Debug)]
pub struct ModelMachine {
    pub(super) code: Vec<Vec<Instruction>>,
    /// Which variables are atomic.
    pub(super) atomic: Vec<bool>,
    /// Of which variable each is a part; empty if none is.
    wholes: Vec<Option<ObjectId>>,
    /// Whether there are fences that acquire, and that release.
    pub(super) fences: Ordering,
    /// Which mutexes are re-entrant.
    pub(super) reentrant: Vec<bool>,
    /// Which condition variables wake their waiters in order.
    pub(super) fifo: Vec<bool>,
    /// For how many threads each barrier waits.
    pub(super) barriers: Vec<u8>,
    /// Capacities of the channels.
    pub(super) capacities: Vec<u8>,
    pub(super) root: State,
    pub(super) state: State,
    pub(super) saved: Vec<State>,
    /// Failures of local statements before the first visible operations: reported with the first
    /// step.
    pub(super) early: Vec<Failure>,
    pub(super) scratch: Step<Failure>,
    reports_ends: bool,
    /// Who sleeps goes on in the order of time, once nobody else can run.
    pub(super) ordered: bool,
    pub(super) over: bool,
    /// What threads may still do, once somebody has asked.
    pub(super) rests: Option<Rests>,
    /// What threads did in loops, if that is noticed.
    pub(super) spins: Option<Spins>,
    /// Variables of which a search could not exclude data races.
    pub(super) may_race: BTreeSet<Variable>,
    /// A search met values that a weaker memory could show.
    pub(super) weak_values: bool,
    /// What directed searches walk towards.
    pub(super) targets: Vec<Vec<Nesting>>,
    /// What Stoller's framework is told of the code, once somebody has asked.
    pub(super) layout: OnceCell<Layout>,
}

const MUTEXES: u64 = 1 << 32;
const CONDVARS: u64 = 2 << 32;
const CHANNELS: u64 = 3 << 32;
const ONCES: u64 = 4 << 32;
const BARRIERS: u64 = 5 << 32;

pub(super) fn variable(variable: Variable) -> ObjectId {
    ObjectId(u64::from(variable.0))
}

pub(super) fn mutex(mutex: Mutex) -> ObjectId {
    ObjectId(MUTEXES + u64::from(mutex.0))
}

pub(super) fn channel(channel: Channel) -> ObjectId {
    ObjectId(CHANNELS + u64::from(channel.0))
}

pub(super) fn once(once: Once) -> ObjectId {
    ObjectId(ONCES + u64::from(once.0))
}

pub(super) fn barrier(barrier: Barrier) -> ObjectId {
    ObjectId(BARRIERS + u64::from(barrier.0))
}

pub(super) fn condvar(condvar: Condvar) -> ObjectId {
    ObjectId(CONDVARS + u64::from(condvar.0))
}

fn wholes(program: &Program) -> Vec<Option<ObjectId>> {
    let parts = program.variables.iter().map(|declared| declared.part_of.map(variable));
    let parts: Vec<_> = parts.collect();
    if parts.iter().any(Option::is_some) { parts } else { Vec::new() }
}

impl ModelMachine {
    /// Variables of which searches of this machine could not exclude data races
    /// ([`lockred_search::transactional::Transactional::may_race`]).
    #[must_use]
    pub fn may_race(&self) -> &BTreeSet<Variable> {
        &self.may_race
    }

    /// Whether searches of this machine met accesses of which a weaker memory could show other
    /// values ([`lockred_search::transactional::Transactional::weak_values`]).
    #[must_use]
    pub const fn weak_values(&self) -> bool {
        self.weak_values
    }

    /// A machine for `program`, at the root.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let (mut names, mut called) = (Vec::new(), Vec::new());
        let mut code = Vec::new();
        for statements in &program.threads {
            spawned(statements, &program.procedures, &mut called, &mut names);
            code.push(link(program, statements));
        }
        let root = State::root(program, &names);
        let mut machine = Self {
            fences: fences(&code),
            code,
            atomic: program.variables.iter().map(|variable| variable.atomic).collect(),
            wholes: wholes(program),
            reentrant: (0..program.mutexes)
                .map(|a| program.reentrant.contains(&Mutex(a)))
                .collect(),
            fifo: (0..program.condvars).map(|c| program.fifo.contains(&Condvar(c))).collect(),
            barriers: program.barriers.clone(),
            capacities: program.channels.clone(),
            saved: Vec::new(),
            scratch: Step::default(),
            state: root.clone(),
            root,
            early: Vec::new(),
            reports_ends: false,
            ordered: false,
            over: false,
            rests: None,
            spins: None,
            may_race: BTreeSet::new(),
            weak_values: false,
            targets: Vec::new(),
            layout: OnceCell::new(),
        };
        machine.restore_root();
        machine
    }

    /// The same machine, which reports the state where an execution ends as [`Failure::End`].
    #[must_use]
    pub fn reporting_ends(mut self) -> Self {
        self.reports_ends = true;
        self
    }

    /// The variable that has a part in this object, if it is such a part.
    pub(super) fn whole(&self, object: ObjectId) -> Option<ObjectId> {
        self.wholes.get(object.0 as usize).copied().flatten()
    }

    /// Adds what is done to a part to what is done to the whole.
    fn touch_wholes(&self, footprint: &mut Footprint) {
        for number in 0..footprint.accesses.len() {
            let (object, access) = footprint.accesses[number];
            if let Some(whole) = self.whole(object) {
                footprint.touch(whole, access.to_whole());
            }
        }
    }

    /// The present state.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The visible operation that a ready thread stands before.
    pub(super) fn next(&self, thread: usize) -> Option<&Statement> {
        match self.code[thread].get(self.state.threads[thread].place) {
            Some(Instruction::Do(statement, _)) => Some(statement),
            _ => None,
        }
    }

    /// Runs local statements, up to the next visible operation or the end.
    pub(super) fn settle(&mut self, number: usize, failures: &mut Vec<Failure>) {
        settle(&self.code[number], number, &mut self.state.threads[number], failures);
    }

    /// Executes the visible operation that the thread stands before, and goes on to the next.
    pub(super) fn act(
        &mut self,
        number: usize,
        chooser: &mut dyn Chooser,
        step: &mut Step<Failure>,
    ) {
        if self.spins.is_some() {
            self.act_in_loop(number, chooser, step);
        } else {
            self.act_at_once(number, chooser, step);
        }
    }

    pub(super) fn act_at_once(
        &mut self,
        number: usize,
        chooser: &mut dyn Chooser,
        step: &mut Step<Failure>,
    ) {
        let place = self.state.threads[number].place;
        let next = match self.state.threads[number].phase {
            Phase::Woken(a) => {
                step.footprint.touch(mutex(a), Access::Lock);
                self.state.owners[usize::from(a.0)] = Some(Body(number as u8));
                let depth = std::mem::take(&mut self.state.threads[number].depth);
                self.state.rarer.set_depth(a, depth);
                Next::On
            }
            Phase::Sleeping => {
                self.wake_up(number, step);
                Next::On
            }
            Phase::Leaving(c, a, _) | Phase::Notified(c, a) => {
                self.wake_up(number, step);
                step.footprint.touch(condvar(c), Access::Leave);
                self.leave(number, c, a);
                Next::Stop
            }
            _ if self.is_inner(number) => {
                self.enter_or_leave_again(number);
                Next::On
            }
            Phase::Answered(_, taken) => {
                self.answer(number, taken);
                Next::On
            }
            Phase::Released => Next::On,
            _ => {
                let accessed = self.next(number).and_then(Self::accessed);
                let is_freed = accessed.is_some_and(|x| self.state.freed[usize::from(x.0)]);
                let next = self.execute(number, chooser, step);
                if is_freed {
                    step.failures.push(Failure::Freed { thread: Body(number as u8), place });
                    Next::End
                } else {
                    next
                }
            }
        };
        self.touch_wholes(&mut step.footprint);
        match next {
            Next::On => {
                self.state.threads[number].place += 1;
                self.settle(number, &mut step.failures);
            }
            Next::Stop => {}
            Next::End => self.state.threads[number].phase = Phase::Ended,
        }
    }

    /// What the operation has to wait for now.
    fn awaited(&self, statement: &Statement) -> Option<ObjectId> {
        let value = |x: Variable| self.state.values[usize::from(x.0)];
        let waits = match *statement {
            Statement::Lock(a) => !self.state.is_free(a, false),
            Statement::ReadLock(a) => !self.state.is_free(a, true),
            Statement::Await(x, wanted) => value(x) != wanted,
            Statement::Down(x) => value(x) <= 0,
            Statement::Send(q, _) | Statement::SendChecked(_, q, _) => self.is_full(q),
            Statement::Receive(_, q) => self.is_empty(q),
            Statement::Once(o, _) => self.runs(o),
            Statement::Join(body) => self.state.threads[usize::from(body.0)].phase != Phase::Ended,
            _ => false,
        };
        waits.then(|| match *statement {
            Statement::Lock(a) | Statement::ReadLock(a) => mutex(a),
            Statement::Await(x, _) | Statement::Down(x) => variable(x),
            Statement::Send(q, _) | Statement::SendChecked(_, q, _) | Statement::Receive(_, q) => {
                channel(q)
            }
            Statement::Once(o, _) => once(o),
            Statement::Join(body) => ObjectId(u64::MAX - 1 - u64::from(body.0)),
            _ => ObjectId(u64::MAX),
        })
    }

    /// The mutex that the object is, if it is one.
    pub(super) fn mutex_of(&self, object: ObjectId) -> Option<Mutex> {
        let number = object.0.checked_sub(MUTEXES)? as usize;
        (number < self.reentrant.len()).then_some(Mutex(number as u8))
    }

    /// The variable that the statement accesses.
    pub(super) fn accessed(statement: &Statement) -> Option<Variable> {
        match *statement {
            Statement::Load(_, x)
            | Statement::Store(x, _)
            | Statement::Add(x, _)
            | Statement::FetchAdd(_, x, _)
            | Statement::Swap(_, x, _)
            | Statement::CompareExchange(_, x, ..)
            | Statement::CompareExchangeWeak(_, x, ..)
            | Statement::Await(x, _)
            | Statement::Down(x)
            | Statement::Increment(x)
            | Statement::Decrement(_, x)
            | Statement::Free(x) => Some(x),
            _ => None,
        }
    }
}

/// Runs local statements of a thread, up to the next visible operation or the end.
pub(super) fn settle(
    code: &[Instruction],
    number: usize,
    thread: &mut Thread,
    failures: &mut Vec<Failure>,
) {
    let mut step = |thread: &mut Thread| match code.get(thread.place) {
        None => {
            thread.phase = Phase::Ended;
            false
        }
        Some(Instruction::Jump(place)) => {
            thread.place = *place;
            true
        }
        Some(Instruction::Unless(condition, place)) => {
            thread.place = if thread.holds(*condition) { thread.place + 1 } else { *place };
            true
        }
        Some(Instruction::Call(call)) => thread.call(call, Body(number as u8), failures),
        Some(Instruction::Return(operand)) => thread.leave(*operand),
        Some(Instruction::Do(Statement::Let(register, operand), _)) => {
            let value = thread.compute(*operand);
            thread.set(*register, value);
            thread.place += 1;
            true
        }
        Some(Instruction::Do(Statement::Assert(condition), _)) => {
            if thread.holds(*condition) {
                thread.place += 1;
                return true;
            }
            let thread_name = Body(number as u8);
            failures.push(Failure::Assertion { thread: thread_name, place: thread.place });
            thread.phase = Phase::Ended;
            false
        }
        Some(Instruction::Do(..)) => {
            thread.phase = Phase::Ready;
            false
        }
    };
    while step(thread) {}
}

/// How a thread goes on after its operation.
pub(super) enum Next {
    /// To its next operation.
    On,
    /// It stands still in the middle of the operation.
    Stop,
    /// It ends.
    End,
}

impl Machine for ModelMachine {
    type Failure = Failure;

    fn is_race(failure: &Failure) -> bool {
        matches!(failure, Failure::Race { .. })
    }

    fn restore_root(&mut self) {
        self.state.clone_from(&self.root);
        if let Some(spins) = &mut self.spins {
            spins.restore_root();
        }
        self.over = false;
        let mut early = std::mem::take(&mut self.early);
        early.clear();
        for number in 0..self.code.len() {
            if self.state.threads[number].phase == Phase::Ready {
                self.settle(number, &mut early);
            }
        }
        self.early = early;
    }

    fn threads(&self) -> u32 {
        self.code.len() as u32
    }

    fn status(&mut self, thread: ThreadId) -> Status {
        let number = thread.index();
        let blocked_on = |object| Status::Blocked { on: object };
        match self.state.threads[number].phase {
            Phase::Ended => Status::Ended,
            Phase::Unborn => blocked_on(ObjectId(u64::MAX)),
            Phase::Waiting(c, _) => blocked_on(condvar(c)),
            Phase::Offering(q) => blocked_on(channel(q)),
            Phase::AtBarrier(b) => blocked_on(barrier(b)),
            Phase::Answered(..) | Phase::Released => Status::Enabled,
            Phase::Sleeping | Phase::Leaving(..) => self.status_asleep(number),
            Phase::Notified(..) => Status::Enabled,
            Phase::Woken(a) if !self.state.is_free(a, false) => blocked_on(mutex(a)),
            Phase::Woken(_) => Status::Enabled,
            Phase::Ready => match self.status_in_loop(number) {
                Some(status) => status,
                None => match self.next(number).and_then(|next| self.awaited(next)) {
                    Some(_) if self.is_inner(number) => Status::Enabled,
                    Some(object) => blocked_on(object),
                    None => Status::Enabled,
                },
            },
        }
    }

    fn waits_for_time(&self) -> bool {
        (0..self.code.len()).any(|number| self.is_patient(number))
    }

    fn pending(&mut self, thread: ThreadId, footprint: &mut Footprint) {
        footprint.clear();
        self.begins(thread.index(), footprint);
        self.touch_wholes(footprint);
    }

    fn approach(&self, thread: ThreadId, target: u32) -> Approach {
        self.approach_of(thread.index(), target)
    }

    fn step(&mut self, thread: ThreadId, chooser: &mut dyn Chooser, step: &mut Step<Failure>) {
        step.clear();
        step.failures.append(&mut self.early);
        let number = thread.index();
        let place = self.state.threads[number].place;
        self.act(number, chooser, step);
        step.signature = fingerprint::of(&(number, place, &self.state.threads[number])) as u64;
    }

    fn finish(&mut self, failures: &mut Vec<Failure>) {
        failures.append(&mut self.early);
        if self.over {
            return;
        }
        let is_waiting = |phase| !matches!(phase, Phase::Ended | Phase::Unborn);
        let threads = self.state.threads.iter().enumerate();
        let waiting: Vec<_> = threads
            .filter(|(_, thread)| is_waiting(thread.phase))
            .map(|(number, _)| Body(number as u8))
            .collect();
        let Some(spinning) = self.spinning(&waiting) else { return };
        if !spinning.is_empty() {
            let waiting = waiting.into_iter().filter(|body| !spinning.contains(body)).collect();
            failures.push(Failure::Livelock { spinning, waiting });
            return;
        }
        if !waiting.is_empty() {
            failures.push(Failure::Deadlock { waiting });
        }
        if self.reports_ends {
            failures.push(Failure::End(Box::new(self.state.clone())));
        }
    }
}

impl Fingerprint for ModelMachine {
    fn fingerprint(&self) -> u128 {
        match &self.spins {
            Some(spins) => fingerprint::of(&(self.over, &self.state, spins.fingerprinted())),
            None => fingerprint::of(&(self.over, &self.state)),
        }
    }
}
