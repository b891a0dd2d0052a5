//! Files of sync models: read, and checked as far as that can be done without a program.

use super::rule::{Kind, Rule};
use super::version::is_version;
use lockred_protocol::hooks::Act;
use serde::Deserialize;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// The rules of one library.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Which library.
    pub library: String,
    /// The oldest versions of the library's packages for which the model holds.
    #[serde(default)]
    pub since: BTreeMap<String, String>,
    /// Files of these packages of which the rules speak: the model holds for versions in which they
    /// are as in one that it was checked against.
    #[serde(default)]
    pub sources: BTreeMap<String, Vec<String>>,
    /// Functions that are inlined wherever they are called, so that rules can tell callers apart.
    #[serde(default)]
    pub inlined: Vec<String>,
    /// Functions that are atomic regions.
    #[serde(default)]
    pub regions: Vec<String>,
    /// Functions of channels that are known as a whole.
    #[serde(default)]
    pub channels: Channels,
    /// Its rules; the first that matches decides.
    #[serde(default)]
    pub rule: Vec<Rule>,
}

/// The functions of a library's channels, by what they do ([`Act`]).
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Channels {
    /// They make one: `(sender, receiver)`, written where the first argument says; the capacity is
    /// the last argument, if there is another.
    made: Vec<String>,
    /// Those of them whose channels keep their messages as long as there are senders.
    keeping: Vec<String>,
    send: Vec<String>,
    try_send: Vec<String>,
    receive: Vec<String>,
    try_receive: Vec<String>,
    look: Vec<String>,
    clone: Vec<String>,
    drop_sender: Vec<String>,
    drop_receiver: Vec<String>,
    disconnect: Vec<String>,
}

/// What a function is to a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It makes one.
    Makes {
        /// Messages stay in it as long as there are senders.
        keeps: bool,
    },
    /// It acts on one.
    Acts(Act),
}

impl Channels {
    /// What the function with this plain path is.
    pub fn role(&self, path: &str) -> Option<Role> {
        let among = |list: &[String]| list.iter().any(|one| one == path);
        if among(&self.made) {
            return Some(Role::Makes { keeps: among(&self.keeping) });
        }
        let acts = [
            (&self.send, Act::Send),
            (&self.try_send, Act::TrySend),
            (&self.receive, Act::Receive),
            (&self.try_receive, Act::TryReceive),
            (&self.look, Act::Look),
            (&self.clone, Act::Clone),
            (&self.drop_sender, Act::DropSender),
            (&self.drop_receiver, Act::DropReceiver),
            (&self.disconnect, Act::Disconnect),
        ];
        acts.into_iter().find(|(list, _)| among(list)).map(|(_, act)| Role::Acts(act))
    }
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
    let model: Model = toml::from_str(text).map_err(|error| {
        let reported = error.to_string();
        let reported = reported.trim_end();
        match error.span().and_then(|span| rule_at(text, span.start)) {
            Some(name) => format!("{file}: rule `{name}`: {reported}"),
            None => format!("{file}: {reported}"),
        }
    })?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let library = &model.library;
    if library.is_empty() || library == "all" || !library.chars().all(plain) {
        return Err(format!("{file}: `{library}` cannot be the name of a library"));
    }
    if let Some((package, wrong)) = model.since.iter().find(|(_, since)| !is_version(since)) {
        return Err(format!("{file}: since: `{wrong}` is no version of `{package}`"));
    }
    if let Some(package) = model.sources.keys().find(|name| !model.since.contains_key(*name)) {
        return Err(format!("{file}: sources: `since` says nothing of `{package}`"));
    }
    let mut names = HashSet::new();
    for rule in &model.rule {
        let complain = |what: String| format!("{file}: rule `{}`: {what}", rule.name);
        check(rule).map_err(complain)?;
        if !names.insert(&rule.name) {
            return Err(complain("there is another rule of this name".into()));
        }
    }
    Ok(model)
}

/// The name of the rule in whose text a position is, where it says one.
fn rule_at(text: &str, position: usize) -> Option<String> {
    const HEAD: &str = "[[rule]]";
    let start = position.saturating_add(HEAD.len()).min(text.len());
    let start = text.get(..start).and_then(|before| before.rfind(HEAD))? + HEAD.len();
    let rest = &text[start..];
    let rule = &rest[..rest.find(HEAD).unwrap_or(rest.len())];
    rule.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        (key.trim() == "name").then(|| value.to_owned())
    })
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
    let versions = rule.since.iter().chain(&rule.until);
    if let Some(wrong) = versions.into_iter().find(|version| !is_version(version)) {
        return Err(format!("`{wrong}` is no version"));
    }
    let callers = rule.called_by.iter().flat_map(|callers| callers.split(" < "));
    if let Some(path) = callers.into_iter().find(|path| path.contains(['<', ' ', '*', '#'])) {
        return Err(format!("`{path}` is no plain path of a caller"));
    }
    let paths = || rule.function.iter().chain(&rule.within).chain(&rule.unless);
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
            (rule("class", "called_by=['b<c']\nclass"), "`b<c` is no plain path of a caller"),
            (rule("'load'", "'laod'"), "no instruction `laod`"),
            (rule("class", "until='1'\nclass"), "`1` is no version"),
            (rule("", "") + &rule("", ""), "another rule of this name"),
        ] {
            let reported = error(&rules);
            assert!(reported.starts_with("dir/mine.toml: rule `x`: "), "{reported}");
            assert!(reported.contains(expected), "{reported}");
        }
        let second = error(&(rule("", "") + &rule("'x'\nfunction=['a::f']", "'y'")));
        assert!(second.starts_with("dir/mine.toml: rule `y`: TOML parse error"), "{second}");
        assert!(second.contains("missing field `function`"), "{second}");
        assert!(error(&rule("name='x'\n", "")).starts_with("dir/mine.toml: TOML parse error"));
        assert!(error("[[rule").starts_with("dir/mine.toml: TOML parse error"));
        assert!(error("é[[rule]]é").starts_with("dir/mine.toml: TOML parse error"));
        assert!(error("[sources]\na=['b']").contains("sources: `since` says nothing of `a`"));
        assert!(error("rules = 1").contains("unknown field `rules`"));
        assert!(parse("library='all'", "f").unwrap_err().contains("`all` cannot be"));
    }

    #[test]
    fn a_right_file_is_read() {
        let model = parse(&format!("library='mine'\n[[rule]]\n{RULE}"), "f").unwrap();
        assert_eq!((model.library.as_str(), model.rule.len()), ("mine", 1));
    }
}
