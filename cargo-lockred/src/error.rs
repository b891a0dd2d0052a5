//! Errors that end a command: a sentence for the user, an optional hint, and the exit status they
//! lead to.

use crate::exit::Exit;
use std::io::{self, ErrorKind};
use std::path::Path;

/// An error that ends the command.
#[derive(Debug)]
pub struct Error {
    /// The exit status.
    pub exit: Exit,
    /// What went wrong, without a full stop.
    pub message: String,
    /// What the user can do about it.
    pub hint: Option<String>,
}

/// Result of everything that can end the command.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Wrong usage.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, message: message.into(), hint: None }
    }

    /// The crate or the back end cannot be built.
    pub fn build(message: impl Into<String>) -> Self {
        Self { exit: Exit::BuildFailed, message: message.into(), hint: None }
    }

    /// An error of ours, or of the machine, that keeps tests from being checked.
    pub fn ours(message: impl Into<String>) -> Self {
        Self { exit: Exit::Unsupported, message: message.into(), hint: None }
    }

    /// Ctrl-C.
    pub fn interrupted() -> Self {
        Self { exit: Exit::Interrupted, message: "interrupted".into(), hint: None }
    }

    /// A failed operation on a file. A full or read-only disk is named as such.
    pub fn file(doing: &str, path: &Path, error: &io::Error) -> Self {
        let mut reported = Self::ours(format!("cannot {doing} {}: {error}", path.display()));
        reported.hint = file_hint(error.kind());
        reported
    }

    /// The same error with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same error with another exit status.
    #[must_use]
    pub fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }
}

/// What a user can do about an error of the file system.
fn file_hint(kind: ErrorKind) -> Option<String> {
    let hint = match kind {
        ErrorKind::StorageFull => "the disk is full; free some space and run the command again",
        ErrorKind::QuotaExceeded => "the disk quota is used up",
        ErrorKind::ReadOnlyFilesystem => {
            "the file system is read-only; name another place with --target-dir, or TMPDIR for temporary files"
        }
        ErrorKind::PermissionDenied => {
            "there is no permission to write there; name another place with --target-dir"
        }
        _ => return None,
    };
    Some(hint.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named() {
        let error = io::Error::from_raw_os_error(libc::ENOSPC);
        let reported = Error::file("write", Path::new("/x/y"), &error);
        assert!(
            reported.message.starts_with("cannot write /x/y: No space left"),
            "{}",
            reported.message
        );
        assert!(reported.hint.unwrap().contains("disk is full"));
    }
}
