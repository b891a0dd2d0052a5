//! Options of `check` and `audit` that say which findings fail them: levels of warnings, and a
//! baseline of known ones.

use crate::error::{Error, Result};
use clap::Args;
use lockred_protocol::codes::{BugKind, WarningKind};
use std::path::PathBuf;

/// Which findings fail a check.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Findings")]
pub struct FindingOptions {
    /// Fail tests with this warning: its code, its name, or `warnings` for all
    #[arg(short = 'D', long, value_name = "WARNING", value_parser = Wanted::parse)]
    pub deny: Vec<Wanted>,
    /// Suppress this warning: its code, its name, or `warnings` for all
    ///
    /// A warning that is named outweighs `warnings`: `--deny warnings --allow leak` fails tests for
    /// all warnings but leaks.
    #[arg(short = 'A', long, value_name = "WARNING", value_parser = Wanted::parse)]
    pub allow: Vec<Wanted>,
    /// Accept the findings in this file; fail only for others
    ///
    /// Findings are identified by code, test, functions and source lines, so that other code, and
    /// line numbers, may change. The search of a test continues after its known findings. Entries
    /// whose test was searched completely without finding them are reported as stale.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Accept all findings, and write them to the baseline
    ///
    /// The search of a test continues after its first bug (`--keep-going`). Entries of tests that
    /// were not checked, or not completely, stay.
    #[arg(long, hide_short_help = true, requires = "baseline")]
    pub write_baseline: bool,
}

/// What `--deny` and `--allow` take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// Every warning.
    All,
    /// One kind of warning.
    One(WarningKind),
}

impl Wanted {
    fn parse(text: &str) -> std::result::Result<Self, String> {
        if text == "warnings" {
            return Ok(Self::All);
        }
        let is = |code: &str, name: &str| text.eq_ignore_ascii_case(code) || text == name;
        if let Some(kind) = WarningKind::ALL.iter().find(|kind| is(kind.code(), &name(**kind))) {
            return Ok(Self::One(*kind));
        }
        if BugKind::ALL.iter().any(|kind| is(kind.code(), &serde_name(kind))) {
            return Err("it is a bug, not a warning: it always fails its test; --baseline accepts single ones".into());
        }
        let names: Vec<String> = WarningKind::ALL
            .iter()
            .map(|kind| format!("{} ({})", name(*kind), kind.code()))
            .collect();
        Err(format!("the warnings are {}, and `warnings` for all", names.join(", ")))
    }
}

/// Who reports warnings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reporter {
    /// `cargo lockred check`, of what happens in tests.
    Check,
    /// `cargo lockred audit`, of what the code says.
    Audit,
}

impl Reporter {
    /// Whether it ever reports a warning.
    pub const fn reports(self, kind: WarningKind) -> bool {
        match kind {
            WarningKind::LockOrder => true,
            WarningKind::LockingDiscipline
            | WarningKind::Atomicity
            | WarningKind::Leak
            | WarningKind::ThreadPanicked
            | WarningKind::Timing
            | WarningKind::ThreadStuck => matches!(self, Self::Check),
            WarningKind::UnprotectedWrite
            | WarningKind::UnboundedImpl
            | WarningKind::UnpairedAtomic
            | WarningKind::LockAcrossAwait
            | WarningKind::LockAcrossThread
            | WarningKind::BlockingUnderLock
            | WarningKind::UnlockedRead => matches!(self, Self::Audit),
        }
    }

    /// What its command is called, and the other one.
    const fn names(self) -> [&'static str; 2] {
        match self {
            Self::Check => ["check", "audit"],
            Self::Audit => ["audit", "check"],
        }
    }
}

/// The name of a warning, as in JSON.
pub fn name(kind: WarningKind) -> String {
    serde_name(&kind)
}

