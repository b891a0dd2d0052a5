//! Accesses to memory that is no block's, or no block's any more, and frees of what is no block:
//! found where they happen.
//!
//! Below the root every access that has a hook comes by here, also while one thread is alone. What
//! one finds ends the execution, as nothing that comes after it means anything. It is judged in the
//! interleaving under way: whether an access that nothing orders with a deallocation is a use after
//! free or a data race with it depends on who comes first, and both are explored.

use crate::detect::{AccessKind, By, StackId};
use crate::machine::event::Event;
use crate::machine::event::Freed;
use crate::machine::event::Plain;
use crate::machine::hook::Entered;
use crate::machine::state::{State, end_execution};
use crate::machine::watch::watching;
use crate::memory::arena::{self, REGION_BYTES, Region};
use crate::memory::heap::{self, BadFree, Block};
use crate::memory::validity;
use crate::monitor::allocations;
use crate::monitor::race_report::bytes;
use crate::record::failure::Failure;
use crate::record::failure::place;
use crate::scheduler::event;
use lockred_protocol::codes::BugKind;
use lockred_protocol::message::{Place, Role};
use lockred_protocol::sites::SiteId;
use lockred_search::machine::Flow;

/// The running thread is about to access memory. Constant time for up to sixteen bytes, then
/// O(bytes / 16).
#[inline]
pub fn check(entered: &mut Entered, kind: AccessKind, address: usize, size: usize, site: SiteId) {
    let state = &mut **entered;
    if !arena::range().contains(&address) {
        return;
    }
    if validity::is_heap(address) {
        if !validity::may_access(address, size) {
            bad_access(state, kind, address, size, site);
        }
        return;
    }
    let here = 0_u8;
    let own = address / REGION_BYTES == (&raw const here) as usize / REGION_BYTES;
    // What threads of a scope use most.
    let of_main = || {
        let main = &state.execution.threads[0];
        (main.stack_pointer..Region::MAIN.end()).contains(&address)
    };
    if !own && !of_main() {
        check_stack(entered, kind, address, size, site);
    }
}

/// The same for the stack of another thread: what it has left behind there, when it returned or
/// ended, is gone.
#[inline(never)]
fn check_stack(entered: &mut Entered, kind: AccessKind, address: usize, size: usize, site: SiteId) {
    let state = &mut **entered;
    let region = Region::of_address(address);
    let mut threads = state.execution.threads.iter();
    let Some(owner) = threads.position(|thread| Some(thread.region) == region) else { return };
    let thread = &state.execution.threads[owner];
    let number = state.thread_number();
    let what = match thread.has_ended() {
        // What main's end means to others is what the end of the process means: nothing.
        true if owner == 0 => return,
        true => format!("of the stack of thread {owner}, which has ended"),
        false if address >= thread.stack_pointer => {
            if owner != 0 {
                let region = thread.region;
                state.execution.threads[owner].stack_used = true;
                uses_stack(entered, region, site);
            }
            return;
        }
        false => format!("of a function of thread {owner} that has returned"),
    };
    let message = format!("thread {number} {} {what}", accesses(kind, size));
    let failure = Failure::new(BugKind::UseAfterFree, message, &site.0.to_string());
    let place = access_place(state, kind, address, size, site);
    end(state, failure.at(place), None);
}

/// What stands for a thread's stack, which its end frees: a word of its region that is no memory of
/// the program.
const fn whole_stack(region: Region) -> usize {
    region.base()
}

/// The running thread uses the stack of another one, which must not end meanwhile.
fn uses_stack(entered: &mut Entered, region: Region, site: SiteId) {
    // What is part of an act on a channel is reported to nobody, and ordered by what the channel
    // promises.
    if watching() && !crate::machine::channels::is_inside_modelled_call(entered) {
        let address = whole_stack(region);
        event::notify(entered, &Event::Plain(Plain { address, size: 8, site, writes: false }));
    }
}

/// The running thread's stack is gone.
pub fn leaves_stack(entered: &mut Entered, region: Region) {
    let (address, modelled) =
        (whole_stack(region), crate::machine::channels::is_inside_modelled_call(entered));
    event::notify(entered, &Event::Freed(Freed { address, size: 8, block: false, modelled }));
}

/// What an access does, in words.
fn accesses(kind: AccessKind, size: usize) -> String {
    match kind {
        AccessKind::Read => format!("reads {}", bytes(size)),
        AccessKind::Write | AccessKind::Free | AccessKind::Allocation => {
            format!("writes {}", bytes(size))
        }
        AccessKind::AtomicRead => format!("atomically reads {}", bytes(size)),
        AccessKind::AtomicWrite => format!("atomically changes {}", bytes(size)),
    }
}

