//! The linker shim: what rustc calls instead of cc.
//!
//! ```text
//! command line -> inputs (bitcode, native, std) -> merge -> inline -> pull std -> close -> recognise, instrument
//!              -> object file -> cc with the runtime and the native parts
//! ```
//! A shared library is not checked: its bitcode is compiled plainly and linked as the command line
//! says.

mod command_line;
mod constructors;
mod final_link;
mod frames;
mod inputs;
mod merge;
mod packages;
mod prepare;
mod timings;

use crate::instrument::{self, Package, Program};
use crate::llvm::{Codegen, Context, Relocation};
use crate::plan::Rules;
use crate::recognise::{self, Choice, Models};
use command_line::CommandLine;
use inputs::Inputs;
use lockred_protocol::models::{CHECK, SOURCES};
pub use prepare::{STD_BITCODE, prepare};
use std::fs;
use std::path::Path;
use timings::Timings;

/// File name of the runtime, beside the shim.
pub const RUNTIME: &str = "liblockred_runtime.a";

/// Does what the arguments (without the program's name) say. `home` is the directory of the shim's
/// executable, where the runtime and `std.bc` lie.
///
/// # Errors
/// One message for the user, naming what failed.
pub fn run(arguments: Vec<String>, home: &Path) -> Result<(), String> {
    if arguments.first().is_some_and(|a| a == "--prepare") {
        return match &arguments[1..] {
            [flag, sysroot] if flag == "--sysroot" => {
                prepare(Context::new(), Path::new(sysroot), home)
            }
            _ => Err("usage: lockred-shim --prepare --sysroot SYSROOT".into()),
        };
    }
    if arguments.first().is_some_and(|a| a == CHECK) {
        Rules::from_environment()?;
        return Models::chosen(&Choice::from_environment()?).map(|_| ());
    }
    if arguments.first().is_some_and(|a| a == SOURCES) {
        return report_sources(&arguments[1..]);
    }
    let line = CommandLine::parse(arguments)?;
    let mut timings = Timings::start();
    let inputs = Inputs::read(&line)?;
    timings.phase("read the inputs");
    let result = if line.shared {
        link_plainly(&line, &inputs, &mut timings)
    } else {
        link_instrumented(&line, &inputs, home, &mut timings)
    };
    timings.report();
    result
}

/// Prints the packages of which the built-in models speak, a line each with the oldest version; or
/// the hash of the sources of one.
fn report_sources(arguments: &[String]) -> Result<(), String> {
    let models = Models::built_in();
    match arguments {
        [] => models.packages().for_each(|(name, since)| println!("{name} {since}")),
        [name, version, directory] => {
            let (name, version) = (name.clone(), version.clone());
            let package = recognise::Package { name, version, root: Some(directory.into()) };
            println!("{}", models.hash_of_sources(&package)?);
        }
        _ => return Err(format!("usage: lockred-shim {SOURCES} [PACKAGE VERSION DIRECTORY]")),
    }
    Ok(())
}

/// Links a shared library without instrumenting it.
fn link_plainly(line: &CommandLine, inputs: &Inputs, timings: &mut Timings) -> Result<(), String> {
    let scratch = scratch(line)?;
    let mut objects = Vec::new();
    let object = scratch.path().join("plain.o");
    if !inputs.bitcode.is_empty() {
        let context = Context::new();
        let program = merge::merge(context, inputs)?;
        constructors::spell_out(context, &program);
        timings.phase("merge the bitcode");
        Codegen::new(Relocation::Anywhere)?.write_object(&program, &object)?;
        timings.phase("generate code");
        objects.push(object.as_path());
    }
    objects.extend(inputs.export_list.as_deref());
    final_link::link(line, inputs, &objects, scratch.path())?;
    timings.phase("link");
    Ok(())
}

