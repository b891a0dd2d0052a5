//! `cargo lockred discipline`: checks every test, looks at the discipline in each, and reports,
//! pins or compares what all of them show.

use crate::check;
use crate::cli::check::CheckOptions;
use crate::cli::discipline::DisciplineOptions;
use crate::cli::format::Lines;
use crate::discipline::facts::{Facts, Field};
use crate::discipline::pinned::{self, Comparison};
use crate::discipline::protection::Protection;
use crate::error::{Error, Result};
use crate::executable::source::Sources;
use crate::exit::Exit;
use crate::printing::console::Console;
use crate::printing::style::Style;
use crate::report::render::{self, Stacks};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;

/// Version of the JSON lines.
const VERSION: u32 = 1;

/// Runs the command.
///
/// # Errors
/// When nothing could be checked, or the file cannot be read or written.
pub fn run(options: DisciplineOptions) -> Result<Exit> {
    let DisciplineOptions { filter, search, message_format, pin, check, file, selection } = options;
    let display = &selection.display;
    let (color, console) = (display.color, Console::new(display.color, display.quiet));
    let options = CheckOptions::observing(filter, search, selection);
    let (outcomes, root) = check::outcomes(&options)?;
    let mut facts = Facts::default();
    let mut unseen = 0;
    for outcome in outcomes {
        match outcome.facts {
            Some(observed) => facts.merge(observed),
            None => unseen += u32::from(outcome.unsupported.is_some() || outcome.error.is_some()),
        }
    }
    if unseen > 0 {
        console.warning(&format!("{unseen} of the tests could not be looked at"));
    }
    let path = file.unwrap_or_else(|| root.join(pinned::FILE));
    let comparison = match check {
        true => Some(pinned::compare(&pinned::read(&path)?, &facts)),
        false => None,
    };
    let text = match message_format {
        Lines::Human if check || pin => String::new(),
        Lines::Human => table(&facts),
        Lines::Json => lines(&facts, comparison.as_ref()),
    };
    // Who stops reading has read enough.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    if pin {
        let text = pinned::text(&facts);
        std::fs::write(&path, &text).map_err(|e| Error::file("write", &path, &e))?;
        let fields = facts.shared().count();
        console.status("Pinned", &format!("{fields} fields in {}", path.display()));
    }
    let Some(comparison) = comparison else { return Ok(Exit::Success) };
    let sources = Sources::new(&root);
    for report in &comparison.lost {
        let colored = Style::choose(color).is_colored();
        let text = render::text(report, &sources, Stacks::User, colored);
        console.line(&format!("\n{text}\n"));
    }
    report(&comparison, &console);
    Ok(if comparison.lost.is_empty() { Exit::Success } else { Exit::BugFound })
}

/// What else has changed.
fn report(comparison: &Comparison, console: &Console) {
    for (fields, what) in [
        (&comparison.gone, "are pinned, and no test shares them between threads any more"),
        (&comparison.new, "are shared between threads, and not pinned"),
    ] {
        if !fields.is_empty() {
            console.status("Note", &format!("these {what}: {}", fields.join(", ")));
        }
    }
    match comparison.lost.len() {
        0 => console.status("Discipline", "every pinned field is protected as it was"),
        lost => console.status("Discipline", &format!("{lost} fields have lost their protection")),
    }
}

/// Verified, or only observed.
fn confidence(field: &Field) -> String {
    match field.verified {
        true => "verified".to_owned(),
        false => format!("observed in {} executions", field.executions),
    }
}

/// A line a field, for people.
fn table(facts: &Facts) -> String {
    let width = |text: &str| text.chars().count();
    let rows: Vec<(&str, String, String)> = facts
        .shared()
        .map(|(name, protection)| (name, protection.to_string(), confidence(&facts.fields[name])))
        .collect();
    let names = rows.iter().map(|(name, ..)| width(name)).max().unwrap_or(0);
    let protections = rows.iter().map(|(_, text, _)| width(text)).max().unwrap_or(0);
    let mut text = String::new();
    for (name, protection, confidence) in rows {
        let _ = writeln!(text, "{name:names$}  {protection:protections$}  {confidence}");
    }
    text
}

#[derive(Serialize)]
struct Line<'a> {
    reason: &'static str,
    v: u32,
    field: &'a str,
    protection: &'static str,
    locks: Vec<&'a str>,
    confidence: &'static str,
    executions: u64,
    places: Vec<PlaceLine<'a>>,
}

#[derive(Serialize)]
struct PlaceLine<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    function: &'a str,
    writes: bool,
    atomic: bool,
    locks: Vec<&'a str>,
}

#[derive(Serialize)]
struct End<'a> {
    reason: &'static str,
    v: u32,
    /// One line for each field that has lost its protection.
    lost: Vec<&'a str>,
}

/// A JSON object a field, and one at the end.
fn lines(facts: &Facts, comparison: Option<&Comparison>) -> String {
    let mut text = String::new();
    for (name, protection) in facts.shared() {
        let field = &facts.fields[name];
        let places = field.places.iter().filter(|place| place.counts).filter_map(|place| {
            let frame = place.frame()?;
            Some(PlaceLine {
                file: &frame.file,
                line: frame.line,
                column: frame.column,
                function: &frame.function,
                writes: place.writes,
                atomic: place.atomic,
                locks: place.held.iter().map(|lock| lock.name.as_str()).collect(),
            })
        });
        let line = Line {
            reason: "field",
            v: VERSION,
            field: name,
            protection: protection.word(),
            locks: match &protection {
                Protection::Locked(locks) => locks.iter().map(String::as_str).collect(),
                _ => Vec::new(),
            },
            confidence: if field.verified { "verified" } else { "observed" },
            executions: field.executions,
            places: places.collect(),
        };
        let _ = writeln!(text, "{}", serde_json::to_string(&line).unwrap_or_default());
    }
    let lost = comparison.map_or(&[][..], |comparison| &comparison.lost);
    let lost = lost.iter().map(|report| report.title.as_str()).collect();
    let end = End { reason: "finished", v: VERSION, lost };
    let _ = writeln!(text, "{}", serde_json::to_string(&end).unwrap_or_default());
    text
}
