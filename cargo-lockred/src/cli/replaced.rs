//! Commands and options that have other names now: the error for an old name gives the new one.

use super::search::{RENAMED, Search};
use crate::error::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// An option that had another name.
struct Replaced {
    /// The commands that it was of.
    commands: &'static [&'static str],
    old: &'static str,
    new: &'static str,
    /// What a value of it is now.
    now: fn(&str) -> Option<String>,
}

/// The options that had other names.
const OPTIONS: &[Replaced] = &[
    Replaced {
        commands: &["check", "discipline"],
        old: "--strategy",
        new: "--search",
        now: |value| {
            let renamed = RENAMED.iter().find(|(old, _)| *old == value);
            search(renamed.map_or(value, |(_, new)| new))
        },
    },
    Replaced {
        commands: &["check", "discipline"],
        old: "--preemptions",
        new: "--search bounded=N",
        now: |value| search(&format!("bounded={value}")),
    },
    Replaced {
        commands: &["check"],
        old: "--audit",
        new: "cargo lockred audit --confirm",
        now: |_| None,
    },
    Replaced {
        commands: &["check", "audit"],
        old: "--strict",
        new: "--deny thread-stuck",
        now: |_| None,
    },
];

/// The commands that had other names, with what they are now.
const COMMANDS: &[(&str, &str)] =
    &[("list", "cargo lockred replay, without an id"), ("plan", "cargo lockred audit --accesses")];

/// A search as it is typed, if it is one.
fn search(text: &str) -> Option<String> {
    Search::parse(text).is_ok().then(|| format!("--search {text}"))
}

/// The error for arguments that clap refuses, where that is because of an old name.
pub fn error(refused: &clap::Error, arguments: &[String]) -> Option<Error> {
    let context = |kind| match refused.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match refused.kind() {
        ErrorKind::UnknownArgument => {
            let command = arguments.iter().skip(1).find(|argument| !argument.starts_with('-'))?;
            option(command, context(ContextKind::InvalidArg)?, arguments)
        }
        ErrorKind::InvalidSubcommand => {
            let old = context(ContextKind::InvalidSubcommand)?;
            let (_, new) = COMMANDS.iter().find(|(known, _)| *known == old)?;
            Some(format!("{old} is now {new}"))
        }
        _ => None,
    }
    .map(Error::usage)
}

/// What to say of an old option of a command.
fn option(command: &str, typed: &str, arguments: &[String]) -> Option<String> {
    let name = typed.split('=').next()?;
    let replaced =
        OPTIONS.iter().find(|known| known.old == name && known.commands.contains(&command))?;
    let Replaced { old, new, now, .. } = replaced;
    let mut rest = arguments.iter().skip_while(|argument| argument.split('=').next() != Some(old));
    let value = match rest.next()?.split_once('=') {
        Some((_, value)) => Some(value),
        None => rest.next().map(String::as_str),
    };
    let said = value.and_then(|value| now(value).map(|now| format!("; {old} {value} is {now}")));
    Some(format!("{old} is now {new}{}", said.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Lockred;
    use clap::CommandFactory as _;

    fn said(arguments: &str) -> Option<String> {
        let arguments: Vec<String> =
            format!("cargo-lockred {arguments}").split(' ').map(String::from).collect();
        let refused = Lockred::command().try_get_matches_from(&arguments).unwrap_err();
        error(&refused, &arguments).map(|error| error.message)
    }

    #[test]
    fn old_names_are_answered_with_the_new_ones() {
        for (arguments, expected) in [
            (
                "check --strategy random",
                "--strategy is now --search; --strategy random is --search sample",
            ),
            (
                "check --strategy=dpor",
                "--strategy is now --search; --strategy dpor is --search dpor",
            ),
            ("check --strategy luck", "--strategy is now --search"),
            ("check --strategy", "--strategy is now --search"),
            (
                "discipline one --strategy stateful",
                "--strategy is now --search; --strategy stateful is --search states",
            ),
            (
                "check --preemptions 3 two",
                "--preemptions is now --search bounded=N; --preemptions 3 is --search bounded=3",
            ),
            ("check --preemptions few", "--preemptions is now --search bounded=N"),
            ("list --message-format json", "list is now cargo lockred replay, without an id"),
            ("plan --lib", "plan is now cargo lockred audit --accesses"),
            ("check --audit one", "--audit is now cargo lockred audit --confirm"),
            ("audit --strict", "--strict is now --deny thread-stuck"),
        ] {
            assert_eq!(said(arguments).as_deref(), Some(expected), "{arguments}");
        }
    }

    #[test]
    fn what_never_was_is_left_to_clap() {
        for arguments in ["check --stratagem x", "prove", "check --seed x", "explain --strategy x"]
        {
            assert_eq!(said(arguments), None, "{arguments}");
        }
    }
}
