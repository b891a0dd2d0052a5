//! The step under way: what it touches, as single operations are explored by, and what tells it
//! from other steps.

use crate::machine::event::{ChannelAct, Event, Executed, Futex};
use crate::machine::footprints::{queue, word};
use crate::machine::object_ids::NUMBERING;
use crate::machine::operation::{AtomicOperation, Pending};
use crate::machine::state::State;
use crate::record::failure::Failure;
use lockred_protocol::sites::SiteId;
use lockred_search::discipline::{Passing, TransactionMonitor};
use lockred_search::footprint::{Access, Filler, Footprint};
use lockred_search::machine::{Chooser, Flow, ThreadId};
use std::ptr::NonNull;

/// The step that is being executed.
#[derive(Default)]
pub struct StepUnderWay {
    /// What it touched so far.
    pub footprint: Footprint,
    /// Hash of its operations so far.
    pub signature: u64,
    /// What showed in it.
    pub failures: Vec<Failure>,
    /// Whether the execution goes on.
    pub flow: Flow,
    /// Picks alternatives; set while a step is executed.
    pub chooser: Option<*mut (dyn Chooser + 'static)>,
    /// The monitor of the search by transactions, if that runs the step; set while it is executed.
    pub monitor: Option<Lent>,
    /// Who runs.
    pub thread: u32,
    /// Its first operation.
    pub site: SiteId,
    /// Operations that were executed without looking.
    pub unwatched: u32,
    /// Sleeps, timeouts and looks at clocks that ended in it before others had gone on
    /// ([`crate::scheduler::timely`]).
    pub overtaken: u32,
    /// Reads of loops that go round in vain: words, and where.
    repeats: Vec<(usize, SiteId)>,
    filler: Filler,
}

impl StepUnderWay {
    /// The step of a thread, stopped before an operation at `site`, begins.
    pub fn begin(&mut self, thread: u32, site: SiteId) {
        self.thread = thread;
        self.site = site;
        self.flow = Flow::On;
        self.unwatched = 0;
        self.overtaken = 0;
        self.repeats.clear();
        self.filler.clear();
    }

    /// Whether a loop that goes round in vain has made this read in this step before. Remembers it.
    pub fn is_repeated(&mut self, read: &AtomicOperation) -> bool {
        let place = (read.address, read.site);
        let known = self.repeats.contains(&place);
        if !known {
            self.repeats.push(place);
        }
        known
    }

