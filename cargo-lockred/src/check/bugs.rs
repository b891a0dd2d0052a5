//! From a finding of the search to a bug that is reported: replayed in a fresh process, reproduced,
//! and kept.

use super::examine::Examiner;
use super::minimal;
use crate::build::Purpose;
use crate::error::{Error, Result};
use crate::executable::list::Test;
use crate::outcome::{DENIED, FoundBug, Size};
use crate::printing::style::Style;
use crate::report::render::Stacks;
use crate::report::table::{self, View};
use crate::report::{
    Severity, bug, thread_flows,
    timing::{self, Timing},
};
use crate::schedule_file::{self, KeptBuild, KeptTest, ScheduleFile};
use crate::session::{self, Ending, Patience};
use lockred_protocol::FORMAT_VERSION;
use lockred_protocol::codes::{BugKind, WarningKind};
use lockred_protocol::message::{Bug, Finding, Replay, Warning};
use lockred_protocol::schedule::Schedule;
use lockred_protocol::session::{Task, Time};
use std::path::PathBuf;

/// Seconds of processor time that a replay may take: it is one execution.
pub const REPLAY_SECONDS: f64 = 60.0;

/// How often the search's time a replay may take, as it records what it does.
const REPLAY_TIMES: f64 = 20.0;

/// Rows at the beginning, and at the end, that a report shows of a long interleaving.
const SHOWN: usize = 16;

/// Where a schedule was kept: its id, and its file or why there is none.
pub struct Kept {
    id: String,
    file: std::result::Result<PathBuf, Error>,
}

/// What replays a schedule, or why nothing does.
pub fn replay_of(kept: &Kept) -> String {
    match &kept.file {
        Ok(_) => format!("cargo lockred replay {}", kept.id),
        Err(error) => format!("not kept, as lockred {}", error.message),
    }
}

/// Why a finding is not reported as a bug.
pub enum Lost {
    /// That is an error of ours.
    Ours(String),
    /// What the test uses outside of its process may have changed.
    Shared(String),
}

/// Makes a finding's schedule minimal and replays it. `seconds`: what the search has taken. The
/// error says why it is not reported as a bug.
pub fn reproduce(
    examiner: &Examiner<'_>,
    test: &Test,
    finding: &Finding,
    seconds: f64,
) -> std::result::Result<FoundBug, Lost> {
    let seconds = REPLAY_SECONDS.max(seconds * REPLAY_TIMES);
    if let Some(least) = minimal::of(examiner, test, finding)
        && let time = minimal::time(&least, examiner, test)
        && let Ok(Ending::Replayed(replay)) =
            replayed(examiner, test, &least.schedule, (time, seconds))
        && let Some(found) = replay.bug.as_ref().filter(|bug| is_same(bug, finding))
        && replay.drift.is_none()
    {
        let size = minimal::size(&least);
        // What comes after it may show other bugs, so it is kept as it is: who replays it sees what
        // shows at its end.
        let kept = least.schedule.clone();
        let is_timing = least.measure.overtaken > 0
            && !replay.overtaken.is_empty()
            && may_be_timing(finding.kind);
        let timing = is_timing.then_some(match least.only_overtaken {
            true => Timing::Only,
            false => Timing::Perhaps,
        });
        let how = How { whole: kept, size: Some(size), time, timing };
        return Ok(found_bug(examiner, test, &replay, found, how));
    }
    let schedule = finding.schedule.clone();
    let kind = bug::kind_words(finding.kind);
    let time = examiner.time(test);
    let failed = |message: &str| Lost::Ours(failed(examiner, test, finding, message));
    let replay = match replayed(examiner, test, &schedule, (time, seconds)) {
        Ok(Ending::Replayed(replay)) => replay,
        Ok(Ending::Explored(_) | Ending::Minimised(_) | Ending::Observed(_)) => {
            return Err(Lost::Ours("the response to a replay is something else".into()));
        }
        Ok(Ending::Interrupted { .. }) => {
            let reason = format!("a {kind} was found, but its replay was interrupted");
            return Err(Lost::Ours(reason));
        }
        Ok(Ending::Died(death)) => return Err(failed(&death.to_string())),
        Ok(Ending::Failed(failure)) => return Err(failed(&failure.message)),
        Err(error) => return Err(failed(&error.message)),
    };
    let Some(found) = replay.bug.as_ref().filter(|bug| is_same(bug, finding)) else {
        let reason = lost(&replay, finding);
        if let Some(shared) = &replay.shared {
            let reason = format!("{reason}; the test uses {shared}, which others may change");
            return Err(Lost::Shared(reason));
        }
        let kept = keep_error(examiner, test, &reason, schedule);
        return Err(Lost::Ours(format!("{reason}\nits schedule: {}", replay_of(&kept))));
    };
    // The whole schedule as executed, so that the file stands by itself.
    let whole = if replay.schedule.0.is_empty() { schedule } else { replay.schedule.clone() };
    Ok(found_bug(examiner, test, &replay, found, How::plain(whole, time)))
}

