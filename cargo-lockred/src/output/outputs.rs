//! What a check reports to machines: each format to its place, whole at any time.
//!
//! Formats of lines (JSON, GitHub's commands) are written as tests end. Documents (SARIF, JUnit)
//! are written to files as soon as the check begins, and again as tests end, each time beside the
//! file and renamed: so what lies there is of this check and can be read, also when we are killed.
//! On stdout there can be one document only, at the end; it comes when the check ends with an
//! error, too.

use super::run::{End, Run};
use super::{github, json, junit, sarif};
use crate::cli::check::CheckOptions;
use crate::cli::format::{self, FormatName};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::outcome::Outcome;
use crate::outcome::confirmation::Warned;
use crate::outcome::tally::Tally;
use std::collections::BTreeSet;
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Files are written again at most so often while the check runs.
const PAUSE: Duration = Duration::from_secs(1);

/// The machine formats of one check.
pub struct Outputs {
    run: Run,
    lines: Vec<(FormatName, Box<dyn Write>)>,
    /// A format, and the file; `None` for stdout.
    documents: Vec<(FormatName, Option<PathBuf>)>,
    written: Instant,
}

impl Outputs {
    /// The formats that were asked for. Their files are there from now on.
    ///
    /// # Errors
    /// When two are to go to one place, or a file cannot be written.
    pub fn open(options: &CheckOptions) -> Result<Self> {
        let in_actions = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        let wanted =
            format::wanted(&options.output.message_format, in_actions).map_err(Error::usage)?;
        let mut outputs = Self::none(options);
        for format in wanted {
            match format.name {
                FormatName::Sarif | FormatName::Junit => {
                    outputs.documents.push((format.name, format.file));
                }
                FormatName::Human => {}
                FormatName::Json | FormatName::Github => {
                    let place: Box<dyn Write> = match &format.file {
                        None => Box::new(io::stdout()),
                        Some(path) => Box::new(
                            File::create(path).map_err(|e| Error::file("write", path, &e))?,
                        ),
                    };
                    outputs.lines.push((format.name, place));
                }
            }
        }
        outputs.write_files()?;
        Ok(outputs)
    }

    /// No formats.
    pub fn none(options: &CheckOptions) -> Self {
        Self {
            run: Run::new(options.findings.baseline.is_some()),
            lines: Vec::new(),
            documents: Vec::new(),
            written: Instant::now(),
        }
    }

    /// What the tests came to, and the root of the workspace.
    pub fn into_outcomes(mut self) -> (Vec<Outcome>, PathBuf) {
        (std::mem::take(&mut self.run.outcomes), self.run.root.clone())
    }

    /// The workspace is known.
    pub fn begin(&mut self, root: &Path) {
        self.run.is_of(root);
    }

    /// A test was checked.
    ///
    /// # Errors
    /// When something cannot be written.
    pub fn test(&mut self, outcome: Outcome) -> Result<()> {
        for (format, place) in &mut self.lines {
            let text = match format {
                FormatName::Json => json::test_finished(&outcome, &self.run.root),
                _ => github::annotations(&outcome, &self.run),
            };
            write(place, &text)?;
        }
        self.run.outcomes.push(outcome);
        if self.written.elapsed() >= PAUSE { self.write_files() } else { Ok(()) }
    }

    /// Further lines of JSON.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn lines(&mut self, text: &str) -> Result<()> {
        for (_, place) in self.lines.iter_mut().filter(|(name, _)| *name == FormatName::Json) {
            write(place, text)?;
        }
        Ok(())
    }

    /// What came of the warnings of an audit.
    ///
    /// # Errors
    /// When something cannot be written.
    pub fn audited(&mut self, warned: Vec<Warned>) -> Result<()> {
        for (_, place) in self.lines.iter_mut().filter(|(name, _)| *name == FormatName::Github) {
            for warned in &warned {
                write(place, &github::warned(warned, &self.run))?;
            }
        }
        self.run.audited = warned;
        Ok(())
    }

    /// All tests were checked, or the user has interrupted it. `unmodelled` is what is explored as
    /// written although there is a sync model.
    ///
    /// # Errors
    /// When something cannot be written.
    pub fn finished(
        &mut self,
        tally: &Tally,
        unmodelled: &BTreeSet<&str>,
        exit: Exit,
    ) -> Result<()> {
        for (format, place) in &mut self.lines {
            if *format == FormatName::Json {
                write(place, &json::finished(tally, unmodelled))?;
            }
        }
        self.end(End::Finished(exit))
    }

    /// An error has ended the check. It is what the user sees; others that come of it are
    /// not.
    pub fn failed(&mut self, error: &Error) {
        if self.run.end == End::UnderWay {
            let end = End::Error { exit: error.exit, message: error.message.clone() };
            let _ = self.end(end);
        }
    }

    /// Writes all documents for the last time.
    fn end(&mut self, end: End) -> Result<()> {
        self.run.end = end;
        self.write_files()?;
        for (format, _) in self.documents.iter().filter(|(_, file)| file.is_none()) {
            write(&mut io::stdout(), &document(*format, &self.run))?;
        }
        Ok(())
    }

    fn write_files(&mut self) -> Result<()> {
        for (format, file) in &self.documents {
            if let Some(file) = file {
                let text = document(*format, &self.run);
                replace(file, &text).map_err(|e| Error::file("write", file, &e))?;
            }
        }
        self.written = Instant::now();
        Ok(())
    }
}

/// What ends otherwise, by a panic of ours, leaves documents, too.
impl Drop for Outputs {
    fn drop(&mut self) {
        self.failed(&Error::ours("the check ended early"));
    }
}

fn document(format: FormatName, run: &Run) -> String {
    match format {
        FormatName::Sarif => sarif::document(run),
        _ => junit::document(run),
    }
}

fn write(place: &mut dyn Write, text: &str) -> Result<()> {
    let written = place.write_all(text.as_bytes()).and_then(|()| place.flush());
    written.map_err(|e| Error::ours(format!("cannot write the results: {e}")))
}

/// Replaces a file as a whole. What is no file of its own (a pipe, `/dev/stdout`) is written to.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    if path.exists() && !path.is_file() {
        return std::fs::write(path, text);
    }
    // The file that a link names is replaced, not the link.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    // Results are for whoever may read what others write here; temporary files usually are not.
    let mut file = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory.unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    file.persist(&path).map(drop).map_err(|e| e.error)
}
