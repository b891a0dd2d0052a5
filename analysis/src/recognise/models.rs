//! The sync models of a build: those that are built in, one file per library, and those of the
//! user's packages.

use super::checked;
use super::choice::{Choice, Package};
use super::file::{self, Model, Role};
use super::parts::{Broken, Trial};
use super::rule::{Kind, Recognised, Rule, fits};
use super::version::is_between;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The files of `analysis/models`.
const BUILT_IN: &[(&str, &str)] = &[
    ("std.toml", include_str!("../../models/std.toml")),
    ("parking_lot.toml", include_str!("../../models/parking_lot.toml")),
    ("spin.toml", include_str!("../../models/spin.toml")),
    ("once_cell.toml", include_str!("../../models/once_cell.toml")),
    ("crossbeam.toml", include_str!("../../models/crossbeam.toml")),
];

/// Every model, and how often each of its rules matched.
#[derive(Clone, Debug)]
pub struct Models {
    models: Vec<Model>,
    /// How many of them, at the front, are the user's.
    of_user: usize,
    matched: Vec<Vec<usize>>,
    /// The packages of the program.
    packages: Vec<Package>,
    /// What the program contains and is explored as written although there is a model, with the
    /// reason: a sentence each.
    unmodelled: Vec<String>,
    /// Chains of all instructions asked about, with the rule that decided (empty for none), for
    /// those who write rules.
    chains: BTreeMap<(String, String), usize>,
}

impl Models {
    /// The built-in models.
    ///
    /// # Panics
    /// When a built-in file is malformed, which a test excludes.
    #[must_use]
    pub fn built_in() -> Self {
        let parse = |(name, text): &(&str, &str)| {
            file::parse(text, name).expect("the built-in models are well-formed")
        };
        Self::new(BUILT_IN.iter().map(parse).collect(), 0)
    }

    /// The models that a build asks for. The user's come first, so that their rules can take
    /// precedence over ours.
    ///
    /// # Errors
    /// When a file cannot be read or is malformed, or two files, or a name that is to be distrusted
    /// and is that of no library.
    pub fn chosen(choice: &Choice) -> Result<Self, String> {
        let mut models =
            choice.files.iter().map(|f| file::read(f)).collect::<Result<Vec<_>, _>>()?;
        let of_user = models.len();
        models.extend(Self::built_in().models);
        let mut known = BTreeSet::new();
        for (number, model) in models.iter().enumerate() {
            if !known.insert(model.library.clone()) {
                let file = choice.files[number.min(of_user - 1)].display();
                let name = &model.library;
                return Err(format!("{file}: there is another sync model of the library `{name}`"));
            }
        }
        if let Some(name) =
            choice.distrusted.iter().find(|name| *name != ALL && !known.contains(*name))
        {
            let known: Vec<_> = known.iter().map(String::as_str).chain([ALL]).collect();
            let known = known.join(", ");
            return Err(format!(
                "there is no sync model of a library `{name}`; there are: {known}"
            ));
        }
        let mut all = Self::new(models, of_user);
        all.distrust(&choice.distrusted);
        all.packages.clone_from(&choice.packages);
        all.leave_out_unchecked(&choice.distrusted);
        all.keep_rules_of_versions();
        Ok(all)
    }

    fn new(models: Vec<Model>, of_user: usize) -> Self {
        let matched = models.iter().map(|m| vec![0; m.rule.len()]).collect();
        let (packages, unmodelled) = (Vec::new(), Vec::new());
        Self { models, of_user, matched, packages, unmodelled, chains: BTreeMap::new() }
    }

    /// Takes away the libraries of which a package is in a version for which their model does not
    /// hold: the bugs of older ones are no part of it, and what newer ones do is not known.
    fn leave_out_unchecked(&mut self, distrusted: &[String]) {
        let mut libraries = Vec::new();
        for model in self.models.iter().filter(|model| !is_among(distrusted, &model.library)) {
            let objections = self.packages.iter().filter_map(|p| checked::objection(model, p));
            let before = self.unmodelled.len();
            self.unmodelled.extend(objections.map(|why| format!("{why}: {AS_WRITTEN}")));
            if self.unmodelled.len() > before {
                libraries.push(model.library.clone());
            }
        }
        self.unmodelled.sort();
        self.unmodelled.dedup();
        self.distrust(&libraries);
    }

    /// Takes away the rules that are for other versions than the program's. Where these are not
    /// known, all stay.
    fn keep_rules_of_versions(&mut self) {
        for model in &mut self.models {
            model.rule.retain(|rule| {
                let mut versions = versions(&self.packages, rule.of_crate()).peekable();
                let (since, until) = (rule.since.as_deref(), rule.until.as_deref());
                versions.peek().is_none() || versions.any(|v| is_between(v, since, until))
            });
        }
        self.matched = self.models.iter().map(|model| vec![0; model.rule.len()]).collect();
    }

