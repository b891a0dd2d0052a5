//! Search strategies over the interleavings of a concurrent program, and the [`machine::Machine`] trait they run on.
//!
//! This crate knows neither native code nor unsafe code: the same search runs on the native machine (lockred-runtime) and
//! on the model machine (lockred-model), where it is tested against brute force. Searches of papers that ours are compared with
//! are in lockred-papers.
//!
//! [`explore::explore`] searches, [`replay::replay`] follows one schedule. The caller's policy (stop at the first failure or
//! go on, time, progress) is an [`explore::Observer`]. [`minimise::minimise`] makes a schedule that fails as small as it can.
//!
//! Machines that tell their operations one by one ([`transactional::Transactional`]) are also searched by whole
//! transactions, with few executions where locks are the only conflict: [`transactions::explore`] (stateless, with data
//! races and their witnesses), [`stateful::explore`] (each state once). The facts that these rely on are a
//! [`discipline::Discipline`].
#![forbid(unsafe_code)]

pub mod bounded;
mod branch;
mod causes;
mod chains;
mod cheapest;
pub mod clock;
pub mod discipline;
pub mod dpor;
pub mod drive;
pub mod explore;
pub mod fault;
pub mod findings;
pub mod fingerprint;
pub mod footprint;
mod interleavings;
pub mod machine;
pub mod minimise;
pub mod naive;
pub mod picks;
pub mod priorities;
pub mod random;
pub mod replay;
pub mod selection;
pub mod sleep;
pub mod stateful;
pub mod targeted;
mod thin;
pub mod thread_set;
mod trace;
pub mod transactional;
pub mod transactions;
mod unordered;

pub use explore::{
    Bound, Choice, Counts, Covered, Limits, Observer, Outcome, Stop, Strategy, explore,
};
pub use findings::Findings;
pub use minimise::minimise;
pub use replay::{Replayed, replay};
