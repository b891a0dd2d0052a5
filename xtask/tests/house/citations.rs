//! Citations of documents and their sections, and which of them lead nowhere.

use crate::tree::Tree;

/// Every citation that leads nowhere, with its place.
pub fn dangling(tree: &Tree) -> Vec<String> {
    let mut wrong = Vec::new();
    for (path, text) in tree.files() {
        for (number, line) in text.lines().enumerate().filter(is_prose(path)) {
            let found = match path.ends_with(".md") {
                true => in_markdown(tree, path, line),
                false => {
                    in_comment(path, line).map_or_else(Vec::new, |text| bare(tree, path, text))
                }
            };
            wrong.extend(found.iter().map(|what| format!("{path}:{}: {what}", number + 1)));
        }
    }
    wrong
}

/// Leaves out blocks of code in Markdown.
fn is_prose(path: &str) -> impl FnMut(&(usize, &str)) -> bool {
    let (is_markdown, mut in_code) = (path.ends_with(".md"), false);
    move |(_, line)| {
        let fence = is_markdown && line.trim_start().starts_with("```");
        in_code ^= fence;
        !fence && !in_code
    }
}

/// The comment on a line of another file.
fn in_comment<'a>(path: &str, line: &'a str) -> Option<&'a str> {
    let mark = if path.ends_with(".rs") { "//" } else { "#" };
    let line = line.trim_start();
    line.strip_prefix(mark).or_else(|| Some(line.split_once(&format!(" {mark} "))?.1))
}

/// What leads nowhere on a line of Markdown: relative links, and documents that are only named.
fn in_markdown(tree: &Tree, path: &str, line: &str) -> Vec<String> {
    let without_code: String = line.split('`').step_by(2).collect();
    let targets = without_code.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let local = targets.filter(|target| !target.contains("://"));
    let broken = local.filter(|target| !leads(tree, path, target)).map(str::to_owned);
    let mut text = String::new();
    for (number, part) in line.split("](").enumerate() {
        text.push_str(if number == 0 { part } else { part.split_once(')').unwrap_or_default().1 });
    }
    broken.chain(bare(tree, path, &text)).collect()
}

/// Documents that a text names by their path, which are not there, or whose section is not.
fn bare(tree: &Tree, from: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (at, _) in text.match_indices(".md") {
        let is_path = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
        let is_anchor = |c: char| c.is_alphanumeric() || "_-".contains(c);
        let start = text[..at].rfind(|c| !is_path(c)).map_or(0, |before| before + 1);
        let rest = &text[at + ".md".len()..];
        let anchor = rest.strip_prefix('#').unwrap_or_default();
        let anchor = &anchor[..anchor.find(|c| !is_anchor(c)).unwrap_or(anchor.len())];
        // A pattern (`<code>.md`), another ending, or an address.
        let is_other = rest.starts_with(|c: char| c.is_ascii_alphanumeric());
        if start == at || is_other || text[start..].starts_with("//") {
            continue;
        }
        let end = at + ".md".len() + if anchor.is_empty() { 0 } else { 1 + anchor.len() };
        let cited = &text[start..end];
        let is_there = leads(tree, "", cited) || leads(tree, from, cited);
        if !is_there {
            wrong.push(cited.to_owned());
        } else if let Some(number) = by_number(&text[end..]) {
            wrong.push(format!("{cited}{number} (cite its anchor)"));
        }
    }
    wrong
}

/// The number by which a text goes on to cite a section.
fn by_number(rest: &str) -> Option<&str> {
    let digits = rest.trim_start_matches(" sections").trim_start_matches(" section");
    let number = digits.strip_prefix(' ')?;
    let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
    (end > 0).then(|| &rest[..rest.len() - number.len() + end])
}

/// Whether a relative link from a file leads somewhere.
fn leads(tree: &Tree, from: &str, link: &str) -> bool {
    let (to, anchor) = link.split_once('#').map_or((link, None), |(to, anchor)| (to, Some(anchor)));
    let mut path: Vec<&str> = from.split('/').collect();
    if !to.is_empty() {
        path.pop();
        for part in to.split('/') {
            match part {
                ".." if path.pop().is_none() => return false,
                ".." | "." | "" => {}
                part => path.push(part),
            }
        }
    }
    let path = path.join("/");
    match anchor {
        None => path.is_empty() || tree.has(&path),
        Some(anchor) => tree.find(&path).is_some_and(|text| anchors(text).any(|a| a == anchor)),
    }
}

/// The anchors that GitHub makes of the titles in a document.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    let prose = text.split("\n```").step_by(2);
    let titles = prose.flat_map(str::lines).filter(|line| line.starts_with('#'));
    titles.map(|title| {
        let title = title.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        title.chars().filter(|&c| c.is_alphanumeric() || c == '-' || c == '_').collect()
    })
}
