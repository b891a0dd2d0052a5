//! Where blocks were found whose allocation is an access.

/// Pages of which it is remembered in which block they were looked at last.
const HINTS: usize = 256;

const PAGE: usize = 4096;

/// Where blocks were found. Blocks come and go, so what is found here is looked at again.
#[derive(Debug)]
pub struct Births {
    hints: [usize; HINTS],
    /// Some block from before the root was freed below it, and its place given out again.
    pub reborn: bool,
}

impl Default for Births {
    fn default() -> Self {
        Self { hints: [0; HINTS], reborn: false }
    }
}

impl Births {
    /// The block in which an address of the same page was looked at last; the next look may find
    /// another one.
    pub const fn hint(&mut self, address: usize) -> &mut usize {
        &mut self.hints[address / PAGE % HINTS]
    }
}
