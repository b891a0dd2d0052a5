//! Programs and their memory: what a restore puts back, where blocks lie, and what is freed wrongly.

use super::hooks::Words;
use super::{explore, right, wrong};
use crate::memory::{__lr_libc_free, __lr_libc_malloc, __lr_libc_realloc};
use lockred_trace::codes::BugKind;
use lockred_trace::message::Stop;

#[test]
fn every_execution_begins_with_the_same_memory() {
    fn program(words: Words) -> i32 {
        words.write(5, 40);
        let on_stack = [1_u64; 8];
        let thread = words.spawn(|words| {
            words.add(0, 1);
        });
        words.add(0, 1);
        words.join(thread);
        words.write(5, words.read(5) + 1 + on_stack[3]);
        assert_eq!(words.read(5), 42, "nothing of another execution is left");
        assert_eq!(words.load(0), 2);
        0
    }
    right(program, 2);
}

#[test]
fn addresses_do_not_depend_on_the_interleaving() {
    fn allocate(words: Words, index: usize) {
        words.add(0, 1);
        let block = __lr_libc_realloc(__lr_libc_malloc(24), 500);
        words.store(index, block as u64);
        words.add(0, 1);
    }
    fn program(words: Words) -> i32 {
        let threads =
            [words.spawn(|words| allocate(words, 1)), words.spawn(|words| allocate(words, 2))];
        words.join_all(&threads);
        // The search would end with nondeterminism if these were not alike under all of the six orders.
        words.store(3, words.load(1) ^ words.load(2));
        0
    }
    let found = explore(program);
    assert_eq!((found.stop, found.counts.executions), (Stop::Complete, 6));
}

#[test]
fn a_block_freed_twice_is_told_with_its_place() {
    fn program(_: Words) -> i32 {
        let block = __lr_libc_malloc(24);
        __lr_libc_free(block);
        __lr_libc_free(block);
        0
    }
    let replay = wrong(program, BugKind::DoubleFree);
    assert!(!replay.bug.unwrap().places[0].stack.is_empty());
}

#[test]
fn a_block_freed_twice_in_some_orders_is_found() {
    fn free_once(words: Words) {
        let block = words.load(1);
        if block != 0 {
            words.store(1, 0);
            __lr_libc_free(block as *mut u8);
        }
    }
    fn program(words: Words) -> i32 {
        words.store(1, __lr_libc_malloc(24) as u64);
        let thread = words.spawn(free_once);
        free_once(words);
        words.join(thread);
        0
    }
    // Two frees that nothing orders are a race before they are more.
    let found = explore(program);
    assert!(matches!(found.findings[0].kind, BugKind::DoubleFree | BugKind::DataRace));
}

#[test]
fn freeing_while_another_reads_is_a_race() {
    fn program(words: Words) -> i32 {
        let block = __lr_libc_malloc(24);
        words.store(1, block as u64);
        let thread = words.spawn(|words| {
            crate::plain::__lr_read(words.load(1) as usize, 8, 1);
        });
        __lr_libc_free(block);
        words.join(thread);
        0
    }
    wrong(program, BugKind::DataRace);
}
