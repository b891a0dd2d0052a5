//! The image of the root: what a large piece of memory held there, as a file in memory that is
//! mapped in the place of the piece.
//!
//! The mapping is private: a page is the file's until it is written, and then a copy of it. So the
//! pages that executions have written are the process's own ([`crate::memory::pages`]), whoever
//! wrote them, and putting the root back is copying these from a second mapping of the file. They
//! are not given up but stay the process's, since the next execution writes most of them again. Of
//! all others there is one copy in all.
//!
//! (Beside the kernel's own book-keeping, two ways were considered. A log kept by the store hooks
//! does not see native code and system calls, nor what the escape analysis has left out. Write
//! protection does, but makes system calls fail.)

use crate::memory::pages;
use std::ops::Range;

/// Bytes that are moved to the file before the next ones are: so much more memory is needed for a
/// while.
const STEP: usize = 16 << 20;

/// See the module.
#[derive(Debug)]
pub struct Image {
    /// The piece: whole pages.
    place: Range<usize>,
    /// Where the second mapping begins, which can only be read.
    contents: usize,
    /// Runs of pages that were written, in order.
    written: Vec<Range<usize>>,
}

/// The whole pages inside of a piece of memory.
pub fn whole_pages(piece: &Range<usize>) -> Range<usize> {
    let start = piece.start.next_multiple_of(pages::PAGE);
    start..(piece.end / pages::PAGE * pages::PAGE).max(start)
}

/// A file in memory, closed when it is dropped; its mappings stay.
struct Memory(i32);

impl Memory {
    fn of_size(bytes: usize) -> Option<Self> {
        // SAFETY: the name is a C string.
        let descriptor = unsafe { libc::memfd_create(c"lockred-root".as_ptr(), libc::MFD_CLOEXEC) };
        let file = (descriptor >= 0).then_some(Self(descriptor))?;
        // SAFETY: a descriptor of ours.
        (unsafe { libc::ftruncate(file.0, bytes as i64) } == 0).then_some(file)
    }

    /// Writes what memory holds to an offset.
    fn take(&self, memory: &Range<usize>, offset: usize) -> bool {
        let mut done = 0;
        while done < memory.len() {
            let (from, left) = ((memory.start + done) as *const _, memory.len() - done);
            // SAFETY: the caller's memory is mapped.
            let wrote = unsafe { libc::pwrite(self.0, from, left, (offset + done) as i64) };
            match usize::try_from(wrote) {
                Ok(wrote) if wrote > 0 => done += wrote,
                _ => return false,
            }
        }
        true
    }

    /// Maps a part of it somewhere, or at an address that has memory already.
    ///
    /// # Safety
    /// What is at the address must be nobody's, or hold what the file holds.
    unsafe fn map(&self, at: Option<usize>, bytes: usize, offset: usize) -> Option<usize> {
        let (address, protection, flags) = match at {
            Some(at) => {
                (at, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_FIXED)
            }
            None => (0, libc::PROT_READ, libc::MAP_SHARED),
        };
        let flags = flags | libc::MAP_NORESERVE;
        // SAFETY: by the caller's promise.
        let got = unsafe {
            libc::mmap(address as *mut _, bytes, protection, flags, self.0, offset as i64)
        };
        (got != libc::MAP_FAILED).then_some(got as usize)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: a descriptor of ours, which nobody uses any more.
        unsafe { libc::close(self.0) };
    }
}

impl Image {
    /// Makes an image of whole pages, or of as many of the first ones as the system lets us; `None`
    /// if that is none.
    ///
    /// # Safety
    /// The pages are writable memory of the program, which is stopped. Where `blank`, what the
    /// process has not written is zero.
    pub unsafe fn make(place: Range<usize>, blank: bool) -> Option<Self> {
        if !pages::are_known() {
            return None;
        }
        let file = Memory::of_size(place.len())?;
        // SAFETY: somewhere else.
        let contents = unsafe { file.map(None, place.len(), 0) }?;
        let mut done = 0;
        while done < place.len() {
            let step = place.start + done..place.end.min(place.start + done + STEP);
            let mut taken = true;
            if blank {
                pages::for_each_own(&step, |run| taken &= file.take(&run, run.start - place.start));
            } else {
                taken = file.take(&step, done);
            }
            // SAFETY: the file holds what is there.
            if !taken || unsafe { file.map(Some(step.start), step.len(), done) }.is_none() {
                break;
            }
            done += step.len();
        }
        let place = place.start..place.start + done;
        (done > 0).then_some(Self { place, contents, written: Vec::new() })
    }

    /// Where it is.
    pub fn place(&self) -> Range<usize> {
        self.place.clone()
    }

    /// Learns which pages were written.
    pub fn look(&mut self) {
        self.written.clear();
        pages::for_each_own(&self.place, |run| self.written.push(run));
    }

    /// What a part of the image held at the root.
    fn held(&self, part: &Range<usize>) -> &[u8] {
        let start = self.contents + (part.start - self.place.start);
        // SAFETY: the second mapping is as long as the place, is never written, and stays.
        unsafe { std::slice::from_raw_parts(start as *const u8, part.len()) }
    }

    /// Puts back what was written, as far as was last learned.
    ///
    /// # Safety
    /// The program is stopped.
    pub unsafe fn restore(&self) {
        for run in &self.written {
            let held = self.held(run);
            // SAFETY: the image is mapped and the program stopped; the second mapping is elsewhere.
            unsafe {
                std::ptr::copy_nonoverlapping(held.as_ptr(), run.start as *mut u8, held.len());
            }
        }
    }

