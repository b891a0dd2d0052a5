//! Programs and their memory: what a restore puts back, where blocks lie, and what is freed
//! wrongly.

use super::hooks::Words;
use super::{
    Program, by_hand, complete, explore, explore_in, right, search, search_in, wrong, wrong_in,
};
use crate::hooks::blocks::{__lr_libc_calloc, __lr_libc_free, __lr_libc_malloc, __lr_libc_realloc};
use crate::machine::hook;
use crate::memory::pages::PAGE;
use lockred_protocol::codes::{BugKind, WarningKind};
use lockred_protocol::hooks::Order;
use lockred_protocol::message::{Bug, Role, Stop};
use lockred_protocol::session::{Environment, Strategy};

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

/// Blocks that are large enough for an image of the root.
const LARGE: usize = 4 << 20;

/// A block whose every word is its own address, but for what is written of it; checked by each
/// writer.
fn write_to_large(words: Words, step: usize) {
    let block = words.load(1) as usize;
    for at in (block..block + LARGE).step_by(step) {
        // SAFETY: a word of a live block, which one thread uses at a time.
        let word = unsafe { &mut *(at as *mut usize) };
        assert_eq!(*word & !7, at, "nothing of another execution is left");
        *word += 1;
    }
}

fn large_before_the_first_thread(words: Words) -> i32 {
    let block = __lr_libc_malloc(LARGE) as usize;
    for at in (block..block + LARGE).step_by(8) {
        // SAFETY: a word of a live block.
        unsafe { (at as *mut usize).write(at) };
    }
    let dead = __lr_libc_malloc(LARGE);
    // SAFETY: a live block.
    unsafe { dead.write_bytes(7, LARGE) };
    __lr_libc_free(dead);
    words.store(1, block as u64);
    let threads = [
        words.spawn(|words| {
            words.lock(0);
            write_to_large(words, 1 << 20);
            words.unlock(0);
        }),
        words.spawn(|words| {
            words.lock(0);
            write_to_large(words, 3 << 18);
            words.unlock(0);
        }),
    ];
    words.join_all(&threads);
    let (imaged, copies_all) = hook::with(|state| {
        let imaged = crate::machine::root::is_imaged(state, &(block + PAGE..block + 2 * PAGE));
        (imaged, crate::machine::root::copies_all(state))
    });
    assert_ne!(imaged, copies_all, "there is an image, unless it was not wanted");
    let zeroed = __lr_libc_calloc(1, LARGE);
    assert_eq!(zeroed, dead, "the block is handed out again");
    // SAFETY: a live block.
    let mut bytes = unsafe { std::slice::from_raw_parts(zeroed, LARGE) }.iter();
    assert!(bytes.all(|&byte| byte == 0), "calloc gives zeros");
    0
}

#[test]
fn large_memory_is_put_back() {
    for without_images in [false, true] {
        let environment =
            Environment { verify_restores: true, without_images, ..Environment::default() };
        for strategy in [Strategy::Dpor, Strategy::Transactions, Strategy::Stateful] {
            complete(&search_in(large_before_the_first_thread, environment, strategy, false));
        }
    }
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
        // The search would end with nondeterminism if these were not alike under all of the six
        // orders.
        words.store(3, words.load(1) ^ words.load(2));
        0
    }
    let found = explore(program);
    assert_eq!((found.stop, found.counts.executions), (Stop::Complete, 6));
}

#[test]
fn a_block_freed_twice_is_reported_with_its_whole_life() {
    fn program(words: Words) -> i32 {
        let block = __lr_libc_malloc(24);
        words.store(1, block as u64);
        let thread = words.spawn(|words| __lr_libc_free(words.load(1) as *mut u8));
        words.join(thread);
        __lr_libc_free(block);
        0
    }
    let replay = wrong(program, BugKind::DoubleFree);
    let bug = replay.bug.unwrap();
    assert_eq!(bug.message, "a block of 24 bytes is freed twice");
    assert_eq!(roles(&bug), [(Role::Frees, 0), (Role::Freed, 1), (Role::Allocated, 0)]);
    assert!(bug.places.iter().all(|place| !place.stack.is_empty()));
}

