//! Which linkers of the user's configuration can do the shim's final link.

use std::ffi::OsStr;
use std::path::Path;

/// Whether a linker is a gcc-like driver, to judge by its name (`cc`, `clang-18`,
/// `x86_64-linux-gnu-gcc`).
pub fn is_driver(linker: &OsStr) -> bool {
    let name = Path::new(linker).file_name().unwrap_or_default().to_string_lossy();
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    ["cc", "gcc", "clang", "c++", "g++", "clang++"]
        .iter()
        .any(|driver| base == *driver || base.ends_with(&format!("-{driver}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_are_known_by_name() {
        for name in ["cc", "/usr/bin/clang-18", "x86_64-linux-gnu-gcc", "gcc-12.2"] {
            assert!(is_driver(OsStr::new(name)), "{name}");
        }
        for name in ["rust-lld", "ld", "ld.lld", "mold", "wrapper.sh"] {
            assert!(!is_driver(OsStr::new(name)), "{name}");
        }
    }
}
