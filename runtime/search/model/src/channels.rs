//! Channels: bounded ones, rendezvous, and closing.
//!
//! A rendezvous channel has room for one offer. A send offers its value (it waits while another
//! sender's offer stands), then waits until a receiver has taken it, and goes on in a step of its
//! own. So a receiver may take any sender's value, as with a queue of waiting senders, and who
//! waits in the end is seen.

use super::machine::{ModelMachine, Next, channel};
use super::program::{CLOSED, Channel, Operand, Register, Statement};
use super::state::Phase;
use lockred_search::discipline::Passing;
use lockred_search::footprint::{Access, Footprint};
use lockred_search::machine::ThreadId;

/// The capacity of a channel that is never full.
const UNBOUNDED: usize = u8::MAX as usize;

impl ModelMachine {
    fn capacity(&self, q: Channel) -> usize {
        usize::from(self.capacities[usize::from(q.0)])
    }

    fn is_closed(&self, q: Channel) -> bool {
        self.state.closed[usize::from(q.0)]
    }

    /// Whether a send has to wait.
    pub(super) fn is_full(&self, q: Channel) -> bool {
        let length = self.state.queues[usize::from(q.0)].len();
        let capacity = self.capacity(q);
        capacity != UNBOUNDED && !self.is_closed(q) && length >= capacity.max(1)
    }

    /// Whether a receive has to wait.
    pub(super) fn is_empty(&self, q: Channel) -> bool {
        !self.is_closed(q) && self.state.queues[usize::from(q.0)].is_empty()
    }

    /// The thread whose offer stands.
    fn offering(&self, q: Channel) -> Option<usize> {
        self.state.threads.iter().position(|thread| thread.phase == Phase::Offering(q))
    }

    /// What an operation on a channel does to it, in the present state.
    pub(super) fn passing(&self, statement: &Statement) -> Option<(Channel, Passing)> {
        let thread = |q| self.offering(q).map(|number| ThreadId(number as u32));
        let passed = |q: Channel| self.state.passed[usize::from(q.0)];
        Some(match *statement {
            Statement::Send(q, _) | Statement::SendChecked(_, q, _) if !self.is_closed(q) => {
                let number = passed(q).sent;
                let capacity = match self.capacity(q) {
                    UNBOUNDED => Passing::UNBOUNDED,
                    capacity => capacity as u32,
                };
                (q, Passing::Send { number, capacity })
            }
            Statement::Receive(_, q)
                if !self.is_closed(q) || !self.state.queues[usize::from(q.0)].is_empty() =>
            {
                (q, Passing::Receive { number: passed(q).received, wakes: thread(q) })
            }
            Statement::Close(q) if !self.is_closed(q) => (q, Passing::Close { wakes: thread(q) }),
            Statement::Send(q, _)
            | Statement::SendChecked(_, q, _)
            | Statement::Receive(_, q)
            | Statement::Close(q) => (q, Passing::Closed),
            _ => return None,
        })
    }

    pub(super) fn send(
        &mut self,
        number: usize,
        reported: Option<Register>,
        q: Channel,
        operand: Operand,
        footprint: &mut Footprint,
    ) -> Next {
        let closed = self.is_closed(q);
        footprint.touch(channel(q), if closed { Access::Read } else { Access::Write });
        let capacity = self.capacity(q);
        let thread = &mut self.state.threads[number];
        if !closed {
            self.state.queues[usize::from(q.0)].push(thread.compute(operand));
            self.state.passed[usize::from(q.0)].sent += 1;
            if capacity == 0 {
                thread.phase = Phase::Offering(q);
                return Next::Stop;
            }
        }
        if let Some(register) = reported {
            thread.set(register, i32::from(!closed));
        }
        Next::On
    }

    pub(super) fn receive(
        &mut self,
        number: usize,
        register: Register,
        q: Channel,
        footprint: &mut Footprint,
    ) {
        let queue = &mut self.state.queues[usize::from(q.0)];
        let thread = &mut self.state.threads[number];
        if queue.is_empty() {
            footprint.touch(channel(q), Access::Read);
            return thread.set(register, CLOSED);
        }
        footprint.touch(channel(q), Access::Write);
        thread.set(register, queue.remove(0));
        self.state.passed[usize::from(q.0)].received += 1;
        self.answer_offer(q, true, footprint);
    }

    pub(super) fn close(&mut self, q: Channel, footprint: &mut Footprint) {
        let closed = std::mem::replace(&mut self.state.closed[usize::from(q.0)], true);
        footprint.touch(channel(q), if closed { Access::Read } else { Access::Write });
        if self.capacity(q) == 0 {
            self.state.queues[usize::from(q.0)].clear();
            self.answer_offer(q, false, footprint);
        }
    }

    fn answer_offer(&mut self, q: Channel, taken: bool, footprint: &mut Footprint) {
        if let Some(sender) = self.offering(q) {
            self.state.threads[sender].phase = Phase::Answered(q, taken);
            footprint.enables.push(ThreadId(sender as u32));
        }
    }

    /// The thread goes on after its offer.
    pub(super) fn answer(&mut self, number: usize, taken: bool) {
        if let Some(&Statement::SendChecked(register, ..)) = self.next(number) {
            self.state.threads[number].set(register, i32::from(taken));
        }
    }
}
