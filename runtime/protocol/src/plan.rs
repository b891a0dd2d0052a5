//! What becomes of each access of a program to memory, and by which rule: decided by the shim, kept
//! in the executable, and printed by `cargo lockred audit --accesses`.

use crate::addresses::Addresses;
use crate::section::Section;
use serde::{Deserialize, Serialize};

/// Names of rules that a build does not use, one a line: an environment variable that cargo-lockred
/// sets and the shim reads.
pub const WITHOUT: &str = "LOCKRED_WITHOUT_RULES";
/// Set to 1: every access has a hook, and those that need none or a lesser one are announced by
/// their claim before.
pub const CHECK_STATIC: &str = "LOCKRED_CHECK_STATIC";
/// A [`Flaw`] of the analysis, by name: for tests of the checked mode.
pub const FLAW: &str = "LOCKRED_STATIC_FLAW";

/// How many rounds loops that synchronise make ([`crate::codes::AssumptionKind::ScaledLoops`]); not
/// set: all.
pub const SCALE_LOOPS: &str = "LOCKRED_SCALE_LOOPS";

/// What is done at an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Nothing: there is no hook.
    Skip,
    /// A hook asks whether the memory is there (use after free, out of bounds). No other thread can
    /// reach it.
    Check,
    /// A hook reports to the monitor and the race detector as well.
    Track,
    /// It is an operation, before which the scheduler may switch threads.
    Visible,
}

impl Decision {
    /// As it is printed.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Check => "check",
            Self::Track => "track",
            Self::Visible => "visible",
        }
    }
}

/// Why it is done: for [`Decision::Skip`] and [`Decision::Check`] a rule, which can be switched
/// off.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u32)]
pub enum Reason {
    /// A constant global.
    Constant = 0,
    /// A load that the compiler marks as one of memory that does not change.
    Invariant = 1,
    /// A stack variable.
    Stack = 2,
    /// A thread-local variable.
    ThreadLocal = 3,
    /// What a parameter points to.
    Parameter = 4,
    /// A block of the heap.
    Heap = 5,
    /// The same bytes again.
    Repeated = 6,
    /// Code of the test harness.
    Harness = 7,
    /// Nothing is known of it.
    Shared = 8,
    /// An atomic operation or a fence.
    Operation = 9,
    /// Variables on the thread's own stack, or thread-local ones, by following addresses through
    /// memory.
    OwnVariables = 10,
    /// Memory that no other thread reaches, by following addresses through memory.
    OwnMemory = 11,
    /// Memory that other threads will reach, whose address nobody got yet.
    Unpublished = 12,
    /// All accesses to the memory since it was published are made under one lock.
    Locked = 13,
    /// Nobody writes the memory since it was published.
    Unwritten = 14,
    /// All accesses to the memory since it was published are made under one lock, which has no one
    /// name here.
    OneLock = 15,
    /// Nobody else has touched the memory yet, or the last reference to it was dropped.
    Owned = 16,
}

/// What a rule promises of every execution, so that a run can refute it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// One thread touches the object, as long as it lives; or it is never written. (A pointer may
    /// be one to a constant instead.)
    Unshared,
    /// Nobody writes the memory from then on, as long as it lives.
    Unwritten,
    /// No other thread has touched the memory since it began to live.
    First,
    /// Since two threads have touched the memory, all accesses are made while a lock is held, which
    /// is reported beside the claim.
    Locked,
    /// Since two threads have touched the memory, nobody writes it.
    Settled,
    /// Since two threads have touched the memory, some lock is held at all accesses.
    OneLock,
    /// No other thread has touched the memory since it began to live, or the last reference to its
    /// block was dropped.
    Owned,
}

impl Reason {
    /// All of them, by code.
    pub const ALL: [Self; 17] = [
        Self::Constant,
        Self::Invariant,
        Self::Stack,
        Self::ThreadLocal,
        Self::Parameter,
        Self::Heap,
        Self::Repeated,
        Self::Harness,
        Self::Shared,
        Self::Operation,
        Self::OwnVariables,
        Self::OwnMemory,
        Self::Unpublished,
        Self::Locked,
        Self::Unwritten,
        Self::OneLock,
        Self::Owned,
    ];

