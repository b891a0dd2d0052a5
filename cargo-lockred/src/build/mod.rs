//! Building the user's crate with cargo, under our wrapper, and what comes out: executables to
//! check.

pub mod artifact;
pub mod environment;
pub mod models;
pub mod project;
pub mod rules;

use crate::backend::Backend;
use crate::cargo_config::Configuration;
use crate::cli::selection::{Color, Selection, Targets};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::interrupt;
use crate::toolchain::{TRIPLE, Toolchain};
use crate::wrapper;
use artifact::{Built, Messages};
use cargo_metadata::Message;
use models::Models;
use project::Project;
use rules::Rules;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What is asked of cargo, and where.
pub struct Build<'a> {
    /// The workspace.
    pub project: &'a Project,
    /// cargo's configuration.
    pub configuration: &'a Configuration,
    /// The toolchain in use.
    pub toolchain: &'a Toolchain,
    /// Its back end.
    pub backend: &'a Backend,
    /// The sync models to use.
    pub models: &'a Models,
    /// The rules of the analysis to use.
    pub rules: &'a Rules,
    /// What to build.
    pub selection: &'a Selection,
}

/// What a call of cargo builds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Test targets.
    Tests,
    /// Binaries and examples themselves.
    Programs,
}

impl Build<'_> {
    /// Builds everything that is selected.
    ///
    /// # Errors
    /// When cargo fails (it has said why), or was interrupted.
    pub fn run(&self) -> Result<Vec<Built>> {
        let mut built = Vec::new();
        for (purpose, arguments) in calls(&self.selection.targets) {
            let messages = self.cargo(purpose, &arguments)?;
            built.extend(artifact::executables(&messages, purpose, self)?);
        }
        built.sort_by(|a, b| a.order().cmp(&b.order()));
        Ok(built)
    }

    /// Where cargo builds: cargo sees neither the wrapper's flags, nor the sync models, nor rules,
    /// so they are in the name.
    pub fn target_directory(&self) -> PathBuf {
        let hash = Fingerprint::new()
            .add(env!("CARGO_PKG_VERSION"))
            .add(wrapper::SOURCES)
            .add(&self.backend.key)
            .add(self.models.hash())
            .add(self.rules.hash())
            .hex();
        self.project.lockred_directory().join(hash)
    }

    fn cargo(&self, purpose: Purpose, targets: &[String]) -> Result<Messages> {
        let target_directory = self.target_directory();
        std::fs::create_dir_all(&target_directory).map_err(|e| {
            Error::file("create the target directory", &target_directory, &e)
                .exit(crate::exit::Exit::BuildFailed)
        })?;
        let this = std::env::current_exe()
            .map_err(|e| Error::ours(format!("cannot find this executable: {e}")))?;
        let mut command = Command::new(&self.project.cargo);
        command
            .current_dir(&self.project.directory)
            .args(if purpose == Purpose::Tests { &["test", "--no-run"][..] } else { &["build"] })
            .args(["--target", TRIPLE, "--message-format", "json-render-diagnostics"])
            .arg("--target-dir")
            .arg(&target_directory)
            .args(targets)
            .args(forwarded(self.selection))
            .env("RUSTC_WRAPPER", this)
            .env(wrapper::SHIM, self.backend.shim())
            .env_remove(wrapper::INNER)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        self.models.pass_to(&mut command);
        self.rules.pass_to(&mut command);
        if let Some(inner) = self.configuration.tool("rustc-wrapper") {
            command.env(wrapper::INNER, inner);
        }
        let shown = self.project.cargo.to_string_lossy();
        let mut child =
            command.spawn().map_err(|e| Error::build(format!("cannot run {shown}: {e}")))?;
        let passed_on = interrupt::PassedOn::to(child.id());
        let stdout = child.stdout.take().expect("stdout is piped");
        let mut messages = Messages::default();
        for message in Message::parse_stream(BufReader::new(stdout)) {
            let message = message.map_err(|e| Error::build(format!("cannot read from cargo: {e}")));
            messages.take(message?);
        }
        drop(passed_on);
        let status =
            child.wait().map_err(|e| Error::build(format!("cannot wait for cargo: {e}")))?;
        if interrupt::requested() {
            return Err(Error::interrupted());
        }
        if !status.success() {
            return Err(Error::build("the build failed, nothing was checked"));
        }
        Ok(messages)
    }
}

