//! What the code says of objects and places: how objects are used, and what the operations at each
//! place do.

use std::collections::BTreeSet;

use super::super::code::Instruction;
use super::super::foresee::successors;
use super::super::machine::{ModelMachine, barrier, channel, condvar, mutex, once, variable};
use super::super::program::{Channel, Condvar, Mutex, Statement, Variable};
use super::flow::{accessed, local, owned, reached, statements};
use lockred_papers::stoller::system::{Action, Operation, Point};
use lockred_search::footprint::thread_object;
use lockred_search::machine::ThreadId;

/// What the code says of objects and places, made once.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Which mutexes are synchronization objects.
    pub(super) monitors: Vec<bool>,
    /// The synchronization object that a condition variable is part of.
    pub(super) monitor_of: Vec<Option<Mutex>>,
    pub(super) semaphores: Vec<bool>,
    pub(super) queues: Vec<bool>,
    /// Which threads are started, and which joined, by others.
    pub(super) spawned: Vec<bool>,
    pub(super) joined: Vec<bool>,
    /// Per thread and place: a thread may begin here; it may end after the operation.
    pub(super) firsts: Vec<Vec<bool>>,
    pub(super) lasts: Vec<Vec<bool>>,
    /// Per thread and place, what may be done from here on, until the procedure ends.
    pub(super) rests: Vec<Vec<BTreeSet<Operation>>>,
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
                | Statement::Downgrade(a)
                | Statement::TryReadLock(_, a) => monitors[usize::from(a.0)] = false,
                Statement::Close(q) => queues[usize::from(q.0)] = false,
                Statement::Spawn(body) => spawned[usize::from(body.0)] = true,
                Statement::Join(body) => joined[usize::from(body.0)] = true,
                Statement::Down(_) => {}
                Statement::Add(_, by) if by > 0 => {}
                ref other => {
                    if let Some(x) = accessed(other) {
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

    /// The mutex that all waits on the condition variable name, if it is a monitor, and all
    /// notifiers own it.
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

    /// Per place, whether the thread may end after the operation.
    fn ends(&self, machine: &ModelMachine, thread: usize) -> Vec<bool> {
        let code = &machine.code[thread];
        let ends = |(place, instruction): (usize, &Instruction)| {
            let Instruction::Do(statement, _) = instruction else { return false };
            let misused = matches!(
                statement,
                Statement::Unlock(_)
                    | Statement::ReadUnlock(_)
                    | Statement::Downgrade(_)
                    | Statement::Wait(..)
                    | Statement::WaitFor(..)
                    | Statement::Allocate(_)
                    | Statement::Spawn(_)
                    | Statement::Abort
            );
            let freed = accessed(statement).is_some_and(|x| {
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

    pub(super) fn lock_action(&self, a: Mutex, action: Action) -> Operation {
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
    pub(super) fn point_at(
        &self,
        machine: &ModelMachine,
        thread: usize,
        place: usize,
        point: &mut Point,
    ) {
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
            | Statement::Downgrade(a)
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
            | Statement::Sleep(_)
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
