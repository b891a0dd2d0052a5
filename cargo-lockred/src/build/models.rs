//! Which sync models a build uses: those that the packages bring, and those that `--distrust` takes
//! away.
//!
//! A package names files of its own in its manifest:
//! ```toml
//! [package.metadata.lockred]
//! models = ["lockred/my_lock.toml"]
//! ```
//! The files of all packages of the workspace hold for every executable, since packages use each
//! other's locks.

use super::project::Project;
use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::fingerprint::{self, Fingerprint};
use cargo_metadata::Package;
use lockred_protocol::models::{CHECK, DISTRUSTED, FILES};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a package says in `[package.metadata.lockred]`.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Settings {
    #[serde(default)]
    models: Vec<PathBuf>,
}

/// The choice of a build.
#[derive(Default)]
pub struct Models {
    /// Model files, absolute.
    files: Vec<PathBuf>,
    /// Libraries whose models are not used.
    distrusted: Vec<String>,
    /// Hash of all that, contents included; `None` where there is nothing.
    hash: Option<String>,
}

impl Models {
    /// Reads what the packages say, and has the back end check it.
    ///
    /// # Errors
    /// When a manifest's settings, a file, or the name of a library is wrong.
    pub fn find(project: &Project, distrusted: &[String], backend: &Backend) -> Result<Self> {
        let mut files = Vec::new();
        for package in &project.packages {
            files.extend(files_of(package)?);
        }
        if files.is_empty() && distrusted.is_empty() {
            return Ok(Self::default());
        }
        let mut hash = Fingerprint::new();
        for file in &files {
            let contents = fingerprint::of_file(file).map_err(|e| unreadable(project, file, &e))?;
            hash = hash.add(file.as_os_str().as_encoded_bytes()).add(contents);
        }
        let mut distrusted = distrusted.to_vec();
        distrusted.sort();
        distrusted.dedup();
        for name in &distrusted {
            hash = hash.add(name);
        }
        let models = Self { files, distrusted, hash: Some(hash.hex()) };
        models.check(&backend.shim())?;
        Ok(models)
    }

    /// What builds with other models differ in; nothing for the built-in ones.
    pub fn hash(&self) -> &str {
        self.hash.as_deref().unwrap_or("")
    }

    /// Sets, or removes, the variables that the shim reads, on a command that calls it in the end.
    pub fn pass_to(&self, command: &mut Command) {
        let files = self.files.iter().map(|file| file.to_string_lossy().into_owned());
        for (variable, lines) in
            [(FILES, files.collect::<Vec<_>>()), (DISTRUSTED, self.distrusted.clone())]
        {
            if lines.is_empty() {
                command.env_remove(variable);
            } else {
                command.env(variable, lines.join("\n"));
            }
        }
    }

    /// Asks the shim whether files and names are right: it knows the rules, and the libraries that
    /// are built in.
    fn check(&self, shim: &Path) -> Result<()> {
        let mut command = Command::new(shim);
        self.pass_to(command.arg(CHECK).stdin(Stdio::null()));
        let output =
            command.output().map_err(|e| Error::file("run", shim, &e).exit(Exit::BuildFailed))?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        let text = text.trim_end().trim_start_matches("lockred-shim: error: ");
        Err(Error::usage(text))
    }
}

/// The model files that a package names, absolute.
fn files_of(package: &Package) -> Result<Vec<PathBuf>> {
    let manifest = package.manifest_path.as_std_path();
    let Some(settings) = package.metadata.get("lockred") else { return Ok(Vec::new()) };
    let settings = Settings::deserialize(settings).map_err(|e| {
        Error::usage(format!("{}: [package.metadata.lockred]: {e}", manifest.display()))
    })?;
    let directory = manifest.parent().unwrap_or(manifest);
    let files: Vec<_> = settings.models.iter().map(|file| directory.join(file)).collect();
    match files.iter().find(|file| file.to_str().is_none_or(|path| path.contains('\n'))) {
        Some(file) => {
            Err(Error::usage(format!("the name of {} is not plain text", file.display())))
        }
        None => Ok(files),
    }
}

/// A file that a manifest names and that cannot be read.
fn unreadable(project: &Project, file: &Path, error: &std::io::Error) -> Error {
    let names =
        |package: &&Package| files_of(package).is_ok_and(|files| files.contains(&file.into()));
    let whose = project.packages.iter().find(names);
    let manifest = whose.map_or_else(String::new, |package| {
        format!(", which [package.metadata.lockred] of {} names", package.manifest_path)
    });
    Error::usage(format!("cannot read the sync model {}{manifest}: {error}", file.display()))
}
