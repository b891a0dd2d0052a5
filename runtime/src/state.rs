//! The runtime's one state: what outlives executions, and the execution under way.
//!
//! There is one OS thread, so there is one state, reached through [`state`]. Explorer and coroutines take turns; no reference
//! obtained from [`state`] may be held across a switch ([`stop`], [`run`], [`leave`]) or a call into the program.

use crate::arena::{Mapped, Regions};
use crate::atomicity::Atomicity;
use crate::births::Births;
use crate::channel_words::ChannelWords;
use crate::context;
use crate::deaths::Deaths;
use crate::detect::Detector;
use crate::exclusive::Exclusive;
use crate::execution::Execution;
use crate::failure::Failure;
use crate::frames::Frames;
use crate::gate::Lent;
use crate::harness::Harness;
use crate::heap::Reuse;
use crate::lives::Lives;
use crate::names::Names;
use crate::nesting::Nesting;
use crate::observed::Observed;
use crate::operation::{AtomicOperation, Pending};
use crate::overflow::Overflow;
use crate::record::Recorder;
use crate::root::Root;
use crate::session::StatusPage;
use crate::targets::Met;
use crate::thread::Thread;
use lockred_search::footprint::{Access, Filler, Footprint};
use lockred_search::machine::{Chooser, Flow};
use lockred_trace::message::{Assumption, Unsupported, Warning};
use lockred_trace::session::{Order, Strategy, Task, Time};
use lockred_trace::sites::SiteId;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What the process is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// No session: run the program once, check nothing.
    Free,
    /// Search.
    Explore,
    /// Follow one schedule and record everything.
    Replay,
}

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
    /// The gate of the search by transactions, if that runs the step; set while it is executed.
    pub gate: Option<Lent>,
    /// Who runs.
    pub thread: u32,
    /// Its first operation.
    pub site: SiteId,
    /// Operations that were executed without looking.
    pub unwatched: u32,
    /// Sleeps, timeouts and looks at clocks that ended in it before others had gone on ([`crate::timely`]).
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
        for object in crate::footprints::words(address, size) {
            self.filler.touch(&mut self.footprint, object, access);
        }
    }
}

/// See the module.
pub struct State {
    /// What the process is for.
    pub mode: Mode,
    /// What the session ordered; `None` in [`Mode::Free`].
    pub order: Option<Order>,
    /// The root was reached: operations are scheduling points, accesses are checked.
    pub below_root: bool,
    /// The next thread creation is libtest's and is to be refused.
    pub refuse_thread: bool,
    /// The thread whose coroutine is running; `None` while the explorer runs.
    pub running: Option<u32>,
    /// The explorer's stack pointer while a coroutine runs.
    pub explorer: usize,
    /// The execution under way.
    pub execution: Execution,
    /// A thread that is run only tells its stack.
    pub probing: bool,
    /// Stacks at the first creations of threads, by region.
    pub created: Vec<Vec<u64>>,
    /// Whose the arena's regions are.
    pub regions: Regions,
    /// Regions of the arena that are mapped.
    pub mapped: Mapped,
    /// The race detector, from the root on; none by transactions, which judge races themselves.
    pub detector: Option<Detector>,
    /// The step under way.
    pub step: StepUnderWay,
    /// The record, in [`Mode::Replay`].
    pub recorder: Option<Recorder>,
    /// Who may access what, where the discipline is looked at.
    pub exclusive: Exclusive,
    /// The locking discipline, where that is looked at.
    pub observed: Option<Observed>,
    /// Where blocks come from, in [`Mode::Replay`], where the discipline is looked at, and where leaks are looked for.
    pub lives: Option<Lives>,
    /// When freed memory is handed out again.
    pub reuse: Reuse,
    /// Which thread allocated what.
    pub births: Births,
    /// A loop that may end early has begun.
    pub scales: bool,
    /// What the outcome rests on so far.
    pub assumptions: Vec<Assumption>,
    /// Findings that fail nothing.
    pub warnings: Vec<Warning>,
    /// Some execution was not left out.
    pub kept: bool,
    /// Blocks that are not atomic.
    pub atomicity: Atomicity,
    /// Locks under each other.
    pub nesting: Nesting,
    /// Locks that walks have met at the places of their targets.
    pub met: Met,
    /// What could not be modelled.
    pub unsupported: Option<Unsupported>,
    /// The stack of the thread whose step was left in the middle, as the session asked to stop.
    pub left: Option<Vec<u64>>,
    /// The session's counters.
    pub status: Option<StatusPage>,
    /// What a restore puts back.
    pub root: Option<Root>,
    /// Most threads that an execution had.
    pub most_threads: u32,
    /// What the search by transactions calls objects.
    pub names: Names,
    /// Channels do what they are written to do, step by step: in a search that does not know them as a whole, and once a program has
    /// turned out to do with one what is not known.
    pub channels_written_out: bool,
    /// A word for each channel.
    pub channel_words: ChannelWords,
    /// Schedules under which the process died before.
    pub deaths: Deaths,
    /// A stack that has ended inside of the runtime, which is about to return.
    pub overflow: Option<Overflow>,
    /// The search is one by transactions.
    pub by_transactions: bool,
    /// The search is one over states.
    pub by_states: bool,
    /// States are compared: frames of stopped threads are kept, and leftovers cleared.
    pub compares: bool,
    /// What is known of the program's frames, where they are compared.
    pub frames: Frames,
    /// Executions are watched by the race detector.
    pub detects: bool,
    /// A schedule is being followed.
    pub follows: bool,
    /// Sleeps and timeouts end in the order of time ([`crate::timely`]).
    pub orders_time: bool,
    /// The search looks at what steps touch.
    pub footprints: bool,
    /// What threads do behind the process's end is of no interest.
    pub exit_ends: bool,
    /// What libtest does behind the test.
    pub harness: Harness,
    /// Some execution had conflicting atomic accesses, unordered and not both `SeqCst`.
    pub weak_pair: bool,
    /// Calls of native code.
    pub native: crate::native::Calls,
    /// What was found of accesses and who shares what they touch, in builds that look at that.
    pub proved: crate::proved::Sites,
}

