//! POSIX threads: creation, end, joining, attributes, names and keys.

use crate::machine::config::Mode;
use crate::machine::event::Event;
use crate::machine::execution::Exit;
use crate::machine::hook::{self, Entered};
use crate::machine::operation::Pending;
use crate::machine::state::State;
use crate::machine::state::leave;
use crate::machine::thread::{Destructor, Start, Thread};
use crate::memory::arena::Region;
use crate::memory::heap;
use crate::scheduler::event;
use crate::scheduler::stops::stop;
use lockred_protocol::sites::SiteId;
use std::ffi::CStr;

/// Rounds of key destructors, as POSIX asks for at least.
const KEY_ROUNDS: usize = 4;
/// How much more stack a thread gets than it asks for: instrumented code is optimised little, and
/// its frames are larger.
const STACK_FACTOR: usize = 4;
/// Stack size of a thread whose attributes name none.
const DEFAULT_STACK: usize = 2 << 20;

type Routine = unsafe extern "C" fn(*mut u8) -> *mut u8;

/// Number of the thread that a `pthread_t` names: the base of its region.
fn number(state: &State, handle: usize) -> Option<u32> {
    let threads = &state.execution.threads;
    threads.iter().position(|thread| thread.region.base() == handle).map(|index| index as u32)
}

/// No system has room for a larger stack.
const ADDRESS_SPACE: usize = 1 << 47;

/// pthread_create.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_create(
    handle: *mut usize,
    attributes: *const usize,
    routine: Routine,
    argument: *mut u8,
) -> i32 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    if std::mem::take(&mut entered.refuse_thread) {
        return libc::EAGAIN;
    }
    // SAFETY: the attributes were initialised by `__lr_libc_pthread_attr_init`, which keeps the
    // stack size in the first word.
    let stack = if attributes.is_null() { DEFAULT_STACK } else { unsafe { *attributes } };
    if stack > ADDRESS_SPACE {
        return libc::EAGAIN;
    }
    crate::machine::loops::leave_loop(entered, SiteId(0));
    stop(
        entered,
        Pending::Spawn,
        [handle as usize, attributes as usize, routine as usize, argument as usize]
            .map(|passed| passed as u64),
        SiteId(0),
    );
    let state = &mut **entered;
    let parent = state.thread_number();
    let ordinal = state.thread().children;
    state.thread().children += 1;
    let own = state.thread().region;
    let region = state.knowledge.regions.of_child(own, ordinal);
    let region = region.unwrap_or_else(|| {
        crate::machine::limits::unsupported(state, "more than 512 nested threads")
    });
    let child = state.execution.threads.len() as u32;
    crate::memory::arena::ensure(region, stack.saturating_mul(STACK_FACTOR))
        .unwrap_or_else(|why| crate::machine::limits::impossible(state, &why));
    // SAFETY: the region belongs to the new thread, which has not run.
    unsafe { heap::reset(region) };
    let mut thread = Thread::new(region, Some(parent), Some(Start { routine, argument }));
    thread.handle.tls = crate::memory::thread_locals::create(region);
    thread.handle.errno = crate::memory::thread_locals::create_errno(region);
    // SAFETY: the region is the new thread's, mapped, and nothing of its stack is in use.
    unsafe { crate::coroutine::scrub::below(region.end()) };
    // SAFETY: the region's end is the top of its unused stack, and page aligned.
    thread.stack_pointer =
        unsafe { crate::coroutine::context::prepare(region.end(), bottom, child as usize) };
    let known =
        state.knowledge.created.get(region.0 as usize).is_some_and(|stack| !stack.is_empty());
    if state.config.mode == Mode::Replay || !known {
        let stack = crate::coroutine::unwind::stack();
        if state.config.mode == Mode::Replay {
            thread.created.clone_from(&stack);
        }
        if state.knowledge.created.len() <= region.0 as usize {
            state.knowledge.created.resize(region.0 as usize + 1, Vec::new());
        }
        state.knowledge.created[region.0 as usize] = stack;
    }
    state.execution.threads.push(thread);
    state.execution.signals.created(parent, child);
    state.execution.processors.created(parent, child);
    state.execution.live += 1;
    event::notify(entered, &Event::Created { child, region });
    // SAFETY: the program passes a place for the handle. Written by the creator before the new
    // thread runs.
    unsafe { *handle = region.base() };
    0
}

