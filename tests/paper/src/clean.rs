//! Clean, of Stoller's journal paper, section 10: two tasks that signal each other's events, which count modulo 3, and wait for
//! their own (Brat et al., ASE 2000, figure 1: from the Remote Agent, with the mistake that deadlocked in space).

use std::sync::{Condvar, Mutex};
use std::thread::scope;

#[derive(Default)]
pub struct Event {
    count: Mutex<u32>,
    signalled: Condvar,
}

impl Event {
    fn signal(&self) {
        let mut count = self.count.lock().unwrap();
        *count = (*count + 1) % 3;
        self.signalled.notify_all();
    }

    /// Waits for a signal unless there was one since the event had counted so far.
    fn wait_unless_signalled(&self, since: u32) -> u32 {
        let mut count = self.count.lock().unwrap();
        if *count == since {
            count = self.signalled.wait(count).unwrap();
        }
        *count
    }

    /// The same, but the count may change between the look at it and the wait.
    fn look_and_wait(&self, since: u32) -> u32 {
        let seen = *self.count.lock().unwrap();
        if seen == since {
            let count = self.count.lock().unwrap();
            drop(self.signalled.wait(count).unwrap()); //~ bug of remote_agent_1_round, remote_agent_3_rounds
        }
        *self.count.lock().unwrap()
    }
}

/// How a task waits.
type Wait = fn(&Event, u32) -> u32;

/// One round of the first task, which knows its event's count.
fn first([mine, theirs]: [&Event; 2], wait: Wait, count: &mut u32) {
    *count = wait(mine, *count);
    theirs.signal();
}

/// One round of the second task.
fn second([theirs, mine]: [&Event; 2], wait: Wait, count: &mut u32) {
    theirs.signal();
    *count = wait(mine, *count);
}

/// Both tasks, for so many rounds, or for ever (under the tool).
pub fn tasks(rounds: Option<u32>, wait: Wait) {
    let events = [Event::default(), Event::default()];
    let events = events.each_ref();
    scope(|scope| {
        for task in [first, second] {
            scope.spawn(move || {
                let mut count = 0;
                let mut round = || task(events, wait, &mut count);
                match rounds {
                    Some(rounds) => (0..rounds).for_each(|_| round()),
                    None => loop {
                        round();
                        if !lockred::checked() {
                            break;
                        }
                    },
                }
            });
        }
    });
}

pub const CLEAN: Wait = Event::wait_unless_signalled;
const REMOTE_AGENT: Wait = Event::look_and_wait;

//@ verified
//@ executions = 4
#[test]
fn clean_1_round() {
    tasks(Some(1), CLEAN);
}

//@ verified
//@ with --search=states clean
//@ executions = 64
#[test]
fn clean_3_rounds() {
    tasks(Some(3), CLEAN);
}

//@ failed deadlock
//@ preemptions = 1
#[test]
fn remote_agent_1_round() {
    tasks(Some(1), REMOTE_AGENT);
}

//@ failed deadlock
//@ preemptions = 1
#[test]
fn remote_agent_3_rounds() {
    tasks(Some(3), REMOTE_AGENT);
}