/// The calls of cargo that a target selection needs, with their target options.
fn calls(targets: &Targets) -> Vec<(Purpose, Vec<String>)> {
    let named = |option: &str, names: &[String]| -> Vec<String> {
        names.iter().flat_map(|name| [option.to_owned(), name.clone()]).collect()
    };
    let switch = |on: bool, option: &str| on.then(|| option.to_owned());
    let mut tests = named("--test", &targets.test);
    tests.extend(switch(targets.lib, "--lib"));
    let mut programs = named("--bin", &targets.bin);
    programs.extend(named("--example", &targets.example));
    programs.extend(switch(targets.bins || targets.all_targets, "--bins"));
    programs.extend(switch(targets.examples || targets.all_targets, "--examples"));
    if targets.tests || targets.all_targets || (tests.is_empty() && programs.is_empty()) {
        // Unit tests of libraries and binaries, and integration tests; not the examples, which
        // `cargo test` only builds.
        tests.push("--tests".into());
    }
    [(Purpose::Tests, tests), (Purpose::Programs, programs)]
        .into_iter()
        .filter(|(_, arguments)| !arguments.is_empty())
        .collect()
}

/// Options that cargo gets as the user gave them, the target selection excepted.
fn forwarded(selection: &Selection) -> Vec<String> {
    let Selection { packages, features, compilation, manifest, display, .. } = selection;
    let mut arguments = Vec::new();
    let mut list = |option: &str, values: &[String]| {
        for value in values {
            arguments.extend([option.to_owned(), value.clone()]);
        }
    };
    list("--package", &packages.package);
    list("--exclude", &packages.exclude);
    list("--features", &features.features);
    list("--profile", compilation.profile.as_slice());
    list("--jobs", compilation.jobs.as_slice());
    let color = display.color.map(Color::text).map(str::to_owned);
    list("--color", color.as_slice());
    arguments.extend(project::manifest_arguments(manifest));
    for (on, option) in [
        (packages.workspace, "--workspace"),
        (features.all_features, "--all-features"),
        (features.no_default_features, "--no-default-features"),
        (compilation.release, "--release"),
        (display.quiet, "--quiet"),
    ] {
        arguments.extend(on.then(|| option.to_owned()));
    }
    arguments.extend((0..display.verbose).map(|_| "--verbose".to_owned()));
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Command as Given, Lockred};
    use clap::Parser;

    fn selection(line: &str) -> Selection {
        let words = ["lockred", "check"].into_iter().chain(line.split_whitespace());
        match Lockred::try_parse_from(words).unwrap().command {
            Given::Check(options) => options.selection,
            other => panic!("{other:?}"),
        }
    }

    fn called(line: &str) -> Vec<(Purpose, String)> {
        let calls = calls(&selection(line).targets);
        calls.into_iter().map(|(purpose, arguments)| (purpose, arguments.join(" "))).collect()
    }

    #[test]
    fn by_default_test_targets_are_built() {
        assert_eq!(called(""), [(Purpose::Tests, "--tests".into())]);
        assert_eq!(called("some_filter"), [(Purpose::Tests, "--tests".into())]);
    }

    #[test]
    fn binaries_and_examples_are_built_as_programs() {
        assert_eq!(called("--bin a --bins"), [(Purpose::Programs, "--bin a --bins".into())]);
        assert_eq!(
            called("--lib --example e --test t"),
            [(Purpose::Tests, "--test t --lib".into()), (Purpose::Programs, "--example e".into())]
        );
        assert_eq!(
            called("--all-targets"),
            [(Purpose::Tests, "--tests".into()), (Purpose::Programs, "--bins --examples".into())]
        );
    }

    #[test]
    fn cargo_s_options_are_forwarded() {
        let line = "-p a --features x,y --no-default-features -r -j -1 --locked --config k=1 -vv";
        assert_eq!(
            forwarded(&selection(line)).join(" "),
            "--package a --features x,y --jobs -1 --locked --config k=1 --no-default-features \
             --release --verbose --verbose"
        );
    }

    #[test]
    fn contradictions_are_refused() {
        let parse = |line: &str| {
            let words = ["lockred", "check"].into_iter().chain(line.split_whitespace());
            Lockred::try_parse_from(words)
        };
        assert!(parse("--release --profile dev").is_err());
        assert!(parse("--exclude a").is_err());
        assert!(parse("--max-seconds 0").is_err());
        assert!(parse("--ignored --include-ignored").is_err());
    }
}
