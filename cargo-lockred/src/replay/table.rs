//! An interleaving as a table: a row a step, a column a thread, the program's output where it was printed.

use crate::executable::symbols::{Frame, Origin, Symbols};
use crate::output::style::{Paint, Style};
use crate::report::bug::thread_name;
use crate::report::render::location;
use lockred_trace::message::{Output, Replay, Step};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// Widest column; longer cells are cut, unless everything is to be shown.
const WIDEST: usize = 44;
/// Rows that are shown when not everything is: the first and the last so many.
const SHOWN: usize = 120;

/// A cell: what was done, and where.
pub(super) struct Cell {
    thread: usize,
    pub(super) text: String,
}

/// The table, without a line break at its end. With `full`, operations inside of std are told with their place there, and
/// no row or cell is shortened.
pub fn text(replay: &Replay, symbols: &Symbols, full: bool, style: Style) -> String {
    let threads = columns(replay);
    let names = object_names(replay);
    let cells: Vec<Cell> =
        replay.steps.iter().map(|step| cell(&names, step, symbols, full)).collect();
    let mut widths: Vec<usize> = threads.iter().map(|name| name.chars().count()).collect();
    for cell in &cells {
        if let Some(width) = widths.get_mut(cell.thread) {
            *width = (*width).max(cell.text.chars().count());
        }
    }
    if !full {
        widths.iter_mut().for_each(|width| *width = (*width).min(WIDEST));
    }
    let number = cells.len().to_string().len().max(4);
    let mut table = format!("{:>number$}", "step");
    for (name, width) in threads.iter().zip(&widths) {
        let _ = write!(table, " │ {}", style.paint(Paint::Bold, &padded(name, *width)));
    }
    table.truncate(table.trim_end_matches(' ').len());
    table.push('\n');
    table.push_str(&"─".repeat(number));
    for width in &widths {
        table.push_str("─┼─");
        table.push_str(&"─".repeat(*width));
    }
    let hidden = if full { 0..0 } else { middle(cells.len()) };
    let mut output = replay.output.iter().peekable();
    for (index, cell) in cells.iter().enumerate() {
        while let Some(piece) = output.next_if(|piece| piece.step <= index) {
            printed(&mut table, piece, replay, number, style);
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
        let _ = write!(table, "\n{:>number$}", index + 1);
        for (thread, width) in widths.iter().enumerate() {
            let text = if thread == cell.thread { cell.text.as_str() } else { "" };
            let _ = write!(table, " │ {}", padded(text, *width));
        }
        table.truncate(table.trim_end_matches(' ').len());
    }
    for piece in output {
        printed(&mut table, piece, replay, number, style);
    }
    table
}

/// The names of the threads, by number.
fn columns(replay: &Replay) -> Vec<String> {
    let most = replay.steps.iter().map(|step| step.thread + 1).max().unwrap_or(1) as usize;
    let number = replay.threads.len().max(most);
    (0..number).map(|thread| thread_name(replay, u32::try_from(thread).unwrap_or(0))).collect()
}

pub(super) fn cell(
    names: &HashMap<u32, String>,
    step: &Step,
    symbols: &Symbols,
    full: bool,
) -> Cell {
    let mut text = step.operation.clone();
    if let Some(name) = step.object.and_then(|object| names.get(&object)) {
        // `lock A`, rather than `lock lock A`.
        let rest = name.strip_prefix(step.operation.as_str()).unwrap_or(name);
        let _ = write!(text, " {}", rest.trim_start());
    }
    let frames = symbols.frames(step.site, &step.stack);
    let of = |origin| frames.iter().find(|frame| frame.origin == origin && frame.line > 0);
    let told = of(Origin::User).or_else(|| of(Origin::Dependency));
    if let Some(frame) = told.or_else(|| frames.first().filter(|_| full)) {
        let _ = write!(text, "  {}", place(frame, full));
        if let Some(inner) = frames.first().filter(|inner| full && *inner != frame) {
            let _ = write!(text, " in {}", inner.function);
        }
    }
    Cell { thread: step.thread as usize, text }
}

/// `file:line`, with the column too when everything is shown.
fn place(frame: &Frame, full: bool) -> String {
    if full {
        return location(frame);
    }
    location(&Frame { column: 0, ..frame.clone() })
}

/// `mutex A`: objects of a kind are lettered in the order in which they are first used; by index, where they are used.
pub(super) fn object_names(replay: &Replay) -> HashMap<u32, String> {
    let mut kinds: HashMap<&str, Vec<u32>> = HashMap::new();
    let mut seen = HashSet::new();
    for index in replay.steps.iter().filter_map(|step| step.object) {
        if let Some(object) = replay.objects.get(index as usize)
            && seen.insert(index)
        {
            kinds.entry(&object.kind).or_default().push(index);
        }
    }
    let mut names = HashMap::new();
    for (kind, alike) in kinds {
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

/// A piece of the program's output, line by line.
fn printed(table: &mut String, piece: &Output, replay: &Replay, number: usize, style: Style) {
    for line in piece.text.lines().filter(|line| !line.is_empty()) {
        let thread = thread_name(replay, piece.thread);
        let line = style.paint(Paint::Cyan, &format!("{thread} prints: {line}"));
        let _ = write!(table, "\n{:>number$}   {line}", "");
    }
}

/// The rows that are left out of a long table.
const fn middle(rows: usize) -> std::ops::Range<usize> {
    if rows > 2 * SHOWN { SHOWN..rows - SHOWN } else { 0..0 }
}

/// The text with spaces behind it, or cut.
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
    use lockred_trace::message::{Object, Thread};
    use lockred_trace::schedule::Schedule;
    use lockred_trace::sites::{Sidecar, SiteId};

    #[test]
    fn every_thread_has_a_column_and_output_stands_at_its_step() {
        let step = |thread, operation: &str, object| Step {
            thread,
            operation: operation.into(),
            object,
            site: SiteId(0),
            stack: Vec::new(),
        };
        let object = |kind: &str| Object { kind: kind.into(), address: 0, size: None };
        let thread = |name: Option<&str>| Thread {
            name: name.map(Into::into),
            parent: None,
            created: Vec::new(),
        };
        let replay = Replay {
            bug: None,
            drift: None,
            schedule: Schedule::default(),
            threads: vec![thread(None), thread(Some("worker"))],
            objects: vec![object("mutex"), object("mutex"), object("atomic")],
            steps: vec![
                step(0, "lock", Some(1)),
                step(1, "lock", Some(0)),
                step(1, "load -> 1", Some(2)),
            ],
            output: vec![Output { thread: 1, descriptor: 1, text: "hello\n".into(), step: 2 }],
            unsupported: None,
        };
        let symbols = Symbols::of_sites(Sidecar::default(), Places::default());
        let table = text(&replay, &symbols, false, Style::plain());
        let expected = "\
step │ main         │ thread 1 `worker`
─────┼──────────────┼──────────────────
   1 │ lock mutex A │
   2 │              │ lock mutex B
       thread 1 `worker` prints: hello
   3 │              │ load -> 1 atomic";
        assert_eq!(table, expected);
    }

    #[test]
    fn long_cells_are_cut_and_long_tables_too() {
        assert_eq!(padded("abcdef", 4), "abc…");
        assert_eq!(padded("ab", 4), "ab  ");
        assert_eq!(middle(240), 0..0);
        assert_eq!(middle(241), 120..121);
    }
}
