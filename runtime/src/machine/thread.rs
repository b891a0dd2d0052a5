//! One thread of the program: its coroutine, its pending operation, and what pthreads keeps per
//! thread.

use crate::coroutine::unwind::Caller;
use crate::loops::read_only_spin::ReadOnlySpin;
use crate::loops::spurious::Spurious;
use crate::loops::writing_spin::WritingSpin;
use crate::machine::channels::Inside;
use crate::machine::operation::{Await, Pending};
use crate::machine::state::{NOTHING, Passed};
use crate::memory::arena::Region;
use crate::memory::heap;
use lockred_protocol::sites::SiteId;
use std::ops::Range;

/// A destructor registered for the end of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Destructor {
    /// What to call.
    pub function: unsafe extern "C" fn(*mut u8),
    /// With what.
    pub argument: *mut u8,
}

/// What a new thread is to run.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// pthread's start routine.
    pub routine: unsafe extern "C" fn(*mut u8) -> *mut u8,
    /// Its argument.
    pub argument: *mut u8,
}

/// How it goes round loops.
#[derive(Clone, Debug, Default)]
pub struct Loops {
    /// Detection of loops that wait and only read.
    pub read_only_spin: ReadOnlySpin,
    /// Detection of loops that wait and write.
    pub writing_spin: WritingSpin,
    /// What happened to it for no reason.
    pub spurious: Spurious,
    /// Operations of which others may know, in programs whose loops end early
    /// ([`crate::hooks::rounds`]).
    pub acts: u64,
}

/// The atomic regions that it is in ([`crate::machine::region`]).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct AtomicRegion {
    /// Inside of one: the next operations belong to the step under way.
    pub open: bool,
    /// The word of the operation that opened the region: only operations on it belong there. 0
    /// where it was the wait of a condition variable, to which the unlocking of a mutex belongs, or
    /// a countdown, to which belongs what the last one does.
    pub word: usize,
    /// A look at a clock in it only makes the deadline of a wait.
    pub deadline: bool,
    /// Functions that are regions and that it is in.
    pub functions: u32,
    /// Operations and pauses since it entered the last of them, or of the functions of channels.
    pub passed: u32,
}

/// What it does with channels ([`crate::machine::channels`]).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ChannelUse {
    /// Functions of channels that it is in, the outermost first.
    pub inside: Vec<Inside>,
    /// A count of references was decremented since it last began to drop an end of a channel.
    pub counted: bool,
    /// When it gives up waiting in the outermost of them, where that is known.
    pub until: Option<u64>,
    /// Whether the message that it had offered to a channel was taken, or else withdrawn, once that
    /// is so.
    pub answered: Option<bool>,
}

/// What it does with condition variables.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct CondvarUse {
    /// The condition variable in whose region it is.
    pub address: Option<usize>,
    /// The mutex that it gave back there.
    pub lock: Option<usize>,
    /// The mutex that it takes again when it is woken, if it waits in a recognised condition
    /// variable without a timeout.
    pub waits_with: Option<usize>,
}

/// What pthreads and libc keep of it.
#[derive(Clone, Debug)]
pub struct Handle {
    /// Counts of references, by their addresses, to what threads that it has created share with
    /// their handles, until it drops its own ([`crate::machine::handles`]).
    pub shares: Vec<usize>,
    /// Where its `errno` is.
    pub errno: *mut i32,
    /// Its thread-local block.
    pub tls: *mut u8,
    /// What it runs; none for main.
    pub start: Option<Start>,
    /// Thread-local destructors, last registered last.
    pub destructors: Vec<Destructor>,
    /// Values of pthread keys.
    pub keys: Vec<*mut u8>,
    /// Its name.
    pub name: Option<String>,
    /// What its start routine returned.
    pub result: *mut u8,
    /// Nobody will join it, or somebody has.
    pub detached: bool,
    /// Somebody has joined it.
    pub joined: bool,
}

/// One thread, in creation order within the execution.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Saved stack pointer while it is suspended; changed by every switch away from it.
    pub stack_pointer: usize,
    /// Where it called the runtime, when it was stopped (only in a search over states).
    pub frame: Option<Caller>,
    /// Where its heap and stack are.
    pub region: Region,
    /// Who created it.
    pub parent: Option<u32>,
    /// How many threads it has created: the next child's ordinal.
    pub children: u32,
    /// What it would do next.
    pub pending: Pending,
    /// What it passed to the hook in which it was stopped.
    pub arguments: Passed,
    /// Where its pending (or, queued, its last) operation is.
    pub site: SiteId,
    /// Where its last operation was that has a site: tells apart what calls of libc, which have
    /// none, wait for.
    pub last_site: SiteId,
    /// Set by `__lr_await` for the next atomic operation.
    pub guard: Option<Await>,
    /// It has executed a release fence.
    pub fenced: bool,
    /// A queued thread was woken (changed by the waker).
    pub woken: bool,
    /// How often it has done something that others may wait for.
    pub progress: u64,
    /// Loops.
    pub loops: Loops,
    /// Atomic regions.
    pub atomic: AtomicRegion,
    /// Channels.
    pub channel: ChannelUse,
    /// Condition variables.
    pub condvar: CondvarUse,
    /// Pthreads and libc.
    pub handle: Handle,
    /// Other threads have used its stack, which must be before it ends. (Who uses it after that
    /// makes a mistake that shows by itself.)
    pub stack_used: bool,
    /// Words drawn from its stream of randomness.
    pub random_words: u64,
    /// Stack at its creation (only while recording).
    pub created: Vec<u64>,
    /// Stack at its pending operation (only while recording).
    pub stopped: Vec<u64>,
    /// What it last wrote to standard error: a panic's message stands there when the panic starts
    /// unwinding.
    pub last_words: String,
}

impl Thread {
    /// A thread that has not run.
    pub fn new(region: Region, parent: Option<u32>, start: Option<Start>) -> Self {
        let handle = Handle {
            shares: Vec::new(),
            errno: std::ptr::null_mut(),
            tls: std::ptr::null_mut(),
            start,
            destructors: Vec::new(),
            keys: Vec::new(),
            name: None,
            result: std::ptr::null_mut(),
            detached: false,
            joined: false,
        };
        Self {
            stack_pointer: 0,
            frame: None,
            region,
            parent,
            children: 0,
            pending: Pending::Start,
            arguments: NOTHING,
            site: SiteId(0),
            last_site: SiteId(0),
            guard: None,
            fenced: false,
            woken: false,
            progress: 0,
            loops: Loops::default(),
            atomic: AtomicRegion::default(),
            channel: ChannelUse::default(),
            condvar: CondvarUse::default(),
            handle,
            stack_used: false,
            random_words: 0,
            created: Vec::new(),
            stopped: Vec::new(),
            last_words: String::new(),
        }
    }

    /// Whether an operation on the word at an address may belong to the region that it is in.
    pub fn is_in_region_of(&self, address: usize) -> bool {
        self.atomic.open && (self.atomic.word == 0 || self.atomic.word == address)
    }

    /// The memory in use of its region: the states of its heap, the heap, and its stack from
    /// `bottom` on, if it has one still.
    pub fn memory(&self, bottom: usize) -> [Range<usize>; 3] {
        // SAFETY: the thread's heap was made when it was.
        let [states, heap] = unsafe { heap::used(self.region) };
        let stack = if self.has_ended() { 0..0 } else { bottom..self.region.end() };
        [states, heap, stack]
    }

    /// Whether it will never run again.
    pub fn has_ended(&self) -> bool {
        self.pending == Pending::Ended
    }
}
