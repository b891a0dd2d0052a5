//! The machine that runs model programs, one visible operation a step.
//!
//! A thread stops right before its next visible operation; local statements run on the way there. Under sequential
//! consistency, with mutexes that any waiting thread may get next, and condition variables that wake any waiter and never
//! wake by themselves.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::code::{Instruction, flatten, spawned};
use super::program::{Body, Condvar, Mutex, Program, Statement, Variable};
use super::state::{Phase, State};
use crate::footprint::{Access, Footprint, ObjectId};
use crate::machine::{Chooser, Flow, Machine, Status, Step, ThreadId};
use crate::naive::Fingerprint;

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
    /// The thread unlocks, or waits with, a mutex that it does not hold.
    Misuse {
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
    /// Two accesses to a plain variable, one of them a write, that nothing orders.
    Race {
        /// The variable.
        variable: Variable,
        /// The thread and instruction of one of them (the lower).
        one: (Body, usize),
        /// The thread and instruction of the other.
        other: (Body, usize),
    },
    /// Not a failure: the state in which an execution ended ([`ModelMachine::reporting_ends`]).
    End(Box<State>),
}

/// A model program at some state.
#[derive(Clone, Debug)]
pub struct ModelMachine {
    pub(super) code: Vec<Vec<Instruction>>,
    /// Which variables are atomic.
    pub(super) atomic: Vec<bool>,
    root: State,
    pub(super) state: State,
    pub(super) saved: Vec<State>,
    /// Failures of local statements before the first visible operations: reported with the first step.
    pub(super) early: Vec<Failure>,
    pub(super) scratch: Step<Failure>,
    reports_ends: bool,
    pub(super) over: bool,
}

const MUTEXES: u64 = 1 << 32;
const CONDVARS: u64 = 2 << 32;

pub(super) fn variable(variable: Variable) -> ObjectId {
    ObjectId(u64::from(variable.0))
}

pub(super) fn mutex(mutex: Mutex) -> ObjectId {
    ObjectId(MUTEXES + u64::from(mutex.0))
}

pub(super) fn condvar(condvar: Condvar) -> ObjectId {
    ObjectId(CONDVARS + u64::from(condvar.0))
}

/// An addition whose result is unused; the model has no weaker orderings, so nothing is acquired or released.
const ADDITION: Access = Access::Update { family: 0, acquires: false, releases: false };

