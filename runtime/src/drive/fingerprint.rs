//! The state of the program in 128 bits, for the search over states.
//!
//! What counts is what decides how the program can go on:
//! - its memory: writable globals, the heaps' used parts, the stacks from the frame that called the
//!   runtime on (our own frames below hold leftovers), with the registers that this frame keeps
//!   across calls, and where it goes on;
//! - what the machine keeps for it: what threads are about to do, with what they passed to the hook
//!   ([`crate::machine::state::Passed`]), who waits, thread-local destructors, channels, the clock.
//!
//! Equal fingerprints mean equal states. The reverse does not hold: leftovers in dead variables,
//! and in their padding, tell states apart that are the same to the program. That costs time, never
//! a bug. Against it: what else is dead in the program's frames is cleared
//! ([`crate::coroutine::frames`]), in this search memory is handed out zeroed and a freed block is
//! zeroed and handed out again first ([`crate::memory::heap`]), and the counter of a recognised
//! condition variable stands still ([`crate::hooks::atomics`]). Addresses do not depend on the
//! interleaving anyway.
//!
//! An execution that has done something beyond its own memory (files, the environment, native
//! libraries) is like no other.

use crate::drive::native::Native;
use crate::machine::execution::{AtExit, Execution};
use crate::machine::hook;
use crate::machine::root::{Part, Root};
use crate::machine::state::State;
use crate::machine::thread::{Destructor, Handle, Loops, Thread};
use crate::memory::arena::Region;
use crate::memory::chunks::{Chunk, Chunks};
use lockred_search::fingerprint::Fingerprint;
use lockred_search::fingerprint::Lanes;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;

/// The memory by which states are told apart.
fn memory(execution: &Execution) -> impl Iterator<Item = Range<usize>> {
    let of_thread = |thread: &Thread| {
        thread.memory(thread.frame.map_or(thread.stack_pointer, |frame| frame.stack_pointer))
    };
    execution.threads.iter().flat_map(of_thread).chain([crate::memory::program::globals()])
}

fn hash_thread(thread: &Thread, others: u64, hasher: &mut impl Hasher) {
    let Thread {
        stack_pointer,
        frame,
        region: Region(region),
        parent,
        children,
        pending,
        arguments,
        site,
        last_site,
        guard,
        fenced,
        woken,
        loops: Loops { read_only_spin, writing_spin, spurious, acts },
        atomic,
        channel,
        condvar,
        handle,
        stack_used,
        random_words,
        // Counts only, and what reports show.
        progress: _,
        created: _,
        stopped: _,
        last_words: _,
    } = thread;
    let stack_pointer = frame.is_none().then_some(stack_pointer);
    (stack_pointer, frame, region, parent, children, pending, arguments, site, last_site)
        .hash(hasher);
    (guard, atomic, channel, condvar, fenced, woken, stack_used, random_words).hash(hasher);
    read_only_spin.hash(hasher);
    (spurious, acts).hash(hasher);
    writing_spin.hash(others, hasher);
    hash_handle(handle, hasher);
}

fn hash_handle(handle: &Handle, hasher: &mut impl Hasher) {
    let Handle {
        shares,
        // The same for a thread in all states.
        errno: _,
        tls: _,
        start: _,
        destructors,
        keys,
        name,
        result,
        detached,
        joined,
    } = handle;
    for Destructor { function, argument } in destructors {
        (*function as usize, *argument as usize).hash(hasher);
    }
    (shares, name, keys, *result as usize, detached, joined).hash(hasher);
}

fn hash_execution(execution: &Execution, hasher: &mut impl Hasher) {
    let Execution {
        threads,
        live,
        keys,
        at_exit,
        progress,
        clock,
        looks,
        overtaken,
        // For reports; memory says who holds what.
        held: _,
        // For warnings.
        events: _,
        channels,
        exit,
        panics,
        // A limit on what has no end: where states recur, it ends all the same.
        steps_after_exit: _,
        cut,
        // What the plan claims changes nothing.
        claims: _,
        // They are not judged in a search over states.
        blocks: _,
        signals,
        processors,
        outside: _,
    } = execution;
    for thread in threads {
        hash_thread(thread, progress - thread.progress, hasher);
    }
    for key in keys {
        key.map(|destructor| destructor.map(|function| function as usize)).hash(hasher);
    }
    for function in at_exit {
        match *function {
            AtExit::Plain(function) => (function as usize, 0).hash(hasher),
            AtExit::With(function, argument) => (function as usize, argument as usize).hash(hasher),
        }
    }
    for (address, channel) in channels {
        address.hash(hasher);
        channel.hash(hasher);
    }
    (signals, processors).hash(hasher);
    let exit = exit.map(|exit| (exit.status, exit.thread, exit.returned));
    (live, clock, looks, overtaken, exit, panics.len(), cut).hash(hasher);
}

/// What fingerprints are made with.
#[derive(Debug, Default)]
pub struct Fingerprints {
    chunks: Chunks,
    /// States that are like no other.
    unique: u64,
}

/// All that decides how the program can go on.
pub struct Whole {
    machine: u128,
    memory: Vec<Rc<Chunk>>,
}

impl Whole {
    /// The present state, with the program stopped between two steps.
    pub fn take(state: &State, chunks: &mut Chunks) -> Self {
        Self::with(&state.execution, chunks, None)
    }

    /// The same without what is as it was at the root, or above it zero, where little of much
    /// memory was written.
    fn changed(state: &mut State, chunks: &mut Chunks) -> Self {
        if let Some(root) = &mut state.root {
            root.look();
        }
        Self::with(&state.execution, chunks, state.root.as_ref())
    }

    fn with(execution: &Execution, chunks: &mut Chunks, root: Option<&Root>) -> Self {
        let mut hasher = Lanes::default();
        hash_execution(execution, &mut hasher);
        let mut all = Vec::new();
        // SAFETY: used heaps, live stacks and globals are mapped, and the program is stopped.
        let mut take = |part: Part<'_>| unsafe {
            match part {
                Part::Unknown(range) => chunks.take(range, &mut all),
                Part::Touched(range) => chunks.take_other_than_zero(range, &mut all),
                Part::Written(range, held) => chunks.take_other_than(range, held, &mut all),
                Part::Blank(_) => {}
            }
        };
        for piece in memory(execution) {
            match root {
                Some(root) => root.for_each_part(piece, &mut take),
                None => take(Part::Unknown(piece)),
            }
        }
        Self { machine: hasher.fingerprint(), memory: all }
    }

    /// What is not the same in both, byte by byte.
    pub fn difference(&self, other: &Self) -> Option<String> {
        if self.machine != other.machine {
            return Some("what the machine keeps".into());
        }
        if self.memory.len() != other.memory.len() {
            return Some("how much memory is in use".into());
        }
        let mut pairs = self.memory.iter().zip(&other.memory);
        pairs.find_map(|(one, two)| one.difference(two)).map(|at| format!("memory at {at:#x}"))
    }
}

impl Fingerprints {
    fn take(&mut self, state: &mut State) -> u128 {
        let mut hasher = Lanes::default();
        if state.execution.outside {
            self.unique += 1;
            self.unique.hash(&mut hasher);
        }
        let whole = Whole::changed(state, &mut self.chunks);
        whole.machine.hash(&mut hasher);
        for chunk in whole.memory {
            chunk.fingerprint.hash(&mut hasher);
        }
        hasher.fingerprint()
    }
}

impl Fingerprint for Native {
    fn fingerprint(&self) -> u128 {
        self.fingerprints.borrow_mut().take(&mut hook::enter())
    }
}
