//! The option `search` of `#[lockred::check(…)]`, and the options that it has replaced.

use syn::{Ident, Lit};

/// What it takes, in words.
pub const TAKES: &str =
    "one of \"exhaustive\", \"bounded=N\", \"sample\", \"sample=pct\", \"sample=pos\", \"states\"";

/// What a search was called as long as the option was `strategy`, where that was another name.
const RENAMED: [(&str, &str); 5] = [
    ("transactions", "exhaustive"),
    ("stateful", "states"),
    ("random", "sample"),
    ("pct", "sample=pct"),
    ("pos", "sample=pos"),
];

/// Whether the command line takes this, too.
pub fn is_one(text: &str) -> bool {
    match text.split_once('=') {
        Some(("bounded", number)) => number.parse::<u32>().is_ok(),
        Some(("exhaustive", how)) => how == "alone",
        Some(("sample", how)) => ["uniform", "pct", "pos"].contains(&how),
        Some(_) => false,
        None => ["exhaustive", "states", "unified", "bounded", "sample", "dpor", "naive"]
            .contains(&text),
    }
}

/// What to say of an option that it has replaced.
pub fn replaced(name: &Ident, value: Option<&Lit>) -> Option<String> {
    let new = match (name.to_string().as_str(), value) {
        ("strategy", Some(Lit::Str(text))) => {
            let old = text.value();
            let renamed = RENAMED.iter().find(|(known, _)| *known == old);
            Some(renamed.map_or(old, |(_, new)| (*new).to_owned()))
        }
        ("preemptions", Some(Lit::Int(number))) => Some(format!("bounded={number}")),
        ("strategy" | "preemptions", _) => None,
        _ => return None,
    };
    let new = new.filter(|new| is_one(new));
    let write = new.map(|new| format!(": write `search = \"{new}\"`")).unwrap_or_default();
    Some(format!("`{name}` is now `search`{write}"))
}
