//! Signals that the kernel sends to the process: faults, the session that asks to stop, what comes
//! from outside, and a child's.

pub mod child;
pub mod leaving;
pub mod overflow;
pub mod signals;