impl ModelMachine {
    /// A machine for `program`, at the root.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let mut names = Vec::new();
        let mut code = Vec::new();
        for statements in &program.threads {
            spawned(statements, &mut names);
            let mut flat = Vec::new();
            flatten(statements, &mut flat);
            code.push(flat);
        }
        let root = State::root(program, &names);
        let mut machine = Self {
            code,
            atomic: program.variables.iter().map(|variable| variable.atomic).collect(),
            saved: Vec::new(),
            scratch: Step::default(),
            state: root.clone(),
            root,
            early: Vec::new(),
            reports_ends: false,
            over: false,
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
    fn settle(&mut self, number: usize, failures: &mut Vec<Failure>) {
        let thread = &mut self.state.threads[number];
        let mut step = |thread: &mut super::state::Thread| match self.code[number].get(thread.place)
        {
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

    /// Executes the visible operation that `number` stands before; false if the thread ends by it.
    fn execute(
        &mut self,
        number: usize,
        chooser: &mut dyn Chooser,
        step: &mut Step<Failure>,
    ) -> Next {
        let me = Body(number as u8);
        let Some(statement) = self.next(number).cloned() else { return Next::End };
        let place = self.state.threads[number].place;
        let State { threads, values, owners } = &mut self.state;
        let thread = &mut threads[number];
        let footprint = &mut step.footprint;
        match statement {
            Statement::Load(register, x) => {
                footprint.touch(variable(x), Access::Read);
                thread.set(register, values[usize::from(x.0)]);
            }
            Statement::Await(x, _) => footprint.touch(variable(x), Access::Read),
            Statement::Store(x, operand) => {
                footprint.touch(variable(x), Access::Write);
                values[usize::from(x.0)] = thread.compute(operand);
            }
            Statement::Add(x, by) => {
                let access = if self.atomic[usize::from(x.0)] { ADDITION } else { Access::Write };
                footprint.touch(variable(x), access);
                let value = &mut values[usize::from(x.0)];
                *value = value.wrapping_add(by);
            }
            Statement::FetchAdd(register, x, by) => {
                footprint.touch(variable(x), Access::Write);
                let value = &mut values[usize::from(x.0)];
                thread.set(register, *value);
                *value = value.wrapping_add(by);
            }
            Statement::Swap(register, x, operand) => {
                footprint.touch(variable(x), Access::Write);
                let new = thread.compute(operand);
                let old = std::mem::replace(&mut values[usize::from(x.0)], new);
                thread.set(register, old);
            }
            Statement::CompareExchange(register, x, expected, operand) => {
                let success = values[usize::from(x.0)] == expected;
                footprint.touch(variable(x), if success { Access::Write } else { Access::Read });
                if success {
                    values[usize::from(x.0)] = thread.compute(operand);
                }
                thread.set(register, i32::from(success));
            }
            Statement::Lock(a) => {
                footprint.touch(mutex(a), Access::Lock);
                owners[usize::from(a.0)] = Some(me);
            }
            Statement::TryLock(register, a) => {
                // A try that fails changes nothing.
                let owner = &mut owners[usize::from(a.0)];
                let success = owner.is_none();
                footprint.touch(mutex(a), if success { Access::TryLock } else { Access::Read });
                thread.set(register, i32::from(success));
                owner.get_or_insert(me);
            }
            // Who does not hold the mutex changes nothing.
            Statement::Unlock(a) | Statement::Wait(_, a)
                if owners[usize::from(a.0)] != Some(me) =>
            {
                footprint.touch(mutex(a), Access::Read);
                step.failures.push(Failure::Misuse { thread: me, place });
                return Next::End;
            }
            Statement::Unlock(a) => {
                footprint.touch(mutex(a), Access::Unlock);
                owners[usize::from(a.0)] = None;
            }
            Statement::Wait(c, a) => {
                footprint.touch(mutex(a), Access::Unlock);
                footprint.touch(condvar(c), Access::Enqueue);
                owners[usize::from(a.0)] = None;
                thread.phase = Phase::Waiting(c, a);
                return Next::Stop;
            }
            Statement::NotifyOne(c) => self.notify(c, false, chooser, footprint),
            Statement::NotifyAll(c) => self.notify(c, true, chooser, footprint),
            Statement::Spawn(body) => {
                let spawned = usize::from(body.0);
                if threads[spawned].phase != Phase::Unborn {
                    step.failures.push(Failure::Misuse { thread: me, place });
                    return Next::End;
                }
                footprint.enables.push(ThreadId(u32::from(body.0)));
                self.settle(spawned, &mut step.failures);
            }
            Statement::Join(body) => footprint.joins.push(ThreadId(u32::from(body.0))),
            Statement::Abort => {
                step.failures.push(Failure::Abort { thread: me, place });
                step.flow = Flow::Over;
                self.over = true;
                return Next::End;
            }
            Statement::Let(..)
            | Statement::Assert(_)
            | Statement::If(..)
            | Statement::Ordered(..)
            | Statement::While(..)
            | Statement::Repeat(..) => {
                unreachable!("local statements run in `settle`: this is a bug in lockred")
            }
        }
        Next::On
    }

    /// Executes the visible operation that the thread stands before, and goes on to the next.
    pub(super) fn act(
        &mut self,
        number: usize,
        chooser: &mut dyn Chooser,
        step: &mut Step<Failure>,
    ) {
        let next = match self.state.threads[number].phase {
            Phase::Woken(a) => {
                step.footprint.touch(mutex(a), Access::Lock);
                self.state.owners[usize::from(a.0)] = Some(Body(number as u8));
                Next::On
            }
            _ => self.execute(number, chooser, step),
        };
        match next {
            Next::On => {
                self.state.threads[number].place += 1;
                self.settle(number, &mut step.failures);
            }
            Next::Stop => {}
            Next::End => self.state.threads[number].phase = Phase::Ended,
        }
    }

    fn notify(
        &mut self,
        queue: Condvar,
        all: bool,
        chooser: &mut dyn Chooser,
        footprint: &mut Footprint,
    ) {
        let number = self.state.waiters(queue).count();
        if number == 0 {
            footprint.touch(condvar(queue), Access::WakeNone);
            return;
        }
        footprint.touch(condvar(queue), Access::Wake);
        let picked = match number {
            _ if all => None,
            1 => Some(0),
            _ => Some(chooser.choose(number as u32) as usize),
        };
        let mut waiter = 0;
        for (number, thread) in self.state.threads.iter_mut().enumerate() {
            let Phase::Waiting(waits, mutex) = thread.phase else { continue };
            if waits != queue {
                continue;
            }
            if picked.is_none_or(|picked| picked == waiter) {
                thread.phase = Phase::Woken(mutex);
                footprint.enables.push(ThreadId(number as u32));
            }
            waiter += 1;
        }
    }
}

/// How a thread goes on after its operation.
enum Next {
    /// To its next operation.
    On,
    /// It stands still in the middle of the operation.
    Stop,
    /// It ends.
    End,
}

impl Machine for ModelMachine {
    type Failure = Failure;

    fn restore_root(&mut self) {
        self.state.clone_from(&self.root);
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
        let free = |owner: Option<Body>, a: Mutex| match owner {
            None => Status::Enabled,
            Some(_) => Status::Blocked { on: mutex(a) },
        };
        match self.state.threads[number].phase {
            Phase::Ended => Status::Ended,
            Phase::Unborn => Status::Blocked { on: ObjectId(u64::MAX) },
            Phase::Waiting(c, _) => Status::Blocked { on: condvar(c) },
            Phase::Woken(a) => free(self.state.owners[usize::from(a.0)], a),
            Phase::Ready => match self.next(number) {
                Some(&Statement::Lock(a)) => free(self.state.owners[usize::from(a.0)], a),
                Some(&Statement::Await(x, value))
                    if self.state.values[usize::from(x.0)] != value =>
                {
                    Status::Blocked { on: variable(x) }
                }
                Some(&Statement::Join(body))
                    if self.state.threads[usize::from(body.0)].phase != Phase::Ended =>
                {
                    Status::Blocked { on: ObjectId(u64::MAX - 1 - u64::from(body.0)) }
                }
                _ => Status::Enabled,
            },
        }
    }

    fn pending(&mut self, thread: ThreadId, footprint: &mut Footprint) {
        footprint.clear();
        let number = thread.index();
        match self.state.threads[number].phase {
            Phase::Ended | Phase::Unborn | Phase::Waiting(..) => {}
            Phase::Woken(a) => footprint.touch(mutex(a), Access::Lock),
            Phase::Ready => match self.next(number) {
                Some(&Statement::Lock(a)) => footprint.touch(mutex(a), Access::Lock),
                Some(&Statement::Await(x, _)) => footprint.touch(variable(x), Access::Read),
                _ => {}
            },
        }
    }

    fn step(&mut self, thread: ThreadId, chooser: &mut dyn Chooser, step: &mut Step<Failure>) {
        step.clear();
        step.failures.append(&mut self.early);
        let number = thread.index();
        let place = self.state.threads[number].place;
        self.act(number, chooser, step);
        let mut hasher = DefaultHasher::new();
        (number, place, self.state.threads[number].place, &self.state.threads[number].registers)
            .hash(&mut hasher);
        step.signature = hasher.finish();
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
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, self.over, &self.state).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        half(0) << 64 | half(1)
    }
}