/// Runs a schedule in a fresh process, which may take so many seconds.
fn replayed(
    examiner: &Examiner<'_>,
    test: &Test,
    schedule: &Schedule,
    (time, seconds): (Time, f64),
) -> Result<Ending> {
    let mut request = examiner.request(Task::Replay { schedule: schedule.clone() }, test);
    request.environment.time = time;
    let patience = Patience::of_budget(Some(seconds));
    session::run(&examiner.launch(test), &request, patience, &mut |_| ())
}

/// Whether a replay's bug is the one that was found. Several accesses may race at once: any of
/// these races is the bug, and the one that the replay reports is shown.
fn is_same(bug: &Bug, finding: &Finding) -> bool {
    bug.key == finding.key || (bug.kind, finding.kind) == (BugKind::DataRace, BugKind::DataRace)
}

/// Whether a failure of this kind may be a test's expectation of time. An error of memory, or a
/// data race, never is: no program may rely on time for these.
const fn may_be_timing(kind: BugKind) -> bool {
    match kind {
        BugKind::Deadlock | BugKind::Panic | BugKind::Livelock | BugKind::Abort | BugKind::Exit => {
            true
        }
        BugKind::DataRace
        | BugKind::UseAfterFree
        | BugKind::DoubleFree
        | BugKind::Signal
        | BugKind::OutOfBounds => false,
    }
}

/// What is known of the schedule of a bug.
pub struct How {
    /// The schedule.
    pub whole: Schedule,
    /// What it takes, where it was made minimal.
    pub size: Option<Size>,
    /// When sleeps end in it.
    pub time: Time,
    /// It fails where a sleep is overtaken.
    pub timing: Option<Timing>,
}

impl How {
    /// A schedule as it was found.
    pub const fn plain(whole: Schedule, time: Time) -> Self {
        Self { whole, size: None, time, timing: None }
    }
}

/// The bug that a replay shows. It is reported also where its schedule cannot be kept.
pub fn found_bug(
    examiner: &Examiner<'_>,
    test: &Test,
    replay: &Replay,
    found: &Bug,
    How { whole, size, time, timing }: How,
) -> FoundBug {
    let mut report = bug::report(replay, found, &examiner.symbols);
    if let Some(timing) = timing {
        report = timing::of(report, replay, timing, &examiner.symbols);
    }
    if replay.steps.is_empty() && examiner.options.selection.analysis.scale_loops.is_some() {
        // What has taken the process along has left no record.
        report
            .notes
            .push("under --scale-loops: loops may have made fewer rounds than they should".into());
    }
    let (kind, key) = (found.kind, &found.key);
    let fingerprint = examiner.fingerprint(test, &report, key);
    let said = Said { kind: Some(kind), message: &report.title, key, fingerprint: &fingerprint };
    let kept = keep(examiner, test, said, whole, time);
    let known = examiner.knows(test, &fingerprint);
    if timing.is_some() && examiner.options.findings.denies(WarningKind::Timing) && !known {
        report.severity = Severity::Error;
        report.notes.push(DENIED.into());
    }
    let thread_flows = match examiner.options.output.needs_thread_flows() {
        true => thread_flows::of(replay, found, &report, &examiner.symbols),
        false => Vec::new(),
    };
    let mut rendered = examiner.rendered(report, Stacks::User);
    for (text, style) in
        [(&mut rendered.text, examiner.style()), (&mut rendered.plain, Style::plain())]
    {
        if !replay.steps.is_empty() {
            let view = View::Brief { shown: SHOWN, output: false };
            let table = table::text(replay, &examiner.symbols, view, style);
            text.push_str(&format!("\n\n{table}"));
        }
        text.push('\n');
        if let Some(size) = size {
            text.push_str(&format!("\nschedule: {}", minimal::words(&size)));
        }
        match &kept.file {
            Ok(_) => text.push_str(&format!("\nreplay: {}", replay_of(&kept))),
            Err(error) => text.push_str(&format!("\n{}", unkept(error))),
        }
    }
    let Kept { id, file } = kept;
    let schedule = file.ok();
    FoundBug { id, fingerprint, known, kind, schedule, size, rendered, thread_flows, timing }
}

