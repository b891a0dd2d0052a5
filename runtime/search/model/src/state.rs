//! A state of the model machine.

use super::calls::Frame;
use super::program::{
    Barrier, Body, Channel, Comparison, Condition, Condvar, Mutex, Operand, Program, Register,
};
use super::rarer::Rarer;

/// How a thread stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// Not spawned yet.
    Unborn,
    /// Before a visible operation.
    Ready,
    /// In the queue of a condition variable.
    Waiting(Condvar, Mutex),
    /// Offers its value to a rendezvous channel.
    Offering(Channel),
    /// Its offer was taken, or else withdrawn: goes on next.
    Answered(Channel, bool),
    /// Waits at a barrier.
    AtBarrier(Barrier),
    /// All have come to the barrier where it waited: goes on next.
    Released,
    /// As `Waiting`, but it may leave by itself; of a wait with a timeout, the register that tells.
    Leaving(Condvar, Mutex, Option<Register>),
    /// Woken while it could have left by itself: goes on as who leaves.
    Notified(Condvar, Mutex),
    /// Woken from a wait, or has left the queue: takes the mutex next.
    Woken(Mutex),
    /// Sleeps.
    Sleeping,
    /// Ended.
    Ended,
}

/// One thread.
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Thread {
    /// How it stands.
    pub phase: Phase,
    /// The next instruction.
    pub place: usize,
    /// Registers.
    pub registers: Registers,
    /// What the calls under way interrupted, the outermost first.
    pub frames: Vec<Frame>,
    /// While it waits: how often it had locked its re-entrant mutex again.
    pub depth: u8,
    /// How often it may still wake up from waiting for no reason.
    pub spurious: u8,
    /// While it sleeps, or waits with a timeout, and time is ordered: the moment at which that
    /// ends.
    pub until: u32,
}

/// Registers that need no memory of their own: states are saved and restored all the time.
const NEAR: usize = 6;

/// The registers of a thread. They begin with 0.
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Registers {
    near: [i32; NEAR],
    /// Registers from `NEAR` on; those beyond the end are 0.
    far: Vec<i32>,
}

/// Messages that have gone through a channel. Part of no state: what a thread does next does not
/// depend on them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed {
    /// How many were sent.
    pub sent: u32,
    /// How many were received.
    pub received: u32,
}

impl PartialEq for Passed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Passed {}

impl PartialOrd for Passed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Passed {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl std::hash::Hash for Passed {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

/// Everything that can differ between two moments of a program.
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct State {
    /// Threads.
    pub threads: Vec<Thread>,
    /// Values of the variables.
    pub values: Vec<i32>,
    /// Owners of the mutexes.
    pub owners: Vec<Option<Body>>,
    /// Shared owners of the mutexes, sorted.
    pub readers: Vec<Vec<Body>>,
    /// Values in the channels, the oldest first.
    pub queues: Vec<Vec<i32>>,
    /// Which channels are closed.
    pub closed: Vec<bool>,
    /// What has gone through them.
    pub passed: Vec<Passed>,
    /// Which variables are not allocated.
    pub freed: Vec<bool>,
    /// The rarer locks.
    pub rarer: Rarer,
    /// The moment, where time is ordered.
    pub time: u32,
}

// Written out for `clone_from`, which searches call all the time, to keep the memory.
impl Clone for Registers {
    fn clone(&self) -> Self {
        Self { near: self.near, far: self.far.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.near = other.near;
        if !(self.far.is_empty() && other.far.is_empty()) {
            self.far.clone_from(&other.far);
        }
    }
}

impl Clone for Thread {
    fn clone(&self) -> Self {
        Self {
            phase: self.phase,
            place: self.place,
            registers: self.registers.clone(),
            frames: self.frames.clone(),
            depth: self.depth,
            spurious: self.spurious,
            until: self.until,
        }
    }

    fn clone_from(&mut self, other: &Self) {
        self.phase = other.phase;
        self.place = other.place;
        self.registers.clone_from(&other.registers);
        if !(self.frames.is_empty() && other.frames.is_empty()) {
            self.frames.clone_from(&other.frames);
        }
        self.depth = other.depth;
        self.spurious = other.spurious;
        self.until = other.until;
    }
}

impl Clone for State {
    fn clone(&self) -> Self {
        Self {
            threads: self.threads.clone(),
            values: self.values.clone(),
            owners: self.owners.clone(),
            readers: self.readers.clone(),
            queues: self.queues.clone(),
            closed: self.closed.clone(),
            passed: self.passed.clone(),
            freed: self.freed.clone(),
            rarer: self.rarer.clone(),
            time: self.time,
        }
    }

