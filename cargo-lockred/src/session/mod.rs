//! One exploration process from start to response: its session directory, how it is started,
//! watched and ended.

mod death;
mod directory;
mod leftovers;
pub mod printable;
mod process;
mod sight;
mod signal;
mod status;
mod temporary;
mod watchdog;
mod words;

use crate::error::{Error, Result};
use crate::interrupt;
pub use death::Death;
use directory::Directory;
use lockred_protocol::message::{Counts, Exploration, Message, Minimised, Observation, Replay};
use lockred_protocol::schedule::Schedule;
use lockred_protocol::session::{
    EXIT_AGAIN, EXIT_INTERNAL, EXIT_RESPONDED, Environment, Request, STOP_SIGNAL,
};
use process::Process;
pub use status::Progress;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};
use temporary::Temporary;
pub use watchdog::Patience;
use watchdog::{Act, Asked, LOOK_EVERY, Reason, Watchdog};

/// How long an executable may take to list its tests.
const PLAIN_LIMIT: Duration = Duration::from_secs(60);

/// What to start, and where.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The instrumented executable.
    pub executable: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its working directory.
    pub directory: PathBuf,
    /// Variables beyond what is inherited.
    pub environment: Vec<(String, OsString)>,
}

/// How a session ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Ending {
    /// With the outcome of a search.
    Explored(Box<Exploration>),
    /// With the record of an execution.
    Replayed(Box<Replay>),
    /// With the least schedule of a failure, if the given one showed it.
    Minimised(Option<Box<Minimised>>),
    /// With what it saw of the locking discipline.
    Observed(Box<Observation>),
    /// The user asked it to stop, and it stopped or was stopped.
    Interrupted {
        /// What it had done.
        counts: Counts,
    },
    /// By a signal, before it had responded.
    Died(Box<Death>),
    /// By an error of ours.
    Failed(Failure),
}

/// An error of ours that ended a process.
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    /// What happened.
    pub message: String,
    /// What it had done.
    pub counts: Counts,
    /// The schedule under way.
    pub schedule_log: Schedule,
}

