//! The packages that a program is made of: the wrapper says beside each rlib what it was compiled
//! from.

use super::command_line::{Argument, CommandLine};
use crate::recognise::Package;
use lockred_protocol::models::PACKAGE;
use std::fs;
use std::io::ErrorKind;

/// Those of the libraries, and the one whose executable is linked, in whose environment rustc calls
/// the linker.
///
/// # Errors
/// When a file cannot be read.
pub fn of(line: &CommandLine) -> Result<Vec<Package>, String> {
    let variable = |name| std::env::var(name).ok();
    let own = variable("CARGO_PKG_NAME").zip(variable("CARGO_PKG_VERSION"));
    let root = std::env::var_os("CARGO_MANIFEST_DIR").map(Into::into);
    let mut packages = Vec::from_iter(own.map(|(name, version)| Package { name, version, root }));
    for argument in &line.arguments {
        let Argument::Input(path) = argument else { continue };
        if path.extension().is_none_or(|extension| extension != "rlib") {
            continue;
        }
        let file = path.with_extension(PACKAGE);
        match fs::read_to_string(&file) {
            Ok(text) => packages.extend(parse(&text)),
            // Crates of std have none.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(format!("cannot read {}: {error}", file.display())),
        }
    }
    Ok(packages)
}

fn parse(text: &str) -> Option<Package> {
    let (package, root) = text.split_once('\n').map_or((text, None), |(p, root)| (p, Some(root)));
    let (name, version) = package.split_once(' ')?;
    Some(Package { name: name.into(), version: version.into(), root: root.map(Into::into) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_beside_their_libraries() {
        let directory = tempfile::tempdir().unwrap();
        let rlib = |name: &str| directory.path().join(name).display().to_string();
        fs::write(directory.path().join("libspin-1.package"), "spin 0.9.8\n/a b/spin").unwrap();
        let arguments = [rlib("libspin-1.rlib"), rlib("libcore-2.rlib"), "-o".into(), "x".into()];
        let packages = of(&CommandLine::parse(arguments).unwrap()).unwrap();
        let (name, version) = ("spin".to_owned(), "0.9.8".to_owned());
        assert!(packages.contains(&Package { name, version, root: Some("/a b/spin".into()) }));
        assert!(packages.iter().all(|package| package.name != "core"));
    }
}
