//! Signals: faults of the program end its execution, those of the runtime are errors of ours, and
//! the session has one to ask with.
//!
//! Handlers run on a stack of their own. A fault in the program does not return into it: the
//! handler sets the interrupted context to go on in the explorer.

use crate::coroutine::unwind;
use crate::machine::hook;
use crate::machine::state::State;
use crate::machine::state::end_execution;
use crate::record::failure::Failure;
use crate::record::failure::place;
use crate::scheduler::stops::running;
use crate::session::files::StatusPage;
use crate::world::signal_names::{FAULTS, name};
use lockred_protocol::codes::BugKind;
use lockred_protocol::message::{Role, Unsupported};
use lockred_protocol::session::STOP_SIGNAL;
use lockred_protocol::sites::SiteId;
use lockred_search::machine::Flow;

const STACK: usize = 256 << 10;
/// Where the handlers' stack is: below the arena, far from everything else.
const STACK_AT: usize = 0x0f10_0000_0000;

/// Installs the handlers.
pub fn install() {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    let wanted = std::ptr::with_exposed_provenance_mut(STACK_AT);
    // SAFETY: MAP_FIXED_NOREPLACE never replaces an existing mapping.
    let stack = unsafe { libc::mmap(wanted, STACK, protection, flags, -1, 0) };
    if stack != wanted {
        crate::session::files::fatal("the address range of the signal stack is occupied");
    }
    let alternate = libc::stack_t { ss_sp: stack, ss_flags: 0, ss_size: STACK };
    // SAFETY: the stack lives for ever.
    unsafe { libc::sigaltstack(&alternate, std::ptr::null_mut()) };
    for signal in FAULTS {
        handle(signal, fault as *const () as usize);
    }
    handle(STOP_SIGNAL, crate::faults::leaving::asked as *const () as usize);
}

/// Takes the handlers away: the process is not the one that explores.
pub fn reset() {
    for signal in FAULTS.into_iter().chain([STOP_SIGNAL]) {
        // SAFETY: the default action needs no handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    crate::world::outside::end();
    crate::faults::leaving::forget();
}

/// Has the kernel call a handler, which takes a signal's information, on the stack of handlers.
pub fn handle(signal: i32, handler: usize) {
    // SAFETY: all-zero bytes are a valid action, and the handler has the signature of SA_SIGINFO.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        libc::sigaction(signal, &action, std::ptr::null_mut());
    }
}

extern "C" fn fault(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::ucontext_t) {
    // SAFETY: the kernel passes a valid context and a valid siginfo.
    let (pointer, instruction, address) = unsafe {
        let registers = &(*context).uc_mcontext.gregs;
        let register = |number: i32| registers[number as usize] as usize;
        (register(libc::REG_RSP), register(libc::REG_RIP), (*info).si_addr() as usize)
    };
    if (STACK_AT..STACK_AT + STACK).contains(&pointer) {
        // A fault in this handler: the program has overwritten what it needs. The session has been
        // notified of the first one.
        die();
    }
    if signal == libc::SIGTRAP && crate::faults::leaving::stepped(context) {
        return;
    }
    let status = StatusPage::of_the_dying();
    status.dies(signal, address, instruction);
    // Where the stack has ended, there is nothing to be read at its pointer.
    if address.abs_diff(pointer) >= crate::memory::arena::GUARD_BYTES {
        status.dies_below(&crate::faults::overflow::callers(instruction, pointer));
    }
    let Some(number) = running() else { die() };
    if signal == libc::SIGTRAP && crate::faults::overflow::stepped(number, context) {
        return status.survives();
    }
    // SAFETY: the kernel passes a valid context.
    if crate::faults::overflow::goes_on(address, unsafe { &mut *context }) {
        return status.survives();
    }
    status.dies_in(number);
    // What an allocation of ours has left by half must not be used any more, so nothing can be
    // reported from here.
    if crate::faults::overflow::is_under_way()
        || !in_program(instruction) && unwind::is_below(&allocating())
    {
        die();
    }
    if matches!(signal, libc::SIGSEGV | libc::SIGBUS) {
        return_from_nowhere(address, context);
    }
    status.dies_below(&unwind::stack());
    // SAFETY: the thread goes no further, nor do the hooks that it is in.
    let Some(entered) = &mut (unsafe { hook::take_over() }) else { die() };
    let state = &mut **entered;
    let stack = crate::report::record::stack(state);
    // SAFETY: the kernel passes a valid context.
    let error = unsafe { (&(*context).uc_mcontext.gregs)[libc::REG_ERR as usize] };
    record_death(state, number, signal, Some((address, does(error))), stack);
    status.survives();
    go_on_in_explorer(state, context);
}

