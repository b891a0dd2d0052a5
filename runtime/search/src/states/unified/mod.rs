//! One search over states and partial orders: each state is expanded once, and from a state only
//! those threads run that race with what was explored after it
//! (docs/algorithm.md#unified-search).
//!
//! Depth first over transactions (see [`crate::discipline`]). Each state has a *summary* of what
//! can still be executed from it (`summary`). On the way back a transaction is compared with the
//! summary of the state to which it has led: who races with it has to run from the state before it,
//! too, or who can make that thread run (`want`). So a state that is known needs no look at the
//! stack, and there are no sleep sets. The states of a cycle are expanded in full (`table`).
//!
//! Data races are judged by weak happens-before, which is a part of states as far as it matters
//! (`known`). It matters only for objects whose accesses are not kept apart in the same way in all
//! executions: by a lock, or by the creation and joining of threads. Those objects are found on the
//! way, as is the discipline; whatever is learned starts the search again.
//!
//! Transactions that would block are rolled back, and park where a deadlock could hide, as in the
//! search by transactions. What a thread did until it was rolled back is judged at once: in a cycle
//! there may be no end at which it could be.
//!
//! What is known shows that accesses race, and not in which schedule nothing orders them: for each
//! race that is new, the way to the present state is run again, as a trace, which has a witness
//! ([`crate::transactions::retrace`]).

mod arrive;
mod bits;
mod interned;
mod known;
mod level;
mod run;
mod search;
mod settings;
mod sharing;
mod summary;
mod table;
mod want;

pub use search::explore;
pub use settings::{First, Keep, Pairs, Settings, Visited};
