//! Search by transactions that exclusive access predicates delimit (Flanagan and Qadeer:
//! Transactions for software model checking, ENTCS 89(3), 2003), each state once.
//!
//! The paper: every variable x has for every thread t a predicate E(t, x) on stores, under which t
//! has exclusive access to x. An action is a right mover if its thread has exclusive access to all
//! that it accesses after it, a left mover if it has that before it. So a thread's actions fall
//! into transactions, right movers, one action of any kind, left movers; in the middle of one no
//! other thread is scheduled (rules INIT and STEP, Theorem 4.1). With locks the predicates are "t
//! holds all locks of M_x", and the sets M_x are inferred while states are visited (section 6,
//! Theorem 6.1).
//!
//! | module | what |
//! |---|---|
//! | [`action`] | actions and what they access (sections 3 and 5): what a machine reports |
//! | [`predicate`] | exclusive access predicates that the user gives (4.1), and condition (i) |
//! | [`predicates`] | those of all variables, the inferred ones too (5, 5.1, 6) |
//! | `validity` | condition (ii), and the assertion δ that accesses respect the predicates (4.1, 4.2) |
//! | [`phase`] | the phase variable and the partition R, L, N (4.2) |
//! | `condition_c` | that no transaction goes on forever after its commit (4.2) |
//! | `search` | the fixpoint (4.2 and 6) |
//! | [`follow`] | the instrumentation along one execution, step by step (4.3) |
//!
//! What it covers: every failure of a thread (an assertion, a misuse, an abort, …) that any
//! interleaving shows, with the same thread and place. Not what several threads do to each other by
//! standing still: a deadlock among right movers is never seen, as section 7 says, and of the end
//! states only some are. ([`lockred_search::Covered::Everything`] is everything of the former.) It
//! judges no data races.
//!
//! Where it departs from the paper: a violation of (i), of (ii) or of δ by a predicate that the
//! user gave is reported, and the search goes on with the predicate *false* in its place, which is
//! always valid; in the paper δ makes the thread go wrong, and that (i) and (ii) hold is a premise.
//! So the program's own failures are found whatever predicates are given. Each file names its own
//! departures.

pub mod action;
mod condition_c;
pub mod follow;
pub mod phase;
pub mod predicate;
pub mod predicates;
mod search;
mod validity;

pub use action::{Accessed, Action, Guarded, Waits};
pub use phase::Movers;
pub use predicate::{Atom, Predicate};
pub use predicates::Predicates;
pub use search::explore;
pub use validity::Violation;
