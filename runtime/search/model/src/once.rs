//! Code that runs once: who comes first runs it, others wait for its end or pass after it.
//!
//! Coming first and the body's end are writes of the once, passing is a read: those that pass
//! commute. The end releases, passing acquires; so what the body did happens before everything
//! after the once, and the order of those that pass is of no account.

use super::machine::{ModelMachine, once};
use super::program::{Body, Once};
use super::rarer::{Rarer, Running};
use lockred_search::discipline::{Kind, Operation, Ordering, Value};
use lockred_search::footprint::Access;

impl Rarer {
    /// A thread comes, which need not wait: it runs the body if it is the first.
    pub(super) fn enter(&mut self, o: Once, thread: Body) -> Access {
        let running = &mut self.onces[usize::from(o.0)];
        if *running == Running::NotYet {
            *running = Running::By(thread);
            return Access::Write;
        }
        Access::Read
    }
}

impl ModelMachine {
    /// Whether the body is being run, so that who comes has to wait.
    pub(super) fn runs(&self, o: Once) -> bool {
        matches!(self.state.rarer.onces[usize::from(o.0)], Running::By(_))
    }

    /// What coming is. Who has to wait might have come first.
    pub(super) fn enters(&self, o: Once, site: u64) -> Operation {
        let (access, kind) = if self.state.rarer.onces[usize::from(o.0)] == Running::Done {
            (Access::Read, Kind::Atomic(Value::Read, Ordering::ACQUIRE))
        } else {
            (Access::Write, Kind::Atomic(Value::Written, Ordering::RELAXED))
        };
        Operation::Await { object: once(o), access, kind, site }
    }
}

/// What the end of the body is.
pub(super) fn leaves(o: Once, site: u64) -> Operation {
    let kind = Kind::Atomic(Value::Written, Ordering::RELEASE);
    Operation::Data { object: once(o), access: Access::Write, kind, site }
}
