//! Signals that the program sends to itself: actions, masks and what is pending, acted on as the
//! kernel would.

pub mod calls;
mod deliver;
mod system_calls;

pub use deliver::nobody_reads;
pub use system_calls::system_call;
