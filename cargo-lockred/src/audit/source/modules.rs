//! From the root of a target to its modules' files.

use super::{File, Source, visit};
use std::path::{Path, PathBuf};

/// Reads a file and the modules that it names.
pub fn read(source: &mut Source, root: &Path) {
    let directory = root.parent().unwrap_or(Path::new("")).to_owned();
    let mut open = vec![(root.to_owned(), directory, Vec::new(), false)];
    while let Some((path, directory, around, test)) = open.pop() {
        if source.files.contains_key(&path) {
            continue;
        }
        match parse(&path, &around, test) {
            Ok((file, modules)) => {
                source.files.insert(path.clone(), file);
                for module in modules {
                    let path_of_module: Vec<String> =
                        around.iter().chain(&module.path).cloned().collect();
                    open.extend(
                        found(&path, &directory, &module).map(|(file, inside)| {
                            (file, inside, path_of_module, test || module.test)
                        }),
                    );
                }
            }
            Err(error) => source.unread.push((path, error)),
        }
    }
}

/// A module in a file of its own.
#[derive(Debug)]
pub struct Module {
    /// The modules around it in the same file, and its name.
    pub path: Vec<String>,
    /// What `#[path]` says.
    pub file: Option<String>,
    /// It is compiled for tests only.
    pub test: bool,
}

fn parse(path: &Path, around: &[String], test: bool) -> Result<(File, Vec<Module>), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let syntax = syn::parse_file(&text).map_err(|e| e.to_string())?;
    Ok(visit::file(&text, &syntax, around, test))
}

/// The file of a module, and the directory of its own modules. One that is not there belongs to
/// another platform.
fn found(from: &Path, directory: &Path, module: &Module) -> Option<(PathBuf, PathBuf)> {
    let name = module.path.last()?;
    let around = module.path[..module.path.len() - 1].iter();
    let inner = around.fold(directory.to_owned(), |path, name| path.join(name));
    if let Some(file) = &module.file {
        let beside = match module.path.len() {
            1 => from.parent().unwrap_or(Path::new("")).join(file),
            _ => inner.join(file),
        };
        let own = beside.parent().unwrap_or(Path::new("")).to_owned();
        return beside.is_file().then_some((beside, own));
    }
    let inside = inner.join(name);
    let candidates = [inner.join(format!("{name}.rs")), inside.join("mod.rs")];
    candidates.into_iter().find(|file| file.is_file()).map(|file| (file, inside))
}
