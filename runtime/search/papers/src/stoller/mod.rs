//! Stoller's framework: reduction by locks, with the locking discipline checked during the reduced
//! search.
//!
//! S. D. Stoller: Model-checking multi-threaded distributed Java programs (SPIN 2000, and its
//! journal version, whose numbering is used unless "SPIN version" is said). A strategy of its own
//! beside the default one, so that the paper's claims can be checked and compared.
//!
//! | file | what | in the paper |
//! |---|---|---|
//! | [`system`] | threads, objects, operations, transitions | 3.1, 3.3 |
//! | [`classes`] | classes of objects, visible and invisible | 3.1, 3.5 |
//! | [`conditions`] | conditions on systems | 3.6 |
//! | `lockset` | LD and LD′, the lockset′ algorithm | 3.4, 6, 7 |
//! | `dependency` | unconditional and conditional dependency | 4, SPIN version 7 |
//! | `sleep` | sleep sets | 4 |
//! | `search` | state-less selective search | 4, Figure 2 |
//! | `execute` | its transitions: SSS, IF-SSS, C(M) | 5.1, 5.2 |
//! | `compose` | what composed transitions do | 5.2, 5.3 |
//! | `interfere` | might be the first to interfere with | 6, Figure 3 |
//! | `persistent` | Algorithms 2-LD and 2-LD′ | 6, 7 |
//! | `deepening` | SSS_cyc and IF-SSS_cyc | 4, 5.1 |
//! | `visited` | traditional selective search | 5.2, 7, 10 |
//!
//! What is claimed (theorems 1, 3, 5, 8, 9), for programs with finitely many states: all reachable
//! deadlocks and control points are explored, so all end states and failures of the model machine
//! are found. Stateless search without deepening needs an acyclic state space.
//! [`Granularity::Single`] with [`Persistent::Enabled`] needs no condition; the others need LD and
//! the conditions of [`conditions`], and with [`Checking::LdPrime`] find a violation of LD′ if
//! there is one. The outcome says `Everything` only where that holds, what was violated is in
//! [`Stoller::violations`].
//!
//! Departures: states are kept and restored (checkpointing, section 8.4) instead of replayed. A
//! thread that the program starts exists from the beginning, as the paper has it, with a guard
//! before its first transition; joining and ending are operations on a communication object.

pub mod classes;
mod compose;
pub mod conditions;
mod deepening;
mod dependency;
mod execute;
mod interfere;
mod lockset;
mod persistent;
mod search;
mod sleep;
pub mod system;
mod visited;

pub use classes::{Class, Classes};
pub use conditions::{Condition, Violation};
pub use lockset::Checking;
pub use persistent::Persistent;
pub use sleep::Sleep;
pub use system::System;

use self::lockset::Locksets;
use self::search::Search;
use lockred_search::drive::Drive;
use lockred_search::machine::ThreadId;
use lockred_search::{Covered, Limits, Observer, Outcome};

/// What a transition of the search is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Granularity {
    /// A transition of the program (SSS).
    Single,
    /// The same; after a visible one, the thread's invisible ones are executed at once (IF-SSS,
    /// section 5.1).
    InvisibleFirst,
    /// A composed transition (SSS of C(M), section 5.2).
    Composed,
}

/// How the states are gone through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// No state is remembered (Figure 2). Does not end on cycles, but at the limit of operations.
    Stateless,
    /// No state is remembered; executions of at most 1, 2, 3, … transitions are explored until no
    /// longer ones are left (the variants that the paper calls cyc). Always explores all enabled
    /// transitions.
    Deepening,
    /// Each state is explored once (traditional selective search; Godefroid, LNCS 1032, figure
    /// 6.2).
    Stateful,
}

/// Which of the framework's searches is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// What a transition is.
    pub granularity: Granularity,
    /// Which enabled transitions are explored.
    pub persistent: Persistent,
    /// How sleep sets are computed.
    pub sleep: Sleep,
    /// What is checked of the locking discipline.
    pub checking: Checking,
    /// How states are gone through.
    pub memory: Memory,
    /// BoundedInvis: as many invisible transitions of a thread may follow each other.
    pub bound: u32,
}

impl Settings {
    /// Plain state-less selective search: all transitions, unconditional sleep sets, nothing
    /// checked.
    pub const SSS: Self = Self {
        granularity: Granularity::Single,
        persistent: Persistent::Enabled,
        sleep: Sleep::Unconditional,
        checking: Checking::Off,
        memory: Memory::Stateless,
        bound: 10_000,
    };

