//! The searches on model programs, compared with brute force, with counts that are known, and with
//! rules switched off.

mod check;
#[macro_use]
mod families;
mod generate;

#[path = "access/truth.rs"]
mod access;
#[path = "access/programs.rs"]
mod access_programs;
#[path = "stoller/brute.rs"]
mod stoller_brute;

mod aborts;
mod access_predicates;
mod access_predicates_faults;
mod access_predicates_oracle;
mod access_predicates_random_faults;
mod bounded;
mod counts;
mod data_and_control;
mod driving;
mod faults;
mod frontier;
mod lock_family;
mod minimise;
mod named;
mod needs;
mod oracle;
mod papers;
mod persistent;
mod persistent_counts;
mod random_faults;
mod sampling;
mod shares;
mod spin_oracle;
mod spins;
mod stateful;
mod stateful_faults;
mod stoller;
mod stoller_conditions;
mod stoller_faults;
mod stoller_oracle;
mod stoller_persistent;
mod targeted;
mod timely;
mod unified_counts;
mod unified_faults;
mod unified_oracle;
mod unordered;
