//! What the model machine says of its actions to be searched by access predicates
//! (`flanagan_qadeer`).
//!
//! A statement accesses the one object that it names; waiting with a mutex accesses the mutex and
//! the queue, and so does coming back. The phases of other threads that a notification, a close or
//! the last one at a barrier changes count as parts of the queue, the channel, the barrier.

use super::code::Instruction;
use super::machine::{Failure, ModelMachine, barrier, channel, condvar, mutex, once, variable};
use super::program::{Body, Condvar, Mutex, Statement};
use super::state::Phase;
use lockred_papers::flanagan_qadeer::{Accessed, Action, Guarded, Violation, Waits};
use lockred_search::fingerprint;
use lockred_search::footprint::ObjectId;
use lockred_search::machine::ThreadId;

fn accesses(object: ObjectId) -> Action {
    Action { accessed: vec![Accessed::Object(object)], ..Action::default() }
}

/// An action that is possible only while no other thread holds the mutex.
fn with_lock(a: Mutex) -> Action {
    Action { waits: Waits::Free(mutex(a)), ..accesses(mutex(a)) }
}

fn with_queue(c: Condvar, a: Mutex) -> Action {
    let accessed = vec![Accessed::Object(mutex(a)), Accessed::Object(condvar(c))];
    Action { accessed, ..with_lock(a) }
}

fn ghost(before: bool, after: bool) -> Action {
    Action { accessed: vec![Accessed::Ghost { before, after }], ..Action::default() }
}

impl ModelMachine {
    fn action_of(&self, number: usize) -> Action {
        let thread = &self.state.threads[number];
        match (thread.phase, self.next(number)) {
            (Phase::Ended | Phase::Unborn, _) => Action::default(),
            (Phase::Waiting(c, a), _) => Action { acquires: true, ..with_queue(c, a) },
            (Phase::Woken(_), Some(&Statement::Wait(c, a) | &Statement::WaitFor(_, c, a))) => {
                Action { acquires: true, ..with_queue(c, a) }
            }
            (Phase::Woken(a), _) => Action { acquires: true, ..with_lock(a) },
            (Phase::Leaving(c, ..) | Phase::Notified(c, _), _) => accesses(condvar(c)),
            (Phase::Offering(q) | Phase::Answered(q, _), _) => accesses(channel(q)),
            (Phase::AtBarrier(b), _) => accesses(barrier(b)),
            (_, Some(statement)) => self.action_at(number, statement),
            (_, None) => Action::default(),
        }
    }

    fn action_at(&self, number: usize, statement: &Statement) -> Action {
        let me = Body(number as u8);
        if let Some(x) = Self::accessed(statement) {
            let waits = match *statement {
                Statement::Await(x, value) => Waits::Value(variable(x), value),
                Statement::Down(x) => Waits::Positive(variable(x)),
                _ => Waits::No,
            };
            return Action { waits, ..accesses(variable(x)) };
        }
        match *statement {
            Statement::Allocate(x) => accesses(variable(x)),
            Statement::Lock(a) => Action { acquires: true, ..with_lock(a) },
            Statement::ReadLock(a) => with_lock(a),
            // A misuse is its thread's own affair: whether it holds the lock is changed by nobody
            // else.
            Statement::Unlock(a) | Statement::Wait(_, a) | Statement::WaitFor(_, _, a)
                if !self.state.holds(me, a, false) =>
            {
                Action::default()
            }
            Statement::ReadUnlock(a) if !self.state.holds(me, a, true) => Action::default(),
            Statement::Downgrade(a) if !self.can_downgrade(me, a) => Action::default(),
            Statement::Unlock(a) | Statement::ReadUnlock(a) | Statement::Downgrade(a) => {
                with_lock(a)
            }
            Statement::Wait(c, a) | Statement::WaitFor(_, c, a) => with_queue(c, a),
            Statement::TryLock(_, a) | Statement::TryReadLock(_, a) => accesses(mutex(a)),
            Statement::NotifyOne(c) | Statement::NotifyAll(c) => accesses(condvar(c)),
            Statement::Send(q, _)
            | Statement::SendChecked(_, q, _)
            | Statement::Receive(_, q)
            | Statement::Close(q) => accesses(channel(q)),
            Statement::Once(o, _) | Statement::OnceDone(o) => accesses(once(o)),
            Statement::Arrive(b) | Statement::ArriveAsking(_, b) => accesses(barrier(b)),
            Statement::Spawn(body) => {
                let unborn = self.state.threads[usize::from(body.0)].phase == Phase::Unborn;
                ghost(unborn && self.starters(body) == 1, false)
            }
            Statement::Join(_) => ghost(false, true),
            Statement::Abort => ghost(false, false),
            _ => Action::default(),
        }
    }

    /// How many threads' code has the statement.
    fn having(&self, statement: &Statement) -> usize {
        let is_it = |instruction: &Instruction| matches!(instruction, Instruction::Do(s, _) if s == statement);
        self.code.iter().filter(|code| code.iter().any(is_it)).count()
    }

    /// How many threads may start the thread. (Procedures count for all.)
    fn starters(&self, body: Body) -> usize {
        self.having(&Statement::Spawn(body))
    }
}

impl Guarded for ModelMachine {
    fn action(&self, thread: ThreadId) -> Option<Action> {
        let Self { state, .. } = self;
        let number = thread.index();
        if state.threads[number].phase == Phase::Ended {
            return None;
        }
        Some(Action { site: state.threads[number].place as u64, ..self.action_of(number) })
    }

    fn is_lock(&self, object: ObjectId) -> bool {
        self.mutex_of(object).is_some()
    }

    fn holder(&self, lock: ObjectId) -> Option<ThreadId> {
        let Mutex(number) = self.mutex_of(lock)?;
        self.state.owners[usize::from(number)].map(|Body(owner)| ThreadId(u32::from(owner)))
    }

    fn held(&self, thread: ThreadId) -> Vec<ObjectId> {
        let owners = self.state.owners.iter().enumerate();
        let held = owners.filter(|(_, owner)| **owner == Some(Body(thread.0 as u8)));
        held.map(|(number, _)| mutex(Mutex(number as u8))).collect()
    }

    fn value(&self, object: ObjectId) -> Option<i32> {
        self.state.values.get(usize::try_from(object.0).ok()?).copied()
    }

    fn local(&self, thread: ThreadId) -> u128 {
        fingerprint::of(&self.state.threads[thread.index()])
    }

    fn is_awaited(&self, thread: ThreadId) -> bool {
        self.having(&Statement::Join(Body(thread.0 as u8))) > 0
    }

    fn wrong(&self, failure: &Failure) -> Option<ThreadId> {
        match failure {
            Failure::Assertion { thread, .. }
            | Failure::Misuse { thread, .. }
            | Failure::Freed { thread, .. }
            | Failure::Overflow { thread, .. }
            | Failure::Abort { thread, .. } => Some(ThreadId(u32::from(thread.0))),
            Failure::Deadlock { .. }
            | Failure::Livelock { .. }
            | Failure::Race { .. }
            | Failure::Violation(_)
            | Failure::End(_) => None,
        }
    }

    fn violation(&self, violation: Violation) -> Failure {
        Failure::Violation(violation)
    }
}
