//! The model machine: small concurrent programs as data, under sequential consistency, to test
//! searches on.
//!
//! | module | what |
//! |---|---|
//! | [`program`] | programs as statements |
//! | [`text`] | their text form |
//! | `code` | the flat code that the machine runs |
//! | [`state`] | its states |
//! | `execute` | what operations do |
//! | `guarded` | what they access |
//! | [`calls`] | procedures |
//! | `channels` | what those on channels do |
//! | `waiting` | condition variables |
//! | `barrier` | barriers |
//! | `once` | code that runs once |
//! | `pending` | what operations begin with, before they are executed |
//! | [`rarer`] | what only programs over rarer locks have in their states |
//! | `spins` | loops that wait |
//! | `reentrant` | locks that their owner takes again |
//! | [`machine`] | the machine, one operation a step |
//! | `transactional` | the machine by transactions |
//! | `foresee` | what threads may still do |
//! | `stoller` | the machine as a system of Stoller's framework |
//! | [`targets`] | cycles of locks that directed searches walk towards |
//! | [`watched`] | the machine watched by a race detector |

mod barrier;
pub mod calls;
mod channels;
mod code;
mod execute;
mod foresee;
mod guarded;
pub mod machine;
mod once;
mod pending;
mod print;
pub mod program;
pub mod rarer;
mod reentrant;
mod repetition;
mod spins;
pub mod state;
mod stoller;
pub mod targets;
pub mod text;
mod time;
mod transactional;
mod waiting;
pub mod watched;

pub use machine::{Failure, ModelMachine};
pub use program::Program;
pub use watched::Watched;
