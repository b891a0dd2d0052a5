//! The realtime clock that programs see.

/// What it shows beyond the monotonic one, in nanoseconds: a moment in 2024.
pub const OFFSET: u64 = 1_710_000_000_000_000_000;
