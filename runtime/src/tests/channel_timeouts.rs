//! Programs that wait on channels with timeouts.

use super::hooks::Words;
use super::looks::now;
use super::times::{SECOND, overtaken, sleep};
use super::{complete, kinds, search};
use crate::hooks::blocks::__lr_libc_malloc;
use crate::hooks::channels::{__lr_channel_enter, __lr_channel_leave, __lr_channel_made};
use crate::machine::hook;
use lockred_protocol::codes::AssumptionKind;
use lockred_protocol::hooks::{Act, NO_DEADLINE};
use lockred_protocol::message::Timed;
use lockred_protocol::session::Strategy;

/// The block of a channel that is known, which holds messages.
fn channel() -> usize {
    let block = __lr_libc_malloc(64) as usize;
    let ends = [0, block, 0, block];
    __lr_channel_made(ends.as_ptr(), 8, 0);
    block
}

/// Words that say how many messages are in it, and whether somebody waits for one.
const MESSAGES: usize = 8;
const WAITS: usize = 9;

/// Receives from it, until a moment, as a function does that is instrumented. Gives whether there
/// was a message.
fn receive(words: Words, channel: usize, until: i64) -> bool {
    let (seconds, nanoseconds) = (until as u64 / SECOND, (until as u64 % SECOND) as u32);
    __lr_channel_enter(Act::Receive as u32, channel, seconds, nanoseconds, 1);
    // What the function does itself, which makes a timeout of the moment.
    while words.load(MESSAGES) == 0 {
        words.store(WAITS, 1);
        let timeout = until - now();
        if !words.wait(MESSAGES, 0, Some(timeout)) {
            break;
        }
    }
    let is_there = words.load(MESSAGES) > 0;
    if is_there {
        words.add(MESSAGES, u64::MAX);
    }
    __lr_channel_leave(0, 0, 1);
    is_there
}

fn send(words: Words, channel: usize) {
    __lr_channel_enter(Act::Send as u32, channel, 0, NO_DEADLINE, 2);
    words.add(MESSAGES, 1);
    if words.load(WAITS) > 0 {
        words.wake(MESSAGES, 1);
    }
    __lr_channel_leave(0, 0, 2);
}

#[test]
fn a_receiver_that_gives_up_has_waited_and_its_own_looks_decide_nothing() {
    fn program(words: Words) -> i32 {
        words.write(1, channel() as u64);
        let thread = words.spawn(|words| send(words, words.read(1) as usize));
        let before = now();
        let received = receive(words, words.read(1) as usize, before + 20_000_000);
        let passed = now() - before;
        words.join(thread);
        i32::from(!received && passed < 20_000_000)
    }
    let found = search(program, Strategy::Transactions, false);
    complete(&found);
    assert_eq!(kinds(&found), [AssumptionKind::VirtualTime]);
    // In two orders, with the look after it early or late.
    assert_eq!(found.counts.executions, 4);
}

#[test]
fn a_channel_s_timeout_is_as_long_as_it_says_and_overtakes_and_is_overtaken() {
    const LONG: i64 = 30 * SECOND as i64 + 7_000_000;
    fn timeout(words: Words) -> i32 {
        words.write(1, channel() as u64);
        let thread = words.spawn(|words| send(words, words.read(1) as usize));
        let until = now() + LONG;
        let received = receive(words, words.read(1) as usize, until);
        words.join(thread);
        i32::from(!received)
    }
    fn longer_sleep(words: Words) -> i32 {
        words.write(1, channel() as u64);
        let thread = words.spawn(|words| {
            receive(words, words.read(1) as usize, LONG);
            words.store(0, 1);
        });
        sleep(LONG + 1_000_000);
        let seen = words.load(0);
        words.join(thread);
        i32::from(seen == 0)
    }
    assert_eq!(
        overtaken(timeout, "nothing to receive, or no room"),
        (Timed::Timeout, LONG as u64, Some(1))
    );
    assert_eq!(
        overtaken(longer_sleep, "sleep 30008 ms"),
        (Timed::Sleep, LONG as u64 + 1_000_000, Some(1))
    );
}

#[test]
fn where_it_is_not_known_whether_a_wait_has_a_deadline_its_channel_is_written_out() {
    fn program(words: Words) -> i32 {
        let channel = channel();
        let thread = words.spawn(|_| {});
        __lr_channel_enter(Act::Receive as u32, channel, 0, u32::MAX, 1);
        __lr_channel_leave(0, 0, 1);
        words.join(thread);
        let is_written_out = hook::with(|state| state.knowledge.channels_step_by_step);
        i32::from(!is_written_out)
    }
    complete(&search(program, Strategy::Transactions, false));
}
