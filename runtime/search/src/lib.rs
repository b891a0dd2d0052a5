//! Search strategies over the interleavings of a concurrent program, and the [`machine::Machine`]
//! trait they run on.
//!
//! This crate knows neither native code nor unsafe code: the same search runs on the native machine
//! (lockred-runtime) and on the model machine (lockred-model), where it is tested against brute
//! force. Searches of papers that ours are compared with are in lockred-papers.
//!
//! [`explore::explore`] searches, [`replay::replay`] follows one schedule. The caller's policy
//! (stop at the first failure or go on, time, progress) is an [`Observer`]. [`minimise::minimise`]
//! makes a schedule that fails as small as it can.
//!
//! Machines that report their operations one by one ([`transactional::Transactional`]) are also
//! searched by whole transactions, with few executions where locks are the only conflict:
//! [`transactions::explore`] (stateless, with data races and their witnesses),
//! [`stateful::explore`] (each state once). The facts that these rely on are a
//! [`discipline::Discipline`].
#![forbid(unsafe_code)]

mod core;
pub mod discipline;
pub mod dpor;
pub mod drive;
mod explore;
mod interleavings;
pub mod minimise;
mod sampling;
mod states;
pub mod transactions;

pub use crate::core::{
    choice::Choice, clock, fault, fingerprint, footprint, machine, picks, sleep, thread_set,
};
pub use drive::findings::{self, Findings};
pub use drive::observer::{Bound, Counts, Covered, Limits, Observer, Outcome, Stop};
pub use drive::replay::{self, Replayed, replay};
pub use drive::transactional;
pub use explore::{explore, explore_from};
pub use interleavings::{bounded, naive};
pub use lockred_protocol::strategy::Strategy;
pub use minimise::minimise;
pub use sampling::{priorities, random, targeted};
pub use states::{selection, stateful, unified};