    /// Records an access to a word of `size` bytes. Constant time.
    pub fn touch(&mut self, address: usize, size: u32, access: Access) {
        for object in crate::machine::footprints::words(address, size) {
            self.filler.touch(&mut self.footprint, object, access);
        }
    }
}

/// The monitor of the step under way, which the search lends: hooks reach it from inside the step.
#[derive(Debug)]
pub struct Lent(NonNull<TransactionMonitor<'static>>);

impl Lent {
    /// Lends a monitor.
    ///
    /// # Safety
    /// The monitor lives as long as this value, and nobody else reaches it while a hook runs.
    pub const unsafe fn new(monitor: NonNull<TransactionMonitor<'_>>) -> Self {
        Self(monitor.cast())
    }

    /// The monitor. Nobody else has it while this is borrowed.
    pub const fn monitor(&mut self) -> &mut TransactionMonitor<'static> {
        // SAFETY: by the promise of who has lent it, which ends with this value.
        unsafe { self.0.as_mut() }
    }
}

/// Mixes an operation into a signature.
pub fn sign(signature: &mut u64, what: u64, address: usize, site: SiteId) {
    for word in [what, address as u64, u64::from(site.0)] {
        *signature = (signature.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

/// See [`crate::scheduler::event`].
#[inline(always)]
pub fn on(state: &mut State, event: &Event<'_>) {
    match event {
        Event::Plain(_) | Event::Allocated { .. } | Event::Freed(_) => {}
        Event::Atomic(done) => atomic(state, done),
        other => besides(state, other),
    }
}

fn atomic(state: &mut State, done: &Executed<'_>) {
    let Executed { operation, access, new, wrote, watched, .. } = *done;
    if watched && state.config.footprints {
        state.step.touch(operation.address, operation.size, access);
    }
    let what = u64::from(operation.how.0) << 1 | u64::from(wrote);
    sign(&mut state.step.signature, what, operation.address, operation.site);
    state.step.signature ^= new.rotate_left(17);
}

/// What is no operation on memory.
fn besides(state: &mut State, event: &Event<'_>) {
    let no_site = SiteId(0);
    let StepUnderWay { footprint, signature, .. } = &mut state.step;
    match *event {
        Event::Passed(passed) => pass(footprint, signature, passed),
        Event::Resumed { channel, taken, .. } => {
            sign(signature, 410 + u64::from(taken), channel, no_site);
        }
        Event::Created { child, region } => {
            footprint.enables.push(ThreadId(child));
            // The numbering of threads shows who came first.
            footprint.touch(NUMBERING, Access::Write);
            sign(signature, 200, region.base(), no_site);
        }
        Event::Joined { target, region } => {
            footprint.joins.push(ThreadId(target));
            sign(signature, 201, region.base(), no_site);
        }
        Event::Futex(address, what) => futex(state, address, what),
        Event::Slept(_) => sign(signature, 320, 0, no_site),
        Event::ByTime => footprint.by_time = true,
        Event::Looked { late } => sign(signature, 310, usize::from(late), no_site),
        Event::Chose { picked, .. } => sign(signature, 300, picked, no_site),
        Event::ParkedForNoReason(address, site) => sign(signature, 301, address, site),
        _ => {}
    }
}

fn pass(footprint: &mut Footprint, signature: &mut u64, passed: ChannelAct) {
    let ChannelAct { channel, object, passing, site } = passed;
    let access = match passing.access() {
        Access::Read => Access::Read,
        _ => Access::Write,
    };
    footprint.touch(object, access);
    footprint.enables.extend(passing.wakes());
    let (what, message) = match passing {
        Passing::Send { number, .. } => (400, number),
        Passing::Receive { number, .. } => (401, number),
        Passing::DropSender => (402, 0),
        Passing::DropReceiver { .. } | Passing::Close { .. } => (403, 0),
        Passing::Fail => (404, 0),
        Passing::Peek => (405, 0),
        Passing::Closed => (406, 0),
    };
    sign(signature, what, channel, site);
    *signature ^= u64::from(message).rotate_left(17);
}

fn futex(state: &mut State, address: usize, what: Futex<'_>) {
    let StepUnderWay { footprint, signature, .. } = &mut state.step;
    let (access, code) = match what {
        Futex::Compared => {
            footprint.touch(word(address), Access::Read);
            return sign(signature, 100, address, SiteId(0));
        }
        Futex::Differs { .. } | Futex::Left => return,
        Futex::Enqueued { .. } => return footprint.touch(queue(address), Access::Enqueue),
        Futex::Returned => (None, 104),
        Futex::Woken { timed } => (timed.then_some(Access::Leave), 101),
        Futex::TimedOut => (Some(Access::Leave), 102),
        Futex::Wakes([]) => (Some(Access::WakeNone), 103),
        Futex::Wakes(woken) => (Some(Access::Wake), 103 + woken.len() as u64),
    };
    if let Some(access) = access {
        footprint.touch(queue(address), access);
    }
    sign(signature, code, address, SiteId(0));
    if let Futex::Wakes(woken) = what {
        // A waiter with a timeout could have run before, too: by its timeout. So its wake-up
        // depends on this wake as on any other access, and is not ordered after it by necessity.
        for &thread in woken {
            let pending = state.execution.threads[thread as usize].pending;
            if !matches!(pending, Pending::FutexQueued { deadline: Some(_), .. }) {
                footprint.enables.push(ThreadId(thread));
            }
        }
    }
}
