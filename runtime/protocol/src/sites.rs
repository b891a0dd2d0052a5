//! The sidecar of an instrumented executable: its sites (program points) and what the build knows
//! about it.
//!
//! The shim encodes it as JSON into the ELF section [`SECTION`] of the executable itself, so that
//! binary and table can never be of different builds. Lines and columns count from 1; 0 means
//! unknown.

use serde::{Deserialize, Serialize};

/// ELF section that holds the encoded [`Sidecar`].
pub const SECTION: &str = "lockred_sites";

/// Index of a site in [`Sidecar::sites`]. `SiteId(0)` is always the unknown site.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize,
)]
pub struct SiteId(pub u32);

/// One static program point: an instruction with its source location and, through `inlined_at`, its
/// inlining chain.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Site {
    /// Index into [`Sidecar::strings`]: the source file as rustc wrote it (absolute, or relative to
    /// the workspace root).
    pub file: u32,
    /// Source line, from 1.
    pub line: u32,
    /// Source column in bytes as LLVM has it, from 1.
    pub column: u32,
    /// Index into [`Sidecar::strings`]: demangled path of the (possibly inlined) function, without
    /// its hash.
    pub function: u32,
    /// The call site that this location was inlined at; `SiteId(0)` when it was not inlined.
    pub inlined_at: SiteId,
}

/// Everything that the build reports of one executable.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Sidecar {
    /// [`crate::FORMAT_VERSION`] of the shim that wrote it.
    pub version: u32,
    /// `rustc -vV`'s release and commit hash.
    pub rustc: String,
    /// Whether `main` runs the libtest harness. Otherwise the executable is one test of its own.
    pub libtest: bool,
    /// Whether panics abort (`panic = "abort"`).
    pub panic_abort: bool,
    /// Native (uninstrumented) objects and libraries that were linked in beside libc, libm and the
    /// unwinder.
    pub native_objects: Vec<String>,
    /// Names of external functions that are neither modelled nor known to be harmless, by the index
    /// that [`crate::hooks::NATIVE_CALL`] and [`crate::hooks::UNSUPPORTED_CALL`] pass.
    pub externals: Vec<String>,
    /// Libraries of the user's sync models that were believed.
    #[serde(default)]
    pub models: Vec<String>,
    /// What is explored as written although there is a sync model, and why: a sentence each.
    #[serde(default)]
    pub unmodelled: Vec<String>,
    /// Strings that `sites` refers to; index 0 is the empty string.
    pub strings: Vec<String>,
    /// The sites; index 0 is the unknown site.
    pub sites: Vec<Site>,
}

impl Sidecar {
    /// The bytes to put into [`SECTION`].
    ///
    /// # Panics
    /// Never: the type has no map with non-string keys and no fallible serialiser.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a sidecar is plain data")
    }

    /// Reads what [`Sidecar::encode`] wrote; trailing zero bytes (section padding) are ignored.
    ///
    /// # Errors
    /// When the bytes are no sidecar, or one of another format version.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        let bytes = crate::section::without_padding(bytes);
        let sidecar: Self = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
        if sidecar.version != crate::FORMAT_VERSION {
            return Err(format!(
                "the executable was instrumented by format version {}, this is version {}",
                sidecar.version,
                crate::FORMAT_VERSION
            ));
        }
        Ok(sidecar)
    }

    /// The inlining chain of a site, innermost frame first. Empty for the unknown site.
    pub fn chain(&self, site: SiteId) -> impl Iterator<Item = &Site> {
        let mut next = site;
        std::iter::from_fn(move || {
            if next.0 == 0 {
                return None;
            }
            let site = self.sites.get(next.0 as usize)?;
            // A site's call site has a smaller index by construction; anything else is a damaged
            // table.
            next = if site.inlined_at.0 < next.0 { site.inlined_at } else { SiteId(0) };
            Some(site)
        })
    }

    /// A string of the table; empty when out of range.
    #[must_use]
    pub fn string(&self, index: u32) -> &str {
        self.strings.get(index as usize).map_or("", String::as_str)
    }
}
