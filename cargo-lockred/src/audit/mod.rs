//! An audit: what a package shares between threads, and what protects it, without running anything.
//!
//! Two sources are joined: the compiled programs, in which the shim has left what it knows
//! ([`compiled`]), and the source itself ([`source`]).

mod calls;
mod compiled;
pub mod human;
mod join;
pub mod json;
pub mod report;
pub mod sarif;
mod source;

use crate::baseline::{Baseline, Entry, Found, Place};
use crate::build::artifact::Built;
use crate::build::project::Project;
use crate::cli::findings::FindingOptions;
use crate::error::{Error, Result};
use crate::under_check::UnderCheck;
use cargo_metadata::{Package, TargetKind};
use compiled::Compiled;
use join::Input;
use lockred_protocol::audit::Line;
use report::Audit;
use source::Source;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Whether a target's own code is audited: tests, examples and benches are callers.
fn is_audited(kinds: &[TargetKind]) -> bool {
    let is_caller = |kind: &TargetKind| {
        matches!(
            kind,
            TargetKind::Test
                | TargetKind::Example
                | TargetKind::Bench
                | TargetKind::CustomBuild
                | TargetKind::ProcMacro
        )
    };
    !kinds.iter().any(is_caller)
}

/// The members of a workspace, with their source.
pub struct Sources(Vec<(Package, Source)>);

impl Sources {
    /// Those of a project, which is audited when it is built from now on.
    ///
    /// # Errors
    /// When the shim cannot be asked.
    pub fn read(under_check: &mut UnderCheck) -> Result<Self> {
        let project = &under_check.project;
        let read = |package: &Package| {
            let targets = package.targets.iter().filter(|target| is_audited(&target.kind));
            let source = Source::read(targets.map(|target| target.src_path.as_std_path()));
            (package.clone(), source)
        };
        let sources: Vec<(Package, Source)> = project.packages.iter().map(read).collect();
        let file = project.lockred_directory().join("audit.txt");
        write_if_changed(&file, &lines(project, &sources))?;
        under_check.audit(file);
        Ok(Self(sources))
    }

    /// What there is to say of each package of which something was built.
    ///
    /// # Errors
    /// When an executable cannot be read.
    pub fn audits(mut self, built: &[Built], root: &Path) -> Result<Vec<Audit>> {
        let mut audits = Vec::new();
        for (package, source) in &mut self.0 {
            let of_package = |built: &&Built| {
                built.package == package.name.as_str() && built.kind != "proc-macro"
            };
            let built: Vec<&Built> = built.iter().filter(of_package).collect();
            if built.is_empty() {
                continue;
            }
            let executables = built.iter().map(|built| &*built.executable);
            let compiled = Compiled::read(executables, source, root)?;
            source.choose(|path, function| compiled.has(path, function));
            let targets = built.iter().map(|built| built.label()).collect();
            let input = Input::new(&package.name, source, &compiled, root, targets);
            audits.push(join::audit(&input));
        }
        Ok(audits)
    }
}

/// What the shim is to report.
fn lines(project: &Project, sources: &[(Package, Source)]) -> String {
    let mut lines = BTreeSet::new();
    for (package, source) in sources {
        for target in package.targets.iter().filter(|target| is_audited(&target.kind)) {
            lines.insert(Line::Crate(target.name.replace('-', "_")));
        }
        for path in source.files.keys() {
            lines.insert(Line::File(path.display().to_string()));
            // rustc writes the files of members relative to the workspace's root where cargo does.
            if let Ok(inside) = path.strip_prefix(&project.root) {
                lines.insert(Line::File(inside.display().to_string()));
            }
        }
        for (path, function) in source.all(|file| &file.functions).filter(|(_, f)| f.public) {
            for line in function.lines.0..=function.lines.1 {
                lines.insert(Line::Public(path.display().to_string(), line));
            }
        }
    }
    lines.iter().map(|line| line.text() + "\n").collect()
}

fn write_if_changed(path: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let parent: PathBuf = path.parent().unwrap_or(path).to_owned();
    std::fs::create_dir_all(&parent).map_err(|e| Error::file("create", &parent, &e))?;
    std::fs::write(path, text).map_err(|e| Error::file("write", path, &e))
}

/// The place of a package's audit in a baseline, which knows tests.
fn place(package: &str) -> Place {
    Place::new(package, "audit", package, "")
}

/// Audits with what fails them, and without what is not to be reported.
pub fn judged(
    mut audits: Vec<Audit>,
    options: &FindingOptions,
    known: Option<&Baseline>,
) -> Vec<Audit> {
    for audit in &mut audits {
        let place = place(&audit.package);
        audit.findings.retain(|finding| !options.allows(finding.kind));
        for finding in &mut audit.findings {
            finding.known = options.write_baseline
                || known.is_some_and(|known| known.has(&place, &finding.fingerprint));
            finding.denied = options.denies(finding.kind) && !finding.known;
        }
    }
    audits
}

/// Notes what was found, for a baseline.
pub fn note(audits: &[Audit], found: &mut Found) {
    for audit in audits {
        let place = place(&audit.package);
        let entry = |finding: &report::Finding| Entry {
            place: place.clone(),
            code: finding.code.to_owned(),
            fingerprint: finding.fingerprint.clone(),
            message: finding.message.clone(),
        };
        found.add(place.clone(), audit.findings.iter().map(entry).collect(), true);
    }
}