impl State {
    /// The state at process start.
    pub fn new(mode: Mode, order: Option<Order>, status: Option<StatusPage>) -> Self {
        let task = order.as_ref().map(|order| &order.task);
        let is = |wanted: &Strategy| matches!(task, Some(Task::Explore { strategy, .. }) if strategy == wanted);
        let by_states = is(&Strategy::Stateful);
        let verifies = order.as_ref().is_some_and(|order| order.environment.verify_restores);
        let by_transactions = by_states || is(&Strategy::Transactions);
        let footprints = matches!(
            task,
            Some(
                Task::Explore { strategy: Strategy::Dpor | Strategy::Bounded { .. }, .. }
                    | Task::Minimise { .. }
            )
        );
        let deaths = order.as_ref().map_or_else(Deaths::default, |o| Deaths::new(&o.deaths));
        let environment = order.as_ref().map(|order| order.environment).unwrap_or_default();
        let orders_time = environment.time == Time::Ordered;
        // When an act on a channel as a whole would time out is not known.
        let channels_written_out = match task {
            _ if orders_time => true,
            Some(Task::Explore { .. }) => !by_transactions,
            Some(Task::Replay { schedule } | Task::Minimise { schedule, .. }) => {
                schedule.is_written_out()
            }
            Some(Task::Observe { .. } | Task::Walk { .. }) | None => true,
        };
        let observes = matches!(task, Some(Task::Observe { .. }));
        let exclusive = match task {
            Some(Task::Observe { watches, .. }) => Exclusive::new(watches),
            _ => Exclusive::default(),
        };
        let lives = mode == Mode::Replay || environment.leaks || observes;
        Self {
            mode,
            refuse_thread: order.as_ref().is_some_and(|order| order.libtest),
            order,
            below_root: false,
            running: None,
            explorer: 0,
            execution: Execution::default(),
            probing: false,
            created: Vec::new(),
            regions: Regions::default(),
            mapped: Mapped::default(),
            detector: None,
            step: StepUnderWay::default(),
            lives: lives.then(Lives::default),
            reuse: if environment.reuse { Reuse::AtOnce } else { Reuse::Late },
            births: Births::default(),
            recorder: (mode == Mode::Replay).then(Recorder::default),
            exclusive,
            observed: observes.then(Observed::default),
            scales: false,
            assumptions: Vec::new(),
            warnings: Vec::new(),
            kept: false,
            atomicity: Atomicity::default(),
            nesting: Nesting::default(),
            met: Met::default(),
            unsupported: None,
            left: None,
            status,
            root: None,
            most_threads: 1,
            names: Names::default(),
            channels_written_out,
            channel_words: ChannelWords::default(),
            deaths,
            overflow: None,
            by_transactions,
            by_states,
            compares: by_states || verifies,
            frames: Frames::default(),
            follows: false,
            orders_time,
            footprints,
            detects: !by_transactions,
            exit_ends: false,
            harness: Harness::default(),
            weak_pair: false,
            native: crate::native::Calls::default(),
            proved: crate::proved::Sites::default(),
        }
    }

    /// Whether waits may return, and weak compare-exchanges fail, for no reason.
    pub fn spurious(&self) -> bool {
        self.order.as_ref().is_some_and(|order| order.environment.spurious)
    }

    /// The running thread's number; main's before there is a machine.
    pub fn thread_number(&self) -> u32 {
        self.running.unwrap_or(0)
    }

    /// The running thread.
    pub fn thread(&mut self) -> &mut Thread {
        let number = self.thread_number() as usize;
        &mut self.execution.threads[number]
    }
}

static STATE: AtomicPtr<State> = AtomicPtr::new(std::ptr::null_mut());

/// Makes a state the process's one.
pub fn install(state: State) {
    STATE.store(Box::into_raw(Box::new(state)), Ordering::Relaxed);
}

/// The state, if there is one: code of the program runs before `main`, too.
pub fn installed() -> Option<&'static mut State> {
    // SAFETY: one OS thread; by the module's rule no other reference is in use. A signal handler uses it only to end the
    // execution or the process.
    unsafe { STATE.load(Ordering::Relaxed).as_mut() }
}

