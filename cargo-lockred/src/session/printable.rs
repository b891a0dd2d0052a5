//! What a program says of itself, as it may be printed: it must neither move a terminal's cursor
//! nor look like lines of ours.
//!
//! Characters that control a terminal, or the direction of text, are shown as pictures of
//! themselves, as rustc shows those in source files. Line breaks stay where a text may have several
//! lines.

use lockred_protocol::message::{Exploration, Message, Replay, Stop, Unsupported, Warning};

/// The picture of a character that must not be printed.
const fn picture(character: char) -> Option<char> {
    match character {
        '\0'..='\x1f' => char::from_u32('\u{2400}' as u32 + character as u32),
        '\x7f' => Some('\u{2421}'),
        // Controls of eight bits, and of the direction of text.
        '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some(char::REPLACEMENT_CHARACTER)
        }
        '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' => Some(char::REPLACEMENT_CHARACTER),
        _ => None,
    }
}

fn replace(text: &mut String, keeps: impl Fn(char) -> bool) {
    let shown = |character: char| picture(character).filter(|_| !keeps(character));
    if text.chars().any(|character| shown(character).is_some()) {
        *text = text.chars().map(|character| shown(character).unwrap_or(character)).collect();
    }
}

/// Makes a text printable that may have several lines.
pub fn text(text: &mut String) {
    if text.contains("\r\n") {
        *text = text.replace("\r\n", "\n");
    }
    replace(text, |character| matches!(character, '\n' | '\t'));
}

/// Makes a text printable that is a part of a line.
pub fn line(line: &mut String) {
    replace(line, |_| false);
}

/// A text as it may be printed within a line.
pub fn in_line(text: &str) -> String {
    let mut text = text.to_owned();
    line(&mut text);
    text
}

fn warning(warning: &mut Warning) {
    text(&mut warning.message);
}

fn unsupported(unsupported: &mut Unsupported) {
    text(&mut unsupported.message);
}

fn exploration(exploration: &mut Exploration) {
    if let Stop::Unsupported(what) = &mut exploration.stop {
        unsupported(what);
    }
    exploration.findings.iter_mut().for_each(|finding| text(&mut finding.message));
    exploration.warnings.iter_mut().for_each(warning);
    exploration.assumptions.iter_mut().for_each(|assumption| line(&mut assumption.detail));
}

fn replay(replay: &mut Replay) {
    if let Some(bug) = &mut replay.bug {
        text(&mut bug.message);
        bug.notes.iter_mut().for_each(text);
    }
    replay.threads.iter_mut().filter_map(|thread| thread.name.as_mut()).for_each(line);
    replay.steps.iter_mut().for_each(|step| line(&mut step.operation));
    replay.output.iter_mut().for_each(|piece| text(&mut piece.text));
    replay.warnings.iter_mut().for_each(warning);
    replay.scaled.iter_mut().for_each(|cut| line(&mut cut.detail));
    if let Some(drift) = &mut replay.drift {
        text(&mut drift.message);
    }
    if let Some(what) = &mut replay.unsupported {
        unsupported(what);
    }
}

/// Makes everything printable in the response of a process. Keys stay what they are: processes
/// compare them.
pub fn message(message: &mut Message) {
    match message {
        Message::Explored(explored) => exploration(explored),
        Message::Replayed(replayed) => replay(replayed),
        Message::Error { message } => text(message),
        Message::Minimised(_) | Message::Observed(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_shown_as_pictures() {
        assert_eq!(in_line("big \x1b[31m red\n"), "big ␛[31m red␊");
        assert_eq!(in_line("a\u{9b}b\x7f\u{202e}c\r"), "a\u{fffd}b␡\u{fffd}c␍");
        assert_eq!(in_line("häß 字 `x`"), "häß 字 `x`");
    }

    #[test]
    fn texts_keep_their_lines() {
        let mut reported = "one\r\ntwo\tthree\x1b[2J\n\rfour".to_owned();
        text(&mut reported);
        assert_eq!(reported, "one\ntwo\tthree␛[2J\n␍four");
    }
}