/// Runs a process to its end; `progress` gets its progress ten times a second.
///
/// # Errors
/// When the session's directory cannot be written, or the process cannot be started.
pub fn run(
    launch: &Launch,
    request: &Request,
    patience: Patience,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Ending> {
    if let Some(ending) = run_once(launch, request, patience, progress)? {
        return Ok(ending);
    }
    let ending = run_once(launch, &with_kernels_numbers(request), patience, progress)?;
    Ok(ending.expect("no process asks twice to be started again"))
}

/// A request by which the program learns the kernel's numbers of processes from the start.
fn with_kernels_numbers(request: &Request) -> Request {
    Request { environment: Environment { numbers: true, ..request.environment }, ..request.clone() }
}

/// Runs a process to its end; `None`: it is to be started again, as it has given made-up numbers of
/// processes, and the kernel's show.
fn run_once(
    launch: &Launch,
    request: &Request,
    patience: Patience,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Option<Ending>> {
    let parent = Some(std::process::id());
    let directory = Directory::create(&Request { parent, ..request.clone() })?;
    let output = directory.output()?;
    let temporary = Temporary::of(launch);
    let place = process::Place { session: directory.path(), temporary: temporary.as_ref() };
    let process = Process::start(launch, Some(place), &output, &output)?;
    let mut computed = Duration::ZERO;
    let mut watchdog = Watchdog::new(patience);
    let status = loop {
        if let Some(status) = process.wait(LOOK_EVERY)? {
            break status;
        }
        let sight = process.sight();
        computed = computed.max(sight.cpu);
        let seen = directory.progress(computed);
        progress(&seen);
        match watchdog.look(&seen, &sight, interrupt::requested()) {
            Act::Nothing => {}
            Act::Ask => process.signal(STOP_SIGNAL),
            Act::Kill => process.signal(libc::SIGKILL),
        }
    };
    if status.code() == Some(EXIT_AGAIN) && !request.environment.numbers {
        return Ok(None);
    }
    Ok(Some(ending(&directory, request, status, watchdog.into_asked(), computed)))
}

/// Why a session by hand did not come about.
pub enum ByHand {
    /// It could not be made.
    Session(Error),
    /// The program could not be started.
    Start(std::io::Error),
}

/// What a process may compute that shows whether it has to be started again.
const SECONDS_BEFORE_HAND: f64 = 60.0;

/// Runs a program, a debugger say, that runs the launch with a request, at the terminal and without
/// a limit. Gives how it ended. (Under its hands, nothing is started again: that shows before.)
pub fn by_hand(
    launch: &Launch,
    request: &Request,
    mut program: Command,
) -> std::result::Result<ExitStatus, ByHand> {
    let patience = Patience::of_budget(Some(SECONDS_BEFORE_HAND));
    let before = run_once(launch, request, patience, &mut |_| ()).map_err(ByHand::Session)?;
    let request = if before.is_none() { &with_kernels_numbers(request) } else { request };
    let directory = Directory::create(request).map_err(ByHand::Session)?;
    let temporary = Temporary::of(launch);
    process::set_up(&mut program, launch);
    let place = process::Place { session: directory.path(), temporary: temporary.as_ref() };
    place.give(&mut program);
    program.status().map_err(ByHand::Start)
}

/// Judges what an ended process left.
fn ending(
    directory: &Directory,
    request: &Request,
    status: ExitStatus,
    asked: Option<Asked>,
    computed: Duration,
) -> Ending {
    let progress = directory.progress(computed);
    let failed = |message: String| {
        Ending::Failed(Failure {
            message,
            counts: progress.counts,
            schedule_log: directory.schedule_log(),
        })
    };
    let response = match directory.response() {
        Ok(response) => response,
        Err(message) => return failed(message),
    };
    match (status.code(), response) {
        (_, Some(Message::Error { message })) => {
            failed(format!("error inside the process: {message}"))
        }
        (Some(EXIT_RESPONDED), Some(Message::Explored(mut response))) => {
            response.stop = words::stop(response.stop, asked.as_ref());
            response.seconds = words::seconds(response.seconds, asked.as_ref());
            Ending::Explored(Box::new(response))
        }
        (Some(EXIT_RESPONDED), Some(Message::Replayed(mut response))) => {
            words::say(response.unsupported.as_mut(), asked.as_ref());
            Ending::Replayed(Box::new(response))
        }
        (Some(EXIT_RESPONDED), Some(Message::Minimised(response))) => {
            Ending::Minimised(response.map(Box::new))
        }
        (Some(EXIT_RESPONDED), Some(Message::Observed(response))) => {
            Ending::Observed(Box::new(response))
        }
        _ if asked.as_ref().is_some_and(|asked| asked.reason == Reason::Interrupted) => {
            Ending::Interrupted { counts: progress.counts }
        }
        (code, _) => {
            let how = match (asked, code) {
                (Some(asked), _) => {
                    let last = directory.last_words();
                    match words::killed(&asked, request, last, &progress) {
                        Ok(exploration) => return Ending::Explored(Box::new(exploration)),
                        Err(how) => how,
                    }
                }
                (None, Some(EXIT_RESPONDED)) => "the process ended without a response".to_owned(),
                (None, Some(EXIT_INTERNAL)) if directory.is_full() => {
                    "the process could not write its response, as the disk of the temporary directory is full".to_owned()
                }
                (None, Some(EXIT_INTERNAL)) => "the process stopped by an error of ours".to_owned(),
                (None, Some(code)) => {
                    format!("the process ended with status {code} without a response")
                }
                (None, None) => {
                    return Ending::Died(Box::new(Death {
                        signal: status.signal().unwrap_or_default(),
                        last: directory.last_words(),
                        counts: progress.counts,
                        schedule_log: directory.schedule_log(),
                        output: directory.last_output(),
                    }));
                }
            };
            failed(match directory.last_output() {
                Some(output) => format!("{how}; it printed:\n{output}"),
                None => how,
            })
        }
    }
}

/// Runs an executable outside of a session, at most for [`PLAIN_LIMIT`], and gives its standard
/// output.
///
/// # Errors
/// When it cannot be run, fails, or takes longer.
pub fn plain_output(launch: &Launch) -> Result<String> {
    // In memory, so that what it says does not depend on a disk.
    let (mut stdout, mut stderr) = (process::memory_file()?, process::memory_file()?);
    let process = Process::start(launch, None, &stdout, &stderr)?;
    let start = Instant::now();
    let shown = format!("{} {}", launch.executable.display(), launch.arguments.join(" "));
    let status = loop {
        if let Some(status) = process.wait(LOOK_EVERY)? {
            break status;
        }
        if interrupt::requested() {
            return Err(Error::interrupted());
        }
        if start.elapsed() > PLAIN_LIMIT {
            return Err(Error::ours(format!(
                "`{shown}` did not end within {} s",
                PLAIN_LIMIT.as_secs()
            )));
        }
    };
    let text = |file: &mut File| {
        let mut bytes = Vec::new();
        let read = file.rewind().and_then(|()| file.read_to_end(&mut bytes));
        read.map_err(|e| Error::file("read the output of", &launch.executable, &e))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    if !status.success() {
        let reported = text(&mut stderr)?;
        return Err(Error::ours(format!(
            "`{shown}` ended with {status}:\n{}",
            reported.trim_end()
        )));
    }
    text(&mut stdout)
}

#[cfg(test)]
mod tests;
