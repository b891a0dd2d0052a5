//! The final link by the system's linker driver.

use super::command_line::{Argument, CommandLine};
use super::inputs::{Inputs, Part};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Options of rustc's that make no sense for an object that we generated, or contradict how it must
/// be linked.
fn is_dropped(flag: &str, shared: bool) -> bool {
    if flag.starts_with("-Wl,-plugin-opt") {
        return true;
    }
    !shared
        && (matches!(flag, "-pie" | "-static-pie" | "-static" | "-no-pie" | "-nostartfiles")
            || flag.starts_with("-Wl,--version-script")
            || flag.starts_with("-Wl,--dynamic-list")
            || flag == "-Wl,--export-dynamic"
            || flag == "-rdynamic")
}

/// Links `objects` and the native parts of the command line into its output. `scratch` is for
/// temporary files.
///
/// # Errors
/// What the linker driver said, or that it cannot be started.
pub fn link(
    line: &CommandLine,
    inputs: &Inputs,
    objects: &[&Path],
    scratch: &Path,
) -> Result<(), String> {
    let driver = std::env::var_os("LOCKRED_CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(&driver);
    if !line.shared {
        command.arg("-no-pie");
    }
    command.args(objects);
    for (index, part) in inputs.native.iter().enumerate() {
        match part {
            Part::Std(argument) if line.shared => pass_on(&mut command, argument, true),
            Part::Std(_) => {}
            Part::Argument(argument) => pass_on(&mut command, argument, line.shared),
            Part::Archive { name, members } => {
                let directory = scratch.join(index.to_string());
                let archive = directory.join(format!("{name}.a"));
                write_archive(&archive, &directory, members)?;
                command.arg(archive);
            }
        }
    }
    if !line.shared {
        // What the runtime's own std needs, whatever the program is linked to.
        command.args(["-Wl,-Bdynamic", "-lgcc_s", "-lpthread", "-lm", "-ldl", "-lc"]);
    }
    command.arg("-o").arg(&line.output);
    let output = command
        .output()
        .map_err(|e| format!("cannot start the linker driver {}: {e}", driver.to_string_lossy()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "linking {} failed ({}):\n{}{}",
        line.output.display(),
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    ))
}

/// Gives an argument of ours to the linker driver, unless it is one to drop.
fn pass_on(command: &mut Command, argument: &Argument, shared: bool) {
    match argument {
        Argument::Input(path) => command.arg(path),
        Argument::Library(name) => command.arg(format!("-l{name}")),
        Argument::Directory(path) => command.arg("-L").arg(path),
        Argument::Flag(words) if is_dropped(&words[0], shared) => command,
        Argument::Flag(words) => command.args(words),
    };
}

/// Makes a static library of native members, with an index, by `ar`.
fn write_archive(
    archive: &Path,
    directory: &Path,
    members: &[super::inputs::Member],
) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("cannot write {}: {e}", archive.display());
    let mut command = Command::new("ar");
    command.arg("qcsP").arg(archive);
    for (index, member) in members.iter().enumerate() {
        // Members of one archive may have one name; their directories tell them apart.
        let place = directory.join(index.to_string());
        fs::create_dir_all(&place).map_err(failed)?;
        let file = place.join(&member.name);
        fs::write(&file, &member.bytes).map_err(failed)?;
        command.arg(file);
    }
    let output = command.output().map_err(|e| format!("cannot start ar: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("ar failed: {}", String::from_utf8_lossy(&output.stderr)))
}
