//! The model machine as a concurrent system of Stoller's framework: classes, control points and
//! operations.
//!
//! A mutex with the condition variables that are used with it is a synchronization object if it is
//! used as in Java: exclusively and never tried; of the condition variables, those are part of it
//! that are always waited on with it, without timeouts and spurious wake-ups, and notified by its
//! owner only. Plain variables are under the locking discipline; all other objects are
//! communication objects. An atomic that is only counted up for nobody to see, and down by `down`,
//! is a semaphore; a channel that is never closed and has room is a FIFO queue.
//!
//! Threads: starting one, and its first operation, are operations on a communication object; so are
//! joining a thread and, if somebody joins it, every operation after which it may end.

mod flow;
mod layout;

use std::collections::BTreeSet;

use self::flow::is_operation;
pub(super) use self::layout::Layout;
use super::machine::{ModelMachine, barrier, channel, condvar, mutex, variable};
use super::program::{Body, Channel, Condvar, Mutex, Statement, Variable};
use super::state::Phase;
use lockred_papers::stoller::system::{Action, Operation, Point, System, Value};
use lockred_papers::stoller::{Class, Classes};
use lockred_search::footprint::{ObjectId, thread_object};
use lockred_search::machine::ThreadId;

impl ModelMachine {
    /// The classes of the program's objects that follow from how they are used. A program may have
    /// better ones.
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
            Phase::Sleeping => {}
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
            // Who waits for a condition variable that anybody may notify is in no wait set: see
            // `point`.
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
