//! The runtime that is linked into every checked program: it owns `main`, runs the program's
//! threads as coroutines on one OS thread, and responds to the request of its session.
//!
//! The program reaches the runtime through the hooks of [`lockred_protocol::hooks`] ([`hooks`],
//! [`kernel`], [`models`], [`system_calls`]); the search reaches the program through
//! [`drive::native::Native`]. Both enter by [`machine::hook`], which hands out the state. What
//! the program has done is reported as [`machine::event`]s. Everything that belongs to the
//! execution under way is in [`machine::execution::Execution`], which is put back as a whole at
//! every restore; what outlives executions is in the rest of [`machine::state::State`].
//!
//! Rooms, from the ground up; there is no cycle (`xtask/tests/house`):
//!
//! | rooms | what |
//! |---|---|
//! | [`session`], [`memory`], [`coroutine`], [`detect`], [`world`] | what knows nothing of the machine |
//! | [`record`], [`locks`], [`discipline`], [`claims`], [`loops`] | what those who look on keep, and how they judge it |
//! | [`machine`] | the state, and how it is come by |
//! | [`report`], [`monitor`] | who looks on, and is handed the state |
//! | [`scheduler`], [`judge`], [`drive`] | how threads run, what an execution amounts to, what searches drive |
//! | [`faults`] | signals of the kernel |
//! | [`hooks`] | what the program calls: the hooks, and functions of libc that the machine has a part in |
//! | [`host`], [`kernel`], [`models`], [`system_calls`] | other functions of libc |
//! | [`tasks`] | orders, and `main` |

#![cfg_attr(test, expect(dead_code, reason = "unit tests have no program, so nothing is entered"))]

mod claims;
mod coroutine;
mod detect;
mod discipline;
mod drive;
mod faults;
mod hooks;
mod host;
mod judge;
mod kernel;
mod locks;
mod loops;
mod machine;
mod memory;
mod models;
mod monitor;
mod record;
mod report;
mod scheduler;
mod session;
mod system_calls;
mod tasks;
#[cfg(test)]
mod tests;
mod world;
