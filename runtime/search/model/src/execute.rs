//! What the visible operations of model programs do.

use super::machine::{Failure, ModelMachine, Next, mutex, once, variable};
use super::program::{Body, Statement};
use super::rarer::Running;
use super::state::{Phase, State};
use lockred_search::footprint::Access;
use lockred_search::machine::{Chooser, Flow, Step, ThreadId};

/// An addition whose result is unused; the model has no weaker orderings, so nothing is acquired or
/// released.
pub(super) const ADDITION: Access = Access::Update { family: 0, acquires: false, releases: false };

impl ModelMachine {
    /// Executes the visible operation that `number` stands before; false if the thread ends by it.
    pub(super) fn execute(
        &mut self,
        number: usize,
        chooser: &mut dyn Chooser,
        step: &mut Step<Failure>,
    ) -> Next {
        let me = Body(number as u8);
        let Some(statement) = self.next(number).cloned() else { return Next::End };
        let place = self.state.threads[number].place;
        let free = |a, shared| self.state.is_free(a, shared);
        let can_try = match statement {
            Statement::TryLock(_, a) => free(a, false),
            Statement::TryReadLock(_, a) => free(a, true),
            _ => false,
        };
        // To fail without reason where that changes nothing at all is no alternative.
        let must_succeed = self.rereads(number).is_some();
        let misused = match statement {
            Statement::Unlock(a) | Statement::Wait(_, a) | Statement::WaitFor(_, _, a) => {
                !self.state.holds(me, a, false)
            }
            Statement::ReadUnlock(a) => !self.state.holds(me, a, true),
            Statement::Downgrade(a) => !self.can_downgrade(me, a),
            _ => false,
        };
        if misused {
            // Only the thread itself sees it, since what it holds is its own affair.
            step.failures.push(Failure::Misuse { thread: me, place });
            return Next::End;
        }
        let State { threads, values, owners, readers, freed, rarer, .. } = &mut self.state;
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
            Statement::CompareExchangeWeak(register, x, expected, operand) => {
                let value = &mut values[usize::from(x.0)];
                let success = *value == expected && (must_succeed || chooser.choose(2) == 0);
                footprint.touch(variable(x), if success { Access::Write } else { Access::Read });
                if success {
                    *value = thread.compute(operand);
                }
                thread.set(register, i32::from(success));
            }
            Statement::Fence(_) => {}
            Statement::Lock(a) => {
                footprint.touch(mutex(a), Access::Lock);
                owners[usize::from(a.0)] = Some(me);
            }
            // A try that fails changes nothing.
            Statement::TryLock(register, a) => {
                footprint.touch(mutex(a), if can_try { Access::TryLock } else { Access::Read });
                thread.set(register, i32::from(can_try));
                if can_try {
                    owners[usize::from(a.0)] = Some(me);
                }
            }
            Statement::TryReadLock(register, a) => {
                footprint.touch(mutex(a), if can_try { Access::TryLock } else { Access::Read });
                thread.set(register, i32::from(can_try));
                if can_try {
                    insert_sorted(&mut readers[usize::from(a.0)], me);
                }
            }
            Statement::ReadLock(a) => {
                footprint.touch(mutex(a), Access::ReadLock);
                insert_sorted(&mut readers[usize::from(a.0)], me);
            }
            Statement::ReadUnlock(a) => {
                footprint.touch(mutex(a), Access::ReadUnlock);
                let readers = &mut readers[usize::from(a.0)];
                if let Ok(at) = readers.binary_search(&me) {
                    readers.remove(at);
                }
            }
            Statement::Downgrade(a) => {
                footprint.touch(mutex(a), Access::Unlock);
                owners[usize::from(a.0)] = None;
                insert_sorted(&mut readers[usize::from(a.0)], me);
            }
            Statement::Down(x) => {
                footprint.touch(variable(x), Access::Write);
                values[usize::from(x.0)] -= 1;
            }
            Statement::Increment(x) => {
                footprint.touch(variable(x), Access::RefInc);
                let value = &mut values[usize::from(x.0)];
                *value = value.wrapping_add(1);
            }
            Statement::Decrement(register, x) => {
                let value = &mut values[usize::from(x.0)];
                footprint.touch(variable(x), decrement(*value));
                thread.set(register, i32::from(*value == 1));
                *value = value.wrapping_sub(1);
            }
            Statement::Free(x) => {
                footprint.touch(variable(x), Access::Write);
                freed[usize::from(x.0)] = true;
            }
            Statement::Allocate(x) => {
                footprint.touch(variable(x), Access::Write);
                let index = usize::from(x.0);
                if !freed[index] {
                    step.failures.push(Failure::Misuse { thread: me, place });
                    return Next::End;
                }
                freed[index] = false;
                values[index] = 0;
            }
            Statement::Send(q, operand) => return self.send(number, None, q, operand, footprint),
            Statement::SendChecked(register, q, operand) => {
                return self.send(number, Some(register), q, operand, footprint);
            }
            Statement::Receive(register, q) => self.receive(number, register, q, footprint),
            Statement::Close(q) => self.close(q, footprint),
            Statement::Any(register, of) => {
                let value = if of > 1 { chooser.choose(of) } else { 0 };
                thread.set(register, value as i32);
            }
            Statement::Unlock(a) => {
                footprint.touch(mutex(a), Access::Unlock);
                owners[usize::from(a.0)] = None;
            }
            Statement::Wait(c, a) => {
                self.wait(number, c, a, None, chooser, footprint);
                return Next::Stop;
            }
            Statement::WaitFor(register, c, a) => {
                self.wait(number, c, a, Some(register), chooser, footprint);
                return Next::Stop;
            }
            Statement::Arrive(b) => {
                self.come(number, b, None, footprint);
                return Next::Stop;
            }
            Statement::ArriveAsking(register, b) => {
                self.come(number, b, Some(register), footprint);
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
            Statement::Once(o, _) => {
                footprint.touch(once(o), rarer.enter(o, me));
                // After the jump around the body.
                thread.place += usize::from(rarer.onces[usize::from(o.0)] == Running::By(me));
            }
            Statement::OnceDone(o) => {
                footprint.touch(once(o), Access::Write);
                rarer.onces[usize::from(o.0)] = Running::Done;
            }
            Statement::Sleep(time) => {
                self.fall_asleep(number, time);
                self.state.threads[number].phase = Phase::Sleeping;
                return Next::Stop;
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
            | Statement::Call(..)
            | Statement::Return(_)
            | Statement::If(..)
            | Statement::Ordered(..)
            | Statement::While(..)
            | Statement::Repeat(..) => {
                unreachable!("local statements run in `settle`: this is a bug in lockred")
            }
        }
        Next::On
    }
}

fn insert_sorted(readers: &mut Vec<Body>, reader: Body) {
    let (Ok(at) | Err(at)) = readers.binary_search(&reader);
    readers.insert(at, reader);
}

/// How a decrement of a reference count with this value acts on it.
pub(super) const fn decrement(value: i32) -> Access {
    match value {
        1 => Access::RefDecLast,
        2 => Access::RefDecToOne,
        3.. => Access::RefDec,
        _ => Access::Write,
    }
}
