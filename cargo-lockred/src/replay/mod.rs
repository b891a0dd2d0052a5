//! `cargo lockred replay`: runs a kept schedule in a fresh process and shows what happened; without
//! an id, lists what is kept.

mod again;
mod gdb;
mod list;
mod walk;

use crate::build::artifact::Built;
use crate::check::bugs::REPLAY_SECONDS;
use crate::cli::replay::ReplayOptions;
use crate::cli::selection::{Selection, Targets};
use crate::error::{Error, Result};
use crate::executable::sidecar;
use crate::executable::symbols::Symbols;
use crate::exit::Exit;
use crate::fingerprint;
use crate::interrupt;
use crate::printing::console::Console;
use crate::report::render::{self, Stacks};
use crate::report::table::{self, View};
use crate::report::{bug, warning};
use crate::schedule_file::{self, ScheduleFile};
use crate::session::{self, Ending, Launch, Patience};
use crate::under_check::UnderCheck;
use lockred_protocol::message::{Bug, Replay};

/// Rows at the beginning, and at the end, that are shown of a long interleaving.
const SHOWN: usize = 120;

/// Runs the command.
///
/// # Errors
/// When the id is unknown, its file damaged, or the program cannot be built or run any more.
pub fn run(options: &ReplayOptions) -> Result<Exit> {
    let console = Console::new(options.color, false);
    let directory = std::env::current_dir()
        .map_err(|e| Error::usage(format!("there is no current directory: {e}")))?;
    interrupt::listen();
    let mut place = Selection::default();
    place.manifest.manifest_path.clone_from(&options.manifest_path);
    place.compilation.target_dir.clone_from(&options.target_dir);
    let project = crate::build::project::Project::find(
        &directory,
        &place.manifest,
        &place.compilation,
        &place.packages,
    )?;
    let Some(id) = &options.id else {
        list::print(&project.schedules(), options.message_format, options.color);
        return Ok(Exit::Success);
    };
    let file = schedule_file::read(&project.schedules(), id)?;
    let selection = narrowed(&file, options);
    // A workspace that was moved is looked for where we are.
    let kept = &file.build.directory;
    let directory = if kept.is_dir() { kept } else { &directory };
    let under_check = UnderCheck::find(directory, &selection, &console)?;
    let built = built(&under_check, &selection, &file)?;
    let hash = fingerprint::of_file(&built.executable)
        .map_err(|e| Error::file("read", &built.executable, &e))?;
    let changed = hash != file.build.hash;
    if changed {
        console.warning(
            "the program has changed since the schedule was made, and was rebuilt; the schedule may not fit any more",
        );
    }
    if options.gdb {
        return gdb::debug(&file, &built, &console);
    }
    let replay = replayed(&file, &built)?;
    show(&replay, &file, &built, &under_check, options, &console, changed)
}

/// The kept build options, for the one target that is needed.
fn narrowed(file: &ScheduleFile, options: &ReplayOptions) -> Selection {
    let mut selection = file.build.selection.clone();
    let test = &file.test;
    let name = || vec![test.target.clone()];
    selection.targets = match test.kind.as_str() {
        "lib" => Targets { lib: true, ..Targets::default() },
        "test" => Targets { test: name(), ..Targets::default() },
        "example" if test.program => Targets { example: name(), ..Targets::default() },
        "bin" if test.program => Targets { bin: name(), ..Targets::default() },
        // Unit tests of binaries cannot be named to cargo one by one together with our meaning of
        // --bin.
        _ => Targets { tests: true, ..Targets::default() },
    };
    selection.display.quiet = !options.verbose;
    selection.display.verbose = 0;
    selection.display.color = options.color;
    selection
}

/// Builds the program again, which does nothing where it is fresh, and gives its executable.
fn built(under_check: &UnderCheck, selection: &Selection, file: &ScheduleFile) -> Result<Built> {
    let test = &file.test;
    let built = under_check.build(selection).map_err(|e| {
        e.hint(
            "the program of this schedule cannot be built any more with the options of its check",
        )
    })?;
    let same = |built: &Built| {
        built.package == test.package && built.kind == test.kind && built.target == test.target
    };
    built.into_iter().find(same).ok_or_else(|| {
        Error::usage(format!(
            "the {} target `{}` of package `{}`, which the schedule is for, is gone",
            test.kind, test.target, test.package
        ))
    })
}

