//! stderr as people see it: cargo-like status lines, and one transient line where stderr is a
//! terminal.

use super::style::{Paint, Style};
use crate::cli::selection::Color;
use crate::error::Error;
use std::cell::Cell;
use std::io::{IsTerminal, Write};

/// Width of the right-aligned status word, as cargo's.
const STATUS_WIDTH: usize = 12;

/// The console. A line that cannot be written is lost; there is nowhere else to say so.
#[derive(Debug)]
pub struct Console {
    /// How to colour.
    pub style: Style,
    /// Columns of transient lines; `None` where there are none.
    progress: Option<usize>,
    quiet: bool,
    /// Whether the transient line shows something.
    dirty: Cell<bool>,
}

impl Console {
    /// With `quiet`, status lines are left out.
    pub fn new(color: Option<Color>, quiet: bool) -> Self {
        Self {
            style: Style::choose(color),
            progress: progress_width().filter(|_| !quiet),
            quiet,
            dirty: Cell::new(false),
        }
    }

    /// Whether only reports and the summary are wanted.
    pub const fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// A line with a right-aligned status word, unless quiet.
    pub fn status(&self, word: &str, text: &str) {
        if !self.quiet {
            self.marked(word, Paint::Green, text);
        }
    }

    /// A line with a right-aligned word in a colour, also when quiet.
    pub fn marked(&self, word: &str, paint: Paint, text: &str) {
        let padding = STATUS_WIDTH.saturating_sub(word.chars().count());
        self.line(&format!("{:padding$}{} {text}", "", self.style.paint(paint, word)));
    }

    /// A warning, also when quiet.
    pub fn warning(&self, text: &str) {
        self.line(&format!("{}: {text}", self.style.paint(Paint::Yellow, "warning")));
    }

    /// An error with its hint.
    pub fn error(&self, error: &Error) {
        self.line(&format!("{}: {}", self.style.paint(Paint::Red, "error"), error.message));
        if let Some(hint) = &error.hint {
            self.line(&format!("{}: {hint}", self.style.paint(Paint::Cyan, "help")));
        }
    }

    /// Text as it is, with a line break after it.
    pub fn line(&self, text: &str) {
        self.clear();
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// Replaces the transient line; nothing where there is none.
    pub fn transient(&self, text: &str) {
        if let Some(width) = self.progress {
            self.draw(&" ".repeat(STATUS_WIDTH), text, width);
        }
    }

    fn draw(&self, word: &str, text: &str, width: usize) {
        let width = width.saturating_sub(STATUS_WIDTH + 2).max(20);
        let short: String = text.chars().filter(|c| !c.is_control()).take(width).collect();
        let mut stderr = std::io::stderr().lock();
        let _ = write!(stderr, "\r\x1b[K{word} {short}");
        let _ = stderr.flush();
        self.dirty.set(true);
    }

    /// A transient line in cargo's manner: a bar, how many of all were done, and what is under way.
    pub fn progress(&self, word: &str, done: usize, of: usize, text: &str) {
        if let Some(width) = self.progress {
            let bar = bar(done, of, width.saturating_sub(SMALLEST_TEXT));
            let padding = STATUS_WIDTH.saturating_sub(word.chars().count());
            let word = format!("{:padding$}{}", "", self.style.paint(Paint::Cyan, word));
            self.draw(&word, &format!("{bar}{done}/{of}: {text}"), width);
        }
    }

    /// Removes the transient line.
    pub fn clear(&self) {
        if self.dirty.replace(false) {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

/// A bar is drawn where this is left for the text behind it.
const SMALLEST_TEXT: usize = 70;
/// Columns of the widest bar, brackets and the space after it included.
const WIDEST_BAR: usize = 30;

/// A bar of at most so many columns; none where that is too little to see something.
fn bar(done: usize, of: usize, columns: usize) -> String {
    let inner = columns.min(WIDEST_BAR).saturating_sub(3);
    if inner < 5 || of == 0 {
        return String::new();
    }
    let filled = inner * done.min(of) / of;
    let head = if filled < inner { ">" } else { "" };
    format!("[{}{head}{}] ", "=".repeat(filled), " ".repeat(inner - filled - head.len()))
}

/// Columns of transient lines, if there are to be any: as cargo does, by
/// `CARGO_TERM_PROGRESS_WHEN`, where `always` takes `CARGO_TERM_PROGRESS_WIDTH`; else on a terminal
/// that can do more than print, outside of continuous integration.
fn progress_width() -> Option<usize> {
    let variable = |name: &str| std::env::var(name).ok();
    let when = variable("CARGO_TERM_PROGRESS_WHEN");
    let width = variable("CARGO_TERM_PROGRESS_WIDTH").and_then(|width| width.parse().ok());
    let plain = variable("TERM").is_some_and(|terminal| terminal == "dumb");
    let integration = ["CI", "TF_BUILD"].iter().any(|name| std::env::var_os(name).is_some());
    let able = std::io::stderr().is_terminal() && !plain && !integration;
    shows_progress(when.as_deref(), able)
        .then(|| width.unwrap_or_else(|| columns(libc::STDERR_FILENO)))
}

/// Whether transient lines are shown, given when they are wanted and whether stderr is made for
/// them.
fn shows_progress(when: Option<&str>, able: bool) -> bool {
    match when {
        Some("always") => true,
        Some("never") => false,
        _ => able,
    }
}

/// Columns of the terminal on stdout; 80 where it is none.
pub fn columns_of_stdout() -> usize {
    columns(libc::STDOUT_FILENO)
}

/// Columns of a terminal; 80 where it does not say.
fn columns(terminal: libc::c_int) -> usize {
    // SAFETY: all-zero bytes are a valid `winsize`, which holds integers only.
    let mut size: libc::winsize = unsafe { std::mem::zeroed() };
    // SAFETY: the request writes one `winsize` to the address passed, which is that of a live,
    // exclusive local.
    let result = unsafe { libc::ioctl(terminal, libc::TIOCGWINSZ, &raw mut size) };
    if result == 0 && size.ws_col > 0 { usize::from(size.ws_col) } else { 80 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_fills_and_is_left_out_where_there_is_no_place() {
        assert_eq!(bar(0, 4, 11), "[>       ] ");
        assert_eq!(bar(2, 4, 11), "[====>   ] ");
        assert_eq!(bar(4, 4, 11), "[========] ");
        assert_eq!(bar(1, 4, 7), "");
        assert_eq!(bar(1, 4, 500).len(), WIDEST_BAR);
    }

    #[test]
    fn progress_is_shown_when_cargo_would() {
        assert!(shows_progress(Some("always"), false) && !shows_progress(Some("never"), true));
        assert!(shows_progress(None, true) && !shows_progress(Some("auto"), false));
    }
}
