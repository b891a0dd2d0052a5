//! Versions of libraries: for which of them a sync model holds, and what is said of the others.
//!
//! A model is checked against the sources of published versions, which `models/versions.toml` lists
//! with hashes (`cargo xtask models --write`). It holds for a package whose sources, as far as the
//! rules speak of them, are those of a version on the list, whatever its own number is.

use super::choice::Package;
use super::file::Model;
use super::outline::Outline;
use super::source;
use super::version::{is_between, is_older};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// By package and version: the hash of the files of which its model speaks.
type List = BTreeMap<String, BTreeMap<String, String>>;

/// The list that is built in.
static LIST: LazyLock<List> = LazyLock::new(|| {
    toml::from_str(include_str!("../../models/versions.toml")).expect("the list is well-formed")
});

/// Why a model does not hold for a package, as a sentence without its end; `None` where it does, or
/// has nothing to do with it.
pub fn objection(model: &Model, package: &Package) -> Option<String> {
    objection_by(&LIST, model, package)
}

fn objection_by(list: &List, model: &Model, package: &Package) -> Option<String> {
    let Package { name, version, root } = package;
    let since = model.since.get(name)?;
    if is_older(version, since) {
        return Some(format!("{name} {version} is older than its model (checked from {since} on)"));
    }
    // Models of the user's have no list.
    let files = model.sources.get(name)?;
    let checked = list.get(name).into_iter().flatten();
    let hash = root.as_deref().and_then(|root| source::hash(root, files));
    let holds = match &hash {
        Some(hash) => checked.clone().any(|(_, of)| of == hash),
        None => checked.clone().any(|(listed, _)| listed == version),
    };
    if holds {
        return None;
    }
    let newest =
        checked.map(|(version, _)| version).reduce(|a, b| if is_older(a, b) { b } else { a });
    let newest = newest.map_or("", String::as_str);
    Some(if is_older(newest, version) {
        format!("{name} {version} is newer than its model (checked up to {newest})")
    } else {
        format!("{name} {version} is not as any version that its model was checked against")
    })
}

