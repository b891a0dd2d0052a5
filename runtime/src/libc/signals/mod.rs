//! Signals that the program sends to itself: actions, masks and what is pending, acted on as the
//! kernel would.

mod calls;
pub mod child;
mod deliver;
mod names;
mod system_calls;
mod table;

pub use deliver::{aborts, nobody_reads};
pub use names::name;
pub use system_calls::system_call;
pub use table::{Disposition, Signals};