/// The warning that a bug cannot be replayed.
fn unkept(error: &Error) -> String {
    let hint = error.hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}"));
    format!("warning: this bug cannot be replayed: {}{hint}", error.message)
}

/// A warning with all that is known of it: of one that a replay says more of, what that reports.
/// `None`, if that does not show it.
///
/// # Errors
/// When no session can be made.
pub fn in_full(examiner: &Examiner<'_>, test: &Test, warning: &Warning) -> Result<Option<Warning>> {
    let Some(schedule) = warning.schedule.clone() else { return Ok(Some(warning.clone())) };
    let limits = (examiner.time(test), REPLAY_SECONDS);
    let Ending::Replayed(replay) = replayed(examiner, test, &schedule, limits)? else {
        return Ok(None);
    };
    let sites = |warning: &Warning| -> Vec<_> {
        warning.places.iter().map(|place| (place.role, place.thread, place.site)).collect()
    };
    let same =
        |reported: &&Warning| reported.kind == warning.kind && sites(reported) == sites(warning);
    let reported = replay.warnings.iter().find(same);
    Ok(reported.map(|reported| Warning { message: warning.message.clone(), ..reported.clone() }))
}

/// The replay of a finding failed.
fn failed(examiner: &Examiner<'_>, test: &Test, finding: &Finding, message: &str) -> String {
    let kind = bug::kind_words(finding.kind);
    let kept = keep_error(examiner, test, message, finding.schedule.clone());
    format!(
        "a {kind} was found ({}), but its replay failed: {message}\nits schedule: {}",
        finding.message,
        replay_of(&kept)
    )
}

/// Why a replay is no reproduction.
fn lost(replay: &Replay, finding: &Finding) -> String {
    let kind = bug::kind_words(finding.kind);
    let what = format!("a {kind} was found ({}), but a fresh process", finding.message);
    if let Some(drift) = &replay.drift {
        let (step, message) = (drift.step, &drift.message);
        return format!("{what} left its schedule at step {step}: {message}");
    }
    if let Some(unsupported) = &replay.unsupported {
        return format!("{what} met what cannot be modelled: {}", unsupported.message);
    }
    match &replay.bug {
        Some(other) => format!("{what} ended in something else: {}", other.message),
        None => format!("{what} did not reproduce it [{}]", finding.key),
    }
}

/// Keeps the schedule of an error of ours.
pub fn keep_error(examiner: &Examiner<'_>, test: &Test, message: &str, schedule: Schedule) -> Kept {
    let fingerprint = examiner.test_fingerprint(test).add(format!("error: {message}")).hex();
    let said = Said { kind: None, message, key: "", fingerprint: &fingerprint };
    keep(examiner, test, said, schedule, examiner.time(test))
}

/// What a file of a schedule says of it.
struct Said<'a> {
    kind: Option<BugKind>,
    message: &'a str,
    key: &'a str,
    fingerprint: &'a str,
}

fn keep(
    examiner: &Examiner<'_>,
    test: &Test,
    Said { kind, message, key, fingerprint }: Said<'_>,
    schedule: Schedule,
    time: Time,
) -> Kept {
    let mut request = examiner.request(Task::Replay { schedule }, test);
    request.environment.time = time;
    let built = examiner.built;
    let mut file = ScheduleFile {
        version: FORMAT_VERSION,
        id: String::new(),
        fingerprint: fingerprint.to_owned(),
        lockred: env!("CARGO_PKG_VERSION").to_owned(),
        kind,
        message: message.to_owned(),
        key: key.to_owned(),
        test: KeptTest {
            package: built.package.clone(),
            kind: built.kind.to_owned(),
            program: built.purpose == Purpose::Programs,
            target: built.target.clone(),
            name: test.name.clone(),
            arguments: test.arguments.clone(),
        },
        request,
        build: KeptBuild {
            directory: examiner.directory.to_owned(),
            selection: examiner.options.selection.clone(),
            executable: built.executable.clone(),
            hash: examiner.hash.clone(),
        },
    };
    let written = schedule_file::write(&examiner.under_check.project.schedules(), &mut file);
    Kept { id: file.id, file: written }
}
