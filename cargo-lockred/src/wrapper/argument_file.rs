//! Argument files (`@path`, one argument a line), which cargo uses for command lines that are too
//! long for the system.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The arguments with argument files replaced by their contents, and the first such file.
///
/// # Errors
/// When a file cannot be read.
pub fn expand(arguments: Vec<OsString>) -> Result<(Vec<OsString>, Option<PathBuf>), String> {
    let mut expanded = Vec::with_capacity(arguments.len());
    let mut first = None;
    for argument in arguments {
        let path = argument.to_str().and_then(|text| text.strip_prefix('@')).map(PathBuf::from);
        let Some(path) = path else {
            expanded.push(argument);
            continue;
        };
        let text = std::fs::read_to_string(&path)
            .map_err(|e| format!("cannot read the argument file {}: {e}", path.display()))?;
        expanded.extend(text.lines().map(OsString::from));
        first.get_or_insert(path);
    }
    Ok((expanded, first))
}

/// Writes the arguments beside the file that they came from, and gives the argument that names the
/// new file.
///
/// # Errors
/// When it cannot be written, or an argument is not UTF-8 or has a line break.
pub fn write(original: &Path, arguments: &[OsString]) -> Result<OsString, String> {
    let mut path = original.as_os_str().to_owned();
    path.push(".lockred");
    let mut text = String::new();
    for argument in arguments {
        let line = argument.to_str().filter(|line| !line.contains('\n'));
        let line = line.ok_or_else(|| format!("no argument file can hold {argument:?}"))?;
        text.push_str(line);
        text.push('\n');
    }
    std::fs::write(&path, text)
        .map_err(|e| format!("cannot write {}: {e}", Path::new(&path).display()))?;
    let mut argument = OsString::from("@");
    argument.push(path);
    Ok(argument)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_expanded_and_written_back() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("arguments");
        std::fs::write(&file, "-C\nopt-level=3\nwith space\n").unwrap();
        let mut at = OsString::from("@");
        at.push(&file);
        let (expanded, found) = expand(vec!["a".into(), at]).unwrap();
        assert_eq!(expanded, ["a", "-C", "opt-level=3", "with space"]);
        assert_eq!(found.as_deref(), Some(file.as_path()));
        let written = write(&file, &expanded).unwrap();
        let (again, _) = expand(vec![written]).unwrap();
        assert_eq!(again, expanded);
        assert!(expand(vec!["@/nowhere/at/all".into()]).unwrap_err().contains("/nowhere/at/all"));
    }
}
