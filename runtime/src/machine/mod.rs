//! The machine: the state of the program and of the search over it, how it is come by, and what
//! follows from it.

pub mod channel;
pub mod channel_words;
pub mod channels;
pub mod config;
pub mod deaths;
pub mod event;
pub mod execution;
pub mod footprints;
pub mod handles;
pub mod hook;
pub mod knowledge;
pub mod libtest;
pub mod limits;
pub mod looks;
pub mod loops;
pub mod monitors;
pub mod object_ids;
pub mod operation;
pub mod region;
pub mod root;
pub mod schedule_log;
pub mod start;
pub mod state;
pub mod step;
pub mod thread;
pub mod verdicts;
pub mod watch;
