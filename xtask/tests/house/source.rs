//! Sources of a package as far as the rules look at them: files, functions, and what these call.

use crate::tree::Tree;

/// A file without its tests and comments.
pub struct File {
    /// Below `src`, as modules are written: `machine::hook`; nothing for the root.
    pub module: Vec<String>,
    pub code: String,
}

/// A function.
pub struct Function {
    /// The module that it is in, by its last name.
    pub module: String,
    pub name: String,
    pub parameters: String,
    pub body: String,
}

/// The files of a package, by where its sources are below the repository.
pub fn files(sources: &str) -> Vec<File> {
    let below = format!("{sources}/");
    let tree = Tree::read();
    let texts = tree.below(&below).filter_map(|(path, text)| {
        Some((path.strip_prefix(&below)?.strip_suffix(".rs")?.to_owned(), text))
    });
    let file = |(path, text): (String, &str)| {
        let mut module: Vec<String> = path.split('/').map(String::from).collect();
        if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
            module.pop();
        }
        File { module, code: code(text) }
    };
    let files: Vec<File> = texts.map(file).collect();
    assert!(files.len() > 3, "{sources} has sources");
    // Tests may look at everything.
    files.into_iter().filter(|file| !file.module.iter().any(|name| name == "tests")).collect()
}

/// A text without its tests, comments and what stands in quotes.
fn code(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
    let mut code = String::new();
    let mut rest = text.chars().peekable();
    while let Some(char) = rest.next() {
        match char {
            '/' if rest.peek() == Some(&'/') => {
                while rest.next_if(|next| *next != '\n').is_some() {}
            }
            '"' => {
                code.push_str("\"\"");
                while let Some(inside) = rest.next() {
                    match inside {
                        '"' => break,
                        '\\' => _ = rest.next(),
                        _ => {}
                    }
                }
            }
            '\'' => {
                // A character, or a lifetime, of which the quote is left.
                let ahead: Vec<char> = rest.clone().take(3).collect();
                let length = match ahead[..] {
                    ['\\', _, '\''] => 3,
                    [_, '\'', ..] => 2,
                    _ => 0,
                };
                for _ in 0..length {
                    rest.next();
                }
                code.push('\'');
            }
            other => code.push(other),
        }
    }
    code
}

/// The index after what closes the bracket that `text` has at `open`.
fn behind(text: &str, open: usize) -> usize {
    let mut depth = 0;
    for (index, char) in text[open..].char_indices() {
        match char {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return open + index + 1;
        }
    }
    panic!("brackets do not match")
}

/// The functions of a file that have bodies.
pub fn functions(file: &File) -> Vec<Function> {
    let mut functions = Vec::new();
    let module = file.module.last().cloned().unwrap_or_default();
    for (at, _) in file.code.match_indices("fn ") {
        let before = file.code[..at].chars().next_back();
        let name = word(&file.code[at + 3..]);
        if name.is_empty() || before.is_some_and(|char| char.is_alphanumeric() || char == '_') {
            continue;
        }
        let Some(open) = file.code[at..].find('(').map(|index| at + index) else { continue };
        let close = behind(&file.code, open);
        let Some(begin) = file.code[close..].find(['{', ';']).map(|index| close + index) else {
            continue;
        };
        if file.code[begin..].starts_with(';') {
            continue;
        }
        functions.push(Function {
            module: module.clone(),
            name: name.to_owned(),
            parameters: file.code[open..close].to_owned(),
            body: file.code[begin..behind(&file.code, begin)].to_owned(),
        });
    }
    functions
}

/// The name at the beginning of a text.
fn word(text: &str) -> &str {
    let end = text.find(|char: char| !char.is_alphanumeric() && char != '_');
    &text[..end.unwrap_or(text.len())]
}

/// The paths in a code that are called, as their last two names (the first is empty where there is
/// one) and where they stand. Methods are none.
pub fn calls(code: &str) -> Vec<(String, String, usize)> {
    let is_path = |char: char| char.is_alphanumeric() || char == '_' || char == ':';
    let mut calls = Vec::new();
    for (at, _) in code.match_indices('(') {
        let begin = code[..at].rfind(|char| !is_path(char)).map_or(0, |index| index + 1);
        let path = &code[begin..at];
        let method = code[..begin].ends_with('.');
        if path.is_empty() || method || code[..begin].ends_with("fn ") {
            continue;
        }
        let mut names = path.rsplit("::");
        let name = names.next().unwrap_or_default().to_owned();
        calls.push((names.next().unwrap_or_default().to_owned(), name, at));
    }
    calls
}
