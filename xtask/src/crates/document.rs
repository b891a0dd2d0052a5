//! The document that keeps the tables: a section a set, each put in by a run of its own.

use std::path::Path;

const HEAD: &str = "\
# Real crates under lockred

Published crates, unmodified, with their own tests; and published bugs, each with the version that has it and with one that has not.
`cargo xtask crates` writes this page (`--set 1`, `2`, `3` or `bugs`, with `--write`) from
[the list](../xtask/crates/list.toml), and fails when something comes out that the list does not account for.
";

/// Puts a section into the document, in the place of the one with its heading.
pub fn put(path: &Path, heading: &str, text: &str) -> Result<(), String> {
    let there = std::fs::read_to_string(path).unwrap_or_default();
    std::fs::write(path, with_section(&there, heading, text))
        .map_err(|e| format!("{}: {e}", path.display()))
}

/// The text of the section with this heading; empty if there is none.
pub fn section(path: &Path, heading: &str) -> String {
    let there = std::fs::read_to_string(path).unwrap_or_default();
    let mut sections = sections(&there).into_iter();
    sections.find(|section| section.0 == heading).map_or(String::new(), |it| it.1.to_owned())
}

/// Headings and texts.
fn sections(document: &str) -> Vec<(&str, &str)> {
    let sections = document.split("\n## ").skip(1);
    let sections = sections.filter_map(|section| section.split_once('\n'));
    sections.map(|(heading, text)| (heading, text.trim())).collect()
}

fn with_section(document: &str, heading: &str, text: &str) -> String {
    let mut sections = sections(document);
    match sections.iter_mut().find(|section| section.0 == heading) {
        Some(section) => section.1 = text.trim(),
        None => sections.push((heading, text.trim())),
    }
    let sections = sections.iter().map(|(heading, text)| format!("\n## {heading}\n\n{text}\n"));
    HEAD.to_owned() + &sections.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_takes_the_place_of_the_one_before_and_leaves_the_others() {
        let one = with_section("", "One", "1");
        let two = with_section(&one, "Two", "2\n\n### Notes\n\nx");
        assert_eq!(two, format!("{HEAD}\n## One\n\n1\n\n## Two\n\n2\n\n### Notes\n\nx\n"));
        let other = with_section(&two, "One", "3");
        assert_eq!(other, two.replace("\n1\n", "\n3\n"));
        assert_eq!(with_section(&other, "One", "3"), other);
    }
}
