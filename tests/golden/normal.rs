//! What differs from run to run and from machine to machine, replaced.

use std::path::Path;

/// Text for people: from the first line of results on, without times and paths of this machine.
pub fn human(text: &str, corpus: &Path) -> String {
    let start = text.find("    Checking ").unwrap_or(0);
    let mut lines: Vec<String> = Vec::new();
    for line in text[start..].lines() {
        let line = match line.split_once(" (rustc ") {
            Some((head, tail)) => {
                let (_, tail) = tail.split_once(',').unwrap_or(("", ""));
                format!("{head} (rustc 0,{tail}")
            }
            None => line.to_owned(),
        };
        lines.push(without_seconds(&line));
    }
    places(&lines.join("\n"), corpus) + "\n"
}

/// `0.43 s` as `0.00 s`: every decimal fraction of seconds.
pub fn without_seconds(line: &str) -> String {
    let mut words: Vec<String> = line.split(' ').map(Into::into).collect();
    for index in 1..words.len() {
        let is_unit = words[index].trim_end_matches([',', ':']) == "s";
        let number = &words[index - 1];
        if is_unit && number.contains('.') && number.chars().all(|c| c.is_ascii_digit() || c == '.')
        {
            words[index - 1] = "0.00".into();
        }
    }
    words.join(" ")
}

/// The values of these XML attributes, or JSON strings, replaced by others.
pub fn values(text: &str, names: &[(&str, &str)]) -> String {
    let mut text = text.to_owned();
    for (start, value) in names {
        let mut done = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(start) {
            let (head, tail) = rest.split_at(at + start.len());
            done.push_str(head);
            done.push_str(value);
            rest = &tail[tail.find('"').unwrap_or(tail.len())..];
        }
        done.push_str(rest);
        text = done;
    }
    text
}

/// Files of the corpus as relative to it, wherever the repository lies and whether or not it is one
/// of git.
pub fn places(text: &str, corpus: &Path) -> String {
    let absolute = format!("{}/", corpus.display());
    without_registry(&text.replace(&absolute, "").replace("tests/corpus/src/", "src/"))
}

/// Sources of dependencies without the place where cargo keeps them.
fn without_registry(text: &str) -> String {
    let mut rest = text;
    let mut done = String::new();
    while let Some((head, tail)) = rest.split_once("/registry/src/") {
        let kept = head.rfind([' ', '"', '(', '=', '\n']).map_or(0, |at| at + 1);
        done.push_str(&head[..kept]);
        done.push_str("~/");
        rest = tail.split_once('/').map_or("", |(_, file)| file);
    }
    done + rest
}

#[test]
fn the_place_of_dependencies_is_replaced() {
    let text = "\"file:///home/x/.cargo/registry/src/index-1/a-1.0/src/lib.rs 3\" b";
    assert_eq!(without_registry(text), "\"~/a-1.0/src/lib.rs 3\" b");
}

#[test]
fn times_are_replaced() {
    assert_eq!(without_seconds("  x  2 executions, 0.43 s, 1.5"), "  x  2 executions, 0.00 s, 1.5");
    assert_eq!(without_seconds("3 tests in 12.1 s: ok"), "3 tests in 0.00 s: ok");
    assert_eq!(
        values("<a time=\"1\" b=\"2\"/><c time=\"3\"/>", &[(" time=\"", "0")]),
        "<a time=\"0\" b=\"2\"/><c time=\"0\"/>"
    );
}
