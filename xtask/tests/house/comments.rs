//! Comments are at most as wide as code.

use crate::tree::Tree;

/// As `rustfmt.toml` has it for code.
const COLUMNS: usize = 100;

/// Programs whose lines stand in reports that tests compare: what is there stays where it is.
const PROGRAMS: &[&str] =
    &["demo/", "tests/corpus/", "tests/fixtures/", "tests/paper/", "xtask/peers/"];

/// Wide comments of a file, by line; tables, and blocks of text that is laid out, may be.
fn wide(text: &str) -> Vec<usize> {
    let mut laid_out = false;
    let mut wide = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            laid_out = false;
            continue;
        };
        let comment = comment.trim_start_matches(['/', '!']).trim_start();
        if comment.starts_with("```") {
            laid_out = !laid_out;
        } else if !laid_out && !comment.starts_with('|') && line.chars().count() > COLUMNS {
            wide.push(number + 1);
        }
    }
    wide
}

#[test]
fn comments_are_as_wide_as_code() {
    let tree = Tree::read();
    let is_ours = |path: &str| {
        path.ends_with(".rs") && !PROGRAMS.iter().any(|programs| path.starts_with(programs))
    };
    let files = tree.files().filter(|(path, _)| is_ours(path));
    let wide: Vec<String> = files
        .flat_map(|(path, text)| wide(text).into_iter().map(move |line| format!("{path}:{line}")))
        .collect();
    assert!(wide.is_empty(), "more than {COLUMNS} columns:\n{}", wide.join("\n"));
}

#[test]
fn what_is_laid_out_may_be_wide() {
    let long = "x".repeat(COLUMNS);
    let text =
        format!("/// {long}\n//! | {long}\n/// ```text\n/// {long}\n/// ```\n    // {long}\n");
    assert_eq!(wide(&text), [1, 6]);
}
