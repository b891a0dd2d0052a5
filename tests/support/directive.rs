//! The directives beside a corpus program (`//@ verified`, …), parsed; `tests/corpus/src/lib.rs`
//! says what each means.

use lockred_protocol::codes::{AssumptionKind, BugKind, WarningKind};
use std::ops::RangeInclusive;

/// What the verdict on a program must be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expectation {
    /// `verified`, complete.
    Verified,
    /// `passed`, complete, resting on this assumption.
    Passed(AssumptionKind),
    /// `verified` or `passed`.
    Clean,
    /// `failed`, with a bug of one of these kinds.
    Failed(Vec<BugKind>),
    /// The bug, or `passed` resting on this assumption.
    FailedOrPassed(Vec<BugKind>, AssumptionKind),
    /// `verified` or `passed`, with a warning of this kind.
    Warned(WarningKind),
    /// `unsupported`, naming this word.
    Unsupported(String),
}

impl Expectation {
    /// Whether the program is right.
    #[must_use]
    pub const fn is_correct(&self) -> bool {
        matches!(self, Self::Verified | Self::Passed(_) | Self::Clean | Self::Warned(_))
    }

    /// Whether the program passes under plain `cargo test`, on a busy machine too.
    #[must_use]
    pub const fn passes_plainly(&self) -> bool {
        self.is_correct() && !matches!(self, Self::Warned(WarningKind::Timing))
    }
}

/// One directive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Directive {
    /// The expected verdict.
    Verdict(Expectation),
    /// `executions <= N`, `executions = N`.
    Executions(RangeInclusive<u64>),
    /// `preemptions = N`: the schedule of the bug has so many, and none with fewer shows it.
    Preemptions(u32),
    /// `with --OPTION …`: the verdict with an option.
    With(String, Expectation),
}

/// Parses what follows `//@`.
///
/// # Errors
/// A sentence that says what is wrong with the text.
pub fn parse(text: &str) -> Result<Directive, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if let ["with", option, verdict @ ..] = &words[..]
        && option.starts_with("--")
    {
        return match parse(&verdict.join(" "))? {
            Directive::Verdict(expectation) => Ok(Directive::With((*option).into(), expectation)),
            _ => Err(format!("`{text}` names no verdict")),
        };
    }
    let verdict = match words[..] {
        ["executions", relation @ ("<=" | "="), bound] => {
            let bound = bound.parse().map_err(|e| format!("`{bound}` is no count: {e}"))?;
            let least = if relation == "=" { bound } else { 0 };
            return Ok(Directive::Executions(least..=bound));
        }
        ["preemptions", "=", number] => {
            let number = number.parse().map_err(|e| format!("`{number}` is no count: {e}"))?;
            return Ok(Directive::Preemptions(number));
        }
        ["verified"] => Expectation::Verified,
        ["clean"] => Expectation::Clean,
        ["passed", code] => Expectation::Passed(named(code)?),
        ["failed", kinds] => Expectation::Failed(all_named(kinds)?),
        ["failed", kinds, "or", "passed", code] => {
            Expectation::FailedOrPassed(all_named(kinds)?, named(code)?)
        }
        ["warned", kind] => Expectation::Warned(named(kind)?),
        ["unsupported", word] => Expectation::Unsupported(word.to_owned()),
        _ => return Err(format!("`{text}` is no directive")),
    };
    Ok(Directive::Verdict(verdict))
}

/// The entries of a closed list with these names.
fn all_named<T: serde::de::DeserializeOwned>(names: &str) -> Result<Vec<T>, String> {
    names.split('|').map(named).collect()
}

/// The entry of a closed list with this name.
fn named<T: serde::de::DeserializeOwned>(name: &str) -> Result<T, String> {
    serde_json::from_value(serde_json::Value::from(name)).map_err(|e| format!("`{name}`: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_parsed() {
        let verdict = |e| Ok(Directive::Verdict(e));
        let memory_model = AssumptionKind::MemoryModelSc;
        let two = vec![BugKind::UseAfterFree, BugKind::DataRace];
        assert_eq!(parse(" verified"), verdict(Expectation::Verified));
        assert_eq!(parse("passed memory-model-sc"), verdict(Expectation::Passed(memory_model)));
        assert_eq!(parse("failed use-after-free|data-race"), verdict(Expectation::Failed(two)));
        assert_eq!(parse("warned leak"), verdict(Expectation::Warned(WarningKind::Leak)));
        assert_eq!(
            parse("with --reuse verified"),
            Ok(Directive::With("--reuse".into(), Expectation::Verified))
        );
        assert_eq!(parse("unsupported fork"), verdict(Expectation::Unsupported("fork".into())));
        assert_eq!(parse("executions <= 9"), Ok(Directive::Executions(0..=9)));
        assert_eq!(parse("executions = 9"), Ok(Directive::Executions(9..=9)));
        assert_eq!(parse("preemptions = 2"), Ok(Directive::Preemptions(2)));
        assert_eq!(
            parse("failed panic or passed bounded-spin"),
            verdict(Expectation::FailedOrPassed(vec![BugKind::Panic], AssumptionKind::BoundedSpin))
        );
    }

    #[test]
    fn what_is_no_directive_is_refused() {
        for text in [
            "",
            "fine",
            "failed",
            "failed crash",
            "passed",
            "passed luck",
            "executions 9",
            "preemptions few",
            "with verified",
            "with --reuse",
            "with --reuse executions = 1",
            "warned luck",
        ] {
            assert!(parse(text).is_err(), "`{text}` was accepted");
        }
    }
}
