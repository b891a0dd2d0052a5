//! Memory of the program cut into chunks, of which equal ones are kept once and hashed once.
//!
//! States that follow each other differ in little, so that most chunks of a state are those of the
//! one before: they are compared with what was last seen at their address, and only what differs is
//! copied and hashed.

use lockred_search::fingerprint::{self, ByAddress};
use std::ops::Range;
use std::rc::Rc;

/// Bytes of a chunk: what lies between multiples of this.
const CHUNK: usize = 1024;
/// Chunks that are remembered.
const MANY: usize = 1 << 16;

/// A piece of memory and what it held.
#[derive(Debug)]
pub struct Chunk {
    address: usize,
    bytes: Box<[u8]>,
    /// Of address, length and contents.
    pub fingerprint: u128,
}

impl Chunk {
    fn new(address: usize, bytes: &[u8]) -> Self {
        Self { address, bytes: bytes.into(), fingerprint: fingerprint::of(&(address, bytes)) }
    }

    /// Puts back what the memory held.
    ///
    /// # Safety
    /// The memory must be the program's, mapped, and not be in use.
    pub unsafe fn restore(&self) {
        // SAFETY: by the caller's promise.
        unsafe {
            std::ptr::copy_nonoverlapping(
                self.bytes.as_ptr(),
                self.address as *mut u8,
                self.bytes.len(),
            );
        }
    }

    /// The first address of this one where another one, of the same place, held something else.
    pub fn difference(&self, other: &Self) -> Option<usize> {
        if (self.address, self.bytes.len()) != (other.address, other.bytes.len()) {
            return Some(self.address);
        }
        let differs = self.bytes.iter().zip(&other.bytes).position(|(one, two)| one != two);
        differs.map(|offset| self.address + offset)
    }
}

/// # Safety
/// The memory must be mapped, and nothing may write it while the result is in use.
unsafe fn memory<'a>(range: Range<usize>) -> &'a [u8] {
    // SAFETY: by the caller's promise.
    unsafe { std::slice::from_raw_parts(range.start as *const u8, range.len()) }
}

/// The places of the chunks of a range.
fn places(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let Range { mut start, end } = range;
    std::iter::from_fn(move || {
        let place = start..(start + 1).next_multiple_of(CHUNK).min(end);
        start = place.end;
        (!place.is_empty()).then_some(place)
    })
}

const ZEROS: [u8; CHUNK] = [0; CHUNK];

/// What was last seen.
#[derive(Debug, Default)]
pub struct Chunks(ByAddress<Rc<Chunk>>);

impl Chunks {
    /// The chunks of a range, as it is now, appended to `all`. O(bytes), most of which are only
    /// compared.
    ///
    /// # Safety
    /// The range must be memory of the program, mapped, and not be in use.
    pub unsafe fn take(&mut self, range: Range<usize>, all: &mut Vec<Rc<Chunk>>) {
        if self.0.len() > MANY {
            self.0.clear();
        }
        for place in places(range) {
            // SAFETY: by the caller's promise.
            let bytes = unsafe { memory(place.clone()) };
            all.push(self.known(place.start, bytes));
        }
    }

    /// The same without the chunks that are what they were, which `held` tells.
    ///
    /// # Safety
    /// As for [`Chunks::take`].
    pub unsafe fn take_other_than(
        &mut self,
        range: Range<usize>,
        held: &[u8],
        all: &mut Vec<Rc<Chunk>>,
    ) {
        for place in places(range.clone()) {
            // SAFETY: by the caller's promise.
            let bytes = unsafe { memory(place.clone()) };
            if *bytes != held[place.start - range.start..place.end - range.start] {
                all.push(self.known(place.start, bytes));
            }
        }
    }

    /// The same without the chunks that are zero.
    ///
    /// # Safety
    /// As for [`Chunks::take`].
    pub unsafe fn take_other_than_zero(&mut self, range: Range<usize>, all: &mut Vec<Rc<Chunk>>) {
        for place in places(range) {
            // SAFETY: by the caller's promise.
            let bytes = unsafe { memory(place.clone()) };
            if *bytes != ZEROS[..bytes.len()] {
                all.push(self.known(place.start, bytes));
            }
        }
    }

    /// The chunk of an address, which holds this.
    fn known(&mut self, start: usize, bytes: &[u8]) -> Rc<Chunk> {
        let known = self.0.entry(start).or_insert_with(|| Rc::new(Chunk::new(start, bytes)));
        if *known.bytes != *bytes {
            *known = Rc::new(Chunk::new(start, bytes));
        }
        Rc::clone(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_hold_what_there_was_and_are_shared_where_nothing_changed() {
        let mut memory = vec![7_u8; 3 * CHUNK];
        let start = memory.as_mut_ptr() as usize;
        let range = start..start + memory.len();
        let mut chunks = Chunks::default();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        // SAFETY: the vector is the test's own.
        unsafe { chunks.take(range.clone(), &mut before) };
        let lengths: usize = before.iter().map(|chunk| chunk.bytes.len()).sum();
        assert_eq!((lengths, before[0].address), (memory.len(), start));
        memory[CHUNK + 5] = 8;
        // SAFETY: as above.
        unsafe { chunks.take(range, &mut after) };
        let changed: Vec<bool> =
            before.iter().zip(&after).map(|(one, other)| !Rc::ptr_eq(one, other)).collect();
        assert_eq!(changed.iter().filter(|&&changed| changed).count(), 1);
        for (one, other) in before.iter().zip(&after) {
            assert_eq!(one.fingerprint == other.fingerprint, Rc::ptr_eq(one, other));
        }
        // SAFETY: as above; nobody holds a reference into the vector.
        unsafe {
            before.iter().for_each(|chunk| chunk.restore());
        }
        let differences = before.iter().zip(&after).filter_map(|(one, two)| one.difference(two));
        assert_eq!(differences.collect::<Vec<_>>(), [start + CHUNK + 5]);
        assert!(memory.iter().all(|&byte| byte == 7));
    }
}
