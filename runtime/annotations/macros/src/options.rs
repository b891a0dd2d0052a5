//! `#[lockred::check(…)]`: options of `cargo lockred check` for one test.

use crate::Build;
use crate::note::Note;
use crate::search;
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, ItemFn, Lit, LitBool, Result, Token};

/// What an option takes.
#[derive(Clone, Copy, Debug)]
enum Takes {
    /// Nothing.
    Nothing,
    /// A number, from the first that makes sense.
    Number(u64),
    /// Seconds.
    Seconds,
    /// What `--search` takes.
    Search,
    /// One of these.
    OneOf(&'static [&'static str]),
}

/// The options, each with what it takes: those of the command line that can be said of one test.
const OPTIONS: &[(&str, Takes)] = &[
    ("search", Takes::Search),
    ("seed", Takes::Number(0)),
    ("max_executions", Takes::Number(1)),
    ("max_seconds", Takes::Seconds),
    ("max_operations", Takes::Number(1)),
    ("keep_going", Takes::Nothing),
    ("spurious", Takes::Nothing),
    ("reuse", Takes::Nothing),
    ("leaks", Takes::Nothing),
    ("random", Takes::OneOf(&["fixed", "explore"])),
    ("time", Takes::OneOf(&["any", "ordered"])),
];

/// An option as it was written.
struct Given {
    name: Ident,
    value: Option<Lit>,
}

impl Parse for Given {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = input.parse()?;
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Self { name, value })
    }
}

impl Given {
    /// As the command line has it: `max-seconds=5`, or a name alone.
    fn word(&self) -> Result<String> {
        let name = self.name.to_string();
        let Some((_, takes)) = OPTIONS.iter().find(|(known, _)| *known == name) else {
            if let Some(message) = search::replaced(&self.name, self.value.as_ref()) {
                return Err(Error::new(self.name.span(), message));
            }
            let known: Vec<&str> = OPTIONS.iter().map(|(name, _)| *name).collect();
            let message = format!("there is no option `{name}`; there are {}", known.join(", "));
            return Err(Error::new(self.name.span(), message));
        };
        let option = name.replace('_', "-");
        let wrong = |what: &str| match &self.value {
            Some(value) => Error::new_spanned(value, format!("`{name}` takes {what}")),
            None => Error::new(self.name.span(), format!("`{name}` takes {what}: `{name} = …`")),
        };
        let value = match (takes, &self.value) {
            (Takes::Nothing, None) => return Ok(option),
            (Takes::Nothing, Some(Lit::Bool(LitBool { value: true, .. }))) => return Ok(option),
            (Takes::Nothing, _) => return Err(wrong("no value")),
            (Takes::Number(least), Some(Lit::Int(number))) => {
                let value = number.base10_parse::<u64>().ok().filter(|value| value >= least);
                value.ok_or_else(|| wrong(&format!("a whole number from {least} on")))?.to_string()
            }
            (Takes::Number(least), _) => {
                return Err(wrong(&format!("a whole number from {least} on")));
            }
            (Takes::Seconds, value) => {
                let seconds = match value {
                    Some(Lit::Int(number)) => number.base10_parse::<f64>().ok(),
                    Some(Lit::Float(number)) => number.base10_parse::<f64>().ok(),
                    _ => None,
                };
                let seconds = seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0);
                seconds.ok_or_else(|| wrong("a number of seconds that is more than 0"))?.to_string()
            }
            (Takes::Search, Some(Lit::Str(text))) if search::is_one(&text.value()) => text.value(),
            (Takes::Search, _) => return Err(wrong(search::TAKES)),
            (Takes::OneOf(names), value) => {
                let names_reported = || {
                    let names: Vec<String> =
                        names.iter().map(|name| format!("\"{name}\"")).collect();
                    format!("one of {}", names.join(", "))
                };
                match value {
                    Some(Lit::Str(text)) if names.contains(&text.value().as_str()) => text.value(),
                    _ => return Err(wrong(&names_reported())),
                }
            }
        };
        Ok(format!("{option}={value}"))
    }
}

