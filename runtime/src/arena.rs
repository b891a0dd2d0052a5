//! The arena: the program's heap and stacks at fixed addresses, one region a thread.
//!
//! A region is [`REGION_BYTES`] of address space: the heap grows up from its base, the thread's stack down from its end, with a
//! guard page below it. Which region a thread gets depends on its path in the spawn tree alone (who created it, as its how-many-th
//! child), so addresses depend neither on the interleaving nor on the process.

use crate::state::fatal;

/// A region's index. Region 0 is main's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Region(pub u32);

/// Base address of the arena: far from where Linux puts executables, libraries and stacks.
const BASE: usize = 0x1000_0000_0000;
/// Address space of one region.
pub const REGION_BYTES: usize = 1 << 32;
/// Number of regions.
const REGIONS: u32 = 1024;
/// Regions below this number are for main and its own children, by ordinal; the others go by a hash of the path.
const DIRECT: u32 = 512;
/// Smallest stack; a thread that asks for more gets more.
pub const STACK_BYTES: usize = 16 << 20;
/// Largest stack.
const MAX_STACK_BYTES: usize = 1 << 30;
const PAGE: usize = 4096;

impl Region {
    /// Main's region.
    pub const MAIN: Self = Self(0);

    /// Region of the `ordinal`th (from 0) child of the thread in region `parent`; `taken` tells whether a live or ended thread
    /// of this execution has a region already.
    pub fn of_child(parent: Self, ordinal: u32, taken: impl Fn(Self) -> bool) -> Self {
        let first = if parent == Self::MAIN && ordinal + 1 < DIRECT {
            ordinal + 1
        } else {
            let path = u64::from(parent.0) << 32 | u64::from(ordinal);
            let mixed =
                path.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            DIRECT + (mixed >> 40) as u32 % (REGIONS - DIRECT)
        };
        (0..REGIONS)
            .map(|probe| Self((first + probe) % REGIONS))
            .find(|region| *region != Self::MAIN && !taken(*region))
            .unwrap_or_else(|| fatal("more threads in one execution than the arena has regions"))
    }

    /// Lowest address.
    pub const fn base(self) -> usize {
        BASE + self.0 as usize * REGION_BYTES
    }

    /// One past the highest address: where the stack begins.
    pub const fn end(self) -> usize {
        self.base() + REGION_BYTES
    }

    /// Whether an address lies where the region's stack is.
    pub const fn is_stack(self, address: usize) -> bool {
        address < self.end() && address >= self.end() - MAX_STACK_BYTES
    }

    /// The region that an address lies in.
    pub fn of_address(address: usize) -> Option<Self> {
        let index = address.checked_sub(BASE)? / REGION_BYTES;
        (index < REGIONS as usize).then_some(Self(index as u32))
    }
}

/// The whole arena's address range.
pub const fn range() -> std::ops::Range<usize> {
    BASE..BASE + REGIONS as usize * REGION_BYTES
}

/// Which regions are mapped in this process, and how large their stacks are. Outlives executions.
#[derive(Debug, Default)]
pub struct Mapped {
    stacks: Vec<usize>,
}

impl Mapped {
    /// Maps a region unless it is mapped, with a stack of at least `stack` bytes; returns the stack's lowest usable address.
    pub fn ensure(&mut self, region: Region, stack: usize) -> usize {
        let index = region.0 as usize;
        if self.stacks.len() <= index {
            self.stacks.resize(index + 1, 0);
        }
        let wanted = stack.clamp(STACK_BYTES, MAX_STACK_BYTES).next_multiple_of(PAGE);
        if self.stacks[index] == 0 {
            map(region);
        }
        if self.stacks[index] < wanted {
            if self.stacks[index] != 0 {
                protect(
                    region.end() - self.stacks[index] - PAGE,
                    libc::PROT_READ | libc::PROT_WRITE,
                );
            }
            protect(region.end() - wanted - PAGE, libc::PROT_NONE);
            self.stacks[index] = wanted;
        }
        region.end() - self.stacks[index]
    }

    /// Whether an address lies in a guard page (or the page just below the stack) of a mapped region.
    pub fn is_guard(&self, address: usize) -> bool {
        let Some(region) = Region::of_address(address) else { return false };
        let Some(&stack) = self.stacks.get(region.0 as usize) else { return false };
        stack != 0 && (region.end() - stack - PAGE..region.end() - stack).contains(&address)
    }
}

fn map(region: Region) {
    let flags =
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: MAP_FIXED_NOREPLACE never replaces an existing mapping.
    let got = unsafe {
        libc::mmap(
            region.base() as *mut _,
            REGION_BYTES,
            libc::PROT_READ | libc::PROT_WRITE,
            flags,
            -1,
            0,
        )
    };
    if got as usize != region.base() {
        fatal("the address range of the program's memory is occupied");
    }
}

fn protect(page: usize, protection: i32) {
    // SAFETY: the page lies inside a region that this module mapped, between heap and stack, where nothing lives.
    let result = unsafe { libc::mprotect(page as *mut _, PAGE, protection) };
    if result != 0 {
        fatal("cannot protect a stack's guard page");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn main_s_children_get_regions_in_order_and_grandchildren_stable_ones() {
        let free = |_| false;
        assert_eq!(Region::of_child(Region::MAIN, 0, free), Region(1));
        assert_eq!(Region::of_child(Region::MAIN, 5, free), Region(6));
        let grandchild = Region::of_child(Region(1), 0, free);
        assert!(grandchild.0 >= DIRECT);
        assert_eq!(grandchild, Region::of_child(Region(1), 0, free));
        assert_ne!(grandchild, Region::of_child(Region(1), 0, |r| r == grandchild));
    }

    #[test]
    fn addresses_lead_back_to_their_region() {
        assert_eq!(Region::of_address(Region(3).base()), Some(Region(3)));
        assert_eq!(Region::of_address(Region(3).end() - 1), Some(Region(3)));
        assert_eq!(Region::of_address(BASE - 1), None);
        assert_eq!(Region::of_address(range().end), None);
    }
}
