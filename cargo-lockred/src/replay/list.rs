//! `cargo lockred replay` without an id: the schedules that are kept, and whether their programs
//! are still the same.

use crate::cli::format::Lines;
use crate::cli::selection::Color;
use crate::error::Error;
use crate::fingerprint;
use crate::printing::console::Console;
use crate::printing::line;
use crate::printing::style::{Paint, Style};
use crate::printing::utc;
use crate::schedule_file::{self, ScheduleFile};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Version of the JSON lines.
const VERSION: u32 = 1;

/// A kept schedule.
struct Kept {
    file: ScheduleFile,
    written: SystemTime,
    program: Program,
}

/// What has become of the program that a schedule is of.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Program {
    /// It is there, byte by byte.
    Same,
    /// There is another one in its place.
    Changed,
    /// It is not there.
    Missing,
}

/// A line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    reason: &'static str,
    v: u32,
    id: &'a str,
    fingerprint: &'a str,
    /// `null` for an error of ours.
    code: Option<&'static str>,
    package: &'a str,
    target: Target<'a>,
    test: &'a str,
    message: &'a str,
    written: String,
    program: Program,
}

#[derive(Serialize)]
struct Target<'a> {
    kind: &'a str,
    name: &'a str,
}

/// Lists the schedules of a directory.
pub fn print(schedules: &Path, format: Lines, color: Option<Color>) {
    let console = Console::new(color, false);
    let (kept, damaged) = kept(schedules);
    for error in damaged {
        console.warning(&error.message);
    }
    let text = match format {
        Lines::Json => kept.iter().map(line).collect(),
        Lines::Human if kept.is_empty() => {
            console.status("Kept", "no schedules; `cargo lockred check` keeps one for each bug");
            String::new()
        }
        Lines::Human => table(&kept, Style::on_stdout(color)),
    };
    // Who stops reading has read enough.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// The schedules of a directory, the newest first, and what is wrong with others.
fn kept(directory: &Path) -> (Vec<Kept>, Vec<Error>) {
    let (mut kept, mut damaged) = (Vec::new(), Vec::new());
    let mut hashes: HashMap<PathBuf, Option<String>> = HashMap::new();
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    for path in paths.filter(|path| path.extension().is_some_and(|name| name == "json")) {
        let file = match schedule_file::parse(&path) {
            Ok(file) => file,
            Err(error) => {
                damaged.push(error);
                continue;
            }
        };
        let executable = file.build.executable.clone();
        let hash =
            hashes.entry(executable).or_insert_with_key(|path| fingerprint::of_file(path).ok());
        let program = match hash {
            None => Program::Missing,
            Some(hash) if *hash == file.build.hash => Program::Same,
            Some(_) => Program::Changed,
        };
        let written = path.metadata().and_then(|data| data.modified());
        kept.push(Kept { file, written: written.unwrap_or(SystemTime::UNIX_EPOCH), program });
    }
    kept.sort_by(|a, b| b.written.cmp(&a.written).then_with(|| a.file.id.cmp(&b.file.id)));
    damaged.sort_by(|a, b| a.message.cmp(&b.message));
    (kept, damaged)
}

fn line(kept: &Kept) -> String {
    let Kept { file, written, program } = kept;
    let line = Line {
        reason: "schedule",
        v: VERSION,
        id: &file.id,
        fingerprint: &file.fingerprint,
        code: file.kind.map(|kind| kind.code()),
        package: &file.test.package,
        target: Target { kind: &file.test.kind, name: &file.test.target },
        test: &file.test.name,
        message: &file.message,
        written: utc::text(*written),
        program: *program,
    };
    line::json(&line)
}

/// A table: one line a schedule.
fn table(kept: &[Kept], style: Style) -> String {
    let width = |cell: fn(&Kept) -> usize| kept.iter().map(cell).max().unwrap_or(0);
    let id = width(|kept| kept.file.id.len());
    let test = width(|kept| kept.file.test.name.chars().count());
    let mut text = String::new();
    for Kept { file, written, program } in kept {
        let (word, paint) = match program {
            Program::Same => ("same", Paint::Green),
            Program::Changed => ("changed", Paint::Yellow),
            Program::Missing => ("missing", Paint::Yellow),
        };
        let when = utc::text(*written);
        let when = when[..16].replace('T', " ");
        let code = file.kind.map_or("error", |kind| kind.code());
        let message = file.message.lines().next().unwrap_or_default();
        let name = style.paint(Paint::Cyan, &format!("{:id$}", file.id));
        let state = style.paint(paint, &format!("{word:7}"));
        let _ = writeln!(
            text,
            "{name}  {code:6}  {when}  {state}  {:test$}  {message}",
            file.test.name
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule_file::tests::file;
    use std::fs;
    use std::time::Duration;

    #[test]
    fn schedules_are_reported_with_what_became_of_their_programs() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("program");
        fs::write(&program, "1").unwrap();
        let hash = fingerprint::of_file(&program).unwrap();
        for (number, (hash, executable)) in [
            (hash, program.clone()),
            ("other".into(), program),
            ("gone".into(), "/no/program".into()),
        ]
        .into_iter()
        .enumerate()
        {
            let mut file = file(&format!("{number}aaa000000000000"));
            (file.build.hash, file.build.executable) = (hash, executable);
            let path =
                schedule_file::write(&directory.path().join("schedules"), &mut file).unwrap();
            let written = SystemTime::UNIX_EPOCH + Duration::from_secs(60 * number as u64);
            fs::File::options().write(true).open(path).unwrap().set_modified(written).unwrap();
        }
        fs::write(directory.path().join("schedules/ffff.json"), "torn").unwrap();
        let (kept, damaged) = kept(&directory.path().join("schedules"));
        assert_eq!(damaged.len(), 1);
        let expected = "\
2aaa  LR0002  1970-01-01 00:02  missing  t  m
1aaa  LR0002  1970-01-01 00:01  changed  t  m
0aaa  LR0002  1970-01-01 00:00  same     t  m
";
        assert_eq!(table(&kept, Style::plain()), expected);
        let line: serde_json::Value = serde_json::from_str(&line(&kept[1])).unwrap();
        assert_eq!(
            (&line["id"], &line["program"], &line["code"]),
            (&"1aaa".into(), &"changed".into(), &"LR0002".into())
        );
        assert_eq!(line["written"], "1970-01-01T00:01:00.000Z");
    }

    #[test]
    fn where_nothing_was_kept_there_is_nothing() {
        assert!(kept(Path::new("/no/such/directory")).0.is_empty());
    }
}
