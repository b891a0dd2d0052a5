//! What an audit says: plain data, for people and machines.

use super::source::Position;
use lockred_protocol::codes::WarningKind;
use serde::Serialize;

/// A place, its file relative to the workspace's root.
#[derive(Serialize, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Place {
    /// The file.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// The function around it, if there is one.
    pub function: String,
}

impl Place {
    /// As it is printed.
    pub fn short(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    /// The same with the column.
    pub fn text(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }

    /// A place that is no function's.
    pub fn new(file: String, at: Position, function: String) -> Self {
        Self { file, line: at.line, column: at.column, function }
    }
}

/// An `unsafe impl Send` or `Sync`.
#[derive(Serialize, Clone, Debug)]
pub struct Impl {
    /// The type.
    #[serde(rename = "type")]
    pub of: String,
    /// `Send` or `Sync`.
    #[serde(rename = "trait")]
    pub name: &'static str,
    /// As it is written.
    pub text: String,
    /// Parameters of which it asks nothing.
    pub unbounded: Vec<String>,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
}

/// What is known of the protection of a field or variable.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Some thread may write it while another one accesses it.
    Unprotected,
    /// Functions that access it synchronise by atomic operations or locks around that; whether that
    /// is enough is not decided.
    Synchronised,
    /// Nothing of the compiled code is seen to access it.
    Unknown,
    /// It may be written through a shared reference, and no such write is seen by its name; there
    /// may be others by a pointer to it.
    Unwritten,
    /// Its accesses hold a lock.
    Locked,
    /// Nobody writes it by what is shared.
    ReadOnly,
    /// Who accesses it has it for itself.
    Exclusive,
    /// It is an atomic variable.
    Atomic,
    /// It is a lock, which protects what is in it.
    Lock,
    /// It synchronises otherwise.
    Synchronisation,
    /// Rust's rules for shared references protect it: nobody can write it.
    Shared,
}

impl Class {
    /// As it is printed.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Unprotected => "unprotected",
            Self::Synchronised => "behind atomics or locks",
            Self::Unknown => "no access seen",
            Self::Unwritten => "no shared write seen",
            Self::Locked => "locked",
            Self::ReadOnly => "read-only while shared",
            Self::Exclusive => "exclusive",
            Self::Atomic => "atomic",
            Self::Lock => "lock",
            Self::Synchronisation => "synchronisation",
            Self::Shared => "read-only by type",
        }
    }
}

/// A shared field or variable.
#[derive(Serialize, Clone, Debug)]
pub struct Object {
    /// `Type.field`, or the name of a static variable.
    pub name: String,
    /// Its type, as it is written.
    #[serde(rename = "type")]
    pub of: String,
    /// What protects it.
    pub class: Class,
    /// Locks, where it is those.
    pub locks: Vec<String>,
    /// Methods that give it to closures, where no access is seen: what these do could not be
    /// followed.
    pub through: Vec<String>,
    /// Accesses that are not protected, in unsafe code.
    pub unprotected: Vec<Place>,
    /// How many plain accesses are seen that read, and that write.
    pub reads: usize,
    /// See `reads`.
    pub writes: usize,
    /// Where it is declared.
    #[serde(flatten)]
    pub place: Place,
}

/// An atomic operation.
#[derive(Serialize, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Operation {
    /// `store Release`.
    pub text: String,
    /// It shows what happened before.
    pub releases: bool,
    /// It sees what happened before what it reads.
    pub acquires: bool,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
}

/// An atomic variable, with all its operations.
#[derive(Serialize, Clone, Debug)]
pub struct Atomic {
    /// `Type.field`, or what it is called otherwise.
    pub name: String,
    /// Operations, in the order of the source.
    pub operations: Vec<Operation>,
    /// By indices of operations: what releases, and what acquires that.
    pub pairs: Vec<(usize, usize)>,
}

/// A lock may be acquired while another one is held.
#[derive(Serialize, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Edge {
    /// What is held.
    pub held: String,
    /// What is acquired.
    pub wanted: String,
    /// For each time: where the first is acquired, and where the second.
    pub sites: Vec<(Place, Place)>,
    /// The first is surely held then, at one of these; otherwise it may be.
    pub sure: bool,
    /// Those of them at which the two are, or may be, one lock, or two of one kind in either order.
    #[serde(skip)]
    pub alike: Vec<(Place, Place)>,
}

/// Across what a lock is held.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Across {
    /// `.await`.
    Await,
    /// A thread is started.
    Spawn,
    /// A thread is waited for.
    Join,
    /// Something else is waited for.
    Blocking,
    /// A call of another crate, or of what a pointer points to.
    Call,
}

impl Across {
    /// As it is printed.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Await => "await",
            Self::Spawn => "spawn",
            Self::Join => "join",
            Self::Blocking => "blocking call",
            Self::Call => "call out of the crate",
        }
    }
}

/// A lock is held across something.
#[derive(Serialize, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Held {
    /// Across what.
    pub across: Across,
    /// The lock.
    pub lock: String,
    /// What is called.
    pub what: String,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// Where the lock is acquired.
    pub acquired: Place,
    /// Where the call is, if a function of the package that is called makes it.
    pub behind: Option<Place>,
}

/// A warning.
#[derive(Serialize, Clone, Debug)]
pub struct Finding {
    /// Its kind.
    #[serde(skip)]
    pub kind: WarningKind,
    /// Its code.
    pub code: &'static str,
    /// The type, or function, that it is about.
    pub subject: String,
    /// In one sentence.
    pub message: String,
    /// Where; the first is the one that counts.
    pub places: Vec<(String, Place)>,
    /// What people should know.
    pub notes: Vec<String>,
    /// What it is told apart by.
    pub fingerprint: String,
    /// The baseline has it.
    pub known: bool,
    /// It was denied.
    pub denied: bool,
}

/// A type, or static variable, of the package.
#[derive(Clone, Debug)]
pub struct Type {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub place: Place,
}

/// What was seen, and what not.
#[derive(Serialize, Clone, Debug, Default)]
pub struct Seen {
    /// Targets that were compiled.
    pub targets: Vec<String>,
    /// Functions of the package that were compiled.
    pub compiled: usize,
    /// Generic functions that nothing makes use of: there is no code of them.
    pub generic: Vec<String>,
    /// Other functions that there is no code of: of other platforms and features.
    pub others: Vec<String>,
    /// Whether the programs were analysed as a whole.
    pub whole: bool,
    /// Whether the order of locks is known.
    pub ordered: bool,
    /// Calls of macros in whose code nothing is seen by the source.
    pub macros: usize,
    /// Blocks of unsafe code.
    pub unsafe_blocks: usize,
    /// Unsafe functions.
    pub unsafe_functions: usize,
    /// Files that cannot be read, and why.
    pub unread: Vec<String>,
}

/// All of it, for one package.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// The package.
    pub package: String,
    /// What was seen.
    pub seen: Seen,
    /// Types with something shared.
    pub types: Vec<Type>,
    /// Implementations of `Send` and `Sync`.
    pub impls: Vec<Impl>,
    /// Shared objects.
    pub objects: Vec<Object>,
    /// Atomic variables.
    pub atomics: Vec<Atomic>,
    /// The order of locks.
    pub edges: Vec<Edge>,
    /// Locks across calls.
    pub held: Vec<Held>,
    /// Warnings, most dangerous first.
    pub findings: Vec<Finding>,
}
