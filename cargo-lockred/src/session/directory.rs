//! The session directory: the request, the status, the messages, and what the process printed.

use super::death::LastWords;
use super::leftovers::{self, Owned};
use super::printable;
use super::status::{self, Progress};
use crate::error::{Error, Result};
use lockred_protocol::message::Message;
use lockred_protocol::schedule::Schedule;
use lockred_protocol::session::{MESSAGE_FILE, REQUEST_FILE, Request, STATUS_BYTES, STATUS_FILE};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Duration;

/// What the process itself prints; not a part of the protocol.
pub const OUTPUT_FILE: &str = "output";
/// What is written to find out whether anything can be.
const PROBE_FILE: &str = "probe";
/// Lines of that which an error message shows.
const SHOWN_LINES: usize = 20;

/// A session directory; it is removed with this value.
pub struct Directory {
    own: Owned,
    status: File,
}

impl Directory {
    /// Makes the directory with the request in it, in the temporary directory of the system.
    ///
    /// # Errors
    /// When it cannot be written. The status file gets its blocks now: the process writes through a
    /// mapping, where a full disk would kill it.
    pub fn create(request: &Request) -> Result<Self> {
        let above = std::env::temp_dir();
        let own = leftovers::own_directory();
        let own = own.map_err(|e| Error::file("create a directory in", &above, &e))?;
        let place = &own.place;
        let path = place.path().join(REQUEST_FILE);
        let text = serde_json::to_vec(request)
            .map_err(|e| Error::ours(format!("a request cannot be encoded: {e}")))?;
        fs::write(&path, text).map_err(|e| Error::file("write", &path, &e))?;
        let path = place.path().join(STATUS_FILE);
        let status = File::options().create_new(true).read(true).write(true).open(&path);
        let status = status.map_err(|e| Error::file("create", &path, &e))?;
        allocate(&status).map_err(|e| Error::file("write", &path, &e))?;
        Ok(Self { own, status })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.own.place.path()
    }

    /// A new file for what the process prints.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn output(&self) -> Result<File> {
        let path = self.path().join(OUTPUT_FILE);
        File::create(&path).map_err(|e| Error::file("create", &path, &e))
    }

    /// The end of what the process printed, if it printed anything.
    pub fn last_output(&self) -> Option<String> {
        let bytes = fs::read(self.path().join(OUTPUT_FILE)).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        let shown = lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n");
        let mut shown = shown;
        printable::text(&mut shown);
        (!shown.trim().is_empty()).then_some(shown)
    }

    /// Whether nothing more can be written to it, as the disk is full.
    pub fn is_full(&self) -> bool {
        let path = self.path().join(PROBE_FILE);
        let written = fs::write(&path, [0; 4096]);
        let _ = fs::remove_file(&path);
        written.is_err_and(|e| e.kind() == io::ErrorKind::StorageFull)
    }

    /// The counters of the status file.
    pub fn progress(&self, elapsed: Duration) -> Progress {
        status::progress(&self.status, elapsed)
    }

    /// What the process noted about a fatal signal.
    pub fn last_words(&self) -> Option<LastWords> {
        status::last_words(&self.status)
    }

    /// The schedule under way.
    pub fn schedule_log(&self) -> Schedule {
        status::schedule_log(&self.status)
    }

    /// The last message, or an error message if there is one; `None` when there is none.
    ///
    /// # Errors
    /// When a line is no message.
    pub fn response(&self) -> std::result::Result<Option<Message>, String> {
        let path = self.path().join(MESSAGE_FILE);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
        };
        let mut last = None;
        for line in BufReader::new(file).lines() {
            let line = line.map_err(|e| format!("cannot read {}: {e}", path.display()))?;
            if line.is_empty() {
                continue;
            }
            let mut message = serde_json::from_str(&line).map_err(|e| {
                let start: String = line.chars().take(200).collect();
                format!("the response of the process is no message ({e}): {start}")
            })?;
            printable::message(&mut message);
            let error = matches!(message, Message::Error { .. });
            last = Some(message);
            if error {
                break;
            }
        }
        Ok(last)
    }
}

/// Gives the file its size, with blocks on the disk after it.
fn allocate(file: &File) -> io::Result<()> {
    let bytes = libc::off_t::try_from(STATUS_BYTES).expect("a few megabytes");
    // SAFETY: the descriptor is open for writing as long as `file` is borrowed; no memory is
    // passed.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes) } {
        0 => Ok(()),
        libc::EOPNOTSUPP | libc::EINVAL => file.set_len(STATUS_BYTES as u64),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}
