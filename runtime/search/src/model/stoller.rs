//! The model machine as a concurrent system of Stoller's framework: classes, control points and operations.
//!
//! A mutex with the condition variables that are used with it is a synchronization object if it is used as in Java: exclusively and
//! never tried; of the condition variables, those are part of it that are always waited on with it, without timeouts and spurious
//! wake-ups, and notified by its owner only. Plain variables are under the locking discipline; all other objects are communication
//! objects. An atomic that is only counted up for nobody to see, and down by `down`, is a semaphore; a channel that is never
//! closed and has room is a FIFO queue.
//!
//! Threads: starting one, and its first operation, are operations on a communication object; so are joining a thread and, if
//! somebody joins it, every operation behind which it may end.

use std::collections::BTreeSet;

use super::code::Instruction;
use super::foresee::successors;
use super::machine::{ModelMachine, barrier, channel, condvar, mutex, once, variable};
use super::program::{Body, Channel, Condvar, Mutex, Statement, Variable};
use super::state::Phase;
use crate::footprint::{ObjectId, thread_object};
use crate::machine::ThreadId;
use crate::stoller::system::{Action, Operation, Point, System, Value};
use crate::stoller::{Class, Classes};

/// What the code says of objects and places, made once.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Which mutexes are synchronization objects.
    monitors: Vec<bool>,
    /// The synchronization object that a condition variable is part of.
    monitor_of: Vec<Option<Mutex>>,
    semaphores: Vec<bool>,
    queues: Vec<bool>,
    /// Which threads are started, and which joined, by others.
    spawned: Vec<bool>,
    joined: Vec<bool>,
    /// Per thread and place: a thread may begin here; it may end behind the operation.
    firsts: Vec<Vec<bool>>,
    lasts: Vec<Vec<bool>>,
    /// Per thread and place, what may be done from here on, until the procedure ends.
    rests: Vec<Vec<BTreeSet<Operation>>>,
}

fn statements(code: &[Vec<Instruction>]) -> impl Iterator<Item = &Statement> {
    code.iter().flatten().filter_map(|instruction| match instruction {
        Instruction::Do(statement, _) => Some(statement),
        _ => None,
    })
}

/// Whether the statement is an operation, at which a thread stops.
const fn is_operation(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Do(statement, _)
        if !matches!(statement, Statement::Let(..) | Statement::Assert(_)))
}

impl Layout {
    pub(super) fn new(machine: &ModelMachine) -> Self {
        let code = &machine.code;
        let (threads, mutexes) = (code.len(), machine.reentrant.len());
        let mut monitors = vec![true; mutexes];
        let mut semaphores = machine.atomic.clone();
        let mut queues: Vec<bool> = machine.capacities.iter().map(|&room| room > 0).collect();
        let (mut spawned, mut joined) = (vec![false; threads], vec![false; threads]);
        for statement in statements(code) {
            match *statement {
                Statement::TryLock(_, a)
                | Statement::ReadLock(a)
                | Statement::ReadUnlock(a)
                | Statement::TryReadLock(_, a) => monitors[usize::from(a.0)] = false,
                Statement::Close(q) => queues[usize::from(q.0)] = false,
                Statement::Spawn(body) => spawned[usize::from(body.0)] = true,
                Statement::Join(body) => joined[usize::from(body.0)] = true,
                Statement::Down(_) => {}
                Statement::Add(_, by) if by > 0 => {}
                ref other => {
                    if let Some(x) = written_or_read(other) {
                        semaphores[usize::from(x.0)] = false;
                    }
                }
            }
        }
        let mut layout = Self {
            monitors,
            monitor_of: vec![None; machine.fifo.len()],
            semaphores,
            queues,
            spawned,
            joined,
            firsts: code.iter().map(|code| reached(code, [0])).collect(),
            lasts: Vec::new(),
            rests: Vec::new(),
        };
        let owned: Vec<_> = code.iter().map(|code| owned(code)).collect();
        layout.monitor_of =
            (0..machine.fifo.len()).map(|c| layout.monitor(machine, &owned, c as u8)).collect();
        layout.lasts = (0..threads).map(|thread| layout.ends(machine, thread)).collect();
        layout.rests = rests(machine, &layout);
        layout
    }

