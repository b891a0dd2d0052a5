//! The files in which schedules of bugs are kept, with all that a replay needs:
//! `<target>/lockred/schedules/<id>.json`.

use crate::cli::selection::Selection;
use crate::error::{Error, Result};
use lockred_protocol::FORMAT_VERSION;
use lockred_protocol::codes::BugKind;
use lockred_protocol::session::Request;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Shortest id: hexadecimal digits of the fingerprint.
const SHORTEST_ID: usize = 4;

/// A kept schedule.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct ScheduleFile {
    /// Version of the format; read by itself first.
    pub version: u32,
    /// What `cargo lockred replay` takes: the first digits of the fingerprint.
    pub id: String,
    /// 16 hexadecimal digits; equal for equal root causes in one test.
    pub fingerprint: String,
    /// Version of lockred that wrote it.
    pub lockred: String,
    /// What was found; `None` when an error of ours ended the exploration.
    pub kind: Option<BugKind>,
    /// One line about it.
    pub message: String,
    /// The runtime's key of the root cause.
    pub key: String,
    /// The test.
    pub test: KeptTest,
    /// The request that replays it.
    pub request: Request,
    /// The build that it came from.
    pub build: KeptBuild,
}

/// The test that a schedule is of.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct KeptTest {
    /// The package's name.
    pub package: String,
    /// The target's kind.
    pub kind: String,
    /// Whether it is the program itself rather than its unit tests.
    pub program: bool,
    /// The target's name.
    pub target: String,
    /// The test's name.
    pub name: String,
    /// The executable's arguments.
    pub arguments: Vec<String>,
}

/// The build that a schedule came from.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct KeptBuild {
    /// Where cargo was called.
    pub directory: PathBuf,
    /// With which options.
    pub selection: Selection,
    /// The executable.
    pub executable: PathBuf,
    /// Hash of its contents.
    pub hash: String,
}

/// Writes a schedule, under an id that no other fingerprint has; sets the id, also where it cannot
/// be written. Gives the file's path.
///
/// # Errors
/// When it cannot be written.
pub fn write(directory: &Path, file: &mut ScheduleFile) -> Result<PathBuf> {
    file.id = free_id(directory, &file.fingerprint);
    fs::create_dir_all(directory).map_err(|e| Error::file("create", directory, &e))?;
    let path = directory.join(format!("{}.json", file.id));
    let failed = |e: &std::io::Error| Error::file("write the schedule", &path, e);
    let text = serde_json::to_string_pretty(file)
        .map_err(|e| Error::ours(format!("a schedule cannot be encoded: {e}")))?;
    // Whole or not at all: a schedule cut by a full disk is no schedule.
    let mut temporary = tempfile::NamedTempFile::new_in(directory).map_err(|e| failed(&e))?;
    temporary.write_all(text.as_bytes()).map_err(|e| failed(&e))?;
    temporary.persist(&path).map_err(|e| failed(&e.error))?;
    Ok(path)
}

/// The shortest prefix of a fingerprint that names no file of another one.
fn free_id(directory: &Path, fingerprint: &str) -> String {
    (SHORTEST_ID..fingerprint.len())
        .map(|length| &fingerprint[..length])
        .find(|id| {
            let path = directory.join(format!("{id}.json"));
            // A damaged file may be overwritten.
            parse(&path).map_or(true, |other| other.fingerprint == fingerprint)
        })
        .unwrap_or(fingerprint)
        .to_owned()
}

/// Reads the schedule of an id.
///
/// # Errors
/// When the id is unknown, or its file is damaged or of another version: wrong usage, naming the
/// file.
pub fn read(directory: &Path, id: &str) -> Result<ScheduleFile> {
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Error::usage(format!("unknown schedule id `{id}`"))
            .hint("an id is what `check` prints after `cargo lockred replay`, such as 3f2a; without an id, it lists them"));
    }
    let path = directory.join(format!("{}.json", id.to_lowercase()));
    parse(&path)
}

