//! The sync models that are built in: one file per library.

use super::rule::{Kind, Recognised, Rule};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The rules of one library.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Which library.
    pub library: String,
    /// Its rules; the first that matches decides.
    pub rule: Vec<Rule>,
}

/// Every model, and how often each of its rules matched.
#[derive(Clone, Debug)]
pub struct Models {
    models: Vec<Model>,
    matched: Vec<Vec<usize>>,
    /// Chains of all instructions asked about, with the rule that decided (empty for none), for those who write rules.
    chains: BTreeMap<(String, String), usize>,
}

/// The files of `analysis/models`.
const BUILT_IN: &[&str] = &[include_str!("../../models/std.toml")];

impl Models {
    /// The built-in models.
    ///
    /// # Panics
    /// When a built-in file is malformed, which a test excludes.
    #[must_use]
    pub fn built_in() -> Self {
        let models: Vec<Model> = BUILT_IN
            .iter()
            .map(|text| toml::from_str(text).expect("the built-in models are well-formed"))
            .collect();
        let matched = models.iter().map(|m| vec![0; m.rule.len()]).collect();
        Self { models, matched, chains: BTreeMap::new() }
    }

    /// What the first matching rule says of an instruction of this size in bytes with this chain of plain paths, innermost first.
    pub fn recognise(&mut self, kind: Kind, size: u64, chain: &[&str]) -> Option<Recognised> {
        let mut found: Option<&Rule> = None;
        for (model, matched) in self.models.iter().zip(&mut self.matched) {
            if let Some(index) = model.rule.iter().position(|r| r.matches(kind, size, chain)) {
                matched[index] += 1;
                found = Some(&model.rule[index]);
                break;
            }
        }
        let name = found.map_or_else(String::new, |rule| rule.name.clone());
        let chain = format!("{kind:?} {}", chain.join(" < "));
        *self.chains.entry((name, chain)).or_default() += 1;
        found.map(Rule::verdict)
    }

    /// Every rule with the number of instructions that it decided.
    pub fn rules(&self) -> impl Iterator<Item = (&Rule, usize)> {
        self.models
            .iter()
            .zip(&self.matched)
            .flat_map(|(model, matched)| model.rule.iter().zip(matched.iter().copied()))
    }
}

impl std::fmt::Display for Models {
    /// One line a rule: how many instructions it decided, and its name; then one line a chain with the rule that decided.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (rule, count) in self.rules() {
            writeln!(f, "{count} {}", rule.name)?;
        }
        for ((rule, chain), count) in &self.chains {
            writeln!(f, "{count} [{rule}] {chain}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_built_in_models_are_well_formed() {
        let models = Models::built_in();
        let mut names = HashSet::new();
        for (rule, _) in models.rules() {
            assert!(names.insert(rule.name.clone()), "{} is named twice", rule.name);
            assert!(!rule.why.trim().is_empty(), "{} does not say why", rule.name);
            assert!(!rule.why.contains("[[rule]]"), "{} swallows the rule behind it", rule.name);
            assert!(!rule.function.is_empty(), "{} names no function", rule.name);
        }
    }
}