    /// The mutex that all waits on the condition variable name, if it is a monitor, and all notifiers own it.
    fn monitor(
        &self,
        machine: &ModelMachine,
        owned: &[Vec<Option<BTreeSet<Mutex>>>],
        c: u8,
    ) -> Option<Mutex> {
        let mut monitor = None;
        for statement in statements(&machine.code) {
            match *statement {
                Statement::Wait(Condvar(other), a) if other == c => {
                    if monitor.is_some_and(|known| known != a) {
                        return None;
                    }
                    monitor = Some(a);
                }
                Statement::WaitFor(_, Condvar(other), _) if other == c => return None,
                _ => {}
            }
        }
        let monitor = monitor.filter(|a| self.monitors[usize::from(a.0)])?;
        let spurious = machine.root.threads.iter().any(|thread| thread.spurious > 0);
        let mut places = machine.code.iter().zip(owned).flat_map(|(code, o)| code.iter().zip(o));
        let is_safe = places.all(|(instruction, owned)| match instruction {
            Instruction::Do(Statement::NotifyOne(d) | Statement::NotifyAll(d), _) if d.0 == c => {
                owned.as_ref().is_none_or(|owned| owned.contains(&monitor))
            }
            _ => true,
        });
        (is_safe && !spurious).then_some(monitor)
    }

    /// Per place, whether the thread may end behind the operation.
    fn ends(&self, machine: &ModelMachine, thread: usize) -> Vec<bool> {
        let code = &machine.code[thread];
        let ends = |(place, instruction): (usize, &Instruction)| {
            let Instruction::Do(statement, _) = instruction else { return false };
            let misused = matches!(
                statement,
                Statement::Unlock(_)
                    | Statement::ReadUnlock(_)
                    | Statement::Wait(..)
                    | Statement::WaitFor(..)
                    | Statement::Allocate(_)
                    | Statement::Spawn(_)
                    | Statement::Abort
            );
            let freed = written_or_read(statement).is_some_and(|x| {
                let frees = |s: &Statement| *s == Statement::Free(x);
                machine.root.freed[usize::from(x.0)] || statements(&machine.code).any(frees)
            });
            let next: Vec<usize> = successors(code, instruction, place).collect();
            let behind = local(code, next);
            let may_fail = |&place: &usize| {
                matches!(
                    code.get(place),
                    None | Some(
                        Instruction::Call(_)
                            | Instruction::Return(_)
                            | Instruction::Do(Statement::Assert(_), _)
                    )
                )
            };
            misused || freed || behind.iter().any(may_fail)
        };
        code.iter().enumerate().map(ends).collect()
    }

    fn lock_action(&self, a: Mutex, action: Action) -> Operation {
        let action = if self.monitors[usize::from(a.0)] { action } else { Action::Other };
        Operation { object: mutex(a), action }
    }

    fn notification(&self, c: Condvar, action: Action) -> Operation {
        match self.monitor_of[usize::from(c.0)] {
            Some(a) => Operation { object: mutex(a), action },
            None => Operation { object: condvar(c), action: Action::Other },
        }
    }

