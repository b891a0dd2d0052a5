//! `replay --step`: the interleaving one step at a time, with the line of source and the locks that
//! are held.
//!
//! It goes through the record of a replay, so that going slowly changes nothing. Lines come from
//! standard input, which may be a pipe; its end, or `q`, ends it.

use crate::executable::source::line_text;
use crate::executable::symbols::{Frame, Origin, Symbols};
use crate::printing::console::Console;
use crate::report::bug::thread_name;
use crate::report::render::location;
use crate::report::table::{line, object_names};
use lockred_protocol::message::{Replay, Step};
use std::io::BufRead;
use std::path::Path;

/// Goes through the steps.
pub fn walk(replay: &Replay, symbols: &Symbols, console: &Console, input: &mut dyn BufRead) {
    let names = object_names(replay, symbols);
    let mut held: Vec<(u32, u32)> = Vec::new();
    for (index, step) in replay.steps.iter().enumerate() {
        update(&mut held, step);
        let reported = line(&names, step, symbols);
        let thread = thread_name(replay, step.thread);
        console.line(&format!("{:>4}  {thread}: {reported}", index + 1));
        if let Some(line) = source(symbols, step) {
            console.line(&format!("      {line}"));
        }
        if !held.is_empty() {
            let locks = held.iter().map(|(thread, object)| {
                let name = names.get(object).map_or("a lock", String::as_str);
                format!("{} holds {name}", thread_name(replay, *thread))
            });
            console.line(&format!("      {}", locks.collect::<Vec<_>>().join(", ")));
        }
        for output in replay.output.iter().filter(|output| output.step == index + 1) {
            console.line(&format!("      prints: {}", output.text.trim_end()));
        }
        let mut answer = String::new();
        match input.read_line(&mut answer) {
            Ok(read) if read > 0 && answer.trim() != "q" => {}
            _ => {
                console.line(&format!("({} of {} steps)", index + 1, replay.steps.len()));
                return;
            }
        }
    }
}

/// Who holds what after a step.
fn update(held: &mut Vec<(u32, u32)>, step: &Step) {
    let Some(object) = step.object else { return };
    match step.operation.as_str() {
        "lock" | "read lock" | "try lock: locked" | "try read lock: locked" => {
            held.push((step.thread, object));
        }
        "unlock" | "read unlock" => {
            // A guard may have been sent to another thread.
            let own = held.iter().rposition(|&one| one == (step.thread, object));
            if let Some(at) = own.or_else(|| held.iter().rposition(|one| one.1 == object)) {
                held.remove(at);
            }
        }
        _ => {}
    }
}

/// The line of the user's code that a step is of, with its place.
fn source(symbols: &Symbols, step: &Step) -> Option<String> {
    let frames = symbols.frames(step.site, &step.stack);
    let user = |frame: &&Frame| frame.origin == Origin::User && frame.line > 0;
    let frame = frames.iter().find(user)?;
    let text = symbols.sources().text(Path::new(&frame.file))?;
    Some(format!("{}  {}", location(frame), line_text(&text, frame.line)?.trim()))
}

/// The place of the user's code at a recorded step, for messages.
pub fn place(replay: &Replay, symbols: &Symbols, index: usize) -> Option<String> {
    source(symbols, replay.steps.get(index)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockred_protocol::sites::SiteId;

    #[test]
    fn locks_are_held_until_somebody_gives_them_back() {
        let step = |thread, operation: &str, object| Step {
            thread,
            operation: operation.into(),
            object: Some(object),
            site: SiteId(0),
            stack: Vec::new(),
        };
        let mut held = Vec::new();
        let mut behind = |thread, operation, object| {
            update(&mut held, &step(thread, operation, object));
            held.clone()
        };
        assert_eq!(behind(0, "lock", 1), [(0, 1)]);
        assert_eq!(behind(1, "try lock: busy", 1), [(0, 1)]);
        assert_eq!(behind(1, "read lock", 2), [(0, 1), (1, 2)]);
        assert_eq!(behind(2, "read lock", 2), [(0, 1), (1, 2), (2, 2)]);
        assert_eq!(behind(1, "read unlock", 2), [(0, 1), (2, 2)]);
        assert_eq!(behind(3, "unlock", 1), [(2, 2)]);
    }
}
