//! Replay: one execution that follows a given schedule, and goes on by the default policy where the
//! schedule ends.
//!
//! The default policy runs the thread that ran last, else the lowest one that can run, and a
//! low-priority one only if there is no other; it takes the first alternative everywhere.

use crate::core::choice::Choice;
use crate::core::machine::{Machine, ThreadId};
use crate::drive::observer::{Covered, Limits, Observer, Outcome, Stop};
use crate::drive::{After, Drive, Run};

/// What a replay gives back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// `Stop::Complete` if the execution ended.
    pub outcome: Outcome,
    /// All choices that were made, those of the default policy included.
    pub executed: Vec<Choice>,
    /// The first place (an index of the given schedule) where the program could not follow it, and
    /// why. From there on the default policy chose.
    pub drift: Option<(usize, String)>,
}

/// Runs `schedule` once, from the root.
pub fn replay<M: Machine>(
    machine: &mut M,
    schedule: &[Choice],
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Replayed {
    let mut drive = Drive::new(machine, limits, observer);
    let mut guide = Guide { schedule, next: 0, drift: None };
    let result = follow(&mut drive, &mut guide);
    if result.is_ok() && guide.next < schedule.len() {
        guide.deviate("the execution has ended".to_owned());
    }
    let outcome = Outcome { covered: Covered::Some, ..drive.outcome(result) };
    Replayed { outcome, executed: drive.schedule, drift: guide.drift }
}

fn follow<M: Machine>(drive: &mut Drive<'_, M>, guide: &mut Guide<'_>) -> Result<(), Stop> {
    drive.restart()?;
    let mut last = None;
    loop {
        let guided = guide.thread(|thread| {
            thread.0 < drive.machine.threads() && drive.machine.status(thread).can_run()
        });
        let Some(thread) = guided.or_else(|| drive.default_thread(last)) else {
            return drive.finish();
        };
        last = Some(thread);
        match drive.run(thread, Run::Fresh, &mut |of| guide.value(of))? {
            After::On => {}
            After::Over => return drive.finish(),
            After::Cut => {
                drive.give_up();
                return Ok(());
            }
        }
    }
}

/// The schedule to follow, and how far it was followed.
struct Guide<'a> {
    schedule: &'a [Choice],
    next: usize,
    drift: Option<(usize, String)>,
}

impl Guide<'_> {
    /// The next choice to follow, if there is one.
    fn peek(&self) -> Option<Choice> {
        if self.drift.is_some() { None } else { self.schedule.get(self.next).copied() }
    }

    fn deviate(&mut self, why: String) {
        if self.drift.is_none() {
            self.drift = Some((self.next, why));
        }
    }

    fn thread(&mut self, mut can_run: impl FnMut(ThreadId) -> bool) -> Option<ThreadId> {
        match self.peek()? {
            Choice::Thread(thread) if can_run(thread) => {
                self.next += 1;
                Some(thread)
            }
            Choice::Thread(ThreadId(number)) => {
                self.deviate(format!("thread {number} cannot run here"));
                None
            }
            Choice::Value { .. } => {
                self.deviate("the program has no choice of a value here".to_owned());
                None
            }
        }
    }

    fn value(&mut self, of: u32) -> u32 {
        match self.peek() {
            Some(Choice::Value { picked, of: expected }) if expected == of && picked < of => {
                self.next += 1;
                picked
            }
            Some(_) => {
                self.deviate(format!("the program chooses one of {of} values here"));
                0
            }
            None => 0,
        }
    }
}
