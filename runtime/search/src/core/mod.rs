//! What every search is made of: the machine that it runs, what steps touch, and small sets and
//! clocks.

pub(crate) mod chains;
pub mod choice;
pub mod clock;
pub mod fault;
pub mod fingerprint;
pub mod footprint;
pub mod machine;
pub mod picks;
pub mod sleep;
pub mod source_set;
pub(crate) mod thin;
pub mod thread_set;
