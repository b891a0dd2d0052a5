//! Functions in the text of Rust source, by type and name, and whether a rule finds in them what it
//! is about.
//!
//! Coarse, but quick enough to go through every published version of a library: a function is known
//! by its own name and that of the type whose `impl` it stands in, and an operation by the method
//! that makes it.

use super::rule::Rule;
use super::source;
use std::collections::HashMap;

/// Functions of some files.
pub struct Outline<'a> {
    /// By type, which is empty for functions outside of any `impl`, and name: what stands in them.
    functions: HashMap<(&'a str, &'a str), Vec<&'a str>>,
}

impl<'a> Outline<'a> {
    /// Of these texts.
    pub fn of(texts: &'a [String]) -> Self {
        let mut outline = Self { functions: HashMap::new() };
        for text in texts {
            outline.add(&source::significant(text));
        }
        outline
    }

    fn add(&mut self, tokens: &[&'a str]) {
        // The types whose `impl`s are open, with the depth of their braces.
        let (mut open, mut depth): (Vec<(&str, usize)>, _) = (Vec::new(), 0_usize);
        let mut at = 0;
        while at < tokens.len() {
            match tokens[at] {
                "impl" if begins_item(tokens, at) => {
                    let end = position(tokens, at, "{");
                    open.push((self_type(&tokens[at + 1..end]), depth));
                    (at, depth) = (end, depth + 1);
                }
                "fn" if tokens.get(at + 1).is_some() => {
                    let of = open.last().map_or("", |(name, _)| name);
                    let start = tokens[at..].iter().position(|token| matches!(*token, "{" | ";"));
                    let start = start.map_or(tokens.len(), |start| at + start);
                    // What stands in a function is looked at again, since other functions may stand
                    // there.
                    let body = tokens.get(start..source::behind_braces(tokens, start));
                    let body = body.filter(|body| body.first() == Some(&"{")).unwrap_or_default();
                    self.functions.entry((of, tokens[at + 1])).or_default().extend(body);
                    at += 1;
                }
                "{" => depth += 1,
                "}" => {
                    depth = depth.saturating_sub(1);
                    open.retain(|(_, outside)| *outside < depth);
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// What a rule that must match something in this version of its package cannot find here, if
    /// there is something: none of its functions, or its operation in one of them.
    pub fn objection(&self, rule: &Rule) -> Option<String> {
        let paths = rule.function.iter().filter(|path| !path.ends_with('*'));
        let bodies: Vec<_> = paths.filter_map(|path| Some((path, self.body(path)?))).collect();
        if bodies.is_empty() && !rule.function.iter().any(|path| path.ends_with('*')) {
            return Some(format!("rule `{}`: none of its functions is there", rule.name));
        }
        let without = bodies.iter().find(|(_, body)| !names_operation(rule, body))?.0;
        Some(format!("rule `{}`: nothing in `{without}` is what it names", rule.name))
    }

    /// What stands in the function of a path.
    fn body(&self, path: &str) -> Option<&[&'a str]> {
        let mut names = path.rsplit("::").filter(|name| *name != "{closure}");
        let (name, of) = (names.next()?, names.next().unwrap_or_default());
        let find = |of| self.functions.iter().find(|(key, _)| **key == (of, name));
        find(of).or_else(|| find("")).map(|(_, body)| body.as_slice())
    }
}

/// Whether the word at a place begins an item: no type `impl Trait`.
fn begins_item(tokens: &[&str], at: usize) -> bool {
    at == 0 || matches!(tokens[at - 1], "}" | "{" | ";" | "]" | "unsafe")
}

/// The first place from one on where a token stands.
fn position(tokens: &[&str], from: usize, token: &str) -> usize {
    tokens[from..].iter().position(|one| *one == token).map_or(tokens.len(), |at| from + at)
}

/// The name of the type of an `impl`, of whose head this is the rest.
fn self_type<'a>(head: &[&'a str]) -> &'a str {
    let (mut depth, mut name) = (0_usize, "");
    let mut previous = "";
    for &token in head {
        match token {
            "<" => depth += 1,
            ">" if previous != "-" && previous != "=" => depth = depth.saturating_sub(1),
            "where" if depth == 0 => break,
            // What stood before was a trait.
            "for" if depth == 0 => name = "",
            _ if depth == 0 && token.starts_with(|c: char| c.is_alphabetic()) => name = token,
            _ => {}
        }
        previous = token;
    }
    name
}

/// Whether a function has an operation of the kinds that a rule is about.
fn names_operation(rule: &Rule, body: &[&str]) -> bool {
    let is = |word: &str, method: &str| match word {
        "load" => matches!(method, "load" | "try_update" | "fetch_update" | "load_consume"),
        "store" => method == "store",
        "cmpxchg" => {
            method.starts_with("compare_exchange")
                || matches!(method, "try_update" | "fetch_update")
        }
        "xchg" => method == "swap",
        word => {
            method.strip_prefix("fetch_").is_some_and(|m| m.trim_start_matches("byte_") == word)
        }
    };
    let operations = |method: &&&str| {
        rule.instruction.is_empty() || rule.instruction.iter().any(|word| is(word, method))
    };
    body.iter().find(operations).is_some()
}

#[cfg(test)]
mod tests {
    use super::super::file::parse;
    use super::*;

    const TEXT: &str = "unsafe impl<T> a::Raw for l::Lock<T> where T: Fn() -> u8 {\n\
        fn lock(&self) -> impl Sized { self.0.compare_exchange_weak(0, 1) }\n\
        unsafe fn unlock(&self) { self.0.fetch_sub(1); }\n\
        fn declared();\n\
        }\n\
        fn free() { struct Guard; impl Drop for Guard { fn drop(&mut self) { X.swap(1); } } }\n\
        fn after() { Y.store(2) }";

    fn objection(function: &str, instruction: &str) -> Option<String> {
        let rule = format!(
            "[[rule]]\nname='x'\nfunction=['{function}']\ninstruction=['{instruction}']\nclass='plain'\nwhy='.'"
        );
        let model = parse(&format!("library='l'\n{rule}"), "l.toml").unwrap();
        let texts = [TEXT.to_owned()];
        Outline::of(&texts).objection(&model.rule[0])
    }

    #[test]
    fn rules_find_their_operations() {
        for (function, instruction) in [
            ("l::Lock::lock", "cmpxchg"),
            ("l::Lock::unlock", "sub"),
            ("l::free::Guard::drop", "xchg"),
            ("l::free::{closure}", "xchg"),
            ("l::after", "store"),
            ("l::*", "max"),
        ] {
            assert_eq!(objection(function, instruction), None, "{function}");
        }
    }

    #[test]
    fn what_a_rule_does_not_find_is_reported() {
        let nothing =
            |function: &str| Some(format!("rule `x`: nothing in `{function}` is what it names"));
        assert_eq!(objection("l::Lock::unlock", "cmpxchg"), nothing("l::Lock::unlock"));
        assert_eq!(objection("l::Lock::declared", "load"), nothing("l::Lock::declared"));
        assert_eq!(objection("l::after", "xchg"), nothing("l::after"));
        let gone = objection("l::Other::lock", "cmpxchg");
        assert_eq!(gone.as_deref(), Some("rule `x`: none of its functions is there"));
    }
}