#[test]
fn what_is_freed_and_is_no_block_is_described() {
    fn interior(words: Words) -> i32 {
        words.join(words.spawn(|_| {}));
        __lr_libc_free(__lr_libc_malloc(100).wrapping_add(32));
        0
    }
    let bug = wrong(interior, BugKind::DoubleFree).bug.unwrap();
    assert_eq!(bug.message, "memory is freed that is no block: 32 bytes into a block of 100 bytes");
    assert_eq!(roles(&bug), [(Role::Frees, 0), (Role::Allocated, 0)]);

    fn on_the_stack(words: Words) -> i32 {
        let mut local = 0_u64;
        words.join(words.spawn(|_| {}));
        __lr_libc_free((&raw mut local).cast());
        0
    }
    let bug = wrong(on_the_stack, BugKind::DoubleFree).bug.unwrap();
    assert_eq!(bug.message, "memory is freed that was never allocated");
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

/// A plain read of a block whose address is in a word.
#[track_caller]
fn read(words: Words, index: usize, offset: usize, size: usize) {
    let line = std::panic::Location::caller().line();
    crate::hooks::plain::__lr_read(words.load(index) as usize + offset, size, line);
}

#[test]
fn reading_before_another_frees_is_a_race() {
    fn program(words: Words) -> i32 {
        words.store(1, __lr_libc_malloc(24) as u64);
        let thread = words.spawn(|words| {
            words.lock(2);
            __lr_libc_free(words.load(1) as *mut u8);
            words.unlock(2);
        });
        read(words, 1, 0, 8);
        words.join(thread);
        0
    }
    let bug = wrong(program, BugKind::DataRace).bug.unwrap();
    let expected = [(Role::Read, 0), (Role::Frees, 1), (Role::Held, 1), (Role::Allocated, 0)];
    assert_eq!(roles(&bug), expected);
}

#[test]
fn reading_after_a_free_is_a_use_after_free_also_where_nothing_orders_them() {
    fn program(words: Words) -> i32 {
        let block = __lr_libc_malloc(24);
        words.store(1, block as u64);
        let thread = words.spawn(|words| read(words, 1, 0, 8));
        __lr_libc_free(block);
        words.join(thread);
        0
    }
    let bug = wrong(program, BugKind::UseAfterFree).bug.unwrap();
    assert_eq!(bug.notes, ["nothing orders the deallocation and this access"]);
}

#[test]
fn a_use_after_the_join_of_who_freed_is_found_while_main_is_alone() {
    fn program(words: Words) -> i32 {
        words.lock(2);
        words.store(1, __lr_libc_malloc(24) as u64);
        words.unlock(2);
        let thread = words.spawn(|words| {
            words.lock(2);
            __lr_libc_free(words.load(1) as *mut u8);
            words.unlock(2);
        });
        words.join(thread);
        words.lock(3);
        read(words, 1, 20, 4);
        words.unlock(3);
        0
    }
    let bug = wrong(program, BugKind::UseAfterFree).bug.unwrap();
    assert_eq!(bug.message, "thread 0 reads 4 bytes of a block of 24 bytes that was freed");
    let expected = [
        (Role::Read, 0),
        (Role::Holds, 0),
        (Role::Freed, 1),
        (Role::Held, 1),
        (Role::Allocated, 0),
    ];
    assert_eq!(roles(&bug), expected);
    assert_eq!(bug.notes, [""; 0]);
    for strategy in [Strategy::Naive, Strategy::Random { seed: 1 }] {
        let found = search(program, strategy, false);
        assert_eq!(found.findings[0].kind, BugKind::UseAfterFree);
    }
}

#[test]
fn atomic_operations_on_freed_memory_are_found() {
    fn program(words: Words) -> i32 {
        let block = __lr_libc_malloc(24);
        let there = Words(block.cast());
        words.store(1, block as u64);
        let thread = words.spawn(|words| {
            let there = Words(words.load(1) as *mut u64);
            there.store(0, 1);
            there.add(1, 1);
        });
        words.join(thread);
        __lr_libc_free(block);
        there.load(1);
        0
    }
    let bug = wrong(program, BugKind::UseAfterFree).bug.unwrap();
    assert_eq!(roles(&bug)[0], (Role::AtomicRead, 0));
}

#[test]
fn a_block_that_moved_is_gone() {
    fn program(words: Words) -> i32 {
        words.join(words.spawn(|_| {}));
        let block = __lr_libc_malloc(40);
        let moved = __lr_libc_realloc(block, 40);
        assert_ne!(block, moved);
        crate::host::write(moved as usize, 40);
        crate::host::write(block as usize, 1);
        0
    }
    let bug = wrong(program, BugKind::UseAfterFree).bug.unwrap();
    assert_eq!(bug.message, "thread 0 writes 1 byte of a block of 40 bytes that was freed");
}

#[test]
fn accesses_beside_a_block_are_described() {
    fn behind(words: Words) -> i32 {
        words.store(1, __lr_libc_malloc(24) as u64);
        words.join(words.spawn(|words| read(words, 1, 24, 8)));
        0
    }
    fn farther(words: Words) -> i32 {
        words.store(1, __lr_libc_malloc(24) as u64);
        words.join(words.spawn(|words| read(words, 1, 33, 1)));
        0
    }
    fn across(words: Words) -> i32 {
        words.store(1, __lr_libc_malloc(100) as u64);
        words.join(words.spawn(|words| read(words, 1, 4, 97)));
        0
    }
    fn before(words: Words) -> i32 {
        words.store(1, __lr_libc_malloc(24) as u64 - 8);
        words.join(words.spawn(|words| read(words, 1, 0, 8)));
        0
    }
    let programs: [(Program, &str); 4] = [
        (behind, "reads 8 bytes, right after a block of 24 bytes"),
        (farther, "reads 1 byte, 9 bytes after a block of 24 bytes"),
        (across, "reads 97 bytes, across the end of a block of 100 bytes"),
        (before, "reads 8 bytes, 8 bytes before a block of 24 bytes"),
    ];
    for (program, seen) in programs {
        let bug = wrong(program, BugKind::OutOfBounds).bug.unwrap();
        assert_eq!(bug.message, format!("thread 1 {seen}"));
        assert_eq!(roles(&bug), [(Role::Read, 1), (Role::Allocated, 0)]);
    }
}

#[test]
fn what_an_execution_allocated_is_unknown_to_the_next_one() {
    fn program(words: Words) -> i32 {
        let old = __lr_libc_malloc(24) as usize;
        let thread = words.spawn(|words| {
            words.add(2, 1);
        });
        // After this block and the one that `spawn` made, each with its header and padding.
        let next = old + 112;
        if words.load(2) == 0 {
            assert_eq!(__lr_libc_malloc(24) as usize, next);
        } else {
            crate::host::read(next, 8);
        }
        words.join(thread);
        0
    }
    wrong(program, BugKind::OutOfBounds);
}

#[test]
fn the_stack_of_an_ended_thread_is_gone() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            let local = 0_u64;
            words.store(1, (&raw const local) as u64);
        });
        words.join(thread);
        read(words, 1, 0, 8);
        0
    }
    let bug = wrong(program, BugKind::UseAfterFree).bug.unwrap();
    assert!(bug.message.ends_with("of the stack of thread 1, which has ended"), "{}", bug.message);
}

