//! `cargo lockred explain`: the pages of the manual, on a terminal.

use crate::cli::ExplainOptions;
use crate::cli::findings::Reporter;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::manual::{self, Page};
use crate::printing::console::columns_of_stdout;
use crate::printing::style::{Paint, Style};
use lockred_protocol::codes::{AssumptionKind, BugKind, WarningKind};
use std::fmt::Write as _;
use std::io::Write as _;

/// Lines are not wider than this: longer ones are hard to read.
const WIDEST: usize = 100;

/// Runs the command.
///
/// # Errors
/// Wrong usage: there is no such code.
pub fn run(options: &ExplainOptions) -> Result<Exit> {
    let style = Style::on_stdout(options.color);
    let width = columns_of_stdout().min(WIDEST);
    let text = match &options.code {
        Some(code) => page(&find(code)?, width, style),
        None => list(width, style),
    };
    // Who stops reading (`| head`) has read enough.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    Ok(Exit::Success)
}

/// The page that somebody means: by its code, or by the name of a kind.
fn find(typed: &str) -> Result<Page> {
    let wanted = typed.trim().to_lowercase();
    let named = |(code, name): &(&'static str, String)| {
        code.to_lowercase() == wanted || name.to_lowercase() == wanted
    };
    let names = names();
    if let Some(page) =
        names.iter().find(|name| named(name)).and_then(|(code, _)| manual::page(code))
    {
        return Ok(page);
    }
    let error = Error::usage(format!("unknown code `{typed}`"));
    let near = names
        .iter()
        .flat_map(|(code, name)| [(*code, code.to_lowercase()), (*code, name.to_lowercase())])
        .map(|(code, name)| (distance(&wanted, &name), code, name))
        .min()
        .filter(|(distance, _, name)| *distance <= name.chars().count() / 3);
    Err(match near {
        Some((_, code, name)) if code.to_lowercase() == name => {
            error.hint(format!("there is {code}"))
        }
        Some((_, code, name)) => error.hint(format!("there is {code} ({name})")),
        None => error.hint("`cargo lockred explain` lists all codes"),
    })
}

/// The codes that pages have, each with the name of its kind.
fn names() -> Vec<(&'static str, String)> {
    let name = |kind: serde_json::Result<serde_json::Value>| {
        kind.ok().and_then(|kind| Some(kind.as_str()?.to_owned())).unwrap_or_default()
    };
    let bugs = BugKind::ALL.iter().map(|kind| (kind.code(), name(serde_json::to_value(kind))));
    let warnings =
        WarningKind::ALL.iter().map(|kind| (kind.code(), name(serde_json::to_value(kind))));
    let kinds: Vec<_> = bugs.chain(warnings).collect();
    let own =
        |code: &str| kinds.iter().find(|(known, _)| *known == code).map(|(_, name)| name.clone());
    manual::pages()
        .map(|page| (page.code, own(page.code).unwrap_or_else(|| page.code.to_owned())))
        .collect()
}

/// How many letters have to be put in, left out or replaced.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, same) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *same);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

/// The headings of the list, and the codes under each.
fn groups() -> [(&'static str, Vec<&'static str>); 4] {
    let of = |check| {
        let of = WarningKind::ALL.iter().filter(|kind| Reporter::Check.reports(**kind) == check);
        of.map(|kind| kind.code()).collect()
    };
    [
        ("Bugs", BugKind::ALL.iter().map(|kind| kind.code()).collect()),
        ("Warnings", of(true)),
        ("Warnings of the audit", of(false)),
        ("What verdicts rest on", AssumptionKind::ALL.iter().map(|kind| kind.code()).collect()),
    ]
}

/// All codes, each with what it stands for.
fn list(width: usize, style: Style) -> String {
    let indent = manual::pages().map(|page| page.code.len()).max().unwrap_or(0) + 4;
    let mut text = String::new();
    for (heading, codes) in groups() {
        let _ = writeln!(text, "{}", style.paint(Paint::Bold, &format!("{heading}:")));
        for page in manual::pages().filter(|page| codes.contains(&page.code)) {
            let reported = if page.title() == page.code {
                page.meaning()
            } else {
                format!("{}: {}", page.title(), page.meaning())
            };
            let lines = wrapped(&reported, width.saturating_sub(indent).max(20));
            for (number, line) in lines.iter().enumerate() {
                let code = if number == 0 { page.code } else { "" };
                let padding = indent - 2 - code.len();
                let _ = writeln!(text, "  {}{:padding$}{line}", style.paint(Paint::Cyan, code), "");
            }
        }
        text.push('\n');
    }
    text.push_str("`cargo lockred explain CODE` shows the page of one.\n");
    text
}