    /// The reason with this code.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.get(code as usize).copied()
    }

    /// What it leads to.
    #[must_use]
    pub const fn decision(self) -> Decision {
        match self {
            Self::Heap | Self::OwnMemory => Decision::Check,
            Self::Shared
            | Self::Unpublished
            | Self::Locked
            | Self::Unwritten
            | Self::OneLock
            | Self::Owned => Decision::Track,
            Self::Operation => Decision::Visible,
            _ => Decision::Skip,
        }
    }

    /// Whether it is a rule, which can be switched off.
    #[must_use]
    pub fn is_rule(self) -> bool {
        self.decision() < Decision::Track
    }

    /// Its name, as it is printed and as `--without-rule` takes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Invariant => "invariant",
            Self::Stack => "stack",
            Self::ThreadLocal => "thread-local",
            Self::Parameter => "parameter",
            Self::Heap => "heap",
            Self::Repeated => "repeated",
            Self::Harness => "harness",
            Self::Shared => "shared",
            Self::Operation => "operation",
            Self::OwnVariables => "own-variables",
            Self::OwnMemory => "own-memory",
            Self::Unpublished => "unpublished",
            Self::Locked => "locked",
            Self::Unwritten => "unwritten",
            Self::OneLock => "one-lock",
            Self::Owned => "owned",
        }
    }

    /// The rule with this name.
    #[must_use]
    pub fn rule(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.is_rule() && reason.name() == name)
    }

    /// Why what it leads to is enough.
    #[must_use]
    pub const fn why(self) -> &'static str {
        match self {
            Self::Constant => {
                "the memory is mapped for reading alone: a write to it is a signal, and reads race with nothing else"
            }
            Self::Invariant => {
                "rustc marks loads from vtables so, which are constants; no type or annotation of the program makes such a mark"
            }
            Self::Stack => {
                "the address of the variable is used to access it, compared, or passed to functions that keep no copy, so that no other thread has it"
            }
            Self::ThreadLocal => {
                "each thread has its own, and its address is stored nowhere, so that no other thread has it"
            }
            Self::Parameter => {
                "all calls of the function are known, and all pass the address of memory for which one of the rules before holds"
            }
            Self::Heap => {
                "the pointer that the allocator returned is stored nowhere, so that no other thread has it; the block may still be freed or overrun, which is asked for"
            }
            Self::Repeated => {
                "a hook right before, with no operation, call or free between, has reported the same bytes: in the same step and for the same race detector's clock, and as a write if this is one"
            }
            Self::Harness => {
                "it is code of libtest and its crates, which is run by the test's own thread"
            }
            Self::Shared => "nothing says that no other thread reaches the memory",
            Self::Operation => "other threads may be waiting for it, or see it",
            Self::OwnVariables => {
                "wherever the pointer comes from, it points to stack or thread-local variables whose addresses are in nothing that another thread can reach"
            }
            Self::OwnMemory => {
                "wherever the pointer comes from, the address of what it points to is in nothing that another thread can reach; blocks may still be freed or overrun, which is asked for"
            }
            Self::Unpublished => {
                "threads share the memory, but there is one thread still, or the function has just made it and given nobody its address"
            }
            Self::Locked => {
                "threads share the memory, and all accesses to it since it was published are made under one lock"
            }
            Self::Unwritten => {
                "threads share the memory, and nobody writes it since it was published"
            }
            Self::OneLock => {
                "threads share whatever the pointer points to, and all accesses to each since it was published are made under one lock, but not all of these locks lie so many bytes from it"
            }
            Self::Owned => {
                "threads share the memory, but all who pass its address have it alone: there is one thread still, they have just made it, or they have dropped the last reference to it"
            }
        }
    }

    /// What it promises, if a run can see that.
    #[must_use]
    pub const fn claim(self) -> Option<Claim> {
        match self {
            Self::Constant | Self::Invariant => Some(Claim::Unwritten),
            Self::Stack
            | Self::ThreadLocal
            | Self::Parameter
            | Self::Heap
            | Self::OwnVariables
            | Self::OwnMemory => Some(Claim::Unshared),
            Self::Unpublished => Some(Claim::First),
            Self::Locked => Some(Claim::Locked),
            Self::Unwritten => Some(Claim::Settled),
            Self::OneLock => Some(Claim::OneLock),
            Self::Owned => Some(Claim::Owned),
            Self::Repeated | Self::Harness | Self::Shared | Self::Operation => None,
        }
    }
}

/// An error of the analysis that tests ask for, to see that the checked mode finds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flaw {
    /// A pointer that is stored does not get away.
    StoresKeepNothing,
    /// A function keeps nothing of what it is passed.
    ParametersKeepNothing,
    /// What a parameter that is said to have no alias points to is its thread's own.
    NoaliasIsPrivate,
    /// What a thread is started with is its own.
    ThreadsShareNothing,
    /// Giving back a lock has no effect.
    LocksStayHeld,
    /// Nobody comes back from a call with a lock.
    CallsKeepNoLock,
    /// Each program is too large for its order of locks.
    OrderIsTooMuch,
    /// Memory that a function has made is reported to nobody.
    NothingIsPublished,
    /// There is one thread wherever a function is called from.
    ThreadsAreNotCreated,
    /// Accesses without a lock are those of the last owner, which do not count.
    BareAccessesDoNotCount,
    /// Callers that hold no lock do not count.
    BareCallersDoNotCount,
    /// Whoever drops something drops the last reference to it.
    DropsAreLast,
}

