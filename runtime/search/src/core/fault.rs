//! Deliberate faults of the search by transactions: a test switches one on and expects the oracle
//! to catch it.
//!
//! Without the feature `faults`, which only the tests of lockred-model enable, no fault can be
//! switched on and asking costs nothing.

/// A rule that is left out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Woken sleepers carry no inherited footprints.
    NothingInherited,
    /// Weak happens-before has an edge from every release to every later acquire.
    AllLockEdges,
    /// Weak happens-before has no lock edges.
    NoLockEdges,
    /// Blocked transactions never park.
    NeverPark,
    /// Blocked threads take no part in race reversal.
    BlockedLeftOut,
    /// A release that cannot be reversed hides the acquire before it.
    ReleaseShadows,
    /// Protected data is not recorded in footprints.
    ProtectedDropped,
    /// The search goes on with a refined discipline without starting again.
    NoRestart,
    /// Sleepers are never woken.
    SleepTooLong,
    /// Nested acquires are right movers although the lock order has cycles.
    CyclesIgnored,
    /// A try does not make its lock observed.
    TryUnobserved,
    /// A lock that is left in another state counts as taken and given back.
    ChangeAsSection,
    /// A notify that wakes others is a both mover.
    NotifyBoth,
    /// A thread that rolls back where its race would be reversed is passed over.
    RolledBackPassedOver,
    /// An end state counts although the way to it refuted the discipline.
    EndUnchecked,
    /// Locks held while one is wanted that may be held for good count as given back in time.
    NoClosure,
    /// A join after taking a lock is never reversed with the end it waits for.
    JoinNeverReversed,
    /// Races are reported with the schedules that were explored.
    NoWitness,
    /// Threads that are blocked where all others are asleep take no part in race reversal.
    BlockedBehindSleep,
    /// Ghost footprints include which threads were enabled.
    InheritedEnable,
    /// A transaction goes on with a non-mover after it has committed.
    TwoNonMovers,
    /// Blocked transactions park wherever they took a lock: needless executions.
    EagerPark,
    /// Cycles of the lock order count although a gate lock makes them harmless: needless
    /// refinements.
    NoGuards,
    /// Access predicates: a release, exclusive before and not after, is a right mover.
    ReleaseIsRight,
    /// Access predicates: an acquire, exclusive after and not before, is a left mover.
    AcquireIsLeft,
    /// Access predicates: every acquire of a re-entrant lock begins a transaction's right part,
    /// after its commit, too.
    InnerAcquireIsRight,
    /// Access predicates: what no lock protects is accessed exclusively.
    UnprotectedIsMover,
    /// Access predicates: transactions may go on for ever after their commit.
    NoConditionC,
    /// Access predicates: transactions are ended in single states, whatever the thread is in when
    /// others have moved.
    CutAlone,
    /// Access predicates: states that were visited are not looked at again when a predicate becomes
    /// weaker.
    VisitedStaysVisited,
    /// Access predicates: accesses without exclusive access refute nothing.
    AccessUnchecked,
    /// Access predicates: only accesses that are enabled refute predicates, as rule ACCESS has it.
    BlockedUnseen,
    /// Access predicates: two threads may have exclusive access at once (condition (i)).
    SharingUnchecked,
    /// Access predicates: threads may change each other's exclusive access (condition (ii)).
    ChangesUnchecked,
    /// Access predicates: the end of a thread that is waited for is a right mover.
    EndIsRight,
    /// The only thread that has not ended counts as one that never had company (stateful search).
    AloneAgain,
    /// Transactions are never cut, however long they are.
    NoCut,
    /// Persistent sets are explored all around a cycle.
    CyclesUnexpanded,
    /// Locks count as given back by every transaction that takes them, where persistent sets are
    /// looked for.
    SplitIgnored,
    /// Joins of threads that wait while holding a lock are left out where persistent sets are
    /// looked for.
    LateJoinsIgnored,
    /// Stoller's framework: sleepers stay asleep whatever is executed.
    SleepersStayAsleep,
    /// Stoller's framework: an acquire never interferes with another one.
    AcquiresDoNotInterfere,
    /// Stoller's framework: LD′ lets initialization go on until a second thread comes.
    InitializationIsOpen,
    /// Stoller's framework: a write of an object that was shared by reading counts as a read.
    LateWritesAreReads,
    /// Stoller's framework: a lock that a composed transition keeps counts as given back.
    KeptLockIsSection,
    /// Stoller's framework: persistent sets are explored all around a cycle.
    TransitionsIgnored,
    /// Unified search: what can still be executed from a state that is known counts as nothing.
    SummariesForgotten,
    /// Unified search: a conflict orders threads as creation does, so that all that a thread still
    /// does comes after what it once conflicts with.
    ConflictsOrder,
    /// Unified search: what blocked threads wait to do is no part of what can still be executed.
    WaitersLeftOut,
    /// Unified search: that transactions are ordered by what both touch is forgotten.
    TraceOrderForgotten,
    /// Unified search: states are the same whatever threads know of accesses.
    KnowledgeForgotten,
    /// Unified search: of a thread that cannot run, nobody is asked to make it run.
    NobodyActsFirst,
    /// Unified search: who holds the lock that a thread wants is not asked to give it back.
    HoldersForgotten,
    /// Unified search: release sequences go on through stores.
    StoresPassOn,
    /// Unified search: what is rolled back is judged where executions end.
    JudgedAtEnds,
    /// Unified search: what is found of a blocked thread's access is remembered, and nothing is
    /// learned from it.
    WaitersUnreported,
    /// Unified search: a pass ends without a look at what the last state has taught.
    LateWatch,
    /// Unified search: what is rolled back is judged alone, not beside what others do.
    JudgedAlone,
    /// Unified search: what was left out of footprints and is shared later starts no new pass.
    SharedLate,
    /// Unified search: decrements of a count commute although either may be the last.
    DecrementsCommute,
    /// Minimal schedules: states are the same whichever thread ran last.
    LastForgotten,
    /// Minimal schedules: a state is not gone on from again, whatever the way to it has cost.
    CostForgotten,
    /// Minimal schedules: what was written before does not tell states apart.
    WritesForgotten,
    /// Bounded search: preempted threads sleep until nothing else can run.
    NeverWoken,
    /// Bounded search: who comes to wait for what a sleeper would change does not wake it.
    WaitersForgotten,
}