/// How the program is started.
fn launch(file: &ScheduleFile, built: &Built) -> Launch {
    Launch {
        executable: built.executable.clone(),
        arguments: file.test.arguments.clone(),
        directory: built.directory.clone(),
        environment: built.environment.clone(),
    }
}

/// Runs the schedule.
fn replayed(file: &ScheduleFile, built: &Built) -> Result<Replay> {
    let patience = Patience::of_budget(Some(REPLAY_SECONDS));
    match session::run(&launch(file, built), &file.request, patience, &mut |_| ())? {
        Ending::Replayed(replay) => Ok(*replay),
        Ending::Explored(_) | Ending::Minimised(_) | Ending::Observed(_) => {
            Err(Error::ours("the response of the process is no replay"))
        }
        Ending::Died(death) => Ok(death.into_replay()),
        Ending::Interrupted { .. } => Err(Error::interrupted()),
        Ending::Failed(failure) => {
            Err(Error::ours(format!("the replay failed: {}", failure.message)))
        }
    }
}

/// Prints the interleaving and the report; gives the exit status.
fn show(
    replay: &Replay,
    file: &ScheduleFile,
    built: &Built,
    under_check: &UnderCheck,
    options: &ReplayOptions,
    console: &Console,
    changed: bool,
) -> Result<Exit> {
    let sidecar = sidecar::read(&built.executable)?;
    let symbols = Symbols::open(&built.executable, sidecar, under_check.places());
    console.status("Replaying", &format!("{} of {} ({})", file.test.name, built.label(), file.id));
    let cause = if changed { "; the program was changed" } else { "" };
    if let Some(drift) = &replay.drift {
        let place = walk::place(replay, &symbols, drift.recorded);
        let at = place.map_or_else(String::new, |place| format!(", at {place}"));
        console.warning(&format!(
            "the schedule no longer matches the program: it diverges at choice {}, after step {}{at}: {}{cause}",
            drift.step, drift.recorded, drift.message
        ));
    }
    let shows = replay.bug.as_ref().is_some_and(|found| is_kept(found, file, changed));
    let again = match file.kind {
        Some(_) if !shows && replay.unsupported.is_none() => {
            console.status(
                "Searching",
                &format!("for another schedule, at most {} s", again::SECONDS),
            );
            let found = again::search(file, built)?;
            console.warning(match found {
                Some(_) => "the bug shows under another schedule, which follows",
                None => "the search has not found the bug under another schedule either",
            });
            found
        }
        _ => None,
    };
    let replay = again.as_ref().unwrap_or(replay);
    console.line("");
    if options.step {
        walk::walk(replay, &symbols, console, &mut std::io::stdin().lock());
    } else {
        let view =
            if options.full { View::Full } else { View::Brief { shown: SHOWN, output: true } };
        console.line(&table::text(replay, &symbols, view, console.style));
    }
    let stacks = if options.full { Stacks::Full } else { Stacks::User };
    let colored = console.style.is_colored();
    if let Some(unsupported) = &replay.unsupported {
        let report = warning::unsupported(unsupported, &symbols);
        console.line(&render::text(&report, symbols.sources(), stacks, colored));
        return Ok(Exit::Unsupported);
    }
    let Some(found) = &replay.bug else {
        console.line(&format!(
            "\nNo bug showed under this schedule{}",
            match file.kind {
                Some(kind) =>
                    format!("; when it was made it ended in: {} ({kind:?})", file.message),
                None => String::new(),
            }
        ));
        return Ok(Exit::Success);
    };
    let report = bug::report(replay, found, &symbols);
    console.line("");
    console.line(&render::text(&report, symbols.sources(), stacks, colored));
    if file.kind.is_some() && !is_kept(found, file, changed) {
        console.line("");
        console.warning("this is another bug than the one that the schedule was kept for");
    }
    Ok(Exit::BugFound)
}

/// Whether a bug is the one that the schedule was kept for. Its key names places, which move when
/// the program is changed: then its kind has to do.
fn is_kept(found: &Bug, file: &ScheduleFile, changed: bool) -> bool {
    found.key == file.key || (changed && Some(found.kind) == file.kind)
}
