//! Barriers: threads that come to one wait until all are there, and then go on.
//!
//! A thread comes in one operation and goes on in another, which nobody else sees. So comings to
//! one round of a barrier commute, whichever is the last one (Kokologiannakis and Vafeiadis: BAM,
//! efficient model checking for barriers, FMCAD 2021), unless somebody asks who was. Two rounds do
//! not: when more threads use the barrier than it waits for, it matters who is in which. Rounds are
//! told apart by whether their number is odd, since the one between two others comes after the one
//! and before the other.

use super::machine::{ModelMachine, barrier};
use super::program::{Barrier, Register};
use super::state::Phase;
use lockred_search::footprint::{Access, Footprint};
use lockred_search::machine::ThreadId;

impl ModelMachine {
    /// Threads that wait at the barrier.
    fn waiting_at(&self, b: Barrier) -> impl Iterator<Item = usize> + '_ {
        let threads = self.state.threads.iter().enumerate();
        threads.filter(move |(_, thread)| thread.phase == Phase::AtBarrier(b)).map(|(n, _)| n)
    }

    /// How coming to a barrier acts on it, in the present state.
    pub(super) fn arriving(&self, b: Barrier, asks: bool) -> Access {
        let last = self.waiting_at(b).count() + 1 >= usize::from(self.barriers[usize::from(b.0)]);
        let odd = self.state.rarer.odd_rounds[usize::from(b.0)];
        Access::Arrive { odd, asks, last }
    }

    /// The thread comes to the barrier. `asked`: the register that says whether it is the last
    /// one.
    pub(super) fn come(
        &mut self,
        number: usize,
        b: Barrier,
        asked: Option<Register>,
        footprint: &mut Footprint,
    ) {
        let access = self.arriving(b, asked.is_some());
        let last = matches!(access, Access::Arrive { last: true, .. });
        footprint.touch(barrier(b), access);
        if last {
            footprint.meets.extend(self.waiting_at(b).map(|other| ThreadId(other as u32)));
        }
        let thread = &mut self.state.threads[number];
        thread.phase = Phase::AtBarrier(b);
        if let Some(register) = asked {
            thread.set(register, i32::from(last));
        }
        if last {
            for thread in &mut self.state.threads {
                if thread.phase == Phase::AtBarrier(b) {
                    thread.phase = Phase::Released;
                }
            }
            self.state.rarer.odd_rounds[usize::from(b.0)] ^= true;
        }
    }
}
