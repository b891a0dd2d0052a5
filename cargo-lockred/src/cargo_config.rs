//! cargo's configuration as far as lockred must know it: which tools cargo would call, and the
//! `[env]` of processes.
//!
//! cargo merges `--config` arguments, then environment variables `CARGO_…`, then
//! `.cargo/config.toml` of the working directory and every directory above it, then that of the
//! cargo home; the first that names a key wins. A file may include others, which count less than
//! itself.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// One source of configuration.
#[derive(Clone, Debug)]
struct Layer {
    table: Table,
    /// Relative paths in it are relative to this.
    base: PathBuf,
    /// Whether it was given on the command line, which outweighs environment variables.
    argument: bool,
}

/// The layers, the weightiest first.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    layers: Vec<Layer>,
    /// Variables that name tools, as far as they are set.
    environment: Vec<(String, OsString)>,
    /// Relative paths in them are relative to this.
    directory: PathBuf,
}

impl Configuration {
    /// Reads what applies in `directory`, with `--config` arguments. What cannot be read is left to
    /// cargo to report.
    pub fn read(directory: &Path, arguments: &[String]) -> Self {
        let names = ["RUSTC", "RUSTC_WRAPPER", "CARGO_BUILD_RUSTC", "CARGO_BUILD_RUSTC_WRAPPER"];
        let environment = names
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), env::var_os(name)?)))
            .collect();
        Self::read_with(directory, arguments, cargo_home().as_deref(), environment)
    }

    fn read_with(
        directory: &Path,
        arguments: &[String],
        cargo_home: Option<&Path>,
        environment: Vec<(String, OsString)>,
    ) -> Self {
        let mut configuration =
            Self { layers: Vec::new(), environment, directory: directory.into() };
        for argument in arguments.iter().rev() {
            let path = directory.join(argument);
            if path.is_file() {
                configuration.file(&path, directory.to_owned(), true);
            } else if let Ok(table) = argument.parse() {
                configuration.layers.push(Layer { table, base: directory.into(), argument: true });
            }
        }
        let mut seen = BTreeSet::new();
        let homes = directory.ancestors().map(|above| above.join(".cargo"));
        for home in homes.chain(cargo_home.map(Path::to_owned)) {
            if !seen.insert(home.clone()) {
                continue;
            }
            // cargo reads the name without an ending first, if both are there.
            for name in ["config", "config.toml"] {
                let path = home.join(name);
                if path.is_file() {
                    configuration.file(&path, home.parent().unwrap_or(&home).to_owned(), false);
                    break;
                }
            }
        }
        configuration
    }

    fn file(&mut self, path: &Path, base: PathBuf, argument: bool) {
        let Some(table) = std::fs::read_to_string(path).ok().and_then(|t| t.parse::<Table>().ok())
        else {
            return;
        };
        let included = includes(&table);
        self.layers.push(Layer { table, base: base.clone(), argument });
        for include in included.iter().rev() {
            let beside = path.parent().unwrap_or(path).join(include);
            self.file(&beside, base.clone(), argument);
        }
    }

    /// The value of `build.<key>` of the first layer that `wanted` picks and that has it, as a
    /// program.
    fn program(&self, key: &str, argument: bool) -> Option<OsString> {
        self.layers.iter().filter(|layer| layer.argument == argument).find_map(|layer| {
            let value = layer.table.get("build")?.get(key)?.as_str()?;
            Some(program(&layer.base, OsStr::new(value)))
        })
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        let found = self.environment.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| program(&self.directory, value))
    }

    /// The program of `build.<key>` or its environment variables; `None` where none is set, or it
    /// is set empty.
    pub fn tool(&self, key: &str) -> Option<OsString> {
        let upper = key.replace('-', "_").to_uppercase();
        let found = self
            .variable(&upper)
            .or_else(|| self.program(key, true))
            .or_else(|| self.variable(&format!("CARGO_BUILD_{upper}")))
            .or_else(|| self.program(key, false));
        found.filter(|program| !program.is_empty())
    }

    /// The `[env]` tables: what cargo sets for the processes that it starts. A variable that is set
    /// already stays, unless its entry is forced.
    pub fn process_environment(&self) -> Vec<(String, OsString)> {
        let mut found: Vec<(String, OsString)> = Vec::new();
        for layer in &self.layers {
            for (name, entry) in
                layer.table.get("env").and_then(Value::as_table).into_iter().flatten()
            {
                if found.iter().any(|(known, _)| known == name) {
                    continue;
                }
                let flag = |flag| entry.get(flag).and_then(Value::as_bool).unwrap_or(false);
                let value = entry.as_str().or_else(|| entry.get("value")?.as_str());
                let Some(value) = value else { continue };
                if env::var_os(name).is_some() && !flag("force") {
                    continue;
                }
                let value =
                    if flag("relative") { layer.base.join(value).into() } else { value.into() };
                found.push((name.clone(), value));
            }
        }
        found
    }
}

