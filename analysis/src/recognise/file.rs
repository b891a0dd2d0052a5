//! Files of sync models: read, and checked as far as that can be done without a program.

use super::rule::{Kind, Rule};
use serde::Deserialize;
use std::collections::HashSet;
use std::path::Path;

/// The rules of one library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model {
    /// Which library.
    pub library: String,
    /// Its rules; the first that matches decides.
    pub rule: Vec<Rule>,
}

/// A file before its rules are looked at one by one, so that a complaint can name the rule.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    library: String,
    #[serde(default)]
    rule: Vec<toml::Table>,
}

/// Reads a file.
///
/// # Errors
/// When it cannot be read, or is malformed: with its name, and that of the rule.
pub fn read(path: &Path) -> Result<Model, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| format!("cannot read the sync model {}: {e}", path.display()))?;
    parse(&text, &path.display().to_string())
}

/// Reads the text of a file of this name.
///
/// # Errors
/// When it is malformed.
pub fn parse(text: &str, file: &str) -> Result<Model, String> {
    let raw: Raw = toml::from_str(text).map_err(|e| format!("{file}: {e}"))?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if raw.library.is_empty() || raw.library == "all" || !raw.library.chars().all(plain) {
        let name = &raw.library;
        return Err(format!("{file}: `{name}` cannot be the name of a library"));
    }
    let mut names = HashSet::new();
    let mut rules = Vec::with_capacity(raw.rule.len());
    for (number, table) in raw.rule.into_iter().enumerate() {
        let called = match table.get("name").and_then(toml::Value::as_str) {
            Some(name) => format!("rule `{name}`"),
            None => format!("rule number {}", number + 1),
        };
        let complain = |what: &str| format!("{file}: {called}: {}", what.trim_end());
        let rule: Rule = table.try_into().map_err(|e: toml::de::Error| complain(&e.to_string()))?;
        check(&rule).map_err(|what| complain(&what))?;
        if !names.insert(rule.name.clone()) {
            return Err(complain("there is another rule of this name"));
        }
        rules.push(rule);
    }
    Ok(Model { library: raw.library, rule: rules })
}

/// What is wrong with a rule that could be read.
fn check(rule: &Rule) -> Result<(), String> {
    if rule.function.is_empty() {
        return Err("it names no function".into());
    }
    if rule.why.trim().is_empty() {
        return Err("it does not say why it is right".into());
    }
    if let Some(word) = rule.instruction.iter().find(|word| !Kind::is_a_name(word)) {
        return Err(format!("there is no instruction `{word}`"));
    }
    let paths = || rule.function.iter().chain(&rule.within);
    if let Some(path) = paths().find(|path| path.contains(['<', ' ', '#']) || path.is_empty()) {
        return Err(format!("`{path}` is no plain path, without generics and closures' numbers"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "name='x'\nfunction=['a::f']\ninstruction=['load']\nclass='lock'\nwhy='.'\n";

    fn error(rules: &str) -> String {
        parse(&format!("library='mine'\n{rules}"), "dir/mine.toml").unwrap_err()
    }

    #[test]
    fn errors_name_the_file_and_the_rule() {
        let rule = |from: &str, to: &str| format!("[[rule]]\n{}", RULE.replace(from, to));
        for (rules, expected) in [
            (rule("'lock'", "'lokc'"), "unknown variant `lokc`"),
            (rule("why='.'", "whi='.'"), "unknown field `whi`"),
            (rule("why='.'", ""), "missing field `why`"),
            (rule("why='.'", "why='  '"), "does not say why"),
            (rule("['a::f']", "[]"), "no function"),
            (rule("a::f", "a::F<T>::f"), "`a::F<T>::f` is no plain path"),
            (rule("'load'", "'laod'"), "no instruction `laod`"),
            (rule("", "") + &rule("", ""), "another rule of this name"),
        ] {
            let told = error(&rules);
            assert!(told.starts_with("dir/mine.toml: rule `x`: "), "{told}");
            assert!(told.contains(expected), "{told}");
        }
        let unnamed = error(&format!("{}{}", rule("", ""), rule("name='x'", "name=1")));
        assert!(unnamed.starts_with("dir/mine.toml: rule number 2: "), "{unnamed}");
        assert!(error("[[rule").starts_with("dir/mine.toml: TOML parse error"));
        assert!(error("rules = 1").contains("unknown field `rules`"));
        assert!(parse("library='all'", "f").unwrap_err().contains("`all` cannot be"));
    }

    #[test]
    fn a_right_file_is_read() {
        let model = parse(&format!("library='mine'\n[[rule]]\n{RULE}"), "f").unwrap();
        assert_eq!((model.library.as_str(), model.rule.len()), ("mine", 1));
    }
}
