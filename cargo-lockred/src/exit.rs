//! The exit statuses of `cargo lockred`: one list, documented.

use std::process::ExitCode;

/// What a run ends with. When several apply to a `check`, the first in this order wins:
/// `Interrupted`, `Usage`, `BuildFailed`, `BugFound`, `Unsupported`, `NotVerified`, `Success`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Exit {
    /// `check`: no bug found. `replay`: the schedule ran to its end and no bug showed. `setup`:
    /// done. `explain`, `replay` without an id, `discipline`: printed.
    Success = 0,
    /// `check`: a bug was found that the baseline does not have, or a warning, or a cycle in the
    /// order of locks, that was denied. `replay`: the bug was reproduced. `discipline --check`: a
    /// field has lost its protection.
    BugFound = 1,
    /// Wrong usage: unknown options, no test matched, an unknown or damaged replay id.
    Usage = 2,
    /// The crate, or the back end, could not be built.
    BuildFailed = 3,
    /// Some test is unsupported, or was ended by an error of ours.
    Unsupported = 4,
    /// `--require verified` was given and some test only passed, or has known findings.
    NotVerified = 5,
    /// Ctrl-C, or SIGTERM. What was finished by then was printed.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