/// The bottom function of every thread but main.
extern "C" fn bottom(number: usize) -> ! {
    let entered = &mut hook::enter();
    let start = entered.execution.threads[number].handle.start;
    let start = start.unwrap_or_else(|| {
        crate::session::files::fatal("a thread without a start routine was run")
    });
    // SAFETY: the program's own start routine and argument; std's catches every panic.
    let result = entered.outside(|| unsafe { (start.routine)(start.argument) });
    entered.execution.threads[number].handle.result = result;
    run_destructors(entered);
    end(entered);
}

/// The running thread has ended.
pub fn end(entered: &mut Entered) -> ! {
    let number = entered.thread_number();
    if number != 0 && entered.below_root {
        let thread = entered.thread();
        let (region, tls, used) = (thread.region, thread.handle.tls as usize, thread.stack_used);
        if used {
            crate::hooks::memory_safety::leaves_stack(entered, region);
        }
        // Its own block, which is alive until now.
        let _ = heap::free(region, tls, heap::Reuse::Late);
    }
    event::notify(entered, &Event::Ends);
    // What is still to be seen on its stack, where it is main's: what called the function that
    // ended the process.
    let here = 0_u8;
    let state = &mut **entered;
    state.thread().stack_pointer = (&raw const here) as usize;
    state.thread().pending = Pending::Ended;
    state.execution.live -= 1;
    leave(state)
}

/// Runs the running thread's thread-local destructors (last registered first, those that they
/// register too) and then those of its keys.
pub fn run_destructors(entered: &mut Entered) {
    while let Some(Destructor { function, argument }) = entered.thread().handle.destructors.pop() {
        // SAFETY: registered by the program for this thread, and run once.
        entered.outside(|| unsafe { function(argument) });
    }
    for _ in 0..KEY_ROUNDS {
        let mut any = false;
        let mut key = 0;
        while key < entered.thread().handle.keys.len() {
            let value =
                std::mem::replace(&mut entered.thread().handle.keys[key], std::ptr::null_mut());
            let destructor = entered.execution.keys.get(key).copied().flatten().flatten();
            if let (Some(destructor), false) = (destructor, value.is_null()) {
                any = true;
                // SAFETY: the key's destructor, with this thread's value.
                entered.outside(|| unsafe { destructor(value) });
            }
            key += 1;
        }
        while let Some(Destructor { function, argument }) =
            entered.thread().handle.destructors.pop()
        {
            // SAFETY: as above.
            entered.outside(|| unsafe { function(argument) });
        }
        if !any {
            break;
        }
    }
}

/// pthread_join.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_join(handle: usize, result: *mut *mut u8) -> i32 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    let Some(target) = number(entered, handle) else { return libc::ESRCH };
    if target == entered.thread_number() {
        return libc::EDEADLK;
    }
    crate::machine::loops::leave_loop(entered, SiteId(0));
    stop(entered, Pending::Join { target }, [result as u64, 0, 0, 0], SiteId(0));
    let state = &mut **entered;
    let joined = &mut state.execution.threads[target as usize];
    joined.handle.joined = true;
    let region = joined.region;
    event::notify(entered, &Event::Joined { target, region });
    if !result.is_null() {
        // SAFETY: the program passes a place for the result.
        unsafe { *result = entered.execution.threads[target as usize].handle.result };
    }
    0
}

/// pthread_detach.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_detach(handle: usize) -> i32 {
    let entered = &mut hook::enter();
    match number(entered, handle) {
        Some(number) => {
            entered.execution.threads[number as usize].handle.detached = true;
            0
        }
        None => libc::ESRCH,
    }
}

/// pthread_self.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_self() -> usize {
    match hook::enter_if_ready() {
        Some(state) if !state.execution.threads.is_empty() => state.running_thread().region.base(),
        _ => Region::MAIN.base(),
    }
}

/// pthread_equal.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_equal(a: usize, b: usize) -> i32 {
    i32::from(a == b)
}

/// pthread_exit.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_exit(_result: *mut u8) -> ! {
    let entered = &mut hook::enter();
    crate::machine::limits::unsupported(entered, "pthread_exit")
}

