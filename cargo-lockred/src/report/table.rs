//! An interleaving as a table: a row a step, a column a thread, the program's output where it was
//! printed.

use crate::executable::symbols::{Frame, Origin, Symbols};
use crate::printing::style::{Paint, Style};
use crate::report::bug::{thread_name, with_main};
use crate::report::render::location;
use lockred_protocol::message::{self, Output, Replay, Role, Step};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// Widest table in which no cell is cut. In wider ones that do not show everything, columns have
/// [`WIDEST`].
const WIDE: usize = 140;
/// Widest column where cells are cut.
const WIDEST: usize = 44;

/// What is shown of an interleaving.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum View {
    /// Every step, with its place in std where it is there, and no row or cell shortened.
    Full,
    /// The steps that matter, the first and the last so many of them; and what the program printed,
    /// if that is wanted.
    Brief {
        /// How many at either end.
        shown: usize,
        /// Whether with what was printed.
        output: bool,
    },
}

/// A row: what a thread did, and where.
struct Row {
    /// The step, if it is one: an access of a bug is none.
    step: Option<usize>,
    thread: usize,
    what: String,
    /// With spaces before it.
    at: String,
}

impl Row {
    fn width(&self) -> usize {
        self.what.chars().count() + self.at.chars().count()
    }

    /// What was done is cut before where that was.
    fn text(&self, width: usize) -> String {
        let at = self.at.chars().count();
        let what = if self.width() > width && at < width {
            padded(&self.what, width - at)
        } else {
            self.what.clone()
        };
        padded(&format!("{what}{}", self.at), width)
    }
}

/// The table, without a line break at its end; empty if nothing is to be shown. Up to the bug, if
/// there is one; the [`View::Full`] one to the end.
pub fn text(replay: &Replay, symbols: &Symbols, view: View, style: Style) -> String {
    let full = view == View::Full;
    let rows = rows(replay, symbols, view);
    let output: &[Output] = match view {
        View::Full => &replay.output,
        View::Brief { output: true, .. } => printed_by_test(replay),
        View::Brief { output: false, .. } => &[],
    };
    let threads = columns(replay, &rows, full);
    let mut widths: Vec<usize> = threads.iter().map(|(_, name)| name.chars().count()).collect();
    for row in &rows {
        if let Some(column) = threads.iter().position(|(thread, _)| *thread == row.thread) {
            widths[column] = widths[column].max(row.width());
        }
    }
    if !full && widths.iter().sum::<usize>() > WIDE {
        widths.iter_mut().for_each(|width| *width = (*width).min(WIDEST));
    }
    let number = replay.steps.len().to_string().len().max(4);
    let mut table = format!("{:>number$}", "step");
    for ((_, name), width) in threads.iter().zip(&widths) {
        let _ = write!(table, " │ {}", style.paint(Paint::Bold, &padded(name, *width)));
    }
    table.truncate(table.trim_end_matches(' ').len());
    table.push('\n');
    table.push_str(&"─".repeat(number));
    for width in &widths {
        table.push_str("─┼─");
        table.push_str(&"─".repeat(*width));
    }
    let hidden = match view {
        View::Full => 0..0,
        View::Brief { shown, .. } => middle(rows.len(), shown),
    };
    let last = rows.iter().filter_map(|row| row.step).max().filter(|_| !full);
    let mut output =
        output.iter().take_while(|piece| last.is_none_or(|last| piece.step <= last)).peekable();
    for (index, row) in rows.iter().enumerate() {
        if let Some(step) = row.step {
            while let Some(piece) = output.next_if(|piece| piece.step <= step) {
                printed(&mut table, piece, replay, number, style);
            }
        }
        if hidden.contains(&index) {
            if index == hidden.start {
                let _ = write!(
                    table,
                    "\n{:>number$}   ({} steps; --full shows them)",
                    "…",
                    hidden.len()
                );
            }
            continue;
        }
        let step = row.step.map_or_else(String::new, |step| (step + 1).to_string());
        let _ = write!(table, "\n{step:>number$}");
        for ((thread, _), width) in threads.iter().zip(&widths) {
            let text = if *thread == row.thread { row.text(*width) } else { padded("", *width) };
            let _ = write!(table, " │ {text}");
        }
        table.truncate(table.trim_end_matches(' ').len());
    }
    for piece in output {
        printed(&mut table, piece, replay, number, style);
    }
    table
}