    /// Invisible-first search, with all that the paper recommends: persistent sets, sleep sets, LD′
    /// checked.
    pub const IF_SSS: Self = Self {
        granularity: Granularity::InvisibleFirst,
        persistent: Persistent::Algorithm2,
        sleep: Sleep::Conditional,
        checking: Checking::LdPrime,
        ..Self::SSS
    };

    /// SSS of C(M), likewise.
    pub const COMPOSED: Self = Self { granularity: Granularity::Composed, ..Self::IF_SSS };

    /// Whether the search relies on the locking discipline and the conditions.
    fn reduces_by_locks(self) -> bool {
        self.granularity != Granularity::Single || self.persistent == Persistent::Algorithm2
    }
}

/// Sees which states and transitions a search explores.
pub trait Witness<M> {
    /// A transition of the program is about to be executed by the thread.
    fn on_transition(&mut self, machine: &M, thread: ThreadId) {
        let _ = (machine, thread);
    }

    /// A state is explored. (The states within a composed transition are none.)
    fn on_state(&mut self, machine: &M) {
        let _ = machine;
    }
}

impl<M> Witness<M> for () {}

/// A search of the framework: what it is given, and what it has found beside failures.
#[derive(Clone, Debug)]
pub struct Stoller {
    classes: Classes,
    settings: Settings,
    violations: Vec<Violation>,
    states: u64,
}

impl Stoller {
    /// A search that has not begun.
    #[must_use]
    pub fn new(classes: Classes, settings: Settings) -> Self {
        Self { classes, settings, violations: Vec::new(), states: 0 }
    }

    /// The violations of conditions that were seen, each once per object.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// How many different states were explored, if it remembered them ([`Memory::Stateful`]).
    #[must_use]
    pub const fn states(&self) -> u64 {
        self.states
    }

    /// Searches the machine's program from its root.
    pub fn explore<M: System>(
        &mut self,
        machine: &mut M,
        limits: Limits,
        observer: &mut dyn Observer<M::Failure>,
    ) -> Outcome {
        self.explore_seen(machine, limits, observer, &mut ())
    }

    /// As [`Self::explore`]; `witness` sees what is explored.
    pub fn explore_seen<M: System>(
        &mut self,
        machine: &mut M,
        limits: Limits,
        observer: &mut dyn Observer<M::Failure>,
        witness: &mut dyn Witness<M>,
    ) -> Outcome {
        machine.restore_root();
        self.violations = conditions::check(machine, &self.classes);
        self.states = 0;
        let drive = Drive::new(machine, limits, observer);
        let mut search = Search::new(drive, self, witness);
        let result = match search.memory() {
            Memory::Deepening => search.deepen(limits),
            Memory::Stateless | Memory::Stateful => search.run(usize::MAX),
        };
        let outcome = search.drive.outcome(result);
        if outcome.covered == Covered::Everything && !self.is_justified() {
            return Outcome { covered: Covered::Some, ..outcome };
        }
        outcome
    }

    /// Whether the theorems say that a search that has ended has explored everything.
    ///
    /// That no violation of LD was found says nothing in a reduced search (section 7). That none of
    /// LD′ was says that there is none (theorems 8 to 10), unless objects are initialized
    /// (`lockset`).
    fn is_justified(&self) -> bool {
        if !self.settings.reduces_by_locks() {
            return true;
        }
        let checks = self.settings.checking == Checking::LdPrime;
        if checks && self.classes.has_initial_threads() {
            return false;
        }
        let counts = |violation: &Violation| {
            violation.condition != Condition::PureVis || self.settings.checking != Checking::Off
        };
        self.settings.checking != Checking::Ld && !self.violations.iter().any(counts)
    }

    /// The threads whose enabled transitions Algorithm 2-LD finds persistent in the machine's
    /// present state, if it begins with `start`; of the discipline nothing is known.
    pub fn persistent_threads<M: System>(&self, machine: &mut M, start: ThreadId) -> Vec<ThreadId> {
        let locksets = Locksets::default();
        let prospects =
            persistent::Prospects::new(machine, &self.classes, (Checking::Off, &locksets));
        prospects.from(machine, start).iter().collect()
    }
}