/// Links an executable: instrumented, with the runtime.
fn link_instrumented(
    line: &CommandLine,
    inputs: &Inputs,
    home: &Path,
    timings: &mut Timings,
) -> Result<(), String> {
    let packages = packages::of(line)?;
    let models = Models::chosen(&Choice { packages, ..Choice::from_environment()? })?;
    let context = Context::new();
    let program = merge::merge(context, inputs)?;
    timings.phase("merge the bitcode");
    let audited = Package::from_environment()?;
    let opened =
        audited.as_ref().map(|package| package.open(context, &program)).unwrap_or_default();
    merge::prune(&program, &opened)?;
    let rules = Rules::from_environment()?;
    if let Some(scaled) = &rules.scaled {
        instrument::scale_loops(context, &program, scaled);
    }
    instrument::prepare_user_code(context, &program, &models, audited.is_some())?;
    timings.phase("inline and promote in user code");
    let libtest = program
        .functions()
        .iter()
        .any(|f| crate::recognise::demangle(&f.name()).starts_with("test::test_main"));
    let user_functions = instrument::defined_functions(&program);
    merge::add(context, &program, &inputs.panic_runtime)?;
    if inputs.core {
        let path = home.join(STD_BITCODE);
        let std = fs::read(&path).map_err(|e| {
            format!("cannot read {}: {e}; run `cargo lockred setup`", path.display())
        })?;
        merge::pull_std(context, &program, &std, inputs.std)?;
    }
    timings.phase("pull in std");
    merge::close(&program, &inputs.wanted_symbols, &opened)?;
    timings.phase("drop what is unused");
    let facts = Program {
        libtest,
        user_functions,
        panic_abort: inputs.panic_abort,
        native_objects: inputs.native_names.clone(),
        rules,
        audited,
    };
    constructors::spell_out(context, &program);
    let summary = instrument::instrument(context, &program, facts, models)?;
    timings.phase("recognise and instrument");
    dump("LOCKRED_SHIM_DUMP", || program.print())?;
    dump("LOCKRED_SHIM_RULES", || summary.models.to_string())?;
    if cfg!(debug_assertions) {
        program.verify().map_err(|e| format!("this is a bug in lockred: invalid IR: {e}"))?;
        timings.phase("verify");
    }
    let scratch = scratch(line)?;
    let object = scratch.path().join("program.o");
    Codegen::report_frames();
    let codegen = Codegen::new(Relocation::Fixed)?;
    codegen.write_object(&program, &object)?;
    timings.phase("generate code");
    let frames = scratch.path().join("frames.o");
    let table = frames::table(&Codegen::take_frames(), &object)?;
    codegen.write_object(&frames::module(context, &table), &frames)?;
    timings.phase("report frames");
    let runtime = home.join(RUNTIME);
    if !runtime.is_file() {
        return Err(format!("there is no {}; run `cargo lockred setup`", runtime.display()));
    }
    final_link::link(line, inputs, &[&object, &frames, &runtime], scratch.path())?;
    timings.phase("link");
    Ok(())
}

/// For developers: writes a text to the file that an environment variable names, if it is set
/// (`LOCKRED_SHIM_DUMP`: the instrumented module, `LOCKRED_SHIM_RULES`: how often each rule of the
/// sync models matched).
fn dump(variable: &str, text: impl FnOnce() -> String) -> Result<(), String> {
    let Some(path) = std::env::var_os(variable) else { return Ok(()) };
    fs::write(&path, text()).map_err(|e| format!("cannot write {}: {e}", path.to_string_lossy()))
}

/// A temporary directory beside the output, so that a full or read-only disk is reported with the
/// place that matters.
fn scratch(line: &CommandLine) -> Result<tempfile::TempDir, String> {
    let parent = match line.output.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    tempfile::Builder::new()
        .prefix(".lockred-link-")
        .tempdir_in(parent)
        .map_err(|e| format!("cannot make a temporary directory in {}: {e}", parent.display()))
}
