//! What a thread's next operation surely begins with, wherever the thread stands; where the outcome
//! is open, the strongest access.

use super::execute::{ADDITION, decrement};
use super::machine::{ModelMachine, barrier, channel, condvar, mutex, once, variable};
use super::program::Statement;
use super::state::Phase;
use lockred_search::footprint::{Access, Footprint};

impl ModelMachine {
    /// What the next operation of thread `number` begins with, whether it can run or not.
    pub(super) fn begins(&self, number: usize, footprint: &mut Footprint) {
        match self.state.threads[number].phase {
            Phase::Ended | Phase::Unborn | Phase::Waiting(..) => {}
            Phase::Offering(_) | Phase::Answered(..) => {}
            Phase::AtBarrier(_) | Phase::Released | Phase::Sleeping => {}
            Phase::Leaving(c, ..) | Phase::Notified(c, _) => {
                footprint.touch(condvar(c), Access::Leave);
            }
            Phase::Woken(a) => footprint.touch(mutex(a), Access::Lock),
            Phase::Ready if self.has_gone_round(number) => {
                for object in self.round(number) {
                    footprint.touch(object, Access::Read);
                }
            }
            Phase::Ready if self.is_inner(number) => {}
            Phase::Ready => match self.next(number) {
                Some(&Statement::Load(_, x)) if self.is_idle(number) => {
                    footprint.touch(variable(x), Access::Read);
                }
                Some(
                    &Statement::CompareExchange(_, x, ..)
                    | &Statement::CompareExchangeWeak(_, x, ..),
                ) if self.is_idle(number) => footprint.touch(variable(x), Access::Write),
                Some(&Statement::Lock(a)) => footprint.touch(mutex(a), Access::Lock),
                Some(&Statement::ReadLock(a)) => footprint.touch(mutex(a), Access::ReadLock),
                Some(&Statement::Await(x, _)) => footprint.touch(variable(x), Access::Read),
                Some(&Statement::Once(o, _)) => footprint.touch(once(o), Access::Write),
                Some(&Statement::Down(x)) => footprint.touch(variable(x), Access::Write),
                Some(
                    statement @ (Statement::Send(..)
                    | Statement::SendChecked(..)
                    | Statement::Receive(..)),
                ) => {
                    if let Some((q, passing)) = self.passing(statement) {
                        footprint.touch(channel(q), passing.access());
                    }
                }
                Some(statement) => self.begins_with(statement, footprint),
                None => {}
            },
        }
    }

    /// The same of an operation that need not wait.
    fn begins_with(&self, statement: &Statement, footprint: &mut Footprint) {
        let (object, access) = match *statement {
            Statement::Load(_, x) => (variable(x), Access::Read),
            Statement::Add(x, _) if self.atomic[usize::from(x.0)] => (variable(x), ADDITION),
            Statement::Store(x, _)
            | Statement::Add(x, _)
            | Statement::FetchAdd(_, x, _)
            | Statement::Swap(_, x, _)
            | Statement::CompareExchange(_, x, ..)
            | Statement::CompareExchangeWeak(_, x, ..)
            | Statement::Free(x)
            | Statement::Allocate(x) => (variable(x), Access::Write),
            Statement::Increment(x) => (variable(x), Access::RefInc),
            Statement::Decrement(_, x) => {
                (variable(x), decrement(self.state.values[usize::from(x.0)]))
            }
            Statement::TryLock(_, a) | Statement::TryReadLock(_, a) => (mutex(a), Access::TryLock),
            Statement::ReadUnlock(a) => (mutex(a), Access::ReadUnlock),
            Statement::Unlock(a)
            | Statement::Downgrade(a)
            | Statement::Wait(_, a)
            | Statement::WaitFor(_, _, a) => (mutex(a), Access::Unlock),
            Statement::NotifyOne(c) | Statement::NotifyAll(c) => (condvar(c), Access::Wake),
            Statement::OnceDone(o) => (once(o), Access::Write),
            Statement::Arrive(b) | Statement::ArriveAsking(_, b) => (barrier(b), Access::Write),
            Statement::Close(q) => (channel(q), Access::Write),
            _ => return,
        };
        footprint.touch(object, access);
    }
}
