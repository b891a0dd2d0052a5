//! The runtime that is linked into every checked program: it owns `main`, runs the program's threads as coroutines on one OS
//! thread, and answers the order of its session.
//!
//! The program reaches the runtime through the hooks of [`lockred_trace::hooks`]; the search reaches the program through
//! [`machine::Native`]. Everything that belongs to the execution under way is in [`execution::Execution`], which is put back as a
//! whole at every restore; what outlives executions is in [`state::State`].

#![cfg_attr(test, expect(dead_code, reason = "unit tests have no program, so nothing is entered"))]

mod answer;
mod arena;
mod assumed;
mod atomicity;
mod atomics;
mod births;
mod channel;
mod channel_words;
mod channels;
mod checkpoint;
mod choices;
mod chunks;
mod claims;
mod config;
mod context;
mod cpu;
mod deaths;
mod debugger;
mod detect;
#[cfg(not(test))]
mod entry;
mod event;
mod exclusive;
mod execution;
mod failure;
mod fingerprint;
mod footprints;
mod frames;
mod futex;
mod gate;
mod handles;
mod harness;
mod heap;
mod holders;
mod home;
mod hook;
mod host;
mod image;
mod judge;
mod kernel;
mod knowledge;
mod leaks;
mod leaving;
mod limits;
mod lives;
mod locked;
mod looks;
mod loops;
mod machine;
mod memory;
mod minimal;
mod misuse;
#[path = "libc/mod.rs"]
mod models;
mod moments;
mod monitors;
mod names;
mod native;
mod nested;
mod nesting;
mod objects;
mod observed;
mod operation;
mod other_allocators;
mod overflow;
mod pages;
mod panics;
mod plain;
mod process;
mod program;
#[cfg(test)]
mod programs;
mod proved;
mod pthread;
mod race_report;
mod races;
mod randomness;
mod reach;
mod record;
mod region;
mod root;
mod rounds;
mod scaled;
mod scrub;
mod session;
mod shared;
mod signals;
mod snapshot;
mod spin;
mod spurious;
mod start;
mod state;
mod step;
mod stuck;
mod targets;
mod thread;
mod thread_locals;
mod time;
mod timely;
mod transactional;
mod unwind;
mod validity;
mod verdicts;
mod waiting;