/// Where memory is, as seen from a block.
fn seen_from(block: Block, address: usize, size: usize) -> String {
    let (start, end) = (block.start, block.start + block.size);
    let position = if address < start {
        format!("{} before", bytes(start - address))
    } else if address < end && address + size <= end {
        format!("{} into", bytes(address - start))
    } else if address < end {
        "across the end of".to_owned()
    } else if address == end {
        "right after".to_owned()
    } else {
        format!("{} after", bytes(address - end))
    };
    let freed = if block.freed { " that was freed" } else { "" };
    format!("{position} a block of {}{freed}", bytes(block.size))
}

/// Ends the execution with a bug about an access.
#[cold]
#[inline(never)]
fn bad_access(state: &mut State, kind: AccessKind, address: usize, size: usize, site: SiteId) -> ! {
    let number = state.thread_number();
    let block = heap::near(address);
    let inside = |block: &Block| address < block.start + block.size && address + size > block.start;
    let dead = block.is_some_and(|block| block.freed && inside(&block));
    let what = accesses(kind, size);
    let (bug, message) = match block {
        Some(block) if dead => {
            let block = bytes(block.size);
            let what = format!("thread {number} {what} of a block of {block} that was freed");
            (BugKind::UseAfterFree, what)
        }
        Some(block) => {
            let seen = seen_from(block, address, size);
            (BugKind::OutOfBounds, format!("thread {number} {what}, {seen}"))
        }
        None => {
            let what = format!("thread {number} {what} where nothing was ever allocated");
            (BugKind::OutOfBounds, what)
        }
    };
    let mut failure = Failure::new(bug, message, &site.0.to_string());
    failure = failure.at(access_place(state, kind, address, size, site));
    if dead && is_unordered(state, address, size) {
        failure.notes.push("nothing orders the deallocation and this access".into());
    }
    end(state, failure, block)
}

/// Whether an earlier deallocation of this memory is not ordered before what the running thread
/// does. Known only while recording, from the race detector; the execution is over, so that it may
/// be reported at an access that is never made.
fn is_unordered(state: &mut State, address: usize, size: usize) -> bool {
    let thread = state.thread_number();
    let Some(detector) =
        state.monitors.detector.as_mut().filter(|_| state.monitors.recorder.is_some())
    else {
        return false;
    };
    let by = By { thread, site: SiteId(0), stack: StackId(0) };
    detector.read(by, address, size).is_some_and(|race| race.earlier.kind == AccessKind::Free)
}

/// Ends the execution with a bug about a block that cannot be freed.
pub fn bad_free(state: &mut State, address: usize, reason: BadFree) -> ! {
    let thread = state.thread_number();
    let what = match reason {
        BadFree::Twice => "memory is freed twice",
        BadFree::Foreign => "memory is freed that was never allocated",
    };
    let block = match reason {
        BadFree::Twice => heap::near(address),
        BadFree::Foreign if !state.execution.maps(address) || !validity::is_heap(address) => None,
        BadFree::Foreign => heap::near(address),
    };
    let message = match (reason, block) {
        (BadFree::Twice, Some(block)) => format!("a block of {} is freed twice", bytes(block.size)),
        (BadFree::Foreign, Some(block)) => {
            format!("memory is freed that is no block: {}", seen_from(block, address, 1))
        }
        (_, None) => what.to_owned(),
    };
    let mut frees = place(Role::Frees, thread, SiteId(0));
    if let Some(recorder) = &state.monitors.recorder {
        frees.stack = crate::coroutine::unwind::stack();
        frees.step = Some(recorder.steps.len());
        frees.object = crate::report::record::object(state, address, "memory", None);
    }
    end(state, Failure::new(BugKind::DoubleFree, message, what).at(frees), block)
}

/// The place of the access under way.
fn access_place(
    state: &mut State,
    kind: AccessKind,
    address: usize,
    size: usize,
    site: SiteId,
) -> Place {
    let mut place = place(kind.role(), state.thread_number(), site);
    if let Some(recorder) = &state.monitors.recorder {
        place.stack = crate::coroutine::unwind::stack();
        place.step = Some(recorder.steps.len());
        place.object = crate::report::record::object(state, address, "memory", Some(size as u64));
    }
    place
}

/// Ends the execution: the failure is reported with the locks that the running thread holds, and
/// the life of the block.
fn end(state: &mut State, mut failure: Failure, block: Option<Block>) -> ! {
    let number = state.thread_number();
    let held = allocations::held_by(state, number);
    failure.places.extend(allocations::held_places(state, Role::Holds, held));
    let life = block.and_then(|block| state.monitors.allocations.as_ref()?.of(block.start));
    if let Some(life) = life.filter(|_| state.monitors.recorder.is_some()).cloned() {
        let freed =
            life.freed.iter().flat_map(|event| allocations::places(state, Role::Freed, event));
        failure.places.extend(freed);
        let allocated = life
            .allocated
            .iter()
            .flat_map(|event| allocations::places(state, Role::Allocated, event));
        failure.places.extend(allocated);
    }
    state.step.failures.push(failure);
    crate::report::debugger::bug(state);
    end_execution(state, Flow::Over)
}