/// What the program printed that is not the test harness's.
fn printed_by_test(replay: &Replay) -> &[Output] {
    let harness = |piece: &&Output| {
        piece.text.trim_start().starts_with("running 1 test")
            || piece.thread == 0 && piece.step == 0 && piece.text.starts_with("test ")
    };
    &replay.output[replay.output.iter().take_while(harness).count()..]
}

/// The rows of a table.
fn rows(replay: &Replay, symbols: &Symbols, view: View) -> Vec<Row> {
    let names = object_names(replay, symbols);
    if view == View::Full {
        let rows = replay.steps.iter().enumerate();
        return rows
            .map(|(index, step)| {
                row(&names, index, step, &symbols.frames(step.site, &step.stack), true)
            })
            .collect();
    }
    let places = replay.bug.iter().flat_map(|bug| &bug.places);
    let reported: HashSet<u32> = places.clone().filter_map(|place| place.object).collect();
    let end = places.clone().filter_map(|place| {
        // An access comes before the step that it is reported with, everything else is that step.
        place.step.map(|step| step + usize::from(!is_access(place.role)))
    });
    let end = end.max().unwrap_or(replay.steps.len());
    let mut rows: Vec<Row> = Vec::new();
    let mut accesses: Vec<&message::Place> = places.filter(|place| is_access(place.role)).collect();
    accesses.sort_by_key(|place| place.step.unwrap_or(usize::MAX));
    let mut accesses = accesses.into_iter().peekable();
    let mut add_accesses = |rows: &mut Vec<Row>, before: usize| {
        while let Some(place) = accesses.next_if(|place| place.step.unwrap_or(usize::MAX) <= before)
        {
            let frames = symbols.frames(place.site, &place.stack);
            let (what, at) = (access(place.role).to_owned(), at(&frames, false));
            rows.push(Row { step: None, thread: place.thread as usize, what, at });
        }
    };
    for (index, step) in replay.steps.iter().enumerate().take(end) {
        add_accesses(&mut rows, index);
        let kind = step.object.and_then(|object| replay.objects.get(object as usize));
        let kind = kind.map_or("", |object| object.kind.as_str());
        let is_reported = step.object.is_some_and(|object| reported.contains(&object));
        if is_bookkeeping(step, kind) || !is_reported && !matters(kind) {
            continue;
        }
        let frames = symbols.frames(step.site, &step.stack);
        if is_reported || !panics(&frames) {
            rows.push(row(&names, index, step, &frames, false));
        }
    }
    add_accesses(&mut rows, usize::MAX);
    rows.dedup_by(|new, old| {
        let steps = new.step.is_some() && old.step.is_some();
        steps && (new.thread, &new.what, &new.at) == (old.thread, &old.what, &old.at)
    });
    rows
}

/// Whether a place is an access that is no step.
const fn is_access(role: Role) -> bool {
    use Role::{Allocates, Died, Freed, Frees, Panicked, Read, Spins, Waits, Write};
    matches!(role, Read | Write | Allocates | Frees | Freed | Panicked | Died | Waits | Spins)
}

const fn access(role: Role) -> &'static str {
    match role {
        Role::Read => "reads",
        Role::Write => "writes",
        Role::Allocates => "allocates",
        Role::Frees | Role::Freed => "frees",
        Role::Panicked => "panics",
        Role::Waits => "waits for ever",
        Role::Spins => "goes round for ever",
        _ => "dies",
    }
}

/// Whether steps on objects of this kind tell a reader something.
fn matters(kind: &str) -> bool {
    !matches!(kind, "reference count" | "poison flag")
}

/// Whether something is done to report a panic.
fn panics(frames: &[Frame]) -> bool {
    let user = frames.iter().position(|frame| frame.origin == Origin::User);
    let inner = &frames[..user.unwrap_or(frames.len())];
    inner.iter().any(|frame| frame.function.contains("panicking::"))
}

/// Whether a step is only a way to do what another step is reported for.
fn is_bookkeeping(step: &Step, kind: &str) -> bool {
    let word = step.operation.split([' ', ':']).next().unwrap_or_default();
    let raw = matches!(
        word,
        "load" | "store" | "compare-exchange" | "weak" | "swap" | "add" | "sub" | "and" | "or"
    );
    raw && matches!(
        kind,
        "lock" | "rwlock" | "condition variable" | "poison flag" | "once" | "parker" | "counter"
    )
}

