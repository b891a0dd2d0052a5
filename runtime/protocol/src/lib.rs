//! The formats that all parts of lockred share; no behaviour beyond encoding and decoding them.
//!
//! | module | written by | read by |
//! |---|---|---|
//! | [`sites`] | analysis (the shim), into the executable | cargo-lockred (and the runtime, by index) |
//! | [`hooks`] | analysis emits calls by these names and codes | runtime defines them |
//! | [`libc_functions`] | analysis, at every call of one | runtime models them |
//! | [`session`] | cargo-lockred (the request), runtime (progress) | the other side |
//! | [`schedule`] | runtime | runtime (replay), cargo-lockred (files) |
//! | [`message`] | runtime (outcome of an exploration or a replay) | cargo-lockred |
//! | [`sealed`] | runtime (checkpoints), cargo-lockred (finished tests) | both |
//! | [`section`] | analysis (the shim), into the executable: how the next four are kept | cargo-lockred, runtime |
//! | [`plan`] | analysis (the shim), into the executable | cargo-lockred |
//! | [`lock_order`] | analysis (the shim), into the executable | cargo-lockred; runtime, to compare it |
//! | [`protection`] | analysis (the shim), into the executable | cargo-lockred |
//! | [`audit`] | analysis (the shim), into the executable | cargo-lockred |
//! | [`notes`] | the attributes of the crate `lockred`, by way of the shim, into the executable | cargo-lockred |
//! | [`models`] | cargo-lockred (variables of the environment) | the shim |
//! | [`codes`] | everyone | everyone |

pub mod addresses;
pub mod audit;
pub mod codes;
pub mod frames;
pub mod hooks;
pub mod libc_functions;
pub mod lock_order;
pub mod message;
pub mod models;
pub mod notes;
pub mod plan;
pub mod protection;
pub mod schedule;
pub mod sealed;
pub mod section;
pub mod session;
pub mod sites;
pub mod strategy;

/// Version of every format in this crate. A file or binary of another version is refused as stale.
pub const FORMAT_VERSION: u32 = 2;
