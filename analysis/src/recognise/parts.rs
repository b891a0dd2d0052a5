//! Parts of sync models: rules that hold together, or not at all.
//!
//! A lock whose acquiring is recognised, and whose giving back is not, is held for ever in our
//! eyes. So a part is left out of a program that has a function in which a rule of the part must
//! match something and does not, or in which something acquires a lock and nothing gives one back.

use super::file::Model;
use super::path::is_of_std;
use super::rule::{Kind, Rule, fits};
use lockred_protocol::hooks::Class;
use std::collections::{BTreeSet, HashSet};

/// What the rules of models match in a program, each for itself.
pub struct Trial<'a> {
    models: &'a [Model],
    /// By model and rule: the functions, of those that it names, in which it matched.
    found: Vec<Vec<HashSet<String>>>,
}

/// A part that does not hold for a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    /// Index of its model.
    pub model: usize,
    /// Its name.
    pub part: String,
    /// The crate of its functions.
    pub of_crate: String,
    /// What is missing, as the end of a sentence.
    pub why: String,
}

impl<'a> Trial<'a> {
    /// Of a program of which nothing is known yet.
    pub fn of(models: &'a [Model]) -> Self {
        let found = models.iter().map(|m| vec![HashSet::new(); m.rule.len()]).collect();
        Self { models, found }
    }

    /// Sees an instruction (see [`Rule::matches`]).
    pub fn see(&mut self, kind: Kind, size: u64, chain: &[&str], types: &[&str]) {
        for (model, found) in self.models.iter().zip(&mut self.found) {
            for (rule, found) in model.rule.iter().zip(found) {
                if !rule.matches(kind, size, chain, types) {
                    continue;
                }
                // What is called inside of another function that the rule names is found for both.
                for &path in chain.iter().filter(|path| rule.function.iter().any(|f| fits(f, path)))
                {
                    if !found.contains(path) {
                        found.insert(path.to_owned());
                    }
                }
            }
        }
    }

    /// The parts that do not hold, when all instructions were seen, and the program has functions
    /// with these plain paths.
    pub fn broken(&self, present: &HashSet<String>) -> Vec<Broken> {
        let mut broken = Vec::new();
        for (index, (model, found)) in self.models.iter().zip(&self.found).enumerate() {
            let parts: BTreeSet<&str> = model.rule.iter().map(|rule| &*rule.part).collect();
            for part in parts {
                let rules = model.rule.iter().zip(found).filter(|(rule, _)| rule.part == part);
                let rules: Vec<_> = rules.map(|(rule, found)| Tried { rule, found }).collect();
                let missing = rules.iter().find_map(|rule| rule.missing(present));
                let missing =
                    missing.or_else(|| kept(&rules, SHARED)).or_else(|| kept(&rules, OWN));
                if let Some((of, why)) = missing {
                    let (part, of_crate) = (part.to_owned(), of.of_crate().to_owned());
                    broken.push(Broken { model: index, part, of_crate, why });
                }
            }
        }
        broken
    }
}

/// A rule, and the functions in which it matched.
struct Tried<'a> {
    rule: &'a Rule,
    found: &'a HashSet<String>,
}

impl<'a> Tried<'a> {
    /// What it must find and does not.
    fn missing(&self, present: &HashSet<String>) -> Option<(&'a Rule, String)> {
        // std comes compiled: which of its functions are inlined into which is not for us to say.
        // Its model is tested with the toolchain.
        let is_found =
            |path: &str| self.found.contains(path) || (is_of_std(path) && !self.found.is_empty());
        let function = self.rule.expected(present).find(|path| !is_found(path))?;
        let why = format!("its rule `{}` matches nothing in `{function}`", self.rule.name);
        Some((self.rule, why))
    }
}

/// Classes of what acquires locks in one way, and of what gives them back.
type Ways = (&'static [Class], &'static [Class]);
const OWN: Ways = (&[Class::Lock, Class::TryLock], &[Class::Unlock, Class::Downgrade]);
const SHARED: Ways = (&[Class::ReadLock, Class::TryReadLock], &[Class::ReadUnlock]);

