//! A search for a bug whose schedule does not fit any more: the program was changed, and may show
//! it under another one.

use crate::build::artifact::Built;
use crate::error::Result;
use crate::schedule_file::ScheduleFile;
use crate::session::{self, Ending, Patience};
use lockred_protocol::message::{Finding, Replay};
use lockred_protocol::schedule::Schedule;
use lockred_protocol::session::{Limits, Request, Share, Strategy, Task};

/// Seconds that the search may take.
pub const SECONDS: f64 = 5.0;

/// Operations of one execution, as `check` has it.
const OPERATIONS: u64 = 100_000;

/// Looks for a bug with the kept key, or else of the kept kind (keys name places, which move when
/// the program is changed), and replays what is found.
///
/// # Errors
/// When no session can be made, or no process started.
pub fn search(file: &ScheduleFile, built: &Built) -> Result<Option<Replay>> {
    let limits = Limits {
        executions: None,
        seconds: Some(SECONDS),
        operations: OPERATIONS,
        share: Share::default(),
    };
    let task = Task::Explore { strategy: Strategy::Transactions, limits, keep_going: true };
    let Ending::Explored(explored) = run(file, built, task, SECONDS)? else { return Ok(None) };
    let alike = |finding: &&Finding| Some(finding.kind) == file.kind;
    let same = explored.findings.iter().find(|finding| finding.key == file.key);
    let Some(found) = same.or_else(|| explored.findings.iter().find(alike)) else {
        return Ok(None);
    };
    replay(file, built, found.schedule.clone())
}

/// Replays a schedule; nothing if that shows no bug.
fn replay(file: &ScheduleFile, built: &Built, schedule: Schedule) -> Result<Option<Replay>> {
    let seconds = crate::check::bugs::REPLAY_SECONDS;
    Ok(match run(file, built, Task::Replay { schedule }, seconds)? {
        Ending::Replayed(replay) if replay.bug.is_some() => Some(*replay),
        _ => None,
    })
}

fn run(file: &ScheduleFile, built: &Built, task: Task, seconds: f64) -> Result<Ending> {
    let request = Request { task, ..file.request.clone() };
    let patience = Patience::of_budget(Some(seconds));
    session::run(&super::launch(file, built), &request, patience, &mut |_| ())
}
