//! The user's workspace as `cargo metadata` describes it.

use crate::cli::selection::{Compilation, Manifest, Packages};
use crate::error::{Error, Result};
use crate::exit::Exit;
use cargo_metadata::{Metadata, Package, PackageId};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace, and how it was asked for.
pub struct Project {
    /// The cargo in use.
    pub cargo: OsString,
    /// The directory in which cargo is called.
    pub directory: PathBuf,
    /// The root of the workspace.
    pub root: PathBuf,
    /// The target directory: the workspace's own, or what `--target-dir` says.
    pub target: PathBuf,
    /// The members, in cargo's order.
    pub packages: Vec<Package>,
}

impl Project {
    /// Asks cargo.
    ///
    /// # Errors
    /// When there is no manifest, it is wrong, or a named package does not exist: with cargo's own
    /// words.
    pub fn find(
        directory: &Path,
        manifest: &Manifest,
        compilation: &Compilation,
        packages: &Packages,
    ) -> Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(&cargo)
            .current_dir(directory)
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .args(manifest_arguments(manifest))
            .output()
            .map_err(|e| Error::build(format!("cannot run {}: {e}", cargo.to_string_lossy())))?;
        if !output.status.success() {
            return Err(refused(&String::from_utf8_lossy(&output.stderr)));
        }
        let metadata: Metadata = serde_json::from_slice(&output.stdout)
            .map_err(|e| Error::build(format!("cannot read what cargo metadata prints: {e}")))?;
        let target = match &compilation.target_dir {
            Some(target) => directory.join(target),
            None => metadata.target_directory.clone().into_std_path_buf(),
        };
        let project = Self {
            cargo,
            directory: directory.to_owned(),
            root: metadata.workspace_root.clone().into_std_path_buf(),
            target,
            packages: metadata.workspace_packages().into_iter().cloned().collect(),
        };
        project.named(packages, manifest)?;
        Ok(project)
    }

    /// Fails for names of packages that do not exist; cargo would fail too, but with the status of
    /// a failed build.
    fn named(&self, packages: &Packages, manifest: &Manifest) -> Result<()> {
        let member = |name: &&String| self.packages.iter().all(|p| p.name.as_str() != **name);
        let plain = |name: &&String| !name.contains(['*', '?', '[']);
        for name in packages.package.iter().filter(plain).filter(member) {
            let output = Command::new(&self.cargo)
                .current_dir(&self.directory)
                .args(["pkgid", "--package", name])
                .args(manifest_arguments(manifest))
                .output()
                .map_err(|e| Error::build(format!("cannot run cargo: {e}")))?;
            if !output.status.success() {
                let reported = cargo_message(&String::from_utf8_lossy(&output.stderr));
                return Err(Error::usage(format!("there is no package `{name}`: {reported}")));
            }
        }
        Ok(())
    }

    /// Where everything of ours lies.
    pub fn lockred_directory(&self) -> PathBuf {
        self.target.join("lockred")
    }

    /// Where schedules are kept.
    pub fn schedules(&self) -> PathBuf {
        self.lockred_directory().join("schedules")
    }

    /// Where what is known of unfinished checks is kept.
    pub fn unfinished(&self) -> PathBuf {
        self.lockred_directory().join("unfinished")
    }

    /// A member by its id.
    pub fn package(&self, id: &PackageId) -> Option<&Package> {
        self.packages.iter().find(|package| package.id == *id)
    }

    /// Place of a member in cargo's order.
    pub fn position(&self, id: &PackageId) -> usize {
        let found = self.packages.iter().position(|package| package.id == *id);
        found.unwrap_or(usize::MAX)
    }
}

/// The options that say where the manifest is, and how dependencies are resolved.
pub fn manifest_arguments(manifest: &Manifest) -> Vec<String> {
    let mut arguments = Vec::new();
    if let Some(path) = &manifest.manifest_path {
        arguments.extend(["--manifest-path".to_owned(), path.to_string_lossy().into_owned()]);
    }
    for (on, option) in [
        (manifest.locked, "--locked"),
        (manifest.offline, "--offline"),
        (manifest.frozen, "--frozen"),
    ] {
        arguments.extend(on.then(|| option.to_owned()));
    }
    for value in &manifest.config {
        arguments.extend(["--config".to_owned(), value.clone()]);
    }
    arguments
}

/// What cargo said, without its `error: `.
fn cargo_message(stderr: &str) -> String {
    let start = stderr.find("error: ").map_or(0, |at| at + "error: ".len());
    stderr[start..].trim_end().to_owned()
}

/// A refusal of `cargo metadata`: wrong usage where there is no manifest, a failed build otherwise.
fn refused(stderr: &str) -> Error {
    let absent = ["could not find `Cargo.toml`", "manifest path", "no such command"];
    let usage = absent.iter().any(|sign| stderr.contains(sign));
    Error::usage(cargo_message(stderr)).exit(if usage { Exit::Usage } else { Exit::BuildFailed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_manifest_is_wrong_usage_and_a_wrong_one_a_failed_build() {
        let missing =
            refused("error: could not find `Cargo.toml` in `/x` or any parent directory\n");
        assert_eq!(missing.exit, Exit::Usage);
        assert_eq!(missing.message, "could not find `Cargo.toml` in `/x` or any parent directory");
        assert_eq!(refused("error: invalid key\n").exit, Exit::BuildFailed);
    }
}