/// The rule of a part that acquires what no rule gives back, if there is one. A program may keep
/// all locks of std that it acquires.
fn kept<'a>(rules: &[Tried<'a>], (acquire, give): Ways) -> Option<(&'a Rule, String)> {
    let find = |classes: &[Class]| {
        rules.iter().find(|one| classes.contains(&one.rule.class) && !one.found.is_empty())
    };
    let rule = find(acquire)?.rule;
    if rule.function.iter().all(|function| is_of_std(function)) {
        return None;
    }
    find(give).is_none().then(|| {
        (rule, format!("no rule matches that gives back what its rule `{}` acquires", rule.name))
    })
}

#[cfg(test)]
mod tests {
    use super::super::file::parse;
    use super::*;

    const MODEL: &str = "library='l'\n\
        [[rule]]\nname='lock'\nfunction=['l::lock']\ninstruction=['cmpxchg']\nclass='lock'\nwhy='.'\n\
        [[rule]]\nname='unlock'\nfunction=['l::unlock', 'l::fair']\ninstruction=['store']\nclass='unlock'\nwhy='.'\n\
        [[rule]]\nname='rest'\nfunction=['l::*']\nclass='plain'\nwhy='.'\n\
        [[rule]]\nname='once'\npart='once'\nfunction=['l::look']\ncalled_by=['l::call']\nclass='wait'\nwhy='.'\n";

    /// What is wrong with the parts in a program with these operations and functions.
    fn broken(operations: &[(Kind, &[&str])], present: &[&str]) -> Vec<(String, String)> {
        let models = [parse(MODEL, "l.toml").unwrap()];
        let mut trial = Trial::of(&models);
        for (kind, chain) in operations {
            trial.see(*kind, 4, chain, &[]);
        }
        let in_chains = operations.iter().flat_map(|(_, chain)| chain.iter());
        let present = in_chains.chain(present).map(|path| (*path).to_owned()).collect();
        trial.broken(&present).into_iter().map(|broken| (broken.part, broken.why)).collect()
    }

    const LOCK: (Kind, &[&str]) = (Kind::CompareExchange, &["l::lock"]);
    const UNLOCK: (Kind, &[&str]) = (Kind::Store, &["l::unlock"]);

    #[test]
    fn a_part_holds_where_its_rules_find_what_they_name() {
        assert_eq!(broken(&[LOCK, UNLOCK], &["main"]), []);
        assert_eq!(broken(&[UNLOCK], &[]), []);
        assert_eq!(broken(&[], &["m::lock"]), []);
    }

    #[test]
    fn a_function_without_the_instruction_breaks_its_part() {
        let fair = [LOCK, UNLOCK, (Kind::CompareExchange, &["l::fair"])];
        let why = "its rule `unlock` matches nothing in `l::fair`";
        assert_eq!(broken(&fair, &[]), [(String::new(), why.into())]);
        assert_eq!(broken(&[LOCK, UNLOCK], &["l::fair"]), [(String::new(), why.into())]);
    }

    #[test]
    fn what_is_inlined_is_found_for_the_outer_function_too() {
        let inlined = [LOCK, (Kind::Store, &["l::unlock", "l::fair", "main"][..])];
        assert_eq!(broken(&inlined, &[]), []);
    }

    #[test]
    fn what_acquires_and_is_not_given_back_breaks_its_part() {
        let renamed = [LOCK, (Kind::Store, &["l::give_back"][..])];
        let why = "no rule matches that gives back what its rule `lock` acquires";
        assert_eq!(broken(&renamed, &[]), [(String::new(), why.into())]);
    }

    #[test]
    fn callers_that_are_not_there_are_not_missed() {
        assert_eq!(broken(&[(Kind::Load, &["l::look", "l::other"])], &[]), []);
        let apart = [(Kind::Load, &["l::look"][..]), (Kind::Load, &["m::f", "l::call"])];
        let why = "its rule `once` matches nothing in `l::look`";
        assert_eq!(broken(&apart, &[]), [("once".into(), why.into())]);
    }
}