/// Whether an instruction is the program's own.
fn in_program(instruction: usize) -> bool {
    crate::memory::program::text().contains(&instruction)
}

/// The functions of libc that the runtime allocates with.
fn allocating() -> [usize; 5] {
    [
        libc::malloc as *const () as usize,
        libc::calloc as *const () as usize,
        libc::realloc as *const () as usize,
        libc::posix_memalign as *const () as usize,
        libc::free as *const () as usize,
    ]
}

/// The process ends at once: it was no fault of the program that an execution could end with, or
/// the program has overwritten the runtime's memory. The session finds in the status file what led
/// here. Nothing but the kernel is asked, as libc's memory may be overwritten, too.
fn die() -> ! {
    // SAFETY: two system calls that take integers; a process may kill itself.
    unsafe {
        std::arch::asm!(
            "syscall",
            "mov edi, eax",
            "mov esi, {kill}",
            "mov eax, {send}",
            "syscall",
            "ud2",
            in("eax") libc::SYS_getpid as i32,
            kill = const libc::SIGKILL,
            send = const libc::SYS_kill as i32,
            options(noreturn),
        )
    }
}

/// A call of what is no code: the context becomes that of the caller, whom the unwinder knows.
fn return_from_nowhere(address: usize, context: *mut libc::ucontext_t) {
    // SAFETY: the kernel passes a valid context. The stack pointer is one into a stack of the
    // arena, which is mapped above it.
    unsafe {
        let registers = &mut (*context).uc_mcontext.gregs;
        let pointer = registers[libc::REG_RSP as usize] as usize;
        let called = registers[libc::REG_RIP as usize] as usize == address;
        if called && crate::memory::arena::range().contains(&pointer) && pointer.is_multiple_of(8) {
            registers[libc::REG_RIP as usize] = *(pointer as *const i64);
            registers[libc::REG_RSP as usize] += 8;
        }
    }
}

/// Makes the interrupted context go on in the explorer once the handler returns.
pub fn go_on_in_explorer(state: &State, context: *mut libc::ucontext_t) {
    let explorer = state.explorer as i64;
    // SAFETY: the kernel passes a valid context and uses it when the handler returns. The code at
    // the resume address takes the explorer's stack pointer, saved by `run`, from rdi.
    unsafe {
        let registers = &mut (*context).uc_mcontext.gregs;
        registers[libc::REG_RDI as usize] = explorer;
        registers[libc::REG_RSP as usize] = explorer;
        registers[libc::REG_RIP as usize] = crate::coroutine::context::resume_address() as i64;
    }
}

/// What a page fault with this error code (Intel SDM volume 3, section 4.7) is about.
const fn does(error: i64) -> &'static str {
    const WRITE: i64 = 1 << 1;
    const FETCH: i64 = 1 << 4;
    match error {
        _ if error & FETCH != 0 => "calls",
        _ if error & WRITE != 0 => "writes",
        _ => "reads",
    }
}

/// The running thread dies of a signal; `fault`: of what it did at this address.
pub fn record_death(
    state: &mut State,
    number: u32,
    signal: i32,
    fault: Option<(usize, &'static str)>,
    stack: Vec<u64>,
) {
    if fault.is_some() && state.execution.signals.has_handler(signal) {
        let message = format!("the handler of {}, which a fault would run", name(signal));
        let stack = if stack.is_empty() { crate::coroutine::unwind::stack() } else { stack };
        state.verdicts.unsupported = Some(Unsupported { message, site: SiteId(0), stack });
        state.step.flow = Flow::Unsupported;
        return;
    }
    let overflow = fault.is_some_and(|(address, _)| crate::memory::arena::is_guard(address));
    let message = match fault {
        _ if overflow => format!("thread {number} overflows its stack"),
        Some((address, does)) if matches!(signal, libc::SIGSEGV | libc::SIGBUS) => {
            format!("{}: thread {number} {does} address {address:#x}", name(signal))
        }
        _ => format!("{} in thread {number}", name(signal)),
    };
    let mut place = place(Role::Died, number, SiteId(0));
    place.stack = stack;
    place.step = Some(crate::report::record::steps(state));
    let what = if overflow { "stack overflow".to_owned() } else { name(signal) };
    state.step.failures.push(Failure::new(BugKind::Signal, message, &what).at(place));
    state.step.flow = Flow::Over;
}

/// The running thread dies of a signal that it sent itself.
pub fn died(state: &mut State, signal: i32) -> ! {
    let stack = crate::report::record::stack(state);
    let number = state.thread_number();
    record_death(state, number, signal, None, stack);
    end_execution(state, Flow::Over)
}