impl Fault {
    /// All faults of the search by transactions.
    pub const ALL: [Self; 23] = [
        Self::NothingInherited,
        Self::AllLockEdges,
        Self::NoLockEdges,
        Self::NeverPark,
        Self::BlockedLeftOut,
        Self::ReleaseShadows,
        Self::ProtectedDropped,
        Self::NoRestart,
        Self::SleepTooLong,
        Self::CyclesIgnored,
        Self::TryUnobserved,
        Self::ChangeAsSection,
        Self::NotifyBoth,
        Self::RolledBackPassedOver,
        Self::EndUnchecked,
        Self::NoClosure,
        Self::JoinNeverReversed,
        Self::NoWitness,
        Self::BlockedBehindSleep,
        Self::InheritedEnable,
        Self::TwoNonMovers,
        Self::EagerPark,
        Self::NoGuards,
    ];
}

#[cfg(feature = "faults")]
mod switch {
    use std::cell::Cell;

    use super::Fault;

    thread_local! {
        static ON: Cell<Option<Fault>> = const { Cell::new(None) };
    }

    /// Runs `search` with the fault switched on, in this thread.
    pub fn with<R>(fault: Fault, search: impl FnOnce() -> R) -> R {
        ON.set(Some(fault));
        let result = search();
        ON.set(None);
        result
    }

    /// Whether the rule is left out, in this thread.
    #[must_use]
    pub fn is_on(fault: Fault) -> bool {
        ON.get() == Some(fault)
    }
}

#[cfg(feature = "faults")]
pub use switch::{is_on, with};

#[cfg(not(feature = "faults"))]
/// Whether the rule is left out: never without the feature.
#[must_use]
pub const fn is_on(_: Fault) -> bool {
    false
}