impl Flaw {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::StoresKeepNothing,
        Self::ParametersKeepNothing,
        Self::NoaliasIsPrivate,
        Self::ThreadsShareNothing,
        Self::LocksStayHeld,
        Self::CallsKeepNoLock,
        Self::OrderIsTooMuch,
        Self::NothingIsPublished,
        Self::ThreadsAreNotCreated,
        Self::BareAccessesDoNotCount,
        Self::BareCallersDoNotCount,
        Self::DropsAreLast,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::StoresKeepNothing => "stores-keep-nothing",
            Self::ParametersKeepNothing => "parameters-keep-nothing",
            Self::NoaliasIsPrivate => "noalias-is-private",
            Self::ThreadsShareNothing => "threads-share-nothing",
            Self::LocksStayHeld => "locks-stay-held",
            Self::CallsKeepNoLock => "calls-keep-no-lock",
            Self::OrderIsTooMuch => "order-is-too-much",
            Self::NothingIsPublished => "nothing-is-published",
            Self::ThreadsAreNotCreated => "threads-are-not-created",
            Self::BareAccessesDoNotCount => "bare-accesses-do-not-count",
            Self::BareCallersDoNotCount => "bare-callers-do-not-count",
            Self::DropsAreLast => "drops-are-last",
        }
    }
}

/// Accesses of one line for one reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Index into [`Plan::strings`]: the function whose source has the line, although it may be
    /// inlined elsewhere.
    pub function: u32,
    /// Index into [`Plan::strings`].
    pub file: u32,
    /// Source line, from 1; 0 where it is unknown.
    pub line: u32,
    /// Why.
    pub reason: Reason,
    /// How many.
    pub count: u32,
}

/// The decisions of one executable.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(into = "Packed", try_from = "Packed")]
pub struct Plan {
    /// Strings that the rows refer to.
    pub strings: Vec<String>,
    /// All rows, in order of function, file, line and reason.
    pub rows: Vec<Row>,
    /// What the rules rest on that follow addresses through memory.
    pub addresses: Addresses,
}

/// A plan as it is kept: its rows without names of fields, of which there may be a hundred
/// thousand.
type Packed = (Vec<String>, Vec<(u32, u32, u32, u32, u32)>, Addresses);

impl From<Plan> for Packed {
    fn from(plan: Plan) -> Self {
        let pack = |row: Row| (row.function, row.file, row.line, row.reason as u32, row.count);
        (plan.strings, plan.rows.into_iter().map(pack).collect(), plan.addresses)
    }
}

impl TryFrom<Packed> for Plan {
    type Error = &'static str;

    fn try_from((strings, rows, addresses): Packed) -> Result<Self, Self::Error> {
        let row = |(function, file, line, reason, count)| {
            let reason = Reason::from_code(reason).ok_or("its plan has an unknown reason")?;
            Ok(Row { function, file, line, reason, count })
        };
        let rows = rows.into_iter().map(row).collect::<Result<_, _>>()?;
        Ok(Self { strings, rows, addresses })
    }
}

impl Section for Plan {
    const NAME: &'static str = "lockred_plan";
    const WHAT: &'static str = "plan";
}

impl Plan {
    /// A string; empty when out of range.
    #[must_use]
    pub fn string(&self, index: u32) -> &str {
        self.strings.get(index as usize).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_are_those_of_one_reason() {
        for (code, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, code);
            assert_eq!(Reason::from_code(code as u32), Some(reason));
            assert_eq!(Reason::rule(reason.name()), reason.is_rule().then_some(reason));
        }
    }

    #[test]
    fn a_plan_is_read_as_it_was_written_and_nothing_else_is() {
        let row = Row { function: 0, file: 1, line: 7, reason: Reason::Heap, count: 2 };
        let plan = Plan {
            strings: vec!["f".into(), "f.rs".into()],
            rows: vec![row],
            addresses: Addresses::default(),
        };
        assert_eq!(Plan::decode(&plan.encode()), Ok(plan));
        let addresses = serde_json::to_string(&Addresses::default()).unwrap();
        let decode = |rows: &str| {
            Plan::decode(format!("[{},[[],{rows},{addresses}]]", crate::FORMAT_VERSION).as_bytes())
        };
        assert_eq!(decode("[]"), Ok(Plan::default()));
        let error = decode("[[0,0,0,99,1]]").unwrap_err();
        assert!(error.contains("unknown reason"), "{error}");
    }
}