/// The hash of a package's sources in a directory, as far as models speak of them.
///
/// # Errors
/// What rules for this version do not find there, a line each; or that no model speaks of the
/// package.
pub fn hash(models: &[Model], package: &Package) -> Result<String, String> {
    let Package { name, version, root } = package;
    let model = models.iter().find(|model| model.sources.contains_key(name));
    let (model, root) = model.zip(root.as_deref()).ok_or("no model speaks of it")?;
    let files = &model.sources[name];
    let hash = source::hash(root, files).ok_or("none of its files can be read")?;
    let read = |file| std::fs::read_to_string(root.join(file)).unwrap_or_default();
    let texts: Vec<String> = files.iter().map(read).collect();
    let outline = Outline::of(&texts);
    let of_crate = name.replace('-', "_");
    let rules = model.rule.iter().filter(|rule| {
        !rule.optional
            && rule.of_crate() == of_crate
            && is_between(version, rule.since.as_deref(), rule.until.as_deref())
    });
    let objections: Vec<_> = rules.filter_map(|rule| outline.objection(rule)).collect();
    if objections.is_empty() { Ok(hash) } else { Err(objections.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::super::file::parse;
    use super::super::models::Models;
    use super::*;
    use std::path::{Path, PathBuf};

    const MODEL: &str = "library='l'\nsince={l='1.1.0'}\n[sources]\nl=['lib.rs']\n";

    #[test]
    fn a_model_holds_for_versions_with_sources_that_were_checked() {
        let model = parse(MODEL, "l.toml").unwrap();
        let root = tempfile::tempdir().unwrap();
        let with = |text: &str| std::fs::write(root.path().join("lib.rs"), text).unwrap();
        with("fn lock() {}");
        let package = |root| Package { name: "l".into(), version: "1.10.0".into(), root };
        let hash = hash(std::slice::from_ref(&model), &package(Some(root.path().into()))).unwrap();
        let list = BTreeMap::from([(
            "l".to_owned(),
            BTreeMap::from([("1.2.0".to_owned(), "0".to_owned()), ("1.10.0".into(), hash)]),
        )]);
        let of = |name: &str, version: &str, root| {
            let (name, version) = (name.to_owned(), version.to_owned());
            objection_by(&list, &model, &Package { name, version, root })
        };
        let here = || Some(root.path().to_owned());
        assert_eq!(of("l", "1.10.0", here()), None);
        assert_eq!(of("l", "2.0.0", here()), None, "its sources are those of 1.10.0");
        assert_eq!(of("l", "1.2.0", None), None, "what cannot be read is what it says it is");
        assert_eq!(of("m", "9.0.0", here()), None, "the model does not speak of it");
        let old = of("l", "1.0.9", here()).unwrap();
        assert_eq!(old, "l 1.0.9 is older than its model (checked from 1.1.0 on)");
        with("fn lock() { unlock() }");
        let new = of("l", "2.0.0", here()).unwrap();
        assert_eq!(new, "l 2.0.0 is newer than its model (checked up to 1.10.0)");
        assert_eq!(of("l", "2.0.0", None), Some(new));
        let changed = of("l", "1.10.0", here()).unwrap();
        assert_eq!(changed, "l 1.10.0 is not as any version that its model was checked against");
    }

    /// The directory of every package in cargo's cache, with its name.
    fn cached() -> Vec<(String, PathBuf)> {
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo"))).unwrap();
        let directories = |path: &Path| {
            let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).collect::<Vec<_>>()
        };
        let packages = directories(&home.join("registry/src")).into_iter();
        let packages = packages.flat_map(|registry| directories(&registry));
        packages.map(|p| (p.file_name().unwrap().to_string_lossy().into_owned(), p)).collect()
    }

    #[test]
    fn what_is_on_the_list_is_as_it_was_and_every_rule_finds_what_it_names() {
        let models = Models::built_in();
        let mut seen = 0;
        for (directory, root) in cached() {
            for (name, versions) in LIST.iter() {
                let version =
                    directory.strip_prefix(name.as_str()).and_then(|v| v.strip_prefix('-'));
                let Some((version, hash)) = version.and_then(|v| versions.get_key_value(v)) else {
                    continue;
                };
                let (name, version) = (name.clone(), version.clone());
                let package = Package { name, version, root: Some(root.clone()) };
                let found = models.hash_of_sources(&package);
                assert_eq!(found.as_ref(), Ok(hash), "{directory}: see `cargo xtask models`");
                seen += 1;
            }
        }
        assert!(seen > 0, "cargo's cache has none of them");
    }

    #[test]
    fn every_version_that_this_repository_locks_is_on_the_list_or_too_old() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut locks = vec![root.join("tests/corpus/Cargo.lock")];
        let fixtures = std::fs::read_dir(root.join("tests/fixtures")).unwrap();
        locks.extend(fixtures.map(|fixture| fixture.unwrap().path().join("Cargo.lock")));
        let models = Models::built_in();
        let since: BTreeMap<_, _> = models.packages().collect();
        let mut seen = 0;
        for lock in locks {
            let Ok(text) = std::fs::read_to_string(&lock) else { continue };
            let lock: toml::Table = toml::from_str(&text).unwrap();
            for package in lock["package"].as_array().unwrap() {
                let text = |key: &str| package[key].as_str().unwrap();
                let (name, version) = (text("name"), text("version"));
                let of_registry = package.get("source").is_some();
                let Some(since) = since.get(name).filter(|_| of_registry) else { continue };
                let listed = LIST.get(name).is_some_and(|list| list.contains_key(version));
                assert!(listed || is_older(version, since), "{name} {version}: not on the list");
                seen += 1;
            }
        }
        assert!(seen > 10, "{seen}");
    }

    #[test]
    fn every_package_of_a_model_is_on_the_list_with_no_version_that_is_too_old() {
        let models = Models::built_in();
        for (name, since) in models.packages() {
            let versions = LIST.get(name).unwrap_or_else(|| panic!("{name} is not on the list"));
            assert!(versions.keys().all(|version| !is_older(version, since)), "{name}");
        }
    }

    #[test]
    fn a_model_without_sources_holds_from_its_first_version_on() {
        let model = parse("library='l'\nsince={l='1.1.0'}", "l.toml").unwrap();
        let of = |version: &str| {
            let package = Package { name: "l".into(), version: version.into(), root: None };
            objection_by(&List::new(), &model, &package)
        };
        assert_eq!(of("9.0.0"), None);
        assert!(of("1.0.0").is_some());
    }
}