/// A page: paragraphs filled to the width, headings without their marks, code as it is.
fn page(page: &Page, width: usize, style: Style) -> String {
    let mut text = String::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut in_code = false;
    for line in page.text().lines().chain([""]) {
        let heading = line.trim_start_matches('#');
        let is_heading = !in_code && heading.len() < line.len();
        let is_fence = line.starts_with("```");
        if in_code || is_fence || is_heading || line.is_empty() {
            for line in wrapped(&paragraph.join(" "), width) {
                let _ = writeln!(text, "{line}");
            }
            paragraph.clear();
        }
        if is_fence {
            in_code = !in_code;
        } else if in_code {
            let indent = if line.is_empty() { "" } else { "    " };
            let _ = writeln!(text, "{indent}{line}");
        } else if is_heading {
            let _ = writeln!(text, "{}", style.paint(Paint::Bold, heading.trim()));
        } else if line.is_empty() {
            text.push('\n');
        } else {
            paragraph.push(line);
        }
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// The words in lines of at most so many columns; a longer word has a line of its own.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_page_is_listed_under_one_heading() {
        for page in manual::pages() {
            let under = groups().into_iter().filter(|(_, codes)| codes.contains(&page.code));
            let under: Vec<&str> = under.map(|(heading, _)| heading).collect();
            let right = match page.code.get(..4) {
                Some("LR00") => "Bugs",
                Some("LR01") => "Warnings",
                Some("LR02") => "Warnings of the audit",
                _ => "What verdicts rest on",
            };
            assert_eq!(under, [right], "{}", page.code);
        }
    }

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        let mut codes: BTreeSet<&str> = BugKind::ALL.iter().map(|kind| kind.code()).collect();
        codes.extend(WarningKind::ALL.iter().map(|kind| kind.code()));
        codes.extend(AssumptionKind::ALL.iter().map(|kind| kind.code()));
        let pages: BTreeSet<&str> = manual::pages().map(|page| page.code).collect();
        assert_eq!(codes, pages);
    }

    #[test]
    fn a_page_says_what_it_is_about_in_its_first_paragraph() {
        for page in manual::pages() {
            let heading = page.text().lines().next().unwrap();
            let expected = match page.code.starts_with("LR") {
                true => format!("# {}: {}", page.code, page.title()),
                false => format!("# {}", page.code),
            };
            assert_eq!(heading, expected);
            assert!(page.meaning().ends_with('.'), "{}: {}", page.code, page.meaning());
            assert!(page.name().chars().all(char::is_alphanumeric), "{}", page.name());
        }
    }

    #[test]
    fn pages_are_found_by_code_and_by_name_and_near_misses_are_reported() {
        assert_eq!(find("lr0002").unwrap().code, "LR0002");
        assert_eq!(find("Deadlock").unwrap().code, "LR0002");
        assert_eq!(find("memory-model-sc").unwrap().code, "memory-model-sc");
        let hint = |wanted| find(wanted).unwrap_err().hint.unwrap();
        assert_eq!(hint("LR002"), "there is LR0002");
        assert_eq!(hint("deadlok"), "there is LR0002 (deadlock)");
        assert_eq!(hint("data_races"), "there is data-races");
        assert!(hint("xyzzy").contains("lists all codes"));
    }

    #[test]
    fn letters_are_counted() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("flaw", "lawn"), 2);
    }

    #[test]
    fn paragraphs_are_filled_and_code_is_left_alone() {
        let own =
            Page::new("X", "# X: y\n\nOne two\nthree four.\n\n```rust\nlet a  = b; // # no\n```\n");
        let expected = "X: y\n\nOne two\nthree\nfour.\n\n    let a  = b; // # no\n";
        assert_eq!(page(&own, 9, Style::plain()), expected);
    }

    #[test]
    fn the_list_fits_a_narrow_terminal() {
        for line in list(60, Style::plain()).lines() {
            assert!(line.chars().count() <= 60, "{line}");
        }
    }
}
