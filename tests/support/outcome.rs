//! The JSON lines of `check --message-format json`, typed strictly as documented.

use lockred_protocol::codes::{BugKind, Verdict};
use serde::Deserialize;
use serde_json::Value;

/// One line.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Line {
    /// One test was checked.
    TestFinished(Box<TestFinished>),
    /// A cycle in the order of locks.
    Cycle(serde_json::Map<String, serde_json::Value>),
    /// The last line.
    Finished(Finished),
}

/// The verdict on one test.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct TestFinished {
    /// Version of the format.
    pub v: u32,
    /// The package's name.
    pub package: String,
    /// Which target of the package.
    pub target: Target,
    /// The test's name.
    pub name: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether every interleaving was covered.
    pub complete: bool,
    /// Executions of the final pass.
    pub executions: u64,
    /// Executions cut by sleep sets.
    pub blocked: u64,
    /// Passes thrown away.
    pub refinements: u64,
    /// Runs of a thread from boundary to boundary.
    pub transactions: u64,
    /// Scheduling points executed.
    pub operations: u64,
    /// Time from the root to the end of the search.
    pub seconds: f64,
    /// How it was searched.
    pub search: String,
    /// Which memory model was explored.
    pub memory_model: String,
    /// What the verdict rests on.
    pub assumptions: Vec<Assumption>,
    /// What was found.
    pub bugs: Vec<Bug>,
    /// What was found and fails nothing.
    pub warnings: Vec<Value>,
    /// Whether the verdict is `unsupported` by an error of lockred.
    #[serde(default)]
    pub error: bool,
    /// Every other field.
    #[serde(flatten)]
    pub others: serde_json::Map<String, Value>,
}

/// A cargo target.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Target {
    /// `lib`, `bin`, `test`, `example`, ….
    pub kind: String,
    /// Its name.
    pub name: String,
}

/// What a verdict rests on.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Assumption {
    /// Its stable code.
    pub code: String,
    /// For people.
    pub message: String,
}

/// A bug.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Bug {
    /// What `cargo lockred replay` takes.
    pub id: String,
    /// `LR….`
    pub code: String,
    /// Which of the closed list.
    pub kind: BugKind,
    /// Equal for equal root causes.
    pub fingerprint: String,
    /// Whether the baseline has it.
    pub known: bool,
    /// For people.
    pub message: String,
    /// The places that show it.
    pub sites: Vec<Site>,
    /// The file of the schedule.
    pub replay: String,
    /// What the schedule takes.
    #[serde(default)]
    pub schedule: Option<Schedule>,
}

/// What a schedule that was made minimal takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub struct Schedule {
    /// Switches away from a thread that could have gone on.
    pub preemptions: u32,
    /// Threads that run.
    pub threads: u32,
    /// Their steps.
    pub steps: u64,
    /// No schedule with fewer preemptions shows the bug.
    pub minimal: bool,
}

/// A place of a bug.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Site {
    /// Relative to the workspace root.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    /// The function's path.
    pub function: String,
    /// Who was there.
    pub thread: Value,
    /// What it did there.
    pub role: String,
    /// The memory order that would have to be stronger.
    #[serde(default)]
    pub order: Option<Order>,
}

/// A memory order that is too weak.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Order {
    /// As std names it.
    pub has: String,
    /// What would be enough.
    pub needs: String,
    /// It is the order of a compare-exchange that failed.
    pub fails: bool,
}

/// The last line: how many tests got each verdict.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Finished {
    /// Version of the format.
    pub v: u32,
    /// `verified` tests.
    pub verified: usize,
    /// `passed` tests.
    pub passed: usize,
    /// `interrupted` tests.
    pub interrupted: usize,
    /// `failed` tests.
    pub failed: usize,
    /// `unsupported` tests.
    pub unsupported: usize,
    /// Those among them that errors of lockred ended.
    pub errors: usize,
    /// `failed` tests with known findings only.
    pub known: usize,
    /// Fingerprints of the baseline that are not found any more.
    pub stale: Vec<String>,
    /// What is explored as written although there is a sync model, and why.
    pub unmodelled: Vec<String>,
}

/// Everything that was printed on standard output.
///
/// # Errors
/// The first line that is not as documented, with the reason.
pub fn parse(stdout: &str) -> Result<Vec<Line>, String> {
    let line = |line: &str| serde_json::from_str(line).map_err(|e| format!("{e}: {line}"));
    stdout.lines().map(line).collect()
}

/// The tests among the lines.
#[must_use]
pub fn tests(lines: &[Line]) -> Vec<&TestFinished> {
    lines.iter().filter_map(Line::test).collect()
}

impl Line {
    /// The test, unless it is the last line.
    fn test(&self) -> Option<&TestFinished> {
        match self {
            Self::TestFinished(test) => Some(test),
            Self::Cycle(_) | Self::Finished(_) => None,
        }
    }
}
