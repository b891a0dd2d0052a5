//! Documents and sections that comments and Markdown cite exist, and lists in them are complete.
//!
//! A citation in a comment is a path from the root: `docs/algorithm.md#dependency`. Between
//! documents it is a relative link. Sections are cited by the anchor that GitHub makes of their
//! title, not by number.

use crate::citations;
use crate::tree::{self, Tree};
use std::collections::{BTreeSet, HashSet};

/// A tree of these files, for tests of the rules themselves.
fn of(files: &[(&str, &str)]) -> Tree {
    let file = |&(path, text): &(&str, &str)| (path.to_owned(), text.to_owned());
    Tree::new(files.iter().map(file).collect())
}

#[test]
fn what_is_cited_exists() {
    let wrong = citations::dangling(&Tree::read());
    assert!(wrong.is_empty(), "cited, and not there:\n{}", wrong.join("\n"));
}

#[test]
fn what_does_not_exist_is_found() {
    let tree = of(&[
        (
            "docs/a.md",
            "# The `first` one\n[b](b.md#two) [a](#three)\n```\n# no title\n[c](c.md)\n```\n",
        ),
        (
            "docs/b.md",
            "## Two, or 2\n[up](../src) `[d](d.md)`\n[e](../e.md) [far](https://x.y/z.md#q)",
        ),
        (
            "src/f.rs",
            "// See docs/a.md#the-first-one,\n// docs/a.md#no-title, OLD.md 4.1.\nlet x = \"g.md\";",
        ),
        ("src/g.toml", "# docs/b.md section 2\nname = \"h.md\"\n"),
    ]);
    let wrong = citations::dangling(&tree);
    let wrong: Vec<&str> = wrong.iter().map(String::as_str).collect();
    let expected = [
        "docs/a.md:2: b.md#two",
        "docs/a.md:2: #three",
        "docs/b.md:3: ../e.md",
        "src/f.rs:2: docs/a.md#no-title",
        "src/f.rs:2: OLD.md",
        "src/g.toml:1: docs/b.md section 2 (cite its anchor)",
    ];
    assert_eq!(wrong, expected);
}

#[test]
fn every_decision_is_in_the_index_under_its_number_and_title() {
    let tree = Tree::read();
    let index = tree.text("docs/decisions/README.md");
    let rows: BTreeSet<&str> = index.lines().filter(|line| line.contains("](0")).collect();
    let mut pages = BTreeSet::new();
    for (path, text) in
        tree.below("docs/decisions/").filter(|(path, _)| !path.ends_with("README.md"))
    {
        let name = path.trim_start_matches("docs/decisions/");
        let title =
            text.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap_or_default();
        let (number, title) = title.split_once(". ").unwrap_or_default();
        assert!(
            name.starts_with(&format!("{number:0>4}-")),
            "{path} has another number in its title"
        );
        pages.insert(format!("| {number} | [{title}]({name}) |"));
    }
    let pages: BTreeSet<&str> = pages.iter().map(String::as_str).collect();
    let differing: Vec<_> = rows.symmetric_difference(&pages).collect();
    assert!(differing.is_empty(), "not both a row and a page: {differing:#?}");
}

#[test]
fn the_glossary_is_sorted() {
    let tree = Tree::read();
    let text = tree.text("docs/glossary.md");
    let entries = text.lines().filter_map(|line| line.strip_prefix("- **")?.split_once("**"));
    let words: Vec<String> = entries.map(|(word, _)| word.to_lowercase()).collect();
    assert!(words.len() > 100, "{} words", words.len());
    let wrong = words.windows(2).find(|pair| pair[0] > pair[1]);
    assert_eq!(wrong, None, "not in the order of the alphabet");
}

#[test]
fn names_of_code_in_documents_are_names_in_the_code() {
    let tree = Tree::read();
    let known: HashSet<&str> = tree.code().flat_map(tree::words).collect();
    let mut unknown = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| tree::is_about_code(path)) {
        for name in tree::spans(text).filter(|span| tree::is_name(span)) {
            unknown.extend(
                tree::words(name)
                    .filter(|word| !known.contains(word))
                    .map(|word| format!("{path}: `{name}` ({word})")),
            );
        }
    }
    assert!(unknown.is_empty(), "nothing in the code has these names:\n{}", unknown.join("\n"));
}

#[test]
fn files_that_documents_name_exist() {
    let tree = Tree::read();
    let mut unknown = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| tree::is_about_code(path)) {
        let names = tree::spans(text).filter(|span| tree::is_file(span));
        let missing = names.filter(|name| !tree.has_ending(name));
        unknown.extend(missing.map(|name| format!("{path}: {name}")));
    }
    assert!(unknown.is_empty(), "no file has these paths:\n{}", unknown.join("\n"));
}

#[test]
fn modules_that_decisions_bind_exist() {
    let tree = Tree::read();
    let modules: HashSet<&str> = tree.modules().collect();
    let mut unknown = Vec::new();
    for (path, text) in tree.below("docs/decisions/") {
        let binds = text.split("\n\n").filter(|paragraph| paragraph.starts_with("Binds "));
        let table = text.split("## Stated where they apply").skip(1);
        let where_column = table.flat_map(str::lines).filter_map(|row| row.split('|').nth(2));
        for name in binds.chain(where_column).flat_map(tree::spans) {
            let module = name.rsplit('/').next().unwrap_or(name);
            let is_module = module.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            if is_module && !modules.contains(module) {
                unknown.push(format!("{path}: {name}"));
            }
        }
    }
    assert!(unknown.is_empty(), "no module has these names:\n{}", unknown.join("\n"));
}
