//! The Rust toolchain in use: its rustc, its sysroot, and whether lockred supports it.

use crate::cargo_config::Configuration;
use crate::error::{Error, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The only platform that is supported.
pub const TRIPLE: &str = "x86_64-unknown-linux-gnu";
/// The major version of LLVM that the back end is written for.
const LLVM_MAJOR: &str = "22";

/// A toolchain that lockred supports.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// What `rustc -vV` prints.
    pub verbose_version: String,
    /// The release, as `1.95.0`.
    pub release: String,
    /// Its sysroot.
    pub sysroot: PathBuf,
}

impl Toolchain {
    /// Asks the rustc that cargo would use in `directory`.
    ///
    /// # Errors
    /// When rustc cannot be run, or the toolchain is one that lockred does not support: one line
    /// each.
    pub fn find(directory: &Path, configuration: &Configuration) -> Result<Self> {
        let rustc = configuration.tool("rustc").unwrap_or_else(|| OsString::from("rustc"));
        let verbose_version = ask(&rustc, directory, "-vV")?;
        let sysroot = PathBuf::from(ask(&rustc, directory, "--print=sysroot")?.trim_end());
        let toolchain = Self {
            release: field(&verbose_version, "release: ").unwrap_or("unknown").to_owned(),
            verbose_version,
            sysroot,
        };
        toolchain.supported()?;
        Ok(toolchain)
    }

    /// Fails unless lockred supports it.
    fn supported(&self) -> Result<()> {
        let host = field(&self.verbose_version, "host: ").unwrap_or("unknown");
        if host != TRIPLE {
            return Err(Error::build(format!(
                "lockred runs on {TRIPLE} only; this toolchain is for {host}"
            )));
        }
        let llvm = field(&self.verbose_version, "LLVM version: ").unwrap_or("unknown");
        if llvm.split('.').next() != Some(LLVM_MAJOR) {
            return Err(Error::build(format!(
                "lockred supports toolchains with LLVM {LLVM_MAJOR}; rustc {} brings LLVM {llvm}",
                self.release
            )));
        }
        Ok(())
    }

    /// A program of the toolchain itself, past rustup's proxies.
    pub fn program(&self, name: &str) -> PathBuf {
        self.sysroot.join("bin").join(name)
    }
}

/// A line of `rustc -vV`.
fn field<'a>(version: &'a str, name: &str) -> Option<&'a str> {
    version.lines().find_map(|line| line.strip_prefix(name))
}

fn ask(rustc: &OsString, directory: &Path, question: &str) -> Result<String> {
    let shown = rustc.to_string_lossy();
    let output = Command::new(rustc)
        .arg(question)
        .current_dir(directory)
        .output()
        .map_err(|e| Error::build(format!("cannot run {shown}: {e}")))?;
    if !output.status.success() {
        let reported = String::from_utf8_lossy(&output.stderr);
        return Err(Error::build(format!("`{shown} {question}` failed: {}", reported.trim_end())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toolchain(host: &str, llvm: &str) -> Toolchain {
        Toolchain {
            verbose_version: format!(
                "rustc 1.0\nhost: {host}\nrelease: 1.0\nLLVM version: {llvm}\n"
            ),
            release: "1.0".into(),
            sysroot: PathBuf::new(),
        }
    }

    #[test]
    fn other_hosts_and_other_llvms_are_refused_in_one_line() {
        assert!(toolchain(TRIPLE, "22.1.2").supported().is_ok());
        let host = toolchain("aarch64-apple-darwin", "22.1.2").supported().unwrap_err();
        assert!(host.message.contains("aarch64-apple-darwin") && !host.message.contains('\n'));
        let llvm = toolchain(TRIPLE, "23.0.1").supported().unwrap_err();
        assert!(llvm.message.contains("LLVM 23.0.1") && !llvm.message.contains('\n'));
    }
}
