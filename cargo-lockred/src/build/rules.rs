//! Which rules of the analysis a build uses, and whether it checks what they claim.

use crate::cli::selection::Analysis;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use lockred_protocol::audit::AUDIT;
use lockred_protocol::lock_order::{LOCK_ORDER, Programs};
use lockred_protocol::plan::{CHECK_STATIC, FLAW, Flaw, Reason, SCALE_LOOPS, WITHOUT};
use lockred_protocol::protection::PROTECTION;
use std::path::PathBuf;
use std::process::Command;

/// The choice of a build.
#[derive(Default)]
pub struct Rules {
    without: Vec<&'static str>,
    checked: bool,
    order: Programs,
    protection: bool,
    flaw: Option<&'static str>,
    scale_loops: Option<u64>,
    audit: Option<PathBuf>,
}

impl Rules {
    /// What the command line says.
    ///
    /// # Errors
    /// When it names a rule that there is not.
    pub fn of(options: &Analysis) -> Result<Self> {
        let rule = |name: &String| match Reason::rule(name) {
            Some(rule) => Ok(rule.name()),
            None => {
                let rules = Reason::ALL.into_iter().filter(|reason| reason.is_rule());
                let names: Vec<_> = rules.map(Reason::name).collect();
                Err(Error::usage(format!("there is no rule `{name}`"))
                    .hint(format!("there are {}", names.join(", "))))
            }
        };
        let flaw = |name: &String| {
            let flaws = Flaw::ALL.into_iter().map(Flaw::name);
            flaws
                .into_iter()
                .find(|flaw| flaw == name)
                .ok_or_else(|| Error::usage(format!("there is no flaw `{name}`")))
        };
        let without: Result<Vec<_>> = options.without_rule.iter().map(rule).collect();
        let mut without = without?;
        without.sort_unstable();
        without.dedup();
        let flaw = options.static_flaw.as_ref().map(flaw).transpose()?;
        let (order, protection) = (options.order(), options.finds_protection());
        let Analysis { check_static: checked, scale_loops, .. } = *options;
        Ok(Self { without, checked, order, protection, flaw, scale_loops, audit: None })
    }

    /// Has programs audited, as a file says ([`lockred_protocol::audit::Line`]).
    pub fn audit(&mut self, file: PathBuf) {
        self.audit = Some(file);
    }

    /// Has programs not audited any more.
    pub fn end_audit(&mut self) {
        self.audit = None;
    }

    /// What builds with other rules differ in; nothing where all are used unchecked.
    pub fn hash(&self) -> String {
        let Self { without, checked, order, protection, flaw, scale_loops, audit } = self;
        let as_usual = without.is_empty() && !checked && !protection && flaw.is_none();
        let as_usual = as_usual && *order == Programs::Small;
        if as_usual && scale_loops.is_none() && audit.is_none() {
            return String::new();
        }
        let hash = Fingerprint::new().add(checked.to_string()).add(flaw.unwrap_or_default());
        let hash = hash.add(order.name()).add(audit.is_some().to_string());
        let hash = if *protection { hash.add("protection") } else { hash };
        let hash = scale_loops.map_or(hash, |rounds| hash.add(rounds.to_string()));
        without.iter().fold(hash, |hash, rule| hash.add(rule)).hex()
    }

    /// Sets, or removes, the variables that the shim reads, on a command that calls it in the end.
    pub fn pass_to(&self, command: &mut Command) {
        let [checked, protection] =
            [self.checked, self.protection].map(|set| if set { "1" } else { "" });
        let flaw = self.flaw.unwrap_or_default();
        let rounds = self.scale_loops.map_or(String::new(), |rounds| rounds.to_string());
        let audit = self.audit.as_ref().and_then(|file| file.to_str()).unwrap_or_default();
        for (variable, value) in [
            (WITHOUT, &*self.without.join("\n")),
            (CHECK_STATIC, checked),
            (LOCK_ORDER, self.order.name()),
            (PROTECTION, protection),
            (FLAW, flaw),
            (SCALE_LOOPS, &*rounds),
            (AUDIT, audit),
        ] {
            if value.is_empty() {
                command.env_remove(variable);
            } else {
                command.env(variable, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_known_by_name_and_make_other_builds() {
        let of = |rules: &[&str]| {
            let without_rule = rules.iter().map(|&rule| rule.to_owned()).collect();
            Rules::of(&Analysis { without_rule, ..Analysis::default() })
        };
        assert_eq!(of(&[]).unwrap().hash(), "");
        let hash = of(&["stack", "heap"]).unwrap().hash();
        assert_eq!(hash, of(&["heap", "stack", "heap"]).unwrap().hash());
        assert_ne!(hash, of(&["heap"]).unwrap().hash());
        assert!(of(&["shared"]).is_err());
        let scaled = |rounds| Rules::of(&Analysis { scale_loops: rounds, ..Analysis::default() });
        let hash = |rounds| scaled(rounds).unwrap().hash();
        assert_eq!(hash(None), "");
        assert!(hash(Some(3)) != hash(Some(4)) && !hash(Some(3)).is_empty());
    }
}