#[test]
fn an_end_that_nothing_orders_with_a_use_of_the_stack_is_a_race() {
    fn publishes(words: Words) {
        let local = 0_u64;
        words.store(1, (&raw const local) as u64);
        words.add(2, 1);
    }
    fn program(words: Words) -> i32 {
        let thread = words.spawn(publishes);
        if words.load(1) != 0 {
            read(words, 1, 0, 8);
        }
        words.join(thread);
        0
    }
    let found = explore(program);
    assert!(matches!(found.findings[0].kind, BugKind::DataRace | BugKind::UseAfterFree));
    // Also where it is used first, so that both orders are explored.
    let steps = by_hand(program, &[0, 1, 1, 0, 0, 1]);
    let failures: Vec<BugKind> =
        steps.iter().flat_map(|step| &step.failures).map(|failure| failure.kind).collect();
    assert_eq!(failures, [BugKind::DataRace]);

    fn waits(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            let local = 0_u64;
            words.store(1, (&raw const local) as u64);
            words.join(words.spawn(|words| read(words, 1, 0, 8)));
        });
        words.join(thread);
        0
    }
    complete(&explore(waits));
}

#[test]
fn the_stack_of_a_waiting_thread_is_there_but_for_what_it_has_left() {
    #[inline(never)]
    fn left() -> u64 {
        let local = [1_u64; 100];
        std::hint::black_box(&raw const local) as u64
    }
    fn there(words: Words) -> i32 {
        let local = 5_u64;
        words.store(1, (&raw const local) as u64);
        words.join(words.spawn(|words| read(words, 1, 0, 8)));
        0
    }
    fn gone(words: Words) -> i32 {
        // Far enough down that waiting does not use it again.
        words.store(1, left() - 100_000);
        words.join(words.spawn(|words| read(words, 1, 0, 8)));
        0
    }
    right(there, 1);
    let bug = wrong(gone, BugKind::UseAfterFree).bug.unwrap();
    assert!(bug.message.ends_with("of a function of thread 0 that has returned"));
}