/// pthread_attr_init: our attributes are the stack size alone, in the first word.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_attr_init(attributes: *mut usize) -> i32 {
    // SAFETY: the program passes a pthread_attr_t, which has room for a word.
    unsafe { *attributes = DEFAULT_STACK };
    0
}

/// pthread_attr_destroy.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_attr_destroy(_attributes: *mut usize) -> i32 {
    0
}

/// pthread_attr_setstacksize.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_attr_setstacksize(attributes: *mut usize, size: usize) -> i32 {
    // SAFETY: as in `__lr_libc_pthread_attr_init`.
    unsafe { *attributes = size };
    0
}

/// pthread_attr_setguardsize.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_attr_setguardsize(
    _attributes: *mut usize,
    _size: usize,
) -> i32 {
    0
}

/// pthread_attr_getguardsize.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_attr_getguardsize(
    _attributes: *const usize,
    size: *mut usize,
) -> i32 {
    // SAFETY: the program passes a place for the size.
    unsafe { *size = 4096 };
    0
}

/// pthread_getattr_np: not known, which std takes as "no guard page to look for".
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_getattr_np(_thread: usize, _attributes: *mut usize) -> i32 {
    libc::ENOSYS
}

/// pthread_attr_getstack: see `pthread_getattr_np`.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_attr_getstack(
    _attributes: *const usize,
    _address: *mut usize,
    _size: *mut usize,
) -> i32 {
    libc::ENOSYS
}

/// pthread_setname_np.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_setname_np(
    handle: usize,
    name: *const std::ffi::c_char,
) -> i32 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    if let Some(number) = number(entered, handle) {
        // SAFETY: the program passes a C string.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
        entered.execution.threads[number as usize].handle.name = Some(name);
    }
    0
}

/// pthread_getname_np.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_getname_np(
    handle: usize,
    buffer: *mut u8,
    length: usize,
) -> i32 {
    let entered = &mut hook::enter();
    let Some(number) = number(entered, handle) else { return libc::ESRCH };
    let name = entered.execution.threads[number as usize].handle.name.clone().unwrap_or_default();
    if name.len() + 1 > length {
        return libc::ERANGE;
    }
    // SAFETY: the program's buffer has `length` bytes, which is enough.
    unsafe {
        std::ptr::copy_nonoverlapping(name.as_ptr(), buffer, name.len());
        *buffer.add(name.len()) = 0;
    }
    0
}

/// pthread_key_create.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_key_create(
    key: *mut u32,
    destructor: Option<unsafe extern "C" fn(*mut u8)>,
) -> i32 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    let keys = &mut entered.execution.keys;
    keys.push(Some(destructor));
    // SAFETY: the program passes a place for the key.
    unsafe { *key = keys.len() as u32 - 1 };
    0
}

/// pthread_key_delete.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_key_delete(key: u32) -> i32 {
    let entered = &mut hook::enter();
    match entered.execution.keys.get_mut(key as usize) {
        Some(slot) => {
            *slot = None;
            0
        }
        None => libc::EINVAL,
    }
}

/// pthread_setspecific.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_setspecific(key: u32, value: *mut u8) -> i32 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    let values = &mut entered.thread().handle.keys;
    if values.len() <= key as usize {
        values.resize(key as usize + 1, std::ptr::null_mut());
    }
    values[key as usize] = value;
    0
}

/// pthread_getspecific.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_pthread_getspecific(key: u32) -> *mut u8 {
    let entered = &mut hook::enter();
    entered.thread().handle.keys.get(key as usize).copied().unwrap_or(std::ptr::null_mut())
}

/// __cxa_thread_atexit_impl: a thread-local destructor.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc___cxa_thread_atexit_impl(
    function: unsafe extern "C" fn(*mut u8),
    argument: *mut u8,
    _library: *mut u8,
) -> i32 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    entered.thread().handle.destructors.push(Destructor { function, argument });
    0
}

/// sched_yield: a pause.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_sched_yield() -> i32 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    if entered.below_root {
        crate::scheduler::pauses::pause(entered, SiteId(0));
    }
    0
}

/// Records the first exit of the process.
pub fn exited(state: &mut State, status: i32, returned: bool) {
    let thread = state.thread_number();
    if state.execution.exit.is_none() {
        state.execution.exit = Some(Exit { status, thread, returned });
    }
}
