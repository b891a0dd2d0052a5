//! Colours: whether to use them, and the few that there are.

use crate::cli::selection::Color;
use std::env;
use std::io::IsTerminal;

/// Whether colours are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style(bool);

/// The colours, all bold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Paint {
    /// What went well, and cargo's kind of status words.
    Green,
    /// What is bounded or rests on something.
    Yellow,
    /// Bugs and errors.
    Red,
    /// Neutral emphasis.
    Cyan,
    /// No colour.
    Bold,
    /// Not bold: secondary text.
    Dim,
}

impl Style {
    /// By `--color`, else `CARGO_TERM_COLOR`, else `NO_COLOR`, else whether stderr is a terminal.
    pub fn choose(color: Option<Color>) -> Self {
        Self::on(color, std::io::stderr().is_terminal())
    }

    /// The same for stdout.
    pub fn on_stdout(color: Option<Color>) -> Self {
        Self::on(color, std::io::stdout().is_terminal())
    }

    fn on(color: Option<Color>, terminal: bool) -> Self {
        let variable = env::var("CARGO_TERM_COLOR").ok();
        let no_color = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self(wanted(color, variable.as_deref(), no_color, terminal))
    }

    /// Never.
    pub const fn plain() -> Self {
        Self(false)
    }

    /// Whether colours are printed.
    pub const fn is_colored(self) -> bool {
        self.0
    }

    /// The text in a colour.
    pub fn paint(self, paint: Paint, text: &str) -> String {
        if !self.0 {
            return text.to_owned();
        }
        let code = match paint {
            Paint::Green => "1;32",
            Paint::Yellow => "1;33",
            Paint::Red => "1;31",
            Paint::Cyan => "1;36",
            Paint::Bold => "1",
            Paint::Dim => "2",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

fn wanted(color: Option<Color>, variable: Option<&str>, no_color: bool, terminal: bool) -> bool {
    match (color, variable) {
        (Some(Color::Always), _) | (None, Some("always")) => true,
        (Some(Color::Never), _) | (None, Some("never")) => false,
        _ => terminal && !no_color,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_outweighs_the_variables_and_these_the_terminal() {
        assert!(wanted(Some(Color::Always), Some("never"), true, false));
        assert!(!wanted(Some(Color::Never), Some("always"), false, true));
        assert!(wanted(None, Some("always"), true, false));
        assert!(!wanted(None, Some("auto"), true, true));
        assert!(wanted(None, None, false, true));
        assert!(!wanted(Some(Color::Auto), None, false, false));
    }
}
