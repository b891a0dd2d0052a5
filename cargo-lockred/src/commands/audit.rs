//! `cargo lockred audit`: prints an audit; with `--confirm`, what tests show of its warnings.

use super::accesses;
use crate::audit::report::Audit;
use crate::audit::{self, Sources, human, json, sarif};
use crate::baseline::{Baseline, Found};
use crate::check;
use crate::cli::audit::AuditOptions;
use crate::cli::check::CheckOptions;
use crate::cli::findings::{FindingOptions, Reporter};
use crate::cli::format::{self, FormatName};
use crate::error::{Error, Result};
use crate::executable::sidecar;
use crate::exit::Exit;
use crate::interrupt;
use crate::printing::console::Console;
use crate::printing::style::Style;
use crate::under_check::UnderCheck;
use std::io::Write as _;

/// Runs the command.
///
/// # Errors
/// When the build fails, or builds nothing, or a file cannot be read or written.
pub fn run(options: AuditOptions) -> Result<Exit> {
    if options.confirm {
        let AuditOptions { filter, search, findings, message_format, selection, .. } = options;
        let options = CheckOptions::confirming(filter, search, findings, message_format, selection);
        return check::run(&options);
    }
    if options.accesses {
        return accesses::run(&options);
    }
    if !options.filter.filters.is_empty() {
        return Err(Error::usage("an audit is of all that is built, and takes no filter").hint(
            "with --confirm, filters choose the tests that are run; with --accesses, the functions that are listed",
        ));
    }
    print(&options)
}

/// Audits, and prints that.
fn print(options: &AuditOptions) -> Result<Exit> {
    let selection = &options.selection;
    let display = &selection.display;
    let console = Console::new(display.color, display.quiet);
    let directory = std::env::current_dir()
        .map_err(|e| Error::usage(format!("there is no current directory: {e}")))?;
    options.findings.reported_by(Reporter::Audit)?;
    let formats = format::wanted(&options.message_format, false).map_err(Error::usage)?;
    if let Some(other) =
        formats.iter().find(|f| !matches!(f.name, FormatName::Json | FormatName::Sarif))
    {
        return Err(Error::usage(format!(
            "an audit is reported as human, json or sarif, not {:?}",
            other.name
        )));
    }
    interrupt::listen();
    let known = match &options.findings.baseline {
        Some(path) => Some(Baseline::read(path, options.findings.write_baseline)?),
        None => None,
    };
    let mut under_check = UnderCheck::find(&directory, selection, &console)?;
    let sources = Sources::read(&mut under_check)?;
    let built = under_check.build(selection)?;
    let audits = sources.audits(&built, &under_check.project.root)?;
    let programs = built.iter().filter(|built| built.kind != "proc-macro");
    let unmodelled = sidecar::unmodelled(programs.map(|built| &*built.executable))?;
    unmodelled.iter().for_each(|text| console.warning(text));
    if audits.is_empty() {
        return Err(Error::usage("nothing was built that can be audited"));
    }
    let audits = audit::judged(audits, &options.findings, known.as_ref());
    baseline(&audits, &options.findings, known.as_ref(), &console)?;
    let denied = audits.iter().flat_map(|audit| &audit.findings).any(|finding| finding.denied);
    let exit = if denied { Exit::BugFound } else { Exit::Success };
    let mut to_stdout = None;
    for format in &formats {
        let text = match format.name {
            FormatName::Json => json::lines(&audits),
            _ => sarif::document(&audits, &under_check.project.root, known.is_some(), exit),
        };
        match &format.file {
            Some(path) => std::fs::write(path, text).map_err(|e| Error::file("write", path, &e))?,
            None => to_stdout = Some(text),
        }
    }
    let text = to_stdout.unwrap_or_else(|| {
        let style = Style::on_stdout(display.color);
        audits.iter().map(|audit| human::text(audit, style, display.verbose > 0)).collect()
    });
    // Who stops reading has read enough.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    Ok(exit)
}

/// Writes the baseline, if that is asked for; else says what of it is stale.
fn baseline(
    audits: &[Audit],
    options: &FindingOptions,
    known: Option<&Baseline>,
    console: &Console,
) -> Result<()> {
    let (Some(path), Some(known)) = (&options.baseline, known) else { return Ok(()) };
    let mut found = Found::default();
    audit::note(audits, &mut found);
    if options.write_baseline {
        let text = found.baseline(known).text();
        return std::fs::write(path, text).map_err(|e| Error::file("write", path, &e));
    }
    for entry in found.stale(known) {
        console.warning(&format!("the baseline has a finding that is gone: {}", entry.message));
    }
    Ok(())
}