    /// Calls `visit` with what was written, as far as was last learned, of a part of memory, and
    /// with what that held at the root.
    pub fn for_each_written<'a>(
        &'a self,
        part: &Range<usize>,
        mut visit: impl FnMut(Range<usize>, &'a [u8]),
    ) {
        let first = self.written.partition_point(|run| run.end <= part.start);
        for run in self.written[first..].iter().take_while(|run| run.start < part.end) {
            let run = run.start.max(part.start)..run.end.min(part.end);
            let held = self.held(&run);
            visit(run, held);
        }
    }

    /// Empties the place, which another program is to have.
    #[cfg(test)]
    pub fn remove(self) {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let (start, length) = (self.place.start as *mut _, self.place.len());
        // SAFETY: nobody uses what is in the place any more, nor the second mapping.
        unsafe {
            let got = libc::mmap(start, length, protection, flags, -1, 0);
            assert_eq!(got, start);
            libc::munmap(self.contents as *mut _, length);
        }
    }

    /// Where memory differs from what it was at the root: looks at all of it.
    ///
    /// # Safety
    /// The program is stopped.
    pub unsafe fn difference(&self) -> Option<usize> {
        let held = self.held(&self.place);
        // SAFETY: the image is mapped and the program stopped.
        let is =
            unsafe { std::slice::from_raw_parts(self.place.start as *const u8, self.place.len()) };
        if is == held {
            return None;
        }
        is.iter().zip(held).position(|(one, two)| one != two).map(|at| self.place.start + at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::arena::{self, Region};
    use pages::PAGE;

    /// Which pages nobody has written.
    fn is_blank(page: usize) -> bool {
        (page / PAGE).is_multiple_of(4)
    }

    /// Pages of an image that are numbered, all but every fourth one.
    fn numbered(region: Region) -> Image {
        arena::ensure(region, 0).unwrap();
        let place = region.base() + PAGE..region.base() + (STEP + 40 * PAGE);
        for page in place.clone().step_by(PAGE).filter(|page| !is_blank(*page)) {
            // SAFETY: mapped, and the test's.
            unsafe { (page as *mut usize).write(page) };
        }
        // SAFETY: as above; whoever has not written finds zeros.
        unsafe { Image::make(place, true) }.unwrap()
    }

    fn read(address: usize) -> usize {
        // SAFETY: in the place of an image.
        unsafe { (address as *const usize).read() }
    }

    fn write(address: usize, value: usize) {
        // SAFETY: in the place of an image.
        unsafe { (address as *mut usize).write(value) };
    }

    #[test]
    fn what_was_written_is_put_back_and_nothing_else_is_known_as_written() {
        let mut image = numbered(Region(993));
        let Range { start, end } = image.place();
        image.look();
        assert_eq!(image.written, []);
        let there = (start..end).step_by(PAGE);
        assert!(there.clone().all(|page| read(page) == if is_blank(page) { 0 } else { page }));
        let written = [start, start + PAGE, start + STEP, end - PAGE];
        for page in written {
            write(page + 8, 1);
        }
        image.look();
        let of = |page: usize| page..page + PAGE;
        let runs = [start..start + 2 * PAGE, of(start + STEP), of(end - PAGE)];
        assert_eq!(image.written, runs);
        let mut seen = Vec::new();
        image.for_each_written(&(start + PAGE + 8..end - 8), |run, held| {
            assert_eq!(held.len(), run.len());
            seen.push(run);
        });
        let clipped = [start + PAGE + 8..start + 2 * PAGE, of(start + STEP), end - PAGE..end - 8];
        assert_eq!(seen, clipped);
        // SAFETY: the memory is the test's.
        let differences = unsafe {
            let before = image.difference();
            image.restore();
            (before, image.difference())
        };
        assert_eq!(differences, (Some(start + 8), None));
        // They stay the process's own, and are put back without being noticed anew.
        write(start + STEP, 7);
        // SAFETY: as above.
        unsafe { image.restore() };
        assert_eq!(read(start + STEP), if is_blank(start + STEP) { 0 } else { start + STEP });
    }

    #[test]
    fn an_image_of_memory_that_is_no_arena_holds_all_of_it() {
        // SAFETY: a mapping of our own executable's pages, as globals are, which nobody has
        // written.
        let place = unsafe {
            let file = Memory::of_size(4 * PAGE).unwrap();
            assert!(file.take(&some_bytes(), 0));
            let at = libc::mmap(
                std::ptr::null_mut(),
                4 * PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE,
                file.0,
                0,
            ) as usize;
            at..at + 4 * PAGE
        };
        // SAFETY: as above.
        let mut image = unsafe { Image::make(place.clone(), false) }.unwrap();
        assert!(place.clone().step_by(8).all(|at| read(at) == usize::MAX));
        write(place.start, 1);
        image.look();
        // SAFETY: the memory is the test's.
        unsafe { image.restore() };
        assert_eq!(read(place.start), usize::MAX);
    }

    /// Five pages of ones.
    fn some_bytes() -> Range<usize> {
        let bytes = vec![u8::MAX; 5 * PAGE].leak();
        let start = (bytes.as_ptr() as usize).next_multiple_of(PAGE);
        start..start + 4 * PAGE
    }
}
