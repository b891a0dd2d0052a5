//! Programs in which another thread uses a block than the one that allocated it.

use super::hooks::Words;
use super::{Program, complete, explore, explore_in, search_in};
use crate::hooks::blocks::{__lr_libc_free, __lr_libc_malloc};
use crate::hooks::plain::{__lr_read, __lr_write};
use lockred_protocol::codes::BugKind;
use lockred_protocol::hooks::Order;
use lockred_protocol::session::{Environment, Strategy};

const REUSE: Environment = Environment { reuse: true, ..Environment::USUAL };

fn allocate() -> usize {
    __lr_libc_malloc(64) as usize
}

fn read(block: usize) {
    __lr_read(block, 8, line!());
}

fn write(block: usize) {
    __lr_write(block, 8, line!());
}

fn free(block: usize) {
    __lr_libc_free(block as *mut u8);
}

/// Passes a block by the first word.
fn give(words: Words, block: usize, order: Order) {
    words.store_with(0, block as u64, order);
}

/// Uses the block that was passed, if one was.
fn take(words: Words, order: Order, uses: fn(usize)) {
    let block = words.load_with(0, order) as usize;
    if block != 0 {
        uses(block);
    }
}

/// Each way to judge races finds one.
#[track_caller]
fn races(program: Program, environment: Environment) {
    for strategy in [Strategy::Dpor, Strategy::Transactions] {
        let found = search_in(program, environment, strategy, false);
        let kinds: Vec<BugKind> = found.findings.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [BugKind::DataRace], "{strategy:?}");
    }
}

/// A thread allocates a block and passes it to main, which uses it.
fn passes(words: Words, uses: fn(usize)) -> i32 {
    let thread = words.spawn(|words| give(words, allocate(), Order::Relaxed));
    take(words, Order::Relaxed, uses);
    words.join(thread);
    0
}

/// The same, where the use comes after the allocation.
fn passes_in_order(words: Words, uses: fn(usize)) -> i32 {
    let thread = words.spawn(|words| give(words, allocate(), Order::Release));
    take(words, Order::Acquire, uses);
    words.join(thread);
    0
}

#[test]
fn whoever_uses_a_block_comes_after_its_allocation() {
    let wrong_ones: [Program; 3] =
        [|words| passes(words, read), |words| passes(words, write), |words| passes(words, free)];
    let right_ones: [Program; 3] = [
        |words| passes_in_order(words, read),
        |words| passes_in_order(words, write),
        |words| passes_in_order(words, free),
    ];
    for program in wrong_ones {
        races(program, Environment::USUAL);
    }
    for program in right_ones {
        complete(&explore(program));
        complete(&explore_in(program, REUSE));
    }
}

#[test]
fn a_place_from_before_the_first_thread_that_is_given_out_again_is_a_new_block() {
    fn program(words: Words) -> i32 {
        free(allocate());
        let thread = words.spawn(|words| take(words, Order::Relaxed, read));
        give(words, allocate(), Order::Relaxed);
        words.join(thread);
        0
    }
    fn old(words: Words) -> i32 {
        let block = allocate();
        let thread = words.spawn(|words| take(words, Order::Relaxed, read));
        give(words, block, Order::Relaxed);
        words.join(thread);
        0
    }
    races(program, REUSE);
    complete(&explore(old));
}

#[test]
fn with_reuse_a_place_has_the_allocation_of_the_block_that_is_there() {
    // A thread frees main's block, which main sees, and gets its place.
    fn frees(words: Words) {
        free(words.read(1) as usize);
        words.store_with(2, 1, Order::Release);
    }
    fn uses(words: Words, order: Order) {
        if words.load_with(2, Order::Acquire) == 1 {
            take(words, order, read);
        }
    }
    fn unordered(words: Words) -> i32 {
        words.write(1, allocate() as u64);
        let thread = words.spawn(|words| {
            frees(words);
            give(words, allocate(), Order::Relaxed);
        });
        uses(words, Order::Relaxed);
        words.join(thread);
        0
    }
    fn ordered(words: Words) -> i32 {
        words.write(1, allocate() as u64);
        let thread = words.spawn(|words| {
            frees(words);
            give(words, allocate(), Order::Release);
        });
        uses(words, Order::Acquire);
        words.join(thread);
        0
    }
    races(unordered, REUSE);
    complete(&explore_in(ordered, REUSE));
}
