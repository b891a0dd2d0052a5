//! The execution under way: everything of the runtime that a restore puts back to what it was at
//! the root.

use crate::claims::bytes::Claims;
use crate::discipline::atomicity::Blocks;
use crate::locks::order::Event;
use crate::machine::channel::Channel;
use crate::machine::looks::Looks;
use crate::machine::thread::Thread;
use crate::memory::arena::Region;
use crate::record::held::Held;
use crate::world::processors::Processors;
use crate::world::signals::Signals;
use std::collections::BTreeMap;

/// How the process ended, as far as the program is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exit {
    /// The status.
    pub status: i32,
    /// Who ended it.
    pub thread: u32,
    /// By returning from `main`, not by calling `exit`.
    pub returned: bool,
}

/// A panic that started unwinding.
#[derive(Clone, Debug)]
pub struct Panic {
    /// Who.
    pub thread: u32,
    /// What std printed about it: `src/lib.rs:3:5` and the message; empty where a hook swallowed
    /// it.
    pub location: String,
    /// See `location`.
    pub message: String,
    /// Return addresses (only while recording).
    pub stack: Vec<u64>,
    /// Recorded steps before it.
    pub step: usize,
}

/// A function registered by `atexit`.
#[derive(Clone, Copy, Debug)]
pub enum AtExit {
    /// By `atexit`.
    Plain(unsafe extern "C" fn()),
    /// By `__cxa_atexit`.
    With(unsafe extern "C" fn(*mut u8), *mut u8),
}

/// State of one execution.
#[derive(Debug, Default)]
pub struct Execution {
    /// Threads in creation order; main is 0.
    pub threads: Vec<Thread>,
    /// Threads that have not ended.
    pub live: u32,
    /// Destructors of pthread keys; `None` for deleted keys.
    pub keys: Vec<Option<Option<unsafe extern "C" fn(*mut u8)>>>,
    /// Registered by `atexit`, in order.
    pub at_exit: Vec<AtExit>,
    /// How often any thread has done something that others may wait for
    /// ([`crate::loops::writing_spin`]).
    pub progress: u64,
    /// Virtual nanoseconds since the start.
    pub clock: u64,
    /// What was looked at clocks.
    pub looks: Looks,
    /// A sleep, a timeout or a look was overtaken, where that decides what a failure means.
    pub overtaken: bool,
    /// Locks that are held.
    pub held: Vec<Held>,
    /// Locks that were acquired under others, and what orders that.
    pub events: Vec<Event>,
    /// Channels that are known as a whole, by the address of the block that each is in.
    pub channels: BTreeMap<usize, Channel>,
    /// What the plan claims of memory, in builds that check that.
    pub claims: Option<Claims>,
    /// Blocks that are meant to be atomic, where some are under way.
    pub blocks: Blocks,
    /// What happens at signals, and which are pending.
    pub signals: Signals,
    /// The processors that threads may use.
    pub processors: Processors,
    /// The first exit.
    pub exit: Option<Exit>,
    /// Panics in order.
    pub panics: Vec<Panic>,
    /// Steps since the first exit.
    pub steps_after_exit: u64,
    /// Everything that remained after main's end was cut.
    pub cut: bool,
    /// It has done something beyond its own memory: a copy of that is not all of its state.
    pub outside: bool,
}

impl Execution {
    /// Whether a block lies in a region that is mapped.
    pub fn maps(&self, block: usize) -> bool {
        Region::of_address(block)
            .is_some_and(|region| self.threads.iter().any(|thread| thread.region == region))
    }
}

impl Clone for Execution {
    fn clone(&self) -> Self {
        let mut new = Self::default();
        new.clone_from(self);
        new
    }

    /// Keeps the memory, as this is done before every execution.
    fn clone_from(&mut self, other: &Self) {
        let Self {
            threads,
            live,
            keys,
            at_exit,
            progress,
            clock,
            looks,
            overtaken,
            held,
            events,
            exit,
            panics,
            steps_after_exit,
            cut,
            channels,
            claims,
            blocks,
            signals,
            processors,
            outside,
        } = other;
        self.threads.clone_from(threads);
        self.live = *live;
        self.keys.clone_from(keys);
        self.at_exit.clone_from(at_exit);
        self.progress = *progress;
        self.clock = *clock;
        self.looks = *looks;
        self.overtaken = *overtaken;
        self.held.clone_from(held);
        self.events.clone_from(events);
        self.exit = *exit;
        self.panics.clone_from(panics);
        self.steps_after_exit = *steps_after_exit;
        self.cut = *cut;
        self.outside = *outside;
        self.channels.clone_from(channels);
        self.claims.clone_from(claims);
        self.blocks.clone_from(blocks);
        self.signals.clone_from(signals);
        self.processors.clone_from(processors);
    }
}