    /// The operations of the statement at a place; of a wait, those of its first half.
    fn point_at(&self, machine: &ModelMachine, thread: usize, place: usize, point: &mut Point) {
        let Some(Instruction::Do(statement, _)) = machine.code[thread].get(place) else { return };
        let data = |x: Variable, action| Operation { object: variable(x), action };
        let other = |object| Operation { object, action: Action::Other };
        let end = thread_object(ThreadId(thread as u32));
        let add = |point: &mut Point, operation| point.operations.push(operation);
        match *statement {
            Statement::Load(_, x) | Statement::Await(x, _) => add(point, data(x, Action::Read)),
            Statement::Down(x) if self.semaphores[usize::from(x.0)] => {
                add(point, data(x, Action::Down));
            }
            Statement::Add(x, _) if self.semaphores[usize::from(x.0)] => {
                add(point, data(x, Action::Up));
            }
            Statement::Add(x, _) if machine.atomic[usize::from(x.0)] => {
                add(point, data(x, Action::Update));
            }
            Statement::CompareExchangeWeak(_, x, ..) => {
                point.choice = true;
                add(point, data(x, Action::Write));
            }
            Statement::Store(x, _)
            | Statement::Add(x, _)
            | Statement::FetchAdd(_, x, _)
            | Statement::Swap(_, x, _)
            | Statement::CompareExchange(_, x, ..)
            | Statement::Down(x)
            | Statement::Increment(x)
            | Statement::Decrement(_, x)
            | Statement::Free(x)
            | Statement::Allocate(x) => add(point, data(x, Action::Write)),
            Statement::Lock(a) => add(point, self.lock_action(a, Action::Acquire)),
            Statement::Unlock(a) => add(point, self.lock_action(a, Action::Release)),
            Statement::TryLock(_, a)
            | Statement::ReadLock(a)
            | Statement::ReadUnlock(a)
            | Statement::TryReadLock(_, a) => add(point, other(mutex(a))),
            Statement::Wait(c, a) | Statement::WaitFor(_, c, a) => {
                point.choice = machine.root.threads[thread].spurious > 0;
                add(point, self.lock_action(a, Action::Wait1));
                if self.monitor_of[usize::from(c.0)].is_none() {
                    add(point, other(condvar(c)));
                }
            }
            Statement::NotifyOne(c) => {
                point.choice = !machine.is_fifo(c);
                add(point, self.notification(c, Action::Notify));
            }
            Statement::NotifyAll(c) => add(point, self.notification(c, Action::NotifyAll)),
            Statement::Once(o, _) | Statement::OnceDone(o) => add(point, other(once(o))),
            Statement::Arrive(b) | Statement::ArriveAsking(_, b) => add(point, other(barrier(b))),
            Statement::Send(q, _) | Statement::SendChecked(_, q, _) => {
                add(point, self.message(q, Action::Send));
            }
            Statement::Receive(_, q) => add(point, self.message(q, Action::Receive)),
            Statement::Close(q) => add(point, other(channel(q))),
            Statement::Any(..) => point.choice = true,
            Statement::Spawn(body) => add(point, other(thread_object(ThreadId(body.0.into())))),
            Statement::Join(body) => {
                let object = thread_object(ThreadId(body.0.into()));
                add(point, Operation { object, action: Action::Read });
            }
            Statement::Abort => add(point, Operation { object: end, action: Action::Abort }),
            Statement::Fence(_)
            | Statement::Let(..)
            | Statement::Assert(_)
            | Statement::Call(..)
            | Statement::Return(_)
            | Statement::If(..)
            | Statement::Ordered(..)
            | Statement::While(..)
            | Statement::Repeat(..) => {}
        }
        point.first = self.firsts[thread][place];
        let begins = self.spawned[thread] && point.first;
        if begins || (self.joined[thread] && self.lasts[thread][place]) {
            add(point, Operation { object: end, action: Action::Other });
        }
    }

    fn message(&self, q: Channel, action: Action) -> Operation {
        let action = if self.queues[usize::from(q.0)] { action } else { Action::Other };
        Operation { object: channel(q), action }
    }
}

/// The variable that the statement accesses, `alloc` included.
fn written_or_read(statement: &Statement) -> Option<Variable> {
    match *statement {
        Statement::Allocate(x) => Some(x),
        ref other => ModelMachine::accessed(other),
    }
}

/// The places that local statements lead to from these, themselves included; they end at operations.
fn local(code: &[Instruction], from: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
    let mut left: Vec<usize> = from.into_iter().collect();
    let mut seen = BTreeSet::new();
    while let Some(place) = left.pop() {
        if !seen.insert(place) {
            continue;
        }
        if let Some(instruction) = code.get(place)
            && !is_operation(instruction)
        {
            left.extend(successors(code, instruction, place));
        }
    }
    seen
}

/// Per place, whether it is an operation that local statements lead to from these places.
fn reached(code: &[Instruction], from: impl IntoIterator<Item = usize>) -> Vec<bool> {
    let seen = local(code, from);
    let is_reached = |(place, instruction)| is_operation(instruction) && seen.contains(&place);
    code.iter().enumerate().map(is_reached).collect()
}

