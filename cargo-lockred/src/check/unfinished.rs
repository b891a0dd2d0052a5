//! What is kept of a check that was not finished, for `check --resume`:
//! `<target>/lockred/unfinished/<key>.*`, by test.
//!
//! The key stands for the executable, the test and all options that matter for its outcome: after a
//! change of any of them nothing is found here. Files are whole or nothing ([`sealed`]) and
//! replaced as a whole; who is killed between two of them leaves a state that could have been left
//! on purpose. What cannot be written is not kept, which is no error.

use super::explore::{By, Response};
use super::portfolio::Portfolio;
use crate::fingerprint::Fingerprint;
use crate::session::Launch;
use lockred_protocol::message::Replay;
use lockred_protocol::sealed;
use lockred_protocol::session::Request;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of one test, without their extensions.
#[derive(Clone, Debug)]
pub struct Unfinished {
    stem: PathBuf,
}

/// The outcome of a test that was explored to its end.
const RESPONSE: &str = "response";
/// Executions in which the process died.
const DEATHS: &str = "deaths";
/// Where the search stands.
const CHECKPOINT: &str = "checkpoint";
/// What the slices of a portfolio came to.
const PORTFOLIO: &str = "portfolio";
/// All of them, and what they are renamed from.
const ALL: [&str; 8] = [
    RESPONSE,
    DEATHS,
    CHECKPOINT,
    PORTFOLIO,
    "response.new",
    "deaths.new",
    "checkpoint.new",
    "portfolio.new",
];

/// Forgets what other checks have left, of programs that were changed since among them.
pub fn forget(directory: &Path) {
    let _ = fs::remove_dir_all(directory);
}

impl Unfinished {
    /// The files of a test in a directory, which is made. `hash` is that of the executable.
    pub fn new(
        directory: &Path,
        hash: &str,
        launch: &Launch,
        (request, by): (&Request, By),
    ) -> Self {
        let _ = fs::create_dir_all(directory);
        // Where the executable lies and runs is part of what the outcome may depend on.
        let request = serde_json::to_string(request).unwrap_or_default();
        let mut key = Fingerprint::new()
            .add(env!("CARGO_PKG_VERSION"))
            .add(hash)
            .add(launch.executable.as_os_str().as_encoded_bytes())
            .add(request)
            .add(format!("{by:?}"));
        for argument in &launch.arguments {
            key = key.add(argument);
        }
        Self { stem: directory.join(key.hex()) }
    }

    /// Forgets everything.
    pub fn clear(&self) {
        for extension in ALL {
            let _ = fs::remove_file(self.file(extension));
        }
    }

    /// Whether something was kept that is damaged, so that the test begins again.
    pub fn is_damaged(&self) -> bool {
        [RESPONSE, DEATHS, CHECKPOINT, PORTFOLIO].into_iter().any(|extension| {
            let kept = fs::read(self.file(extension)).ok();
            kept.is_some_and(|kept| !str::from_utf8(&kept).is_ok_and(|t| sealed::open(t).is_some()))
        })
    }

    /// The outcome, if the test was explored to its end.
    pub fn response(&self) -> Option<Response> {
        self.read(RESPONSE)
    }

    /// Keeps the outcome.
    pub fn keep_response(&self, response: &Response) {
        if self.write(RESPONSE, response) {
            for extension in ALL.into_iter().filter(|extension| *extension != RESPONSE) {
                let _ = fs::remove_file(self.file(extension));
            }
        }
    }

    /// Executions in which the process died so far.
    pub fn deaths(&self) -> Vec<Replay> {
        self.read(DEATHS).unwrap_or_default()
    }

    /// Keeps them.
    pub fn keep_deaths(&self, deaths: &[Replay]) {
        self.write(DEATHS, &deaths);
    }

    /// What the slices of a portfolio came to, if it is unfinished.
    pub fn portfolio(&self) -> Option<Portfolio> {
        self.read(PORTFOLIO)
    }