/// Reads a schedule's file.
///
/// # Errors
/// As [`read`].
pub fn parse(path: &Path) -> Result<ScheduleFile> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|e| match e.kind() {
        ErrorKind::NotFound => Error::usage(format!("there is no schedule {shown}"))
            .hint("`cargo lockred replay` without an id lists them; give replay the --manifest-path and --target-dir of the check"),
        _ => Error::usage(format!("cannot read the schedule {shown}: {e}")),
    })?;
    let damaged = |e: serde_json::Error| {
        Error::usage(format!("the schedule {shown} is damaged: {e}"))
            .hint("run `cargo lockred check` again to make it anew")
    };
    /// The only field that every version has.
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
    }
    let Versioned { version } = serde_json::from_str(&text).map_err(damaged)?;
    if version != FORMAT_VERSION {
        return Err(Error::usage(format!(
            "the schedule {shown} has format version {version}, this lockred has version {FORMAT_VERSION}"
        ))
        .hint("run `cargo lockred check` again to make it anew"));
    }
    serde_json::from_str(&text).map_err(damaged)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::exit::Exit;
    use lockred_protocol::schedule::{Choice, Schedule};
    use lockred_protocol::session::Task;

    /// A schedule with this fingerprint.
    pub fn file(fingerprint: &str) -> ScheduleFile {
        ScheduleFile {
            version: FORMAT_VERSION,
            id: String::new(),
            fingerprint: fingerprint.into(),
            lockred: "0".into(),
            kind: Some(BugKind::Deadlock),
            message: "m".into(),
            key: "k".into(),
            test: KeptTest {
                package: "p".into(),
                kind: "lib".into(),
                program: false,
                target: "p".into(),
                name: "t".into(),
                arguments: vec!["t".into(), "--exact".into()],
            },
            request: Request {
                libtest: true,
                ..Request::of(Task::Replay { schedule: Schedule(vec![Choice::Thread(1)]) })
            },
            build: KeptBuild {
                directory: "/x y/ä".into(),
                selection: Selection::default(),
                executable: "/e".into(),
                hash: "h".into(),
            },
        }
    }

    #[test]
    fn ids_grow_until_they_are_unique_and_stay_for_one_fingerprint() {
        let directory = tempfile::tempdir().unwrap();
        let write = |fingerprint: &str| {
            let mut file = file(fingerprint);
            write(&directory.path().join("schedules"), &mut file).unwrap();
            file.id
        };
        assert_eq!(write("3f2a000000000001"), "3f2a");
        assert_eq!(write("3f2a000000000002"), "3f2a0");
        assert_eq!(write("3f2a000000000001"), "3f2a");
        assert_eq!(write("3f2a000000000002"), "3f2a0");
    }

    #[test]
    fn what_was_written_is_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let mut written = file("abcd000000000001");
        write(directory.path(), &mut written).unwrap();
        let read = read(directory.path(), "ABCD").unwrap();
        assert_eq!(read.request, written.request);
        assert_eq!(read.build.directory, written.build.directory);
    }

    #[test]
    fn unknown_damaged_and_foreign_files_are_distinguished() {
        let directory = tempfile::tempdir().unwrap();
        let error = |id: &str| read(directory.path(), id).unwrap_err();
        assert!(error("../../etc/passwd").message.contains("unknown schedule id"));
        assert!(error("ffff").message.contains("there is no schedule"));
        let mut good = file("abcd000000000001");
        let path = write(directory.path(), &mut good).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        for damaged in ["", "no", "{}", "[2]", &text[..text.len() / 2]] {
            fs::write(&path, damaged).unwrap();
            let error = error("abcd");
            assert_eq!(error.exit, Exit::Usage);
            assert!(error.message.contains("abcd.json is damaged"), "{}", error.message);
        }
        fs::write(&path, text.replacen("\"version\": 2", "\"version\": 999", 1)).unwrap();
        assert!(error("abcd").message.contains("format version 999"));
    }
}
