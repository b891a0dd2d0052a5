//! What counts in the text of Rust source, and its hash: comments, documentation, tests and layout
//! do not.

use std::path::Path;

/// The hash of some files of a package; a file that is not there counts as empty. `None` if none of
/// them can be read.
pub fn hash(root: &Path, files: &[String]) -> Option<String> {
    let texts: Vec<_> = files.iter().map(|file| std::fs::read_to_string(root.join(file))).collect();
    texts.iter().any(Result::is_ok).then(|| {
        let mut hash = Fnv::new();
        for (file, text) in files.iter().zip(texts) {
            hash.add(file);
            significant(&text.unwrap_or_default()).iter().for_each(|token| hash.add(token));
        }
        format!("{:016x}", hash.0)
    })
}

/// The tokens that count.
pub fn significant(text: &str) -> Vec<&str> {
    without_tests(tokens(text))
}

/// Fowler, Noll and Vo's hash (1a, 64 bits): the same everywhere and for ever.
struct Fnv(u64);

impl Fnv {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a piece of text, told apart from the next one.
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// The tokens of a text, without comments. Punctuation is a token a character; what is no Rust
/// gives some tokens, too.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, counts) = next(rest, first);
        let (token, after) = rest.split_at(length.min(rest.len()));
        if counts {
            tokens.push(token);
        }
        rest = after;
    }
    tokens
}

/// The length of what a text begins with, and whether that counts.
fn next(text: &str, first: char) -> (usize, bool) {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    if first.is_whitespace() {
        return (first.len_utf8(), false);
    }
    if text.starts_with("//") {
        return (text.find('\n').unwrap_or(text.len()), false);
    }
    if text.starts_with("/*") {
        return (block_comment(text), false);
    }
    if let Some(length) = raw_string(text) {
        return (length, true);
    }
    match first {
        '"' => (quoted(text, '"'), true),
        '\'' => (quote(text), true),
        _ if word(first) => (text.find(|c| !word(c)).unwrap_or(text.len()), true),
        _ => (first.len_utf8(), true),
    }
}

/// The length of a comment in a text that begins with one; such comments nest.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(rest) = text.get(at..) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            let Some(c) = rest.chars().next() else { break };
            at += c.len_utf8();
        }
    }
    text.len()
}

/// The length of a raw string, if a text begins with one.
fn raw_string(text: &str) -> Option<usize> {
    let start = ["r", "br", "cr"].iter().find_map(|prefix| text.strip_prefix(prefix))?;
    let marks = start.len() - start.trim_start_matches('#').len();
    let inner = start[marks..].strip_prefix('"')?;
    let close = format!("\"{}", &start[..marks]);
    let end = inner.find(&close).map_or(inner.len(), |at| at + close.len());
    Some(text.len() - inner.len() + end)
}

/// The length of what stands in quotes, in a text that begins with one.
fn quoted(text: &str, mark: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == mark => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// The length of a character, or of a mark that begins a lifetime.
fn quote(text: &str) -> usize {
    let mut inner = text.chars().skip(1);
    match (inner.next(), inner.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => quoted(text, '\''),
        _ => 1,
    }
}

/// The tokens without modules of tests.
fn without_tests(tokens: Vec<&str>) -> Vec<&str> {
    const TESTS: &[&str] = &["#", "[", "cfg", "(", "test", ")", "]", "mod"];
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at..].starts_with(TESTS) && tokens.get(at + TESTS.len() + 1) == Some(&"{") {
            at = behind_braces(&tokens, at + TESTS.len() + 1);
        } else {
            kept.push(tokens[at]);
            at += 1;
        }
    }
    kept
}

/// The place after the braces that open at a place; the next one if none do.
pub fn behind_braces(tokens: &[&str], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match *token {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_layout_are_no_tokens() {
        let text = "/// Doc.\nfn f ( x:&'a u8 )->char{ /* a /* b */ c */ '\\'' } // end";
        let expected = [
            "fn", "f", "(", "x", ":", "&", "'", "a", "u8", ")", "-", ">", "char", "{", "'\\''", "}",
        ];
        assert_eq!(tokens(text), expected);
    }

    #[test]
    fn what_looks_like_a_comment_in_a_string_is_none() {
        let texts = ["\"// \\\" /*\"", "r#\"// \" /*\"#", "br\"//\"", "'/'", "'\"'"];
        for text in texts {
            assert_eq!(tokens(text), [text]);
        }
        assert_eq!(tokens("r#type"), ["r", "#", "type"]);
    }

    #[test]
    fn modules_of_tests_do_not_count() {
        let text = "a #[cfg(test)] mod tests { fn f() { \"}\" } } b #[cfg(test)] fn g() {}";
        let kept = without_tests(tokens(text)).join(" ");
        assert_eq!(kept, "a b # [ cfg ( test ) ] fn g ( ) { }");
    }

    #[test]
    fn damaged_text_does_not_panic() {
        for text in ["'", "\"", "r#\"", "/*", "é'é", "#[cfg(test)] mod t {", "'\\", "/*/"] {
            let _ = without_tests(tokens(text));
        }
    }

    #[test]
    fn a_hash_is_of_what_counts_in_which_file() {
        let root = tempfile::tempdir().unwrap();
        let of = |a: &str, b: &str| {
            std::fs::write(root.path().join("a.rs"), a).unwrap();
            std::fs::write(root.path().join("b.rs"), b).unwrap();
            hash(root.path(), &["a.rs".into(), "b.rs".into(), "no.rs".into()]).unwrap()
        };
        let first = of("fn a() {}", "fn b() {}");
        assert_eq!(first, of("// New.\nfn a()\n{ }", "fn b() {}"));
        assert_ne!(first, of("fn a() { b }", "fn b() {}"));
        assert_ne!(of("fn a() {}", ""), of("", "fn a() {}"));
        assert_eq!(hash(root.path(), &["no.rs".into()]), None);
    }
}