/// The threads that have rows, all of them in the full table, with their names.
fn columns(replay: &Replay, rows: &[Row], full: bool) -> Vec<(usize, String)> {
    let most = replay.steps.iter().map(|step| step.thread as usize + 1).max().unwrap_or(1);
    (0..replay.threads.len().max(most))
        .filter(|thread| full || rows.iter().any(|row| row.thread == *thread))
        .map(|thread| (thread, thread_name(replay, u32::try_from(thread).unwrap_or(0))))
        .collect()
}

fn row(
    names: &HashMap<u32, String>,
    index: usize,
    step: &Step,
    frames: &[Frame],
    full: bool,
) -> Row {
    let (what, at) = (what(names, step), at(frames, full));
    Row { step: Some(index), thread: step.thread as usize, what, at }
}

/// What a step does, and where.
pub fn line(names: &HashMap<u32, String>, step: &Step, symbols: &Symbols) -> String {
    format!("{}{}", what(names, step), at(&symbols.frames(step.site, &step.stack), false))
}

/// Where something was done: in the user's own code, else in a dependency's, with two spaces before
/// it.
fn at(frames: &[Frame], full: bool) -> String {
    let of = |origin| frames.iter().find(|frame| frame.origin == origin && frame.line > 0);
    let reported = of(Origin::User).or_else(|| of(Origin::Dependency));
    let mut text = String::new();
    if let Some(frame) = reported.or_else(|| frames.first().filter(|_| full)) {
        let _ = write!(text, "  {}", place(frame, full));
        if let Some(inner) = frames.first().filter(|inner| full && *inner != frame) {
            let _ = write!(text, " in {}", inner.function);
        }
    }
    text
}

/// What a step does: the operation, and the name of its object.
pub fn what(names: &HashMap<u32, String>, step: &Step) -> String {
    let operation = with_main(&step.operation);
    let Some(name) = step.object.and_then(|object| names.get(&object)) else { return operation };
    let name = name.replace("condition variable", "condvar");
    if operation.contains("for no reason") {
        return operation;
    }
    if operation == "waits" {
        return format!("waits for {name}");
    }
    if operation.starts_with("wakes ") || operation == "times out" {
        return format!("{operation} ({name})");
    }
    // `unlock A` rather than `unlock lock A`, and `try lock A: busy`; of a lock that is the only
    // one, the act alone.
    let (kind, which) = name.split_once(' ').unwrap_or((&name, ""));
    if kind != "lock" || !operation.contains("lock") {
        return format!("{operation} {name}");
    }
    match operation.split_once(": ") {
        _ if which.is_empty() => operation,
        Some((act, result)) => format!("{act} {which}: {result}"),
        None => format!("{operation} {which}"),
    }
}

/// `file:line`, with the column too when everything is shown.
fn place(frame: &Frame, full: bool) -> String {
    if full {
        return location(frame);
    }
    location(&Frame { column: 0, ..frame.clone() })
}

/// `mutex Pool.lock`, where the field is known and no other object that is used is one of these;
/// else `mutex A`: objects of a kind are lettered in the order in which they are first used. By
/// index, where they are used.
pub fn object_names(replay: &Replay, symbols: &Symbols) -> HashMap<u32, String> {
    let mut kinds: HashMap<&str, Vec<u32>> = HashMap::new();
    let mut seen = HashSet::new();
    for index in replay.steps.iter().filter_map(|step| step.object) {
        if let Some(object) = replay.objects.get(index as usize)
            && seen.insert(index)
        {
            kinds.entry(&object.kind).or_default().push(index);
        }
    }
    let mut fields: HashMap<String, Vec<u32>> = HashMap::new();
    for &index in &seen {
        let object = replay.objects.get(index as usize);
        // What libraries keep to themselves (counts, flags) is part of a field without being it.
        if let Some(object) = object.filter(|object| is_named_by_field(&object.kind))
            && let Some(field) = symbols.name(object)
        {
            fields.entry(field).or_default().push(index);
        }
    }
    let only = |(field, indices): (String, Vec<u32>)| match indices[..] {
        [index] => Some((index, field)),
        _ => None,
    };
    let fields: HashMap<u32, String> = fields.into_iter().filter_map(only).collect();
    let mut names = HashMap::new();
    for (kind, alike) in kinds {
        let (named, alike): (Vec<u32>, Vec<u32>) =
            alike.into_iter().partition(|index| fields.contains_key(index));
        for index in named {
            let field = &fields[&index];
            let name = if kind == "atomic" { field.clone() } else { format!("{kind} {field}") };
            names.insert(index, name);
        }
        for (place, index) in alike.iter().enumerate() {
            let name = match u8::try_from(place) {
                _ if alike.len() == 1 => kind.to_owned(),
                Ok(place) if place < 26 => format!("{kind} {}", char::from(b'A' + place)),
                _ => format!("{kind} {}", place + 1),
            };
            names.insert(*index, name);
        }
    }
    names
}

