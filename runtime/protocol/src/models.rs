//! How a build is told which sync models to use: environment variables that cargo-lockred sets and
//! the shim reads.

/// Model files of the user's packages: absolute paths, one a line.
pub const FILES: &str = "LOCKRED_MODELS";
/// Libraries whose models are not used, one a line; `all` for every one.
pub const DISTRUSTED: &str = "LOCKRED_DISTRUST";
/// The shim's only argument when it is asked to check what the variables say.
pub const CHECK: &str = "--check-models";
/// Extension of the file beside an rlib that says what it was compiled from: the package's name and
/// version, with a blank between them, and on a line of its own the directory of its manifest.
pub const PACKAGE: &str = "package";
/// The shim's first argument when it is asked of which packages its models speak, with no other
/// argument, or for the hash of what they speak of in a package's sources, whose name, version and
/// directory follow.
pub const SOURCES: &str = "--sources";