    fn clone_from(&mut self, other: &Self) {
        self.threads.clone_from(&other.threads);
        take_over(&mut self.values, &other.values);
        take_over(&mut self.owners, &other.owners);
        self.readers.clone_from(&other.readers);
        if !(self.queues.is_empty() && other.queues.is_empty()) {
            self.queues.clone_from(&other.queues);
            take_over(&mut self.closed, &other.closed);
            take_over(&mut self.passed, &other.passed);
        }
        self.time = other.time;
        take_over(&mut self.freed, &other.freed);
        if !(self.rarer.is_empty() && other.rarer.is_empty()) {
            self.rarer.clone_from(&other.rarer);
        }
    }
}

/// Copies values into a vector that has as many almost always.
#[inline]
fn take_over<T: Copy>(mine: &mut Vec<T>, theirs: &[T]) {
    if mine.len() == theirs.len() {
        mine.copy_from_slice(theirs);
    } else {
        mine.clear();
        mine.extend_from_slice(theirs);
    }
}

impl Thread {
    pub(super) fn get(&self, register: Register) -> i32 {
        let Registers { near, far } = &self.registers;
        let index = usize::from(register.0);
        match near.get(index) {
            Some(&value) => value,
            None => far.get(index - NEAR).copied().unwrap_or(0),
        }
    }

    pub(super) fn set(&mut self, register: Register, value: i32) {
        let Registers { near, far } = &mut self.registers;
        let index = usize::from(register.0);
        if let Some(slot) = near.get_mut(index) {
            *slot = value;
            return;
        }
        let index = index - NEAR;
        if far.len() <= index {
            far.resize(index + 1, 0);
        }
        far[index] = value;
    }

    pub(super) fn compute(&self, operand: Operand) -> i32 {
        match operand {
            Operand::Constant(value) => value,
            Operand::Sum(register, value) => self.get(register).wrapping_add(value),
        }
    }

    pub(super) fn holds(&self, condition: Condition) -> bool {
        let value = self.get(condition.register);
        match condition.comparison {
            Comparison::Equal => value == condition.value,
            Comparison::Unequal => value != condition.value,
            Comparison::Less => value < condition.value,
        }
    }
}

impl State {
    pub(super) fn root(program: &Program, spawned: &[u8]) -> Self {
        let thread = |number: usize| Thread {
            phase: if spawned.contains(&(number as u8)) { Phase::Unborn } else { Phase::Ready },
            place: 0,
            frames: Vec::new(),
            registers: Registers::default(),
            depth: 0,
            spurious: program.spurious,
            until: 0,
        };
        Self {
            threads: (0..program.threads.len()).map(thread).collect(),
            values: program.variables.iter().map(|variable| variable.initial).collect(),
            owners: vec![None; usize::from(program.mutexes)],
            readers: vec![Vec::new(); usize::from(program.mutexes)],
            queues: vec![Vec::new(); program.channels.len()],
            closed: vec![false; program.channels.len()],
            passed: vec![Passed::default(); program.channels.len()],
            freed: program.variables.iter().map(|variable| variable.heap).collect(),
            rarer: Rarer::root(program),
            time: 0,
        }
    }

    /// Whether the mutex can be locked in this way.
    pub(super) fn is_free(&self, mutex: Mutex, shared: bool) -> bool {
        let number = usize::from(mutex.0);
        self.owners[number].is_none() && (shared || self.readers[number].is_empty())
    }

    /// Whether the thread holds the mutex in this way.
    pub(super) fn holds(&self, thread: Body, mutex: Mutex, shared: bool) -> bool {
        let number = usize::from(mutex.0);
        if shared {
            self.readers[number].contains(&thread)
        } else {
            self.owners[number] == Some(thread)
        }
    }

    /// Threads that wait in the queue of `condvar`.
    pub(super) fn waiters(&self, condvar: Condvar) -> impl Iterator<Item = usize> + '_ {
        self.threads.iter().enumerate().filter_map(move |(number, thread)| match thread.phase {
            Phase::Waiting(queue, _) | Phase::Leaving(queue, ..) if queue == condvar => {
                Some(number)
            }
            _ => None,
        })
    }
}