/// Per place, the mutexes that a thread surely owns there; none where it never comes. Behind a call nothing is known.
fn owned(code: &[Instruction]) -> Vec<Option<BTreeSet<Mutex>>> {
    let mut owned: Vec<Option<BTreeSet<Mutex>>> = vec![None; code.len() + 1];
    owned[0] = Some(BTreeSet::new());
    let mut changed = true;
    while changed {
        changed = false;
        for (place, instruction) in code.iter().enumerate() {
            let Some(before) = owned[place].clone() else { continue };
            let mut behind = before.clone();
            match *instruction {
                Instruction::Do(Statement::Lock(a) | Statement::Wait(_, a), _) => {
                    behind.insert(a);
                }
                Instruction::Do(Statement::Unlock(a), _) => {
                    behind.remove(&a);
                }
                _ => {}
            }
            let calls = matches!(instruction, Instruction::Call(_));
            for next in successors(code, instruction, place) {
                let returned = calls && next == place + 1;
                let comes = if returned { BTreeSet::new() } else { behind.clone() };
                let meet = match &owned[next] {
                    None => comes,
                    Some(known) => known.intersection(&comes).copied().collect(),
                };
                if owned[next].as_ref() != Some(&meet) {
                    owned[next] = Some(meet);
                    changed = true;
                }
            }
        }
    }
    owned
}

/// Per thread and place, what may be done from there on.
fn rests(machine: &ModelMachine, layout: &Layout) -> Vec<Vec<BTreeSet<Operation>>> {
    let rest = |(thread, code): (usize, &Vec<Instruction>)| {
        let mut rests = vec![BTreeSet::new(); code.len() + 1];
        let mut point = Point::default();
        for (place, instruction) in code.iter().enumerate() {
            point.clear();
            layout.point_at(machine, thread, place, &mut point);
            if let Instruction::Do(Statement::Wait(_, a) | Statement::WaitFor(_, _, a), _) =
                instruction
            {
                point.operations.push(layout.lock_action(*a, Action::Wait2));
            }
            rests[place].extend(&point.operations);
        }
        let mut grown = true;
        while grown {
            grown = false;
            for (place, instruction) in code.iter().enumerate().rev() {
                for next in successors(code, instruction, place) {
                    let more: Vec<Operation> =
                        rests[next].difference(&rests[place]).copied().collect();
                    grown |= !more.is_empty();
                    rests[place].extend(more);
                }
            }
        }
        rests
    };
    machine.code.iter().enumerate().map(rest).collect()
}

impl ModelMachine {
    /// The classes of the program's objects that follow from how they are used. A program may have better ones.
    #[must_use]
    pub fn classes(&self) -> Classes {
        let mut classes = Classes::default();
        for (x, &atomic) in self.atomic.iter().enumerate() {
            let class = if atomic { Class::Communication } else { Class::Discipline };
            classes.set(variable(Variable(x as u8)), class);
        }
        for (a, &monitor) in self.layout().monitors.iter().enumerate() {
            let class = if monitor { Class::Synchronization } else { Class::Communication };
            classes.set(mutex(Mutex(a as u8)), class);
        }
        classes
    }

    fn layout(&self) -> &Layout {
        self.layout.get_or_init(|| Layout::new(self))
    }
}

