//! Re-entrant mutexes: what their owner does to them inside the outermost section is its own
//! affair.
//!
//! Only the outermost acquire and release are operations on the lock; the inner ones are local, so
//! both movers (Flanagan and Qadeer: A type and effect system for atomicity, PLDI 2003). A wait
//! gives the mutex back wholly, as Java's monitors do, and takes it again as deep as it was.

use super::machine::ModelMachine;
use super::program::{Body, Mutex, Statement};

impl ModelMachine {
    /// Whether the thread stands before an acquire of a re-entrant mutex that it owns, or before a
    /// release that is not the outermost one.
    pub(super) fn is_inner(&self, number: usize) -> bool {
        if self.state.rarer.depths.is_empty() {
            return false;
        }
        let owns = |a: Mutex| {
            self.reentrant[usize::from(a.0)] && self.state.holds(Body(number as u8), a, false)
        };
        match self.next(number) {
            Some(&(Statement::Lock(a) | Statement::TryLock(_, a))) => owns(a),
            Some(&Statement::Unlock(a)) => owns(a) && self.state.rarer.depths[usize::from(a.0)] > 0,
            _ => false,
        }
    }

    /// Whether the thread holds the mutex exclusively, once for all.
    pub(super) fn can_downgrade(&self, me: Body, a: Mutex) -> bool {
        self.state.holds(me, a, false) && !self.reentrant[usize::from(a.0)]
    }

    /// Executes such an acquire or release.
    pub(super) fn enter_or_leave_again(&mut self, number: usize) {
        match self.next(number).cloned() {
            Some(Statement::Lock(a)) => self.state.rarer.depths[usize::from(a.0)] += 1,
            Some(Statement::TryLock(register, a)) => {
                self.state.threads[number].set(register, 1);
                self.state.rarer.depths[usize::from(a.0)] += 1;
            }
            Some(Statement::Unlock(a)) => self.state.rarer.depths[usize::from(a.0)] -= 1,
            _ => {}
        }
    }
}
