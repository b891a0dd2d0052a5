//! What looks at clocks have come to ([`crate::scheduler::looks`]).

/// What the looks of an execution have come to.
#[derive(Clone, Copy, Hash, Debug, Default)]
pub struct Looks {
    /// Somebody has looked.
    pub any: bool,
    /// Looks that could have been late.
    pub offered: u32,
    /// One was.
    pub late: bool,
}