fn serde_name(kind: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(kind).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

impl FindingOptions {
    /// Refuses warnings that this command never reports: who denies one would take silence for an
    /// answer.
    ///
    /// # Errors
    /// When one is named.
    pub fn reported_by(&self, reporter: Reporter) -> Result<()> {
        let named = |option: &'static str, list: &[Wanted]| {
            let one = |wanted: &Wanted| match wanted {
                Wanted::One(kind) => Some((option, *kind)),
                Wanted::All => None,
            };
            list.iter().filter_map(one).collect::<Vec<_>>()
        };
        let all = [named("--deny", &self.deny), named("--allow", &self.allow)];
        let mut lost = all.into_iter().flatten();
        let Some((option, kind)) = lost.find(|(_, kind)| !reporter.reports(*kind)) else {
            return Ok(());
        };
        let [own, other] = reporter.names();
        let (name, code) = (name(kind), kind.code());
        let message = format!(
            "`cargo lockred {own}` never reports {name} ({code}): {option} is of no effect"
        );
        let mut hint = format!("`cargo lockred {other}` does");
        if reporter == Reporter::Check {
            hint += ", and `cargo lockred audit --confirm` reports what came of it";
        }
        Err(Error::usage(message).hint(hint))
    }

    /// Whether tests fail for a warning.
    pub fn denies(&self, kind: WarningKind) -> bool {
        let named = |list: &[Wanted]| list.contains(&Wanted::One(kind));
        if named(&self.deny) || named(&self.allow) {
            return named(&self.deny);
        }
        self.deny.contains(&Wanted::All)
    }

    /// Whether a warning is not to be reported.
    pub fn allows(&self, kind: WarningKind) -> bool {
        let all = self.allow.contains(&Wanted::All) || self.allow.contains(&Wanted::One(kind));
        all && !self.denies(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(deny: &[&str], allow: &[&str]) -> FindingOptions {
        let parsed =
            |texts: &[&str]| texts.iter().map(|text| Wanted::parse(text).unwrap()).collect();
        FindingOptions { deny: parsed(deny), allow: parsed(allow), ..Default::default() }
    }

    #[test]
    fn what_is_named_outweighs_what_is_said_of_all() {
        let (leak, stuck) = (WarningKind::Leak, WarningKind::ThreadStuck);
        let these = options(&["warnings"], &["leak"]);
        assert_eq!((these.denies(leak), these.allows(leak)), (false, true));
        assert_eq!((these.denies(stuck), these.allows(stuck)), (true, false));
        let these = options(&["LR0104"], &["warnings"]);
        assert_eq!((these.denies(leak), these.allows(leak)), (true, false));
        assert_eq!((these.denies(stuck), these.allows(stuck)), (false, true));
        let these = options(&["leak"], &["leak"]);
        assert!(
            these.denies(leak) && !these.allows(leak),
            "what is said twice fails rather than hides"
        );
    }

    #[test]
    fn what_a_command_never_reports_cannot_be_denied_there() {
        let said = |reporter, these: FindingOptions| {
            let error = these.reported_by(reporter).unwrap_err();
            (error.message, error.hint.unwrap())
        };
        let (message, hint) = said(Reporter::Check, options(&["leak", "LR0201"], &[]));
        assert_eq!(
            message,
            "`cargo lockred check` never reports unprotected-write (LR0201): --deny is of no effect"
        );
        assert!(
            hint.starts_with("`cargo lockred audit` does, and `cargo lockred audit --confirm`")
        );
        let (message, hint) = said(Reporter::Audit, options(&["warnings"], &["leak"]));
        assert!(message.ends_with("leak (LR0104): --allow is of no effect"), "{message}");
        assert_eq!(hint, "`cargo lockred check` does");
        for (reporter, these) in [
            (Reporter::Check, options(&["warnings", "LR0101", "LR0106"], &["leak"])),
            (Reporter::Audit, options(&["warnings", "LR0101"], &["LR0207"])),
        ] {
            assert!(these.reported_by(reporter).is_ok(), "{reporter:?}: {these:?}");
        }
        for kind in WarningKind::ALL {
            assert!(Reporter::Check.reports(*kind) || Reporter::Audit.reports(*kind), "{kind:?}");
        }
    }

    #[test]
    fn bugs_are_no_warnings() {
        assert!(Wanted::parse("deadlock").unwrap_err().contains("--baseline"));
        assert!(Wanted::parse("LR0001").unwrap_err().contains("--baseline"));
        assert!(Wanted::parse("luck").unwrap_err().contains("leak (LR0104)"));
        assert_eq!(Wanted::parse("lr0104"), Ok(Wanted::One(WarningKind::Leak)));
    }
}
