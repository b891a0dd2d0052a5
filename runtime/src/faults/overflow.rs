//! Stacks that end inside of the runtime's own functions.
//!
//! The program calls them on its own stack, which may end there as well as between two calls. A
//! function of the runtime cannot be left in the middle, as what it works on is not the program's
//! alone: a part of the guard is lent to it, and it goes on instruction by instruction, until it
//! returns to the program or switches to the explorer. There the thread dies of its overflow. (What
//! libc does for the program, as copying memory, is gone through like that, too.)

use crate::faults::signals;
use crate::machine::hook;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The trap flag: the processor stops after every instruction.
pub const STEP: i64 = 1 << 8;

/// Where a stack has ended inside of the runtime, which is about to return: in its guard. 0:
/// nowhere.
static ENDED: AtomicUsize = AtomicUsize::new(0);

/// Whether a stack has ended inside of the runtime.
pub fn is_under_way() -> bool {
    ENDED.load(Ordering::Relaxed) != 0
}

/// Words of a stack that are looked at for return addresses.
const LOOKED_AT: usize = 512;
/// Return addresses that are wanted.
const CALLERS: usize = 16;

/// The instruction, and after it what looks like return addresses of the program on the stack,
/// which begins at `pointer`; zeros where there are no more. For a process whose own memory may be
/// overwritten: asks no memory but the stack.
pub fn callers(instruction: usize, pointer: usize) -> [u64; CALLERS] {
    let mut callers = [0; CALLERS];
    // Frames are return addresses: after what was executed.
    callers[0] = instruction as u64 + 1;
    let Some(region) = crate::memory::arena::Region::of_address(pointer) else { return callers };
    let end = region.end().min(pointer + LOOKED_AT * 8);
    let mut found = 1;
    for at in (pointer.next_multiple_of(8)..end).step_by(8) {
        // SAFETY: from its stack pointer to its end a stack is mapped.
        let word = unsafe { *(at as *const usize) };
        if crate::memory::program::text().contains(&word) && found < CALLERS {
            callers[found] = word as u64;
            found += 1;
        }
    }
    callers
}

/// The running thread has faulted at an address. Whether it goes on all the same for now. Whoever
/// has the state keeps it.
pub fn goes_on(address: usize, context: &mut libc::ucontext_t) -> bool {
    let registers = &mut context.uc_mcontext.gregs;
    let instruction = registers[libc::REG_RIP as usize] as usize;
    let lend = !is_under_way()
        && crate::memory::arena::is_guard(address)
        && !crate::memory::program::text().contains(&instruction);
    if lend {
        crate::memory::arena::lend(address);
        ENDED.store(address, Ordering::Relaxed);
        registers[libc::REG_EFL as usize] |= STEP;
    }
    lend
}

/// Where the process stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In a function that a thread has called: of the runtime, of libc, of a native library.
    Runtime,
    /// In the program's own code.
    Program,
    /// On no stack of the program.
    Explorer,
}

/// Where an interrupted context stands.
pub fn place(context: &libc::ucontext_t) -> Place {
    let register = |number: i32| context.uc_mcontext.gregs[number as usize] as usize;
    if !crate::memory::arena::range().contains(&register(libc::REG_RSP)) {
        Place::Explorer
    } else if crate::memory::program::text().contains(&register(libc::REG_RIP)) {
        Place::Program
    } else {
        Place::Runtime
    }
}

/// The processor has stopped after an instruction of this thread. Whether that was for us.
pub fn stepped(thread: u32, context: *mut libc::ucontext_t) -> bool {
    let address = ENDED.load(Ordering::Relaxed);
    if address == 0 {
        return false;
    }
    // SAFETY: the kernel passes a valid context and uses it when the handler returns.
    let interrupted = unsafe { &mut *context };
    let place = place(interrupted);
    if place == Place::Runtime {
        return true;
    }
    interrupted.uc_mcontext.gregs[libc::REG_EFL as usize] &= !STEP;
    ENDED.store(0, Ordering::Relaxed);
    crate::memory::arena::take_back(address);
    // The runtime has returned to the program, or has just switched to the explorer's stack: it has
    // given the state back.
    let state = &mut *hook::enter();
    let stack = match place {
        Place::Program => crate::report::record::stack(state),
        _ => state.execution.threads[thread as usize].stopped.clone(),
    };
    signals::record_death(state, thread, libc::SIGSEGV, Some((address, "writes")), stack);
    if place == Place::Program {
        signals::go_on_in_explorer(state, context);
    }
    true
}
