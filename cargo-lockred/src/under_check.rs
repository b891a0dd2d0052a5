//! The project under check (or audit, or replay): a workspace, its toolchain with a back end, and
//! what was built.

use crate::backend::{self, Backend};
use crate::build::Build;
use crate::build::artifact::Built;
use crate::build::models::Models;
use crate::build::project::Project;
use crate::build::rules::Rules;
use crate::cargo_config::Configuration;
use crate::cli::selection::Selection;
use crate::error::Result;
use crate::executable::symbols::Places;
use crate::printing::console::Console;
use crate::toolchain::Toolchain;
use std::path::{Path, PathBuf};

/// A workspace, ready to be built.
pub struct UnderCheck {
    /// The workspace.
    pub project: Project,
    /// The toolchain in use there.
    pub toolchain: Toolchain,
    /// Its back end.
    pub backend: Backend,
    configuration: Configuration,
    models: Models,
    rules: Rules,
}

impl UnderCheck {
    /// Finds everything, and sets the back end up where it is missing.
    ///
    /// # Errors
    /// What cargo, the toolchain or the set-up complain about, or what is wrong with the packages'
    /// sync models.
    pub fn find(directory: &Path, selection: &Selection, console: &Console) -> Result<Self> {
        let rules = Rules::of(&selection.analysis)?;
        let configuration = Configuration::read(directory, &selection.manifest.config);
        let project = Project::find(
            directory,
            &selection.manifest,
            &selection.compilation,
            &selection.packages,
        )?;
        let toolchain = Toolchain::find(directory, &configuration)?;
        let verbose = selection.display.verbose > 0;
        let backend = backend::ready(&toolchain, console, verbose)?;
        let models = Models::find(&project, &selection.models.distrust, &backend)?;
        Ok(Self { project, toolchain, backend, configuration, models, rules })
    }

    /// Has what is built from now on audited, as a file says.
    pub fn audit(&mut self, file: PathBuf) {
        self.rules.audit(file);
    }

    /// Has what is built from now on not audited.
    pub fn end_audit(&mut self) {
        self.rules.end_audit();
    }

    /// Builds a selection; nothing happens where everything is fresh.
    ///
    /// # Errors
    /// When the build fails.
    pub fn build(&self, selection: &Selection) -> Result<Vec<Built>> {
        let build = Build {
            project: &self.project,
            configuration: &self.configuration,
            toolchain: &self.toolchain,
            backend: &self.backend,
            models: &self.models,
            rules: &self.rules,
            selection,
        };
        build.run()
    }

    /// Where whose code lies.
    pub fn places(&self) -> Places {
        let manifests = self.project.packages.iter().map(|package| &package.manifest_path);
        Places {
            root: self.project.root.clone(),
            real_root: self.project.root.canonicalize().unwrap_or_default(),
            members: manifests.filter_map(|m| Some(m.parent()?.as_std_path().to_owned())).collect(),
            target: self.project.target.clone(),
            sysroot: self.toolchain.sysroot.clone(),
            runtime: self.backend.sources(),
        }
    }
}