    /// Keeps it.
    pub fn keep_portfolio(&self, portfolio: &Portfolio) {
        self.write(PORTFOLIO, portfolio);
    }

    /// Whether there is something that the search can go on from.
    pub fn has_checkpoint(&self) -> bool {
        self.file(CHECKPOINT).exists()
    }

    /// The file in which the search keeps where it stands.
    pub fn checkpoint(&self) -> Option<String> {
        Some(self.file(CHECKPOINT).to_str()?.to_owned())
    }

    fn file(&self, extension: &str) -> PathBuf {
        self.stem.with_extension(extension)
    }

    fn read<T: DeserializeOwned>(&self, extension: &str) -> Option<T> {
        let text = fs::read_to_string(self.file(extension)).ok()?;
        serde_json::from_str(sealed::open(&text)?).ok()
    }

    fn write(&self, extension: &str, value: &impl Serialize) -> bool {
        let Ok(text) = serde_json::to_string(value) else { return false };
        let new = self.file(&format!("{extension}.new"));
        let written = fs::write(&new, sealed::seal(&text));
        written.and_then(|()| fs::rename(&new, self.file(extension))).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockred_protocol::message::{Counts, Exploration, Stop};
    use lockred_protocol::session::{Limits, Share, Strategy, Task};

    fn unfinished(directory: &Path, hash: &str, seed: u64) -> Unfinished {
        let limits =
            Limits { executions: None, seconds: Some(1.0), operations: 1, share: Share::default() };
        let task = Task::Explore { strategy: Strategy::Transactions, limits, keep_going: false };
        let request = Request { libtest: true, random_seed: seed, ..Request::of(task) };
        let launch = Launch {
            executable: "/e".into(),
            arguments: vec!["t".into()],
            directory: "/".into(),
            environment: Vec::new(),
        };
        Unfinished::new(directory, hash, &launch, (&request, By::Alone))
    }

    fn response() -> Response {
        let exploration = Exploration {
            stop: Stop::Complete,
            counts: Counts::default(),
            seconds: 1.0,
            restoring: 0.0,
            preemptions: None,
            share: None,
            proved: None,
            threads: 2,
            findings: Vec::new(),
            warnings: Vec::new(),
            assumptions: Vec::new(),
        };
        Response { exploration, deaths: Vec::new(), walks: None, parts: Vec::new() }
    }

    #[test]
    fn a_response_is_found_under_the_same_options_only_and_replaces_the_rest() {
        let directory = tempfile::tempdir().unwrap();
        let one = unfinished(directory.path(), "h", 0);
        one.keep_deaths(&[]);
        fs::write(one.checkpoint().unwrap(), "x").unwrap();
        one.keep_response(&response());
        assert_eq!(one.response(), Some(response()));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        assert_eq!(unfinished(directory.path(), "i", 0).response(), None);
        assert_eq!(unfinished(directory.path(), "h", 1).response(), None);
        one.clear();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_torn_file_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let one = unfinished(directory.path(), "h", 0);
        one.keep_response(&response());
        let text = fs::read(one.file(RESPONSE)).unwrap();
        for length in [0, 5, 17, text.len() / 2, text.len() - 1] {
            fs::write(one.file(RESPONSE), &text[..length]).unwrap();
            assert_eq!((one.response(), one.is_damaged()), (None, true), "cut at {length}");
        }
        fs::write(one.file(RESPONSE), [0xff; 40]).unwrap();
        assert!(one.is_damaged(), "it is no text");
        fs::write(one.file(RESPONSE), &text).unwrap();
        assert!(!one.is_damaged() && one.response().is_some());
        one.clear();
        assert!(!one.is_damaged(), "there is nothing");
    }

    #[test]
    fn a_directory_that_cannot_be_written_keeps_nothing() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let one = unfinished(file.path(), "h", 0);
        one.keep_response(&response());
        assert_eq!(one.response(), None);
    }
}