/// The test with a note of its options beside it.
pub fn expand(words: TokenStream, item: TokenStream, build: Build) -> Result<TokenStream> {
    let given = Punctuated::<Given, Token![,]>::parse_terminated.parse2(words)?;
    let test: ItemFn = syn::parse2(item.clone()).map_err(|error| {
        Error::new(error.span(), "`#[lockred::check]` is for the function of a test")
    })?;
    let mut note = Note::new("check", test.sig.ident.to_string(), test.sig.ident.span());
    let mut names: Vec<String> = Vec::new();
    for given in &given {
        let word = given.word()?;
        let name = given.name.to_string();
        if names.contains(&name) {
            return Err(Error::new(given.name.span(), format!("`{name}` is there already")));
        }
        names.push(name);
        note = note.word(word);
    }
    if build == Build::Plain {
        return Ok(item);
    }
    let note = note.item();
    // Where tests are left out, so are their notes.
    Ok(quote! { #item #[cfg(test)] #note })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(words: &str, build: Build) -> std::result::Result<String, String> {
        let item: TokenStream = "#[test] fn t() { one(); }".parse().unwrap();
        let expanded = expand(words.parse().unwrap(), item, build);
        expanded.map(|tokens| tokens.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn an_ordinary_build_has_the_test_as_it_is() {
        let item: TokenStream = "#[test] fn t() { one(); }".parse().unwrap();
        assert_eq!(expanded("seed = 1, spurious", Build::Plain), Ok(item.to_string()));
    }

    #[test]
    fn a_checked_one_has_a_note_in_words_of_the_command_line() {
        let words =
            "search = \"bounded=3\", max_seconds = 2.5, max_operations = 7, spurious, reuse = true";
        let checked = expanded(words, Build::Checked).unwrap();
        let end = r#"search=bounded=3\tmax-seconds=2.5\tmax-operations=7\tspurious\treuse\n"#;
        assert!(checked.contains(end), "{checked}");
        assert!(checked.contains(r#""check\t""#) && checked.contains(r#""::t\t""#), "{checked}");
        assert!(checked.starts_with("# [test] fn t () { one () ; } # [cfg (test)]"), "{checked}");
    }

    #[test]
    fn what_is_wrong_is_said_in_both_builds() {
        for (words, said) in [
            ("contexts = 3", "there is no option `contexts`; there are search, seed"),
            ("strategy = \"random\"", "`strategy` is now `search`: write `search = \"sample\"`"),
            ("strategy = \"dpor\"", "`strategy` is now `search`: write `search = \"dpor\"`"),
            ("strategy = \"luck\"", "`strategy` is now `search`"),
            ("preemptions = 3", "`preemptions` is now `search`: write `search = \"bounded=3\"`"),
            ("preemptions", "`preemptions` is now `search`"),
            ("seed = \"x\"", "`seed` takes a whole number from 0 on"),
            ("max_executions = 0", "`max_executions` takes a whole number from 1 on"),
            ("max_seconds = 0", "`max_seconds` takes a number of seconds that is more than 0"),
            (
                "max_seconds",
                "`max_seconds` takes a number of seconds that is more than 0: `max_seconds = …`",
            ),
            ("search = \"x\"", "`search` takes one of \"exhaustive\", \"bounded=N\", "),
            ("search = \"bounded=few\"", "`search` takes one of "),
            ("search = \"sample=luck\"", "`search` takes one of "),
            ("search", "`search` takes one of "),
            ("spurious = false", "`spurious` takes no value"),
            ("seed = 1, seed = 2", "`seed` is there already"),
        ] {
            for build in [Build::Plain, Build::Checked] {
                let error = expanded(words, build).unwrap_err();
                assert!(error.starts_with(said), "{words}: {error}");
            }
        }
    }

    #[test]
    fn only_functions_have_options() {
        let item: TokenStream = "struct T;".parse().unwrap();
        let error = expand(TokenStream::new(), item, Build::Plain).unwrap_err();
        assert!(error.to_string().contains("is for the function of a test"), "{error}");
    }
}