    /// Takes away the rules of some libraries.
    fn distrust(&mut self, libraries: &[String]) {
        for (model, matched) in self.models.iter_mut().zip(&mut self.matched) {
            if is_among(libraries, &model.library) {
                model.rule.clear();
                model.inlined.clear();
                model.regions.clear();
                model.channels = file::Channels::default();
                matched.clear();
            }
        }
    }

    /// Takes away the rules that do not hold for a program whose atomic operations have these plain
    /// paths in their chains.
    pub fn fit(&mut self, paths: &HashSet<String>) {
        for model in &mut self.models {
            model.rule.retain(|rule| rule.holds_beside(paths));
        }
        self.matched = self.models.iter().map(|model| vec![0; model.rule.len()]).collect();
    }

    /// What the rules that are left match in a program, each for itself.
    #[must_use]
    pub fn trial(&self) -> Trial<'_> {
        Trial::of(&self.models)
    }

    /// Takes away the parts of models that do not hold for a program in which the rules matched
    /// this, and which has functions with these plain paths. `found` is of [`Self::trial`].
    pub fn leave_out_broken(&mut self, broken: &[Broken]) {
        for Broken { model, part, of_crate, why } in broken {
            let model = &mut self.models[*model];
            model.rule.retain(|rule| rule.part != *part);
            let version = versions(&self.packages, of_crate).next();
            let package = version.map_or_else(|| of_crate.clone(), |v| format!("{of_crate} {v}"));
            let library = &model.library;
            let what =
                if part.is_empty() { library.clone() } else { format!("{library} ({part})") };
            self.unmodelled
                .push(format!("{package} does not fit the model of {what}, {why}: {AS_WRITTEN}"));
        }
        self.matched = self.models.iter().map(|model| vec![0; model.rule.len()]).collect();
    }

    /// What the program contains and is explored as written although there is a model: a sentence
    /// each.
    #[must_use]
    pub fn unmodelled(&self) -> &[String] {
        &self.unmodelled
    }

    /// The hash of a package's sources, as far as a model speaks of them.
    ///
    /// # Errors
    /// What rules do not find there.
    pub fn hash_of_sources(&self, package: &Package) -> Result<String, String> {
        checked::hash(&self.models, package)
    }

    /// The packages of which models speak, with the oldest versions for which they hold.
    pub fn packages(&self) -> impl Iterator<Item = (&str, &str)> {
        self.models.iter().flat_map(|model| &model.since).map(|(name, since)| (&**name, &**since))
    }

    /// Whether the function with this plain path is to be inlined wherever it is called.
    #[must_use]
    pub fn inlines(&self, path: &str) -> bool {
        self.models.iter().flat_map(|model| &model.inlined).any(|pattern| fits(pattern, path))
    }

    /// Whether the function with this plain path is an atomic region.
    #[must_use]
    pub fn is_region(&self, path: &str) -> bool {
        self.models.iter().flat_map(|model| &model.regions).any(|pattern| fits(pattern, path))
    }

    /// What the function with this plain path is to a channel.
    #[must_use]
    pub fn channel(&self, path: &str) -> Option<Role> {
        self.models.iter().find_map(|model| model.channels.role(path))
    }

    /// What the first matching rule says of an instruction of this size in bytes with this chain of
    /// plain paths, innermost first, and first generic arguments of the functions.
    pub fn recognise(
        &mut self,
        kind: Kind,
        size: u64,
        chain: &[&str],
        types: &[&str],
    ) -> Option<Recognised> {
        let mut found: Option<&Rule> = None;
        for (model, matched) in self.models.iter().zip(&mut self.matched) {
            let matches = |rule: &Rule| rule.matches(kind, size, chain, types);
            if let Some(index) = model.rule.iter().position(matches) {
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

    /// The rules of one library.
    pub fn rules_of(&self, library: &str) -> impl Iterator<Item = &Rule> {
        self.models.iter().filter(move |model| model.library == library).flat_map(|m| &m.rule)
    }

    /// The libraries of the user's models of which a rule matched.
    #[must_use]
    pub fn believed(&self) -> Vec<String> {
        let models = self.models.iter().zip(&self.matched).take(self.of_user);
        let believed = models.filter(|(_, matched)| matched.iter().any(|count| *count > 0));
        believed.map(|(model, _)| model.library.clone()).collect()
    }
}

/// What stands for every library where one is to be distrusted.
const ALL: &str = "all";

/// What happens to a library without its model.
const AS_WRITTEN: &str = "explored as written";

/// Whether a list of libraries names one.
fn is_among(libraries: &[String], library: &str) -> bool {
    libraries.iter().any(|name| name == ALL || name == library)
}

/// The versions of the packages of a crate.
fn versions<'a>(packages: &'a [Package], of_crate: &'a str) -> impl Iterator<Item = &'a str> {
    let names = move |name: &str| name.replace('-', "_") == of_crate;
    packages.iter().filter(move |package| names(&package.name)).map(|package| &*package.version)
}

impl std::fmt::Display for Models {
    /// One line a rule: how many instructions it decided, and its name; then one line a chain with
    /// the rule that decided.
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
    use std::fs;
    use std::path::PathBuf;

    const MINE: &str =
        "library='mine'\n[[rule]]\nname='x'\nfunction=['a::lock']\nclass='lock'\nwhy='.'\n";
    const CHAIN: &[&str] = &["core::sync::atomic::AtomicU32::swap", "a::lock"];
    const STD_CHAIN: &[&str] = &["std::sys::sync::mutex::futex::Mutex::lock"];

    fn choice(files: &[PathBuf], distrusted: &[&str]) -> Choice {
        let distrusted = distrusted.iter().map(|name| (*name).to_owned()).collect();
        Choice { files: files.to_vec(), distrusted, packages: Vec::new() }
    }

    fn file(directory: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn rule_names_are_unique_across_libraries_and_a_library_is_named_as_its_file() {
        let models = Models::built_in();
        let mut names = HashSet::new();
        for (rule, _) in models.rules() {
            assert!(names.insert(rule.name.clone()), "{} is named twice", rule.name);
        }
        for (model, (file, _)) in models.models.iter().zip(BUILT_IN) {
            assert_eq!(format!("{}.toml", model.library), *file);
        }
    }

    #[test]
    fn distrusted_libraries_are_not_recognised() {
        let recognises = |distrusted: &[&str]| {
            let mut models = Models::chosen(&choice(&[], distrusted)).unwrap();
            let lock = models.recognise(Kind::CompareExchange, 4, STD_CHAIN, &[]).is_some();
            assert_eq!(models.channel("std::sync::mpmc::channel").is_some(), lock);
            lock
        };
        assert!(recognises(&[]));
        assert!(!recognises(&["std"]) && !recognises(&["all"]));
    }

    #[test]
    fn a_library_of_an_older_version_is_not_recognised() {
        let recognises = |packages: &[(&str, &str)]| {
            let mut choice = choice(&[], &[]);
            let package = |&(name, version): &(&str, &str)| Package {
                name: name.to_owned(),
                version: version.to_owned(),
                root: None,
            };
            choice.packages = packages.iter().map(package).collect();
            let models = Models::chosen(&choice).unwrap();
            models.channel("crossbeam_channel::channel::unbounded").is_some()
        };
        assert!(recognises(&[("crossbeam-channel", "0.5.15"), ("spin", "0.5.1")]));
        assert!(!recognises(&[("crossbeam-channel", "0.5.14")]));
        assert!(!recognises(&[("crossbeam-channel", "0.5.15"), ("crossbeam-channel", "0.3.8")]));
    }

    #[test]
    fn models_of_the_user_are_read_and_named_when_they_match() {
        let directory = tempfile::tempdir().unwrap();
        let mine = file(&directory, "mine.toml", MINE);
        let mut models = Models::chosen(&choice(std::slice::from_ref(&mine), &[])).unwrap();
        assert!(models.believed().is_empty());
        models.recognise(Kind::CompareExchange, 4, STD_CHAIN, &[]);
        assert!(models.believed().is_empty(), "built-in models are no belief of the user's");
        assert!(models.recognise(Kind::Store, 4, CHAIN, &[]).is_some());
        assert_eq!(models.believed(), ["mine"]);
        let mut distrusted = Models::chosen(&choice(&[mine], &["mine"])).unwrap();
        assert!(distrusted.recognise(Kind::Store, 4, CHAIN, &[]).is_none());
    }

    #[test]
    fn unknown_and_doubled_libraries_are_reported() {
        let directory = tempfile::tempdir().unwrap();
        let mine = file(&directory, "mine.toml", MINE);
        let error = Models::chosen(&choice(std::slice::from_ref(&mine), &["mime"])).unwrap_err();
        assert!(error.contains("`mime`") && error.contains("mine, ") && error.ends_with(", all"));
        let std = file(&directory, "other.toml", &MINE.replace("mine", "std"));
        let error = Models::chosen(&choice(&[mine, std], &[])).unwrap_err();
        assert!(error.contains("other.toml") && error.contains("`std`"), "{error}");
    }
}
