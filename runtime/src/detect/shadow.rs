//! Where the cell of a granule is: directly addressed for the known ranges, in a hash table
//! elsewhere.

use super::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::ptr::NonNull;

/// Bytes of program memory that one cell stands for.
pub(super) const GRANULE: usize = 8;

/// Cells in the hash table at which it is emptied between executions: addresses outside the ranges
/// normally repeat.
const MANY: usize = 1 << 20;

/// The cells of one address range, in memory that the system provides zeroed at first touch.
///
/// Invariant: `cells` points to a private mapping of `granules` cells that only this value uses;
/// all-zero bytes are a valid cell.
#[derive(Debug)]
struct Region {
    start: usize,
    granules: usize,
    cells: NonNull<Cell>,
}

impl Region {
    fn new(range: &Range<usize>) -> Self {
        let start = range.start & !(GRANULE - 1);
        let granules = range.end.saturating_sub(start).div_ceil(GRANULE).max(1);
        // SAFETY: a fresh private anonymous mapping at an address of the system's choice touches
        // nothing that exists.
        let map = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                granules * size_of::<Cell>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        assert!(
            map != libc::MAP_FAILED,
            "no address space for the shadow of {range:x?}: {}",
            std::io::Error::last_os_error()
        );
        let cells = NonNull::new(map.cast()).expect("mmap does not map page 0 by itself");
        Self { start, granules, cells }
    }

    #[inline]
    fn index(&self, granule: usize) -> Option<usize> {
        let index = granule.wrapping_sub(self.start) / GRANULE;
        (index < self.granules).then_some(index)
    }

    fn forget(&mut self) {
        // SAFETY: the mapping is ours and private; afterwards it reads as zeros, which are valid
        // cells.
        let done = unsafe {
            libc::madvise(
                self.cells.as_ptr().cast(),
                self.granules * size_of::<Cell>(),
                libc::MADV_DONTNEED,
            )
        };
        assert_eq!(done, 0, "madvise on our own mapping: {}", std::io::Error::last_os_error());
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no reference into it outlives `self`.
        unsafe {
            libc::munmap(self.cells.as_ptr().cast(), self.granules * size_of::<Cell>());
        }
    }
}

/// Multiplicative hashing of granule addresses: their low bits are all that differs.
#[derive(Default)]
struct GranuleHasher(u64);

impl Hasher for GranuleHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_usize(byte as usize);
        }
    }
    fn write_usize(&mut self, n: usize) {
        self.0 = (self.0 ^ n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// All cells.
#[derive(Debug)]
pub(super) struct Shadow {
    regions: Vec<Region>,
    elsewhere: HashMap<usize, Cell, BuildHasherDefault<GranuleHasher>>,
}

// SAFETY: `Region` owns its mapping exclusively, like a `Box<[Cell]>`, and `Cell` is plain data.
unsafe impl Send for Region {}

impl Shadow {
    /// Cells for these ranges are addressed directly. Costs address space (five times the ranges),
    /// memory only where touched.
    pub(super) fn new(ranges: &[Range<usize>]) -> Self {
        let regions = ranges.iter().filter(|r| !r.is_empty()).map(Region::new).collect();
        Self { regions, elsewhere: HashMap::default() }
    }

    /// The cell of the granule at this multiple of [`GRANULE`].
    #[inline]
    pub(super) fn cell(&mut self, granule: usize) -> &mut Cell {
        for region in &self.regions {
            if let Some(index) = region.index(granule) {
                // SAFETY: `index` is inside the mapping, and `&mut self` excludes every other
                // reference into it.
                return unsafe { &mut *region.cells.as_ptr().add(index) };
            }
        }
        self.elsewhere(granule)
    }

    #[cold]
    fn elsewhere(&mut self, granule: usize) -> &mut Cell {
        self.elsewhere.entry(granule).or_insert(Cell::EMPTY)
    }

    /// Between executions: keeps the hash table from growing without end.
    pub(super) fn tidy(&mut self) {
        if self.elsewhere.len() > MANY {
            self.elsewhere.clear();
        }
    }

    /// Makes all cells empty for good.
    pub(super) fn forget(&mut self) {
        self.regions.iter_mut().for_each(Region::forget);
        self.elsewhere.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_apart_inside_at_the_edges_and_outside() {
        let range = 0x1_0003..0x1_0033;
        let mut shadow = Shadow::new(&[range, 0x9000..0x9000]);
        let addresses = [0x1_0000, 0x1_0008, 0x1_0030, 0x1_0038, 0xfff8, 0, usize::MAX & !7];
        for (i, &granule) in addresses.iter().enumerate() {
            assert_eq!(shadow.cell(granule).generation, 0);
            shadow.cell(granule).generation = i as u32 + 1;
        }
        for (i, &granule) in addresses.iter().enumerate() {
            assert_eq!(shadow.cell(granule).generation, i as u32 + 1);
        }
        assert_eq!(shadow.elsewhere.len(), 4);
        shadow.forget();
        assert!(addresses.iter().all(|&granule| shadow.cell(granule).generation == 0));
    }
}