/// The state.
pub fn state() -> &'static mut State {
    installed().unwrap_or_else(|| fatal("a hook was called before the runtime was ready"))
}

/// An error of ours: told to the session, if there is one, and the process ends.
pub fn fatal(message: &str) -> ! {
    crate::session::internal_error(message)
}

/// What the program passed to the hook that stops and is needed behind the stop, beside what is pending. It is in registers and in frames of the
/// runtime, which no fingerprint looks at.
pub type Passed = [u64; 4];

/// Nothing.
pub const NOTHING: Passed = [0; 4];

/// Stops the running thread before an operation, until the explorer runs it again.
pub fn stop(pending: Pending, passed: Passed, site: SiteId) {
    keep_errno();
    if !state().below_root {
        crate::kernel::before_root();
    }
    crate::exclusive::look(None);
    let stopped = crate::unwind::recorded_stack();
    let state = state();
    let number = state.thread_number();
    let frames = match (&mut state.recorder, &mut state.observed) {
        (Some(recorder), _) => Some(&mut recorder.frames),
        (None, Some(observed)) => Some(&mut observed.frames),
        (None, None) => None,
    };
    if let Some(frames) = frames {
        frames.insert(number, crate::unwind::frames());
    }
    let frame = if state.compares { crate::unwind::program_frame() } else { None };
    if let Some(frame) = &frame {
        // SAFETY: it is a frame of the running stack.
        unsafe { state.frames.clear(frame) };
    }
    let scales = u64::from(state.scales);
    let thread = state.thread();
    thread.acts += scales;
    thread.frame = frame;
    thread.stopped = stopped;
    thread.pending = pending;
    thread.arguments = passed;
    thread.site = site;
    switch_to_explorer();
    crate::scrub::after_stop();
    while crate::state::state().probing {
        let stack = crate::unwind::stack();
        crate::state::state().thread().stopped = stack;
        switch_to_explorer();
    }
}

/// Suspends the running thread.
fn switch_to_explorer() {
    let state = state();
    let explorer = state.explorer;
    let save = &raw mut state.thread().stack_pointer;
    // SAFETY: `explorer` was saved by `run`, whose stack waits there; `save` is written before anything else runs.
    unsafe { context::switch(save, explorer) }
}

/// Return addresses of a stopped thread's stack, and behind them those of its creation. Called by the explorer.
pub fn stack_of(number: u32) -> Vec<u64> {
    let state = state();
    let thread = &state.execution.threads[number as usize];
    let region = thread.region.0 as usize;
    let mut stack = Vec::new();
    // A thread that left its coroutine in the middle cannot be run, not even for this.
    let over = state.step.flow != Flow::On;
    if !over && !matches!(thread.pending, Pending::Start | Pending::Ended) {
        state.probing = true;
        run(number);
        let state = crate::state::state();
        state.probing = false;
        stack.clone_from(&state.execution.threads[number as usize].stopped);
    }
    stack.extend(crate::state::state().created.get(region).into_iter().flatten());
    stack
}

/// Leaves the running coroutine for good: its thread has ended, or the execution is over.
pub fn leave() -> ! {
    let explorer = state().explorer;
    // SAFETY: `explorer` was saved by `run`, whose stack waits there.
    unsafe { context::abandon(explorer) }
}

/// Ends the execution under way for all threads.
pub fn end_execution(flow: Flow) -> ! {
    state().step.flow = flow;
    leave()
}

/// Runs a thread's coroutine until it stops or leaves.
pub fn run(number: u32) {
    let state = state();
    state.running = Some(number);
    let thread = &state.execution.threads[number as usize];
    let stack_pointer = thread.stack_pointer;
    crate::thread_locals::switch_to(thread.tls);
    let save = &raw mut state.explorer;
    // SAFETY: the thread is suspended, or prepared and not yet run; by the Machine contract it has not ended.
    unsafe { context::switch(save, stack_pointer) }
    crate::state::state().running = None;
}

/// Sets the OS thread's `errno`, on behalf of the running thread.
pub fn set_errno(value: i32) {
    // SAFETY: the pointer is valid for the OS thread's life.
    unsafe { *libc::__errno_location() = value }
}

/// What native calls left in the OS thread's `errno` becomes the running thread's. Native calls never set it to 0, so that 0
/// means that there is nothing new.
pub fn keep_errno() {
    // SAFETY: the pointer is valid for the OS thread's life.
    let native = unsafe { &mut *libc::__errno_location() };
    let errno = state().thread().errno;
    if *native != 0 && !errno.is_null() {
        // SAFETY: the thread's own word, in its own heap.
        unsafe { *errno = *native };
        *native = 0;
    }
}

/// `errno` is a word of the thread's own, as its address tells threads apart (std's `exit` relies on that).
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc___errno_location() -> *mut i32 {
    match installed() {
        Some(state) if !state.execution.threads.is_empty() => {
            keep_errno();
            state.thread().errno
        }
        // SAFETY: always safe to call.
        _ => unsafe { libc::__errno_location() },
    }
}
