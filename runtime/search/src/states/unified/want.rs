//! Who has to run from a state so that a thread comes first there that others were explored before
//! (docs/algorithm.md#unified-search).

use crate::core::fault::{Fault, is_on};
use crate::core::footprint::ObjectId;
use crate::core::machine::ThreadId;
use crate::core::thread_set::ThreadSet;

use super::level::{Level, Standing, Waits};
use super::summary::{Summaries, SummaryId};

/// Adds to the threads that the level explores those that have to act for `wanted` to come first.
/// `below`: what can be executed from the state to which `explored` has led. Returns whether nobody
/// in particular could be named, so that all are added.
pub(super) fn want(
    level: &mut Level,
    wanted: ThreadId,
    explored: ThreadId,
    below: SummaryId,
    summaries: &Summaries,
) -> bool {
    let mut named = ThreadSet::default();
    let mut left = vec![wanted];
    let mut flood = false;
    while let Some(thread) = left.pop() {
        if named.contains(thread) {
            continue;
        }
        named.insert(thread);
        match level.standings.get(thread.index()).copied() {
            Some(Standing::Ended) => {}
            None | Some(Standing::NotBegun) => flood = true,
            Some(Standing::Able) => {
                level.back.insert(thread);
                for &(rolled, waits) in &level.rolled_back {
                    if rolled == thread {
                        flood |= ask(level, (thread, waits), explored, below, summaries, &mut left);
                    }
                }
            }
            Some(Standing::Waits(waits)) => {
                flood |= ask(level, (thread, waits), explored, below, summaries, &mut left);
            }
        }
    }
    if flood {
        level.want_all();
    }
    flood
}

/// Names those who can make a thread go on that waits. Returns whether they are not known.
fn ask(
    level: &Level,
    (thread, waits): (ThreadId, Waits),
    explored: ThreadId,
    below: SummaryId,
    summaries: &Summaries,
    named: &mut Vec<ThreadId>,
) -> bool {
    if is_on(Fault::NobodyActsFirst) {
        return false;
    }
    match waits {
        Waits::Lock(..) if is_on(Fault::HoldersForgotten) => {}
        Waits::Lock(lock, mode) => {
            let before = named.len();
            let holds = |held: &[(ObjectId, _)]| {
                held.iter().any(|&(held, holds)| held == lock && mode.excludes(holds))
            };
            let threads = (0..).map(ThreadId).zip(&level.held);
            named.extend(threads.filter(|(_, held)| holds(held)).map(|(holder, _)| holder));
            return named.len() == before;
        }
        Waits::Unknown => return true,
        Waits::End(joined) => named.push(joined),
        Waits::Act(object, foot) => {
            let accesses = &summaries.foot_of(foot).accesses;
            let is_waited_for =
                |other: ObjectId| other == object || accesses.iter().any(|&(own, _)| own == other);
            let entries = summaries.entries(below).iter();
            let others = entries.filter(|entry| {
                entry.thread != thread && entry.thread != explored && is_waited_for(entry.object)
            });
            named.extend(others.map(|entry| entry.thread));
        }
    }
    false
}