/// Whether objects of a kind are what their field is.
fn is_named_by_field(kind: &str) -> bool {
    matches!(kind, "lock" | "rwlock" | "atomic" | "condition variable" | "once")
}

/// A piece of the program's output, line by line.
fn printed(table: &mut String, piece: &Output, replay: &Replay, number: usize, style: Style) {
    for line in piece.text.lines().filter(|line| !line.is_empty()) {
        let thread = thread_name(replay, piece.thread);
        let line = style.paint(Paint::Cyan, &format!("{thread} prints: {line}"));
        let _ = write!(table, "\n{:>number$}   {line}", "");
    }
}

/// The rows that are left out of a long table.
const fn middle(rows: usize, shown: usize) -> std::ops::Range<usize> {
    if rows > 2 * shown { shown..rows - shown } else { 0..0 }
}

/// The text with spaces after it, or cut.
fn padded(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length > width {
        let kept: String = text.chars().take(width.saturating_sub(1)).collect();
        return format!("{kept}…");
    }
    format!("{text}{}", " ".repeat(width - length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executable::symbols::Places;
    use lockred_protocol::message::{Object, Thread};
    use lockred_protocol::schedule::Schedule;
    use lockred_protocol::sites::{Sidecar, SiteId};

    #[test]
    fn every_thread_has_a_column_and_output_stands_at_its_step() {
        let step = |thread, operation: &str, object| Step {
            thread,
            operation: operation.into(),
            object,
            site: SiteId(0),
            stack: Vec::new(),
        };
        let object = |kind: &str| Object { kind: kind.into(), address: 0, size: None, home: None };
        let thread = |name: Option<&str>| Thread {
            name: name.map(Into::into),
            parent: None,
            created: Vec::new(),
        };
        let replay = Replay {
            overtaken: Vec::new(),
            bug: None,
            drift: None,
            schedule: Schedule::default(),
            threads: vec![thread(None), thread(Some("worker"))],
            objects: vec![object("lock"), object("lock"), object("atomic")],
            steps: vec![
                step(0, "lock", Some(1)),
                step(1, "try lock: busy", Some(1)),
                step(1, "lock", Some(0)),
                step(0, "unlock", Some(1)),
                step(1, "load -> 1", Some(2)),
            ],
            output: vec![Output { thread: 1, descriptor: 1, text: "hello\n".into(), step: 2 }],
            warnings: Vec::new(),
            scaled: Vec::new(),
            unsupported: None,
            shared: None,
        };
        let symbols = Symbols::of_sites(Sidecar::default(), Places::default());
        let table =
            text(&replay, &symbols, View::Brief { shown: 120, output: true }, Style::plain());
        let expected = "\
step │ main     │ thread 1 `worker`
─────┼──────────┼──────────────────
   1 │ lock A   │
   2 │          │ try lock A: busy
       thread 1 `worker` prints: hello
   3 │          │ lock B
   4 │ unlock A │
   5 │          │ load -> 1 atomic";
        assert_eq!(table, expected);
    }

    #[test]
    fn long_cells_are_cut_and_long_tables_too() {
        assert_eq!(padded("abcdef", 4), "abc…");
        assert_eq!(padded("ab", 4), "ab  ");
        assert_eq!(middle(240, 120), 0..0);
        assert_eq!(middle(241, 120), 120..121);
    }
}
