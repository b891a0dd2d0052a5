//! Which pages of the program's memory this process has written, as the kernel knows it: by
//! `/proc/self/pagemap`.
//!
//! Memory of the program is mapped privately. A page that nobody has written is none yet, or it is
//! the file's that is mapped there ([`crate::memory::image`]); one that was written, by whomever
//! (the program, a system call, a native library, ourselves), is the process's own from then on.
//! Becoming that takes a page fault, and faults are counted: as long as there was none, nothing has
//! changed.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Bytes of a page.
pub const PAGE: usize = 4096;
/// Pages that are asked for at once.
const AT_ONCE: usize = 4096;

/// Bits of an entry of `pagemap` (the kernel's `Documentation/admin-guide/mm/pagemap.rst`).
const PRESENT: u64 = 1 << 63;
const SWAPPED: u64 = 1 << 62;
const FILE_OR_SHARED: u64 = 1 << 61;

/// Whether the kernel tells.
pub fn are_known() -> bool {
    let mut entry = [0];
    let here = entry.as_ptr() as usize;
    File::open("/proc/self/pagemap").is_ok_and(|file| entries(&file, here / PAGE, &mut entry))
}

/// Page faults of this process so far, which no page becomes its own without. Takes half a
/// microsecond.
pub fn faults() -> i64 {
    // SAFETY: all-zero bytes are a valid `rusage`.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes a whole `rusage` there.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    usage.ru_minflt + usage.ru_majflt
}

/// Reads the entries of pages from `first` on.
fn entries(file: &File, first: usize, entries: &mut [u64]) -> bool {
    // SAFETY: any bytes are a word.
    let bytes = unsafe {
        std::slice::from_raw_parts_mut(entries.as_mut_ptr().cast::<u8>(), size_of_val(entries))
    };
    file.read_exact_at(bytes, first as u64 * 8).is_ok()
}

/// Calls `visit` with the runs of whole pages of the process's own, in order, that lie in a piece
/// of memory wholly or in part. Where the kernel does not tell, all pages are taken for its own.
/// O(pages), 30 ns for one that is there.
///
/// The file is opened anew each time, so that the program finds no descriptor taken and can take
/// none from us.
pub fn for_each_own(piece: &Range<usize>, mut visit: impl FnMut(Range<usize>)) {
    let (first, end) = (piece.start / PAGE, piece.end.div_ceil(PAGE));
    let file = File::open("/proc/self/pagemap").ok();
    let mut buffer = [0; AT_ONCE];
    let mut run = first..first;
    let mut page = first;
    while page < end {
        let known = &mut buffer[..AT_ONCE.min(end - page)];
        if !file.as_ref().is_some_and(|file| entries(file, page, known)) {
            known.fill(PRESENT);
        }
        for &entry in &*known {
            if entry & (PRESENT | SWAPPED) != 0 && entry & FILE_OR_SHARED == 0 {
                if run.end < page {
                    if !run.is_empty() {
                        visit(run.start * PAGE..run.end * PAGE);
                    }
                    run.start = page;
                }
                run.end = page + 1;
            }
            page += 1;
        }
    }
    if !run.is_empty() {
        visit(run.start * PAGE..run.end * PAGE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::arena::{self, Region};

    #[test]
    fn pages_are_the_process_s_own_once_somebody_has_written_them() {
        let region = Region(991);
        arena::ensure(region, 0).unwrap();
        let piece = region.base() + 100..region.base() + 3 * AT_ONCE * PAGE - 100;
        let own = || {
            let mut all = Vec::new();
            for_each_own(&piece, |run| {
                all.push((run.start - region.base()) / PAGE..(run.end - region.base()) / PAGE);
            });
            all
        };
        assert!(are_known());
        assert_eq!(own(), []);
        let before = faults();
        let last = 3 * AT_ONCE - 1;
        for page in [0, 7, 8, AT_ONCE - 1, AT_ONCE, last] {
            // SAFETY: mapped, and this test's.
            unsafe { ((region.base() + page * PAGE) as *mut u8).write(1) };
        }
        assert!(faults() >= before + 5, "a page may have come with another one");
        assert_eq!(own(), [0..1, 7..9, AT_ONCE - 1..AT_ONCE + 1, last..last + 1]);
    }

    #[test]
    fn what_a_system_call_writes_is_known_too() {
        let region = Region(992);
        arena::ensure(region, 0).unwrap();
        let target = region.base() + 5 * PAGE;
        let before = faults();
        // SAFETY: the kernel writes into mapped memory that is this test's.
        let read = unsafe { libc::syscall(libc::SYS_getrandom, target, 16, 0) };
        assert_eq!(read, 16);
        assert_ne!(faults(), before);
        let mut all = Vec::new();
        for_each_own(&(region.base()..region.base() + 64 * PAGE), |run| all.push(run));
        assert_eq!((all.len(), all[0].clone()), (1, target..target + PAGE));
    }
}