impl System for ModelMachine {
    fn point(&self, thread: ThreadId, point: &mut Point) {
        point.clear();
        let (number, layout) = (thread.index(), self.layout());
        let state = &self.state.threads[number];
        let other = |object| Operation { object, action: Action::Other };
        match state.phase {
            Phase::Ended => {}
            Phase::Unborn => {
                point.first = true;
                point.operations.push(other(thread_object(thread)));
            }
            Phase::Ready => layout.point_at(self, number, state.place, point),
            Phase::Waiting(c, a) => {
                point.operations.push(layout.lock_action(a, Action::Wait2));
                if layout.monitor_of[usize::from(c.0)].is_none() {
                    point.operations.push(other(condvar(c)));
                }
            }
            Phase::Woken(a) => {
                point.operations.push(layout.lock_action(a, Action::Wait2));
                if layout.joined[number] && layout.lasts[number][state.place] {
                    point.operations.push(other(thread_object(thread)));
                }
            }
            Phase::Leaving(c, ..) | Phase::Notified(c, _) => {
                point.operations.push(other(condvar(c)));
            }
            Phase::Offering(q) | Phase::Answered(q, _) => {
                point.operations.push(other(channel(q)));
                if layout.joined[number] && layout.lasts[number][state.place] {
                    point.operations.push(other(thread_object(thread)));
                }
            }
            Phase::AtBarrier(b) => point.operations.push(other(barrier(b))),
            Phase::Released => {
                if let Some(Statement::Arrive(b) | Statement::ArriveAsking(_, b)) =
                    self.next(number)
                {
                    point.operations.push(other(barrier(*b)));
                }
                if layout.joined[number] && layout.lasts[number][state.place] {
                    point.operations.push(other(thread_object(thread)));
                }
            }
        }
    }

    fn place(&self, thread: ThreadId) -> usize {
        self.state.threads[thread.index()].place
    }

    fn points(&self) -> Vec<(ThreadId, usize, Point)> {
        let layout = self.layout();
        let mut points = Vec::new();
        for (thread, code) in self.code.iter().enumerate() {
            for (place, instruction) in code.iter().enumerate() {
                let mut point = Point::default();
                layout.point_at(self, thread, place, &mut point);
                if is_operation(instruction) {
                    points.push((ThreadId(thread as u32), place, point));
                }
            }
        }
        points
    }

    fn operations(&mut self, thread: ThreadId, operations: &mut BTreeSet<Operation>) {
        let (number, layout) = (thread.index(), self.layout());
        let state = &self.state.threads[number];
        if state.phase == Phase::Ended {
            return;
        }
        if state.phase == Phase::Unborn {
            let object = thread_object(thread);
            operations.insert(Operation { object, action: Action::Other });
        }
        let callers = state.frames.iter().map(|frame| frame.place);
        for place in callers.chain([state.place]) {
            operations.extend(&layout.rests[number][place]);
        }
    }

    fn held(&self, thread: ThreadId, locks: &mut Vec<ObjectId>) {
        locks.clear();
        let me = Some(Body(thread.0 as u8));
        let owners = self.state.owners.iter().enumerate();
        locks.extend(owners.filter(|(_, o)| **o == me).map(|(a, _)| mutex(Mutex(a as u8))));
    }

    fn value(&self, object: ObjectId) -> Value {
        let layout = self.layout();
        let thread = |body: Body| ThreadId(u32::from(body.0));
        if let Some(a) = (0..layout.monitors.len()).find(|&a| mutex(Mutex(a as u8)) == object) {
            // Who waits for a condition variable that anybody may notify is in no wait set: see `point`.
            let is_part = |c: Condvar| layout.monitor_of[usize::from(c.0)].is_some();
            let waits = |phase| matches!(phase, Phase::Waiting(c, Mutex(b)) if usize::from(b) == a && is_part(c));
            let threads = self.state.threads.iter().enumerate();
            let waiters = threads.filter(|(_, thread)| waits(thread.phase));
            let waiters = waiters.map(|(number, _)| ThreadId(number as u32)).collect();
            return match layout.monitors[a] {
                true => Value::Monitor { owner: self.state.owners[a].map(thread), waiters },
                false => Value::Data,
            };
        }
        let number = |flags: &[bool], of: fn(u8) -> ObjectId| {
            (0..flags.len()).find(|&number| flags[number] && of(number as u8) == object)
        };
        if let Some(x) = number(&layout.semaphores, |x| variable(Variable(x))) {
            return Value::Semaphore(self.state.values[x]);
        }
        if let Some(q) = number(&layout.queues, |q| channel(Channel(q))) {
            let q = Channel(q as u8);
            return Value::Queue { is_empty: self.is_empty(q), is_full: self.is_full(q) };
        }
        Value::Data
    }
}
