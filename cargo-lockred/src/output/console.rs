//! stderr as people see it: cargo-like status lines, and one transient line where stderr is a terminal.

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
    terminal: bool,
    quiet: bool,
    /// Whether the transient line shows something.
    dirty: Cell<bool>,
}

impl Console {
    /// With `quiet`, status lines are left out.
    pub fn new(color: Option<Color>, quiet: bool) -> Self {
        Self {
            style: Style::choose(color),
            terminal: std::io::stderr().is_terminal() && !quiet,
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

    /// Text as it is, with a line break behind it.
    pub fn line(&self, text: &str) {
        self.clear();
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// Replaces the transient line; nothing where stderr is no terminal.
    pub fn transient(&self, text: &str) {
        if !self.terminal {
            return;
        }
        let width = columns(libc::STDERR_FILENO).saturating_sub(STATUS_WIDTH + 2).max(20);
        let short: String = text.chars().filter(|c| !c.is_control()).take(width).collect();
        let mut stderr = std::io::stderr().lock();
        let _ = write!(stderr, "\r\x1b[K{:STATUS_WIDTH$} {short}", "");
        let _ = stderr.flush();
        self.dirty.set(true);
    }

    /// A transient line with how many of all were done.
    pub fn progress(&self, text: &str, done: usize, of: usize) {
        self.transient(&format!("{}/{of}: {text}", done + 1));
    }

    /// Removes the transient line.
    pub fn clear(&self) {
        if self.dirty.replace(false) {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
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
    // SAFETY: the request writes one `winsize` to the address passed, which is that of a live, exclusive local.
    let result = unsafe { libc::ioctl(terminal, libc::TIOCGWINSZ, &raw mut size) };
    if result == 0 && size.ws_col > 0 { usize::from(size.ws_col) } else { 80 }
}
