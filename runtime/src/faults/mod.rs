//! Signals that the kernel sends to the process: faults, and the session that asks to stop.

pub mod leaving;
pub mod overflow;
pub mod signals;
