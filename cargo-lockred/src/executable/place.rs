//! Where a site is in the source, as the executable itself says: without its debug information.

use lockred_protocol::sites::{Sidecar, SiteId};
use serde::Serialize;
use std::path::Path;

/// A place in the source.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Place<'a> {
    /// The function.
    pub function: &'a str,
    /// The file, relative to the workspace's root if it is inside.
    pub file: &'a str,
    /// The line.
    pub line: u32,
}

impl<'a> Place<'a> {
    /// The outermost place that a site was inlined at; empty if that is not known.
    pub fn of(site: SiteId, sidecar: &'a Sidecar, root: &Path) -> Self {
        let Some(site) = sidecar.chain(site).last() else { return Self::default() };
        let file = sidecar.string(site.file);
        let inside = Path::new(file).strip_prefix(root).ok().and_then(Path::to_str);
        let function = sidecar.string(site.function);
        Self { function, file: inside.unwrap_or(file), line: site.line }
    }
}

/// A name that says where something is, with files relative to the workspace's root.
pub fn relative(name: &str, root: &Path) -> String {
    root.to_str().map_or_else(|| name.to_owned(), |root| name.replace(&format!("{root}/"), ""))
}
