//! The root: the state at the program's first thread creation (or first block), saved once and
//! restored before every execution.
//!
//! Saved are main's region as far as its heap goes, the live part of main's stack, the program's
//! writable globals, and the runtime's [`Execution`]. Other threads' regions are made anew when
//! they are spawned. What is small is copied, and copied back as a whole; of what is large there is
//! an [`Image`], and only pages that some execution has written are copied back.

use crate::machine::execution::Execution;
use crate::machine::state::State;
use crate::memory::arena;
use crate::memory::image::{self, Image};
use crate::memory::pages;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Pieces of so many bytes and more are large.
const LARGE: usize = 256 << 10;

/// A piece of memory and what it held.
struct Piece {
    address: usize,
    bytes: Vec<u8>,
}

impl Piece {
    fn save(range: Range<usize>) -> Self {
        // SAFETY: the ranges are live memory of the program, which is stopped.
        let bytes = unsafe { std::slice::from_raw_parts(range.start as *const u8, range.len()) };
        Self { address: range.start, bytes: bytes.to_vec() }
    }

    fn restore(&self) {
        // SAFETY: the range was live when it was saved, and stays mapped: heaps, stacks and globals
        // are never unmapped.
        unsafe {
            std::ptr::copy_nonoverlapping(
                self.bytes.as_ptr(),
                self.address as *mut u8,
                self.bytes.len(),
            );
        }
    }
}

/// What a restore puts back.
pub struct Root {
    pieces: Vec<Piece>,
    /// In the order of their addresses.
    images: Vec<Image>,
    /// Page faults until the images were last looked at.
    faults: i64,
    /// Where main's heap ended.
    pub heap_end: usize,
    execution: Execution,
    /// What going back has taken.
    restoring: Duration,
}

/// Whether no images are to be made.
pub fn copies_all(state: &State) -> bool {
    state.config.request.as_ref().is_some_and(|request| request.environment.without_images)
}

/// A part of the program's memory, by what is known of it.
pub enum Part<'a> {
    /// Nothing.
    Unknown(Range<usize>),
    /// This process has touched it, in the midst of memory that was zero before.
    Touched(Range<usize>),
    /// It is zero still.
    Blank(Range<usize>),
    /// It was written since the root, where it held this. What is in no part is as it was at the
    /// root.
    Written(Range<usize>, &'a [u8]),
}

impl Root {
    /// Of an execution, and where main's heap ends; without any memory.
    pub const fn new(heap_end: usize, execution: Execution) -> Self {
        Self {
            pieces: Vec::new(),
            images: Vec::new(),
            faults: -1,
            heap_end,
            execution,
            restoring: Duration::ZERO,
        }
    }

    /// The execution as it was.
    pub const fn execution(&self) -> &Execution {
        &self.execution
    }

    /// Puts back what is copied as a whole.
    pub fn restore_pieces(&self) {
        self.pieces.iter().for_each(Piece::restore);
    }

    /// Saves a piece, whose copies and image are added to what there is; where `copies_all`,
    /// without an image.
    pub fn save(&mut self, piece: Range<usize>, copies_all: bool) {
        let pages = image::whole_pages(&piece);
        let blank = arena::range().contains(&piece.start);
        let large = piece.len() >= LARGE && !copies_all;
        // SAFETY: the ranges are live memory of the program, which is stopped. What nobody has
        // touched in the arena is zero.
        match large.then(|| unsafe { Image::make(pages, blank) }).flatten() {
            Some(image) => {
                let place = image.place();
                self.pieces.push(Piece::save(piece.start..place.start));
                self.pieces.push(Piece::save(place.end..piece.end));
                let at = self.images.partition_point(|other| other.place().start < place.start);
                self.images.insert(at, image);
            }
            None => self.pieces.push(Piece::save(piece)),
        }
    }

    /// Learns what was written since the root, of which there are images.
    pub fn look(&mut self) {
        if self.images.is_empty() || self.faults == pages::faults() {
            return;
        }
        self.images.iter_mut().for_each(Image::look);
        self.faults = pages::faults();
    }

    /// Calls `visit` with the parts of a piece of the program's memory that may differ from what
    /// they were at the root, as far as was last learned, in order.
    pub fn for_each_part<'a>(&'a self, piece: Range<usize>, mut visit: impl FnMut(Part<'a>)) {
        let mut at = piece.start;
        for image in &self.images {
            let place = image.place();
            if place.end <= at || place.start >= piece.end {
                continue;
            }
            elsewhere(at..place.start.max(at), &mut visit);
            image.for_each_written(&piece, |run, held| visit(Part::Written(run, held)));
            at = place.end.min(piece.end);
        }
        elsewhere(at..piece.end, &mut visit);
    }

    /// Puts back what there are images of.
    pub fn restore_images(&mut self) {
        self.look();
        // SAFETY: the program is stopped.
        self.images.iter().for_each(|image| unsafe { image.restore() });
    }

    /// Gives the memory back of which there are images, to another program.
    #[cfg(test)]
    pub fn remove(self) {
        self.images.into_iter().for_each(Image::remove);
    }

    /// Seconds that going back has taken so far.
    pub fn restoring(&self) -> f64 {
        self.restoring.as_secs_f64()
    }

    /// An address where memory is not what it was at the root.
    pub fn difference(&self) -> Option<usize> {
        // SAFETY: the program is stopped.
        self.images.iter().find_map(|image| unsafe { image.difference() })
    }
}

/// The parts of a piece of which there is no image.
fn elsewhere<'a>(piece: Range<usize>, visit: &mut impl FnMut(Part<'a>)) {
    if piece.len() < arena::LARGE || !arena::range().contains(&piece.start) {
        if !piece.is_empty() {
            visit(Part::Unknown(piece));
        }
        return;
    }
    let mut at = piece.start;
    pages::for_each_own(&piece, |run| {
        let run = run.start.max(piece.start)..run.end.min(piece.end);
        if at < run.start {
            visit(Part::Blank(at..run.start));
        }
        at = run.end;
        visit(Part::Touched(run));
    });
    if at < piece.end {
        visit(Part::Blank(at..piece.end));
    }
}

/// Whether there is an image of a part of memory.
pub fn is_imaged(state: &State, memory: &Range<usize>) -> bool {
    state.root.as_ref().is_some_and(|root| {
        let meets = |place: Range<usize>| place.start < memory.end && memory.start < place.end;
        root.images.iter().any(|image| meets(image.place()))
    })
}

/// Clears memory of the program.
pub fn clear(state: &State, address: usize, length: usize) {
    arena::clear(address, length, || is_imaged(state, &(address..address + length)));
}

/// Going back has begun then, and is over.
pub fn took(state: &mut State, since: Instant) {
    if let Some(root) = &mut state.root {
        root.restoring += since.elapsed();
    }
}
