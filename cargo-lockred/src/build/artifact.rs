//! From cargo's messages to the executables to check.

use super::{Build, Purpose, environment};
use crate::error::Result;
use cargo_metadata::{Artifact, BuildScript, Message, TargetKind};
use std::ffi::OsString;
use std::path::PathBuf;

/// What of cargo's messages matters.
#[derive(Default)]
pub struct Messages {
    /// Everything that was compiled, or was fresh.
    pub artifacts: Vec<Artifact>,
    /// Build scripts, with what they set.
    pub scripts: Vec<BuildScript>,
}

impl Messages {
    /// Takes one message.
    pub fn take(&mut self, message: Message) {
        match message {
            Message::CompilerArtifact(artifact) => self.artifacts.push(artifact),
            Message::BuildScriptExecuted(script) => self.scripts.push(script),
            _ => {}
        }
    }
}

/// An executable to check.
#[derive(Clone, Debug)]
pub struct Built {
    /// Name of the package.
    pub package: String,
    /// `lib`, `bin`, `test`, `example`, `bench` or `proc-macro`.
    pub kind: &'static str,
    /// Name of the target.
    pub target: String,
    /// Whether it is a test target, or the program itself.
    pub purpose: Purpose,
    /// The executable.
    pub executable: PathBuf,
    /// Working directory as under `cargo test`: the root of the package.
    pub directory: PathBuf,
    /// Environment as under `cargo test`.
    pub environment: Vec<(String, OsString)>,
    /// Place of the package in cargo's order.
    position: usize,
}

impl Built {
    /// The order in which targets are checked and printed: packages as cargo has them, libraries
    /// first.
    pub fn order(&self) -> impl Ord {
        let kinds = ["lib", "proc-macro", "bin", "test", "bench", "example"];
        let kind = kinds.iter().position(|kind| *kind == self.kind);
        let program = self.purpose == Purpose::Programs;
        (self.position, self.package.clone(), program, kind, self.target.clone())
    }

    /// How the target is called in messages.
    pub fn label(&self) -> String {
        match (self.kind, self.purpose) {
            ("lib" | "proc-macro", _) => format!("unit tests of {}", self.target),
            ("bin", Purpose::Tests) => format!("unit tests of the binary {}", self.target),
            ("bin", Purpose::Programs) => format!("the binary {}", self.target),
            ("test", _) => format!("tests/{}", self.target),
            (kind, _) => format!("the {kind} {}", self.target),
        }
    }
}

/// The executables among cargo's messages: test targets, or programs, as asked for.
///
/// # Errors
/// When the environment of a process cannot be made.
pub fn executables(messages: &Messages, purpose: Purpose, build: &Build<'_>) -> Result<Vec<Built>> {
    let mut built: Vec<Built> = Vec::new();
    for artifact in &messages.artifacts {
        let Some(executable) = &artifact.executable else { continue };
        // Integration tests need the binaries of their package, which are built along with them.
        let kind = kind(&artifact.target.kind);
        let wanted = match purpose {
            Purpose::Tests => artifact.profile.test,
            Purpose::Programs => !artifact.profile.test && matches!(kind, "bin" | "example"),
        };
        if !wanted {
            continue;
        }
        let Some(package) = build.project.package(&artifact.package_id) else { continue };
        let manifest = package.manifest_path.as_std_path();
        built.push(Built {
            package: package.name.to_string(),
            kind,
            target: artifact.target.name.clone(),
            purpose,
            executable: executable.clone().into_std_path_buf(),
            directory: manifest.parent().unwrap_or(manifest).to_owned(),
            environment: environment::of(package, messages, build),
            position: build.project.position(&artifact.package_id),
        });
    }
    Ok(built)
}

/// The kind of a target, all kinds of libraries in one.
fn kind(kinds: &[TargetKind]) -> &'static str {
    match kinds.first() {
        Some(TargetKind::Bin) => "bin",
        Some(TargetKind::Test) => "test",
        Some(TargetKind::Example) => "example",
        Some(TargetKind::Bench) => "bench",
        _ if kinds.contains(&TargetKind::ProcMacro) => "proc-macro",
        _ => "lib",
    }
}
