//! Small concurrent programs, each a `#[test]`, with the verdict that `cargo lockred check` must give beside it.
//!
//! Directives stand right above the attributes of a test, one a line:
//!
//! | directive | meaning |
//! |---|---|
//! | `//@ verified` | verdict `verified`, complete |
//! | `//@ passed CODE` | verdict `passed`, complete, with the assumption CODE among the assumptions |
//! | `//@ clean` | verdict `verified` or `passed`: what std or a dependency does inside decides which |
//! | `//@ failed KIND` | verdict `failed` with a bug of this kind; `A\|B` where two kinds are right |
//! | `//@ failed KIND or passed CODE` | the bug is found, or what was left out is said: never `verified` |
//! | `//@ warned KIND` | verdict `verified` or `passed`, with a warning of this kind |
//! | `//@ unsupported WORD` | verdict `unsupported`, naming WORD, and no error of ours |
//! | `//@ executions <= N` | besides one of the others: the search needs at most N executions |
//! | `//@ executions = N` | besides one of the others: it needs exactly N: fewer miss something, more are waste |
//! | `//@ preemptions = N` | besides `failed`: the schedule of the bug has N preemptions, and none with fewer shows it |
//! | `//@ with --OPTION VERDICT` | besides one of the others: in a run of its own, with this option, the verdict is this one |
//!
//! A trailing `//~ bug` marks a line that the report of the bug must name among its sites: both accesses of a race,
//! each blocked line of a deadlock, the panicking line; in what tests share, `//~ bug of A, B` names the tests. Programs declared `verified`, `passed`, `clean` or `warned` (with options, too) also pass under
//! plain `cargo test`. The others must not be run that way: they hang, abort, or have undefined behaviour.
//!
//! A wrong program has a right twin: beside it, or under its name in `repaired*`. Those of `outcomes` are no mistakes: each shows that
//! something may come out.

#[cfg(test)]
mod actors;
#[cfg(test)]
mod atomics;
#[cfg(test)]
mod births;
#[cfg(test)]
mod block_on;
#[cfg(test)]
mod caches;
#[cfg(test)]
mod channels;
#[cfg(test)]
mod choices;
#[cfg(test)]
mod clocks;
#[cfg(test)]
mod condvar;
#[cfg(test)]
mod counts;
#[cfg(test)]
mod crates;
#[cfg(test)]
mod discipline;
#[cfg(test)]
mod enums;
#[cfg(test)]
mod executors;
#[cfg(test)]
mod files;
#[cfg(test)]
mod flag_locks;
#[cfg(test)]
mod foreign;
#[cfg(test)]
mod handles;
#[cfg(test)]
mod locals;
#[cfg(test)]
mod lock_order;
#[cfg(test)]
mod lockfree;
#[cfg(test)]
mod manual;
#[cfg(test)]
mod meetings;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod memory_errors;
#[cfg(test)]
mod mutex;
#[cfg(test)]
mod once;
#[cfg(test)]
mod ordering;
#[cfg(test)]
mod other_loops;
#[cfg(test)]
mod outcomes;
#[cfg(test)]
mod panics;
#[cfg(test)]
mod parking;
#[cfg(test)]
mod parking_lot;
#[cfg(test)]
mod parking_lot_013;
#[cfg(test)]
mod pools;
#[cfg(test)]
mod process;
#[cfg(test)]
mod queue_locks;
#[cfg(test)]
mod queues;
#[cfg(test)]
mod races;
#[cfg(test)]
mod reclamation;
#[cfg(test)]
mod refcounts;
#[cfg(test)]
mod repaired;
#[cfg(test)]
mod repaired_loops;
#[cfg(test)]
mod repaired_messages;
#[cfg(test)]
mod robust;
#[cfg(test)]
mod rwlock;
#[cfg(test)]
mod scaled;
#[cfg(test)]
mod shared;
#[cfg(test)]
mod signals;
#[cfg(test)]
mod sizes;
#[cfg(test)]
mod spin_locks;
#[cfg(test)]
mod spin_locks_012;
#[cfg(test)]
mod spinning;
#[cfg(test)]
mod surroundings;
#[cfg(test)]
mod threads;
#[cfg(test)]
mod waiting_loops;