#[test]
fn with_reuse_an_address_comes_back_to_the_thread_that_freed_it() {
    // Who has seen an address takes it for the same block when it sees it again.
    fn program(words: Words) -> i32 {
        words.store(1, __lr_libc_malloc(24) as u64);
        let thread = words.spawn(|words| {
            words.store(3, 1);
            __lr_libc_free(words.load(1) as *mut u8);
            words.store(1, __lr_libc_malloc(24) as u64);
            words.store(2, 1);
        });
        let seen = words.load(1);
        let is_old = words.load(3) == 0;
        let came_back = is_old && words.load(2) == 1 && words.load(1) == seen;
        words.join(thread);
        i32::from(came_back)
    }
    let in_order = |reuse| Environment { reuse, ..Environment::USUAL };
    complete(&explore_in(program, in_order(false)));
    wrong_in(program, in_order(true), BugKind::Exit);
}

#[test]
fn with_reuse_an_old_pointer_to_a_new_block_races_with_the_free() {
    fn program(words: Words) -> i32 {
        words.store(1, __lr_libc_malloc(24) as u64);
        let thread = words.spawn(|words| {
            __lr_libc_free(words.load(1) as *mut u8);
            words.store_with(2, __lr_libc_malloc(24) as u64, Order::Relaxed);
        });
        if words.load_with(2, Order::Relaxed) != 0 {
            read(words, 1, 0, 8);
        }
        words.join(thread);
        0
    }
    let reuse = Environment { reuse: true, ..Environment::USUAL };
    let bug = wrong_in(program, reuse, BugKind::DataRace).bug.unwrap();
    assert_eq!(roles(&bug)[..2], [(Role::Frees, 1), (Role::Read, 0)]);
    wrong(program, BugKind::UseAfterFree);
}

/// What the search warns of, where leaks are looked for.
fn leaks(program: fn(Words) -> i32) -> Vec<String> {
    let found = explore_in(program, Environment { leaks: true, ..Environment::USUAL });
    complete(&found);
    assert_eq!(explore(program).warnings, []);
    let leaks = found.warnings.into_iter().filter(|warning| warning.kind == WarningKind::Leak);
    leaks.map(|warning| warning.message).collect()
}

#[test]
fn blocks_that_nothing_points_to_are_leaks() {
    fn lost(words: Words) -> i32 {
        words.join(words.spawn(|_| {
            let inner = __lr_libc_malloc(40);
            let outer = Words(__lr_libc_malloc(24).cast());
            outer.write(1, inner as u64 + 8);
            for _ in 0..std::hint::black_box(2) {
                __lr_libc_malloc(100);
            }
        }));
        0
    }
    let expected = [
        "leak: a block of 24 bytes is still allocated at the end, and nothing points to it (1 more block is lost with it)",
        "leak: 2 blocks, 200 bytes together, are still allocated at the end, and nothing points to them",
    ];
    assert_eq!(leaks(lost), expected);

    fn cycle(words: Words) -> i32 {
        words.join(words.spawn(|_| {
            let (one, other) = (Words(__lr_libc_malloc(24).cast()), __lr_libc_malloc(24));
            one.write(0, other as u64);
            Words(other.cast()).write(2, one.at(0) as u64);
        }));
        0
    }
    assert_eq!(leaks(cycle).len(), 1);

    fn kept(words: Words) -> i32 {
        let old = __lr_libc_malloc(24);
        words.join(words.spawn(|words| {
            let block = Words(__lr_libc_malloc(24).cast());
            block.write(0, __lr_libc_malloc(8) as u64);
            words.write(9, block.at(0) as u64 + 16);
        }));
        __lr_libc_free(old);
        0
    }
    assert_eq!(leaks(kept), [""; 0]);
}

/// What the places of a bug show, and of whom.
fn roles(bug: &Bug) -> Vec<(Role, u32)> {
    bug.places.iter().map(|place| (place.role, place.thread)).collect()
}
