//! Which sync models a build uses, as cargo-lockred tells the shim through cargo and rustc: in
//! environment variables.

use lockred_protocol::models::{DISTRUSTED, FILES};
use std::path::PathBuf;

/// A package that the program is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The directory of its manifest, with the sources that it was compiled from, where that is
    /// known.
    pub root: Option<PathBuf>,
}

/// What differs from the built-in models.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Choice {
    /// Files of the user's packages.
    pub files: Vec<PathBuf>,
    /// Libraries whose models are not used.
    pub distrusted: Vec<String>,
    /// The packages that the program is made of, as far as they are known.
    pub packages: Vec<Package>,
}

impl Choice {
    /// The choice that the environment holds, without packages; none where nothing is set.
    ///
    /// # Errors
    /// When a variable is not UTF-8.
    pub fn from_environment() -> Result<Self, String> {
        let lines = |variable: &str| match std::env::var(variable) {
            Ok(text) => Ok(text.lines().map(str::to_owned).collect::<Vec<_>>()),
            Err(std::env::VarError::NotPresent) => Ok(Vec::new()),
            Err(error) => Err(format!("{variable}: {error}")),
        };
        let files = lines(FILES)?.into_iter().map(PathBuf::from).collect();
        Ok(Self { files, distrusted: lines(DISTRUSTED)?, packages: Vec::new() })
    }
}
