//! The closed lists: bug kinds, warnings, assumptions, verdicts, each with its stable name and
//! code.

use serde::{Deserialize, Serialize};

/// Declares a closed list with stable kebab-case names and, per entry, a code and a one-line
/// meaning.
macro_rules! closed_list {
    ($(#[$meta:meta])* $name:ident { $($variant:ident $code:literal $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $(#[doc = $text] $variant),+ }
        impl $name {
            /// Every entry of the list.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// The stable code.
            #[must_use]
            pub const fn code(self) -> &'static str { match self { $(Self::$variant => $code),+ } }
            /// What it means, in one line.
            #[must_use]
            pub const fn meaning(self) -> &'static str { match self { $(Self::$variant => $text),+ } }
        }
    };
}

closed_list! {
    /// What a bug is: docs/codes has a page for each.
    BugKind {
        DataRace "LR0001" "two unordered accesses to the same memory, at least one a write and one not atomic",
        Deadlock "LR0002" "threads wait for each other, or for something that can no longer happen",
        Panic "LR0003" "the test fails by panicking in some interleaving",
        UseAfterFree "LR0004" "memory is used after it was freed",
        DoubleFree "LR0005" "memory is freed twice, or was never allocated",
        Livelock "LR0006" "threads keep running without making progress",
        Abort "LR0007" "the process aborts",
        Signal "LR0008" "the process receives a fatal signal",
        Exit "LR0009" "the process exits inside a test, or a binary exits with a non-zero status",
        OutOfBounds "LR0010" "memory is accessed that belongs to no block: before one, or after one",
    }
}

closed_list! {
    /// Findings that do not fail a test.
    WarningKind {
        LockOrder "LR0101" "locks are acquired in a cyclic order that no schedule confirms as a deadlock",
        LockingDiscipline "LR0102" "a field is not always protected by the same lock",
        Atomicity "LR0103" "a function that is meant to be atomic is not: other threads come in between",
        Leak "LR0104" "memory is still allocated when the test has ended, and nothing points to it",
        ThreadPanicked "LR0105" "a thread that nobody joined panicked",
        ThreadStuck "LR0106" "a thread is blocked for ever when the test has ended",
        Timing "LR0107" "a test fails only where a thread is slower than another one sleeps, or waits with a timeout, or than time passes between two looks at a clock",
        UnprotectedWrite "LR0201" "unsafe code may write shared memory that nothing protects",
        UnboundedImpl "LR0202" "Send or Sync is implemented for a type whatever its parameters are",
        UnpairedAtomic "LR0203" "an atomic variable is to publish something, and nothing acquires or releases it",
        LockAcrossAwait "LR0204" "a lock may be held across await",
        LockAcrossThread "LR0205" "a lock may be held while a thread is started or joined",
        BlockingUnderLock "LR0206" "a lock may be held while its holder waits for something else",
        UnlockedRead "LR0207" "unsafe code may read without a lock what is written under one",
    }
}

closed_list! {
    /// What a verdict rests on beyond what the manual states for all.
    AssumptionKind {
        MemoryModelSc "memory-model-sc" "interleavings are explored under sequential consistency; weaker values of atomic loads are not",
        DataRaces "data-races" "data races were not looked for; no common lock, and no creation or joining of threads, orders all accesses to some data",
        NativeCode "native-code" "uninstrumented native code was called; its memory accesses and synchronisation are not seen",
        ExternalWrite "external-write" "files were changed that are not put back between executions",
        FileChange "file-change" "files were changed: file operations of threads are not explored in other orders",
        SystemFiles "system-files" "files that the system changes by itself were read; what is in them may differ between executions",
        BoundedSpin "bounded-spin" "a waiting loop gave up by itself; interleavings in which it gives up at another iteration are not explored",
        DetachedThreadCut "detached-thread-cut" "a thread that outlived the test was stopped after a bounded number of operations",
        AddressReuse "address-reuse" "freed addresses are not handed out again, so ABA on addresses is not explored",
        UserModels "user-models" "sync models that packages of the workspace bring were believed",
        RandomnessFixed "randomness-fixed" "randomness from the system is one fixed stream",
        RandomnessSampled "randomness-sampled" "each request of randomness from the system was answered in four ways only: zeros, ones, and two random streams",
        VirtualTime "virtual-time" "a clock was looked at; time is virtual: from one look to the next, next to nothing has passed, or once in an execution a day, and nothing in between was explored",
        TimeOrdered "time-ordered" "sleeps and timeouts were long enough for all that others could do meanwhile; schedules in which they are not were not explored",
        ScaledLoops "scaled-loops" "a loop whose rounds synchronise was ended early, as --scale-loops has it; what further rounds do was not checked",
        AssumedConditions "assumed-conditions" "executions in which a condition of `lockred::assume!` is false were left out",
        BoundedSpurious "bounded-spurious" "waits that return, and weak compare-exchanges that fail, for no reason more than twice in a row are not explored",
    }
}

/// The verdict on one test.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Complete, no bug, no assumption beyond the manual's.
    Verified,
    /// No bug; bounded, or with assumptions.
    Passed,
    /// No bug so far; the user interrupted it.
    Interrupted,
    /// At least one reproduced bug.
    Failed,
    /// The test does what cannot be modelled, or an error of ours ended it.
    Unsupported,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn codes_are_unique() {
        let mut seen = HashSet::new();
        let all =
            BugKind::ALL.iter().map(|k| k.code()).chain(WarningKind::ALL.iter().map(|k| k.code()));
        for code in all.chain(AssumptionKind::ALL.iter().map(|k| k.code())) {
            assert!(seen.insert(code), "{code} is used twice");
        }
    }

    #[test]
    fn an_assumption_is_named_alike_in_json_and_by_code() {
        for kind in AssumptionKind::ALL {
            assert_eq!(serde_json::to_string(kind).unwrap(), format!("\"{}\"", kind.code()));
        }
    }
}
