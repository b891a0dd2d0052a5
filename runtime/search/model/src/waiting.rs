//! Condition variables: entering a queue of waiters, waking waiters, and leaving by oneself.
//!
//! A wait with a timeout may end at any time while it lasts; so may a plain one that is chosen,
//! where it begins, to wake up for no reason. (So the waits that nobody ever ends are seen, too:
//! nothing promises a wake-up without a reason.) Such a waiter has an operation of its own that is
//! always possible: it leaves the queue, and finds out whether it was woken before. So a
//! notification does not take away what the waiter could do, and the order of the two is an
//! ordinary race.

use super::machine::{ModelMachine, condvar, mutex};
use super::program::{Body, Condvar, Mutex, Register};
use super::state::Phase;
use super::time::TIMEOUT;
use lockred_search::footprint::{Access, Footprint};
use lockred_search::machine::{Chooser, ThreadId};

impl ModelMachine {
    /// Whether waiters are woken in the order in which they came.
    pub(super) fn is_fifo(&self, c: Condvar) -> bool {
        self.fifo[usize::from(c.0)]
    }

    /// The thread gives its mutex back and enters the queue. `register`: the wait has a timeout,
    /// and the register tells.
    pub(super) fn wait(
        &mut self,
        number: usize,
        c: Condvar,
        a: Mutex,
        register: Option<Register>,
        chooser: &mut dyn Chooser,
        footprint: &mut Footprint,
    ) {
        let fifo = self.is_fifo(c);
        footprint.touch(mutex(a), Access::Unlock);
        footprint.touch(condvar(c), if fifo { Access::EnqueueLast } else { Access::Enqueue });
        if fifo {
            self.state.rarer.lines[usize::from(c.0)].push(Body(number as u8));
        }
        self.state.owners[usize::from(a.0)] = None;
        let depth = self.state.rarer.set_depth(a, 0);
        let thread = &mut self.state.threads[number];
        thread.depth = depth;
        thread.phase = Phase::Waiting(c, a);
        if let Some(register) = register {
            thread.set(register, 1);
            thread.phase = Phase::Leaving(c, a, Some(register));
            self.fall_asleep(number, TIMEOUT);
        } else if thread.spurious > 0 && chooser.choose(2) == 1 {
            thread.spurious -= 1;
            thread.phase = Phase::Leaving(c, a, None);
        }
    }

    /// The thread, which may, leaves the queue, unless it was woken.
    pub(super) fn leave(&mut self, number: usize, c: Condvar, a: Mutex) {
        let thread = &mut self.state.threads[number];
        if let Phase::Leaving(_, _, register) = thread.phase {
            if let Some(register) = register {
                thread.set(register, 0);
            }
            self.state.rarer.leave_line(c, Body(number as u8));
        }
        self.state.threads[number].phase = Phase::Woken(a);
    }

    /// Wakes one waiter or all.
    pub(super) fn notify(
        &mut self,
        queue: Condvar,
        all: bool,
        chooser: &mut dyn Chooser,
        footprint: &mut Footprint,
    ) {
        let waiters: Vec<usize> = self.state.waiters(queue).collect();
        if waiters.is_empty() {
            footprint.touch(condvar(queue), Access::WakeNone);
            return;
        }
        footprint.touch(condvar(queue), Access::Wake);
        if all {
            for waiter in waiters {
                self.wake(waiter, queue, footprint);
            }
            return;
        }
        let waiter = if self.is_fifo(queue) {
            usize::from(self.state.rarer.lines[usize::from(queue.0)][0].0)
        } else if waiters.len() > 1 {
            waiters[chooser.choose(waiters.len() as u32) as usize]
        } else {
            waiters[0]
        };
        self.wake(waiter, queue, footprint);
    }

    fn wake(&mut self, waiter: usize, queue: Condvar, footprint: &mut Footprint) {
        let thread = &mut self.state.threads[waiter];
        match thread.phase {
            Phase::Waiting(_, a) => {
                thread.phase = Phase::Woken(a);
                footprint.enables.push(ThreadId(waiter as u32));
            }
            Phase::Leaving(_, a, _) => thread.phase = Phase::Notified(queue, a),
            _ => return,
        }
        self.state.rarer.leave_line(queue, Body(waiter as u8));
    }
}