/// A program as it is written somewhere: a bare name is looked up in PATH, any other is relative to
/// `base`.
fn program(base: &Path, written: &OsStr) -> OsString {
    if written.as_encoded_bytes().contains(&b'/') {
        base.join(written).into()
    } else {
        written.into()
    }
}

/// The paths of `include`: a string, a list of strings, or a list of tables with a path.
fn includes(table: &Table) -> Vec<String> {
    let one = |value: &Value| {
        let path = value.as_str().or_else(|| value.get("path")?.as_str());
        path.map(str::to_owned)
    };
    match table.get("include") {
        Some(Value::Array(list)) => list.iter().filter_map(one).collect(),
        Some(value) => one(value).into_iter().collect(),
        None => Vec::new(),
    }
}

/// The cargo home: `CARGO_HOME`, or `.cargo` in the home directory.
fn cargo_home() -> Option<PathBuf> {
    if let Some(home) = env::var_os("CARGO_HOME") {
        return Some(home.into());
    }
    Some(PathBuf::from(env::var_os("HOME")?).join(".cargo"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new(files: &[(&str, &str)]) -> Self {
            let root = tempfile::tempdir().unwrap();
            for (name, text) in files {
                let path = root.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Self(root)
        }
        fn read(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Configuration {
            let arguments: Vec<_> = arguments.iter().map(|a| (*a).to_owned()).collect();
            let environment = environment.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect();
            let home = self.0.path().join("home");
            Configuration::read_with(
                &self.0.path().join("a/b"),
                &arguments,
                Some(&home),
                environment,
            )
        }
        fn wrapper(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Option<String> {
            let found = self.read(arguments, environment).tool("rustc-wrapper")?;
            let root = self.0.path().to_str().unwrap();
            Some(found.into_string().unwrap().replace(root, "ROOT"))
        }
    }

    #[test]
    fn the_nearest_file_wins_and_its_paths_are_relative_to_it() {
        let tree = Tree::new(&[
            ("a/b/x", ""),
            ("a/.cargo/config.toml", "build.rustc-wrapper = 'tools/w'"),
            (".cargo/config.toml", "build.rustc-wrapper = 'far'"),
            ("home/config.toml", "build.rustc-wrapper = 'farther'"),
        ]);
        assert_eq!(tree.wrapper(&[], &[]).unwrap(), "ROOT/a/tools/w");
        fs::write(tree.0.path().join("a/.cargo/config"), "build.rustc-wrapper = 'sccache'")
            .unwrap();
        assert_eq!(tree.wrapper(&[], &[]).unwrap(), "sccache");
    }

    #[test]
    fn the_cargo_home_comes_last() {
        let tree = Tree::new(&[("a/b/x", ""), ("home/config.toml", "[build]\nrustc-wrapper='w'")]);
        assert_eq!(tree.wrapper(&[], &[]).unwrap(), "w");
    }

    #[test]
    fn environment_and_arguments_outweigh_files() {
        let tree = Tree::new(&[("a/b/.cargo/config.toml", "build.rustc-wrapper = 'file'")]);
        let built = ("CARGO_BUILD_RUSTC_WRAPPER", "built");
        assert_eq!(tree.wrapper(&[], &[built]).unwrap(), "built");
        let argument = "build.rustc-wrapper = 'argument'";
        assert_eq!(tree.wrapper(&[argument], &[built]).unwrap(), "argument");
        assert_eq!(tree.wrapper(&[argument], &[("RUSTC_WRAPPER", "env")]).unwrap(), "env");
        assert_eq!(tree.wrapper(&[], &[("RUSTC_WRAPPER", "x/w")]).unwrap(), "ROOT/a/b/x/w");
        assert_eq!(tree.wrapper(&[argument], &[("RUSTC_WRAPPER", "")]), None, "switched off");
    }

    #[test]
    fn included_files_count_less_than_the_including_one() {
        let tree = Tree::new(&[
            ("a/b/.cargo/config.toml", "include = ['x.toml', { path = 'y.toml' }]"),
            ("a/b/.cargo/x.toml", "build.rustc-wrapper = 'x'"),
            ("a/b/.cargo/y.toml", "build.rustc-wrapper = 'y'"),
        ]);
        assert_eq!(tree.wrapper(&[], &[]).unwrap(), "y");
    }

    #[test]
    fn the_env_table_is_for_processes() {
        let tree = Tree::new(&[(
            "a/b/.cargo/config.toml",
            "[env]\nLOCKRED_T1 = 'x'\nLOCKRED_T2 = { value = 'y', relative = true }\nPATH = 'kept'",
        )]);
        let found = tree.read(&[], &[]).process_environment();
        assert_eq!(found[0], ("LOCKRED_T1".into(), "x".into()));
        assert_eq!(found[1].1, tree.0.path().join("a/b/y"));
        assert_eq!(found.len(), 2, "PATH is set already");
    }
}
