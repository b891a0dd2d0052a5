//! The sync models that are built in: one file per library.

use super::rule::{Kind, Recognised, Rule};
use serde::Deserialize;

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
        Self { models, matched }
    }

    /// What the first matching rule says of an instruction of this size in bytes with this chain of plain paths, innermost first.
    pub fn recognise(&mut self, kind: Kind, size: u64, chain: &[&str]) -> Option<Recognised> {
        for (model, matched) in self.models.iter().zip(&mut self.matched) {
            if let Some(index) = model.rule.iter().position(|r| r.matches(kind, size, chain)) {
                matched[index] += 1;
                return Some(model.rule[index].verdict());
            }
        }
        None
    }

    /// Every rule with the number of instructions that it decided.
    pub fn rules(&self) -> impl Iterator<Item = (&Rule, usize)> {
        self.models
            .iter()
            .zip(&self.matched)
            .flat_map(|(model, matched)| model.rule.iter().zip(matched.iter().copied()))
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
            assert!(!rule.function.is_empty(), "{} names no function", rule.name);
        }
    }
}
