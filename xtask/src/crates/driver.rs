//! Packages of ours that have nothing but one file of tests, and the published crates that these
//! use.

use super::{Site, source};
use crate::command::root;
use std::fs;
use std::path::{Path, PathBuf};

/// Makes such a package, of the tests in this file of `xtask/crates`. It is kept where it was made
/// before.
pub fn package(
    site: &Site,
    kind: &str,
    label: &str,
    dependencies: &toml::Table,
    file: &Path,
) -> Result<PathBuf, String> {
    let package = site.scratch.join(kind).join(label);
    source::write_package(&package, &source::manifest(label, &exact(dependencies)))?;
    let driver = root().join("xtask").join("crates").join(file);
    let text = fs::read_to_string(&driver).map_err(|e| format!("{}: {e}", driver.display()))?;
    let tests = package.join("tests");
    fs::create_dir_all(&tests).map_err(|e| format!("{}: {e}", tests.display()))?;
    source::write(&tests.join("driver.rs"), &text)?;
    Ok(package)
}

/// The dependencies with `=` before each version.
fn exact(dependencies: &toml::Table) -> toml::Table {
    let exact = |version: &str| toml::Value::from(format!("={version}"));
    let of = |(name, needs): (&String, &toml::Value)| {
        let mut needs = needs.clone();
        match &mut needs {
            toml::Value::Table(table) => {
                if let Some(version) = table.get_mut("version") {
                    *version = exact(version.as_str().unwrap_or_default());
                }
            }
            version => *version = exact(version.as_str().unwrap_or_default()),
        }
        (name.clone(), needs)
    };
    dependencies.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_exact_and_features_stay() {
        let table = "a = '1.0.0'\nb = { version = '2.0.0', features = ['x'] }".parse();
        let exact = exact(&table.expect("that is TOML"));
        assert_eq!(exact["a"].as_str(), Some("=1.0.0"));
        assert_eq!(exact["b"]["version"].as_str(), Some("=2.0.0"));
        assert_eq!(exact["b"]["features"][0].as_str(), Some("x"));
    }
}
