//! Stacks: return addresses and frames, by the unwinder.

use std::ffi::c_void;

/// Frames that a recorded stack keeps.
const DEPTH: usize = 64;

#[repr(C)]
struct Context(c_void);

unsafe extern "C" {
    fn _Unwind_Backtrace(
        callback: extern "C" fn(*mut Context, *mut c_void) -> i32,
        argument: *mut c_void,
    ) -> i32;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
    fn _Unwind_GetCFA(context: *mut Context) -> usize;
    fn _Unwind_GetGR(context: *mut Context, register: i32) -> usize;
    fn _Unwind_GetRegionStart(context: *mut Context) -> usize;
}

extern "C" fn collect(context: *mut Context, frames: *mut c_void) -> i32 {
    const GO_ON: i32 = 0;
    const END: i32 = 5;
    // SAFETY: `stack` passes its own live vector.
    let frames = unsafe { &mut *frames.cast::<Vec<u64>>() };
    // SAFETY: the unwinder calls back with a valid context.
    let address = unsafe { _Unwind_GetIP(context) };
    if address == 0 || frames.len() == DEPTH {
        return END;
    }
    frames.push(address as u64);
    GO_ON
}

/// Return addresses of the running stack, innermost first (the runtime's own frames included; they
/// have no user source).
pub fn stack() -> Vec<u64> {
    let mut frames = Vec::with_capacity(DEPTH);
    // SAFETY: the callback gets a live vector and stops by itself.
    unsafe { _Unwind_Backtrace(collect, (&raw mut frames).cast()) };
    frames
}

/// A walk through the running stack: its return addresses, innermost first, and where these lie.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Walk {
    /// As [`stack`] gives them.
    pub stack: Vec<u64>,
    /// Words of the stack with what they hold: all return addresses from some address up.
    words: Vec<(usize, u64)>,
}

impl Walk {
    /// Walks through the running stack; keeps the words above `pointer`, a stack pointer of the
    /// caller's.
    pub fn new(pointer: usize) -> Option<Self> {
        let mut walk = Self::default();
        // SAFETY: the callback gets a live value and stops by itself.
        unsafe { _Unwind_Backtrace(collect_walk, (&raw mut walk).cast()) };
        walk.words.retain(|&(address, _)| address >= pointer);
        // A frame that a signal has interrupted was not called.
        walk.is_as_it_was().then_some(walk)
    }

    /// Whether another walk from the same stack pointer would be the same.
    #[inline]
    pub fn is_as_it_was(&self) -> bool {
        // SAFETY: words of the running stack, above its pointer.
        self.words.iter().all(|&(address, value)| unsafe { *(address as *const u64) } == value)
    }
}

extern "C" fn collect_walk(context: *mut Context, walk: *mut c_void) -> i32 {
    const GO_ON: i32 = 0;
    const END: i32 = 5;
    // SAFETY: `Walk::new` passes its own live value.
    let walk = unsafe { &mut *walk.cast::<Walk>() };
    // SAFETY: the unwinder calls back with a valid context. The CFA is that of the frame before,
    // below which its return address lies.
    let (address, frame) = unsafe { (_Unwind_GetIP(context), _Unwind_GetCFA(context)) };
    if address == 0 || walk.stack.len() == DEPTH {
        return END;
    }
    walk.stack.push(address as u64);
    walk.words.push((frame.wrapping_sub(8), address as u64));
    GO_ON
}

/// Functions that are looked for on the stack, and whether one was found.
struct Below<'a> {
    functions: &'a [usize],
    found: bool,
}

extern "C" fn find_function(context: *mut Context, below: *mut c_void) -> i32 {
    const GO_ON: i32 = 0;
    const END: i32 = 5;
    // SAFETY: `is_below` passes its own live value.
    let below = unsafe { &mut *below.cast::<Below<'_>>() };
    // SAFETY: the unwinder calls back with a valid context.
    let function = unsafe { _Unwind_GetRegionStart(context) };
    below.found |= below.functions.contains(&function);
    if below.found { END } else { GO_ON }
}

/// Whether one of these functions is under way on the running stack. Asks for no memory.
pub fn is_below(functions: &[usize]) -> bool {
    let mut below = Below { functions, found: false };
    // SAFETY: the callback gets a live value and stops by itself.
    unsafe { _Unwind_Backtrace(find_function, (&raw mut below).cast()) };
    below.found
}

/// A frame of a stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Where it goes on.
    pub instruction: usize,
    /// Its stack pointer: the lowest address of what is its own.
    pub stack_pointer: usize,
    /// Its frame pointer.
    pub frame_pointer: usize,
}

extern "C" fn collect_frames(context: *mut Context, frames: *mut c_void) -> i32 {
    const GO_ON: i32 = 0;
    const END: i32 = 5;
    // SAFETY: `frames` passes its own live vector.
    let frames = unsafe { &mut *frames.cast::<Vec<Frame>>() };
    // SAFETY: the unwinder calls back with a valid context. The CFA is that of the frame before,
    // where this one called it.
    let frame = unsafe {
        Frame {
            instruction: _Unwind_GetIP(context),
            stack_pointer: _Unwind_GetCFA(context),
            frame_pointer: _Unwind_GetGR(context, FRAME_POINTER),
        }
    };
    if frame.instruction == 0 || frames.len() == DEPTH {
        return END;
    }
    frames.push(frame);
    GO_ON
}

/// The frames of the running stack, innermost first.
pub fn frames() -> Vec<Frame> {
    let mut frames = Vec::with_capacity(DEPTH);
    // SAFETY: the callback gets a live vector and stops by itself.
    unsafe { _Unwind_Backtrace(collect_frames, (&raw mut frames).cast()) };
    frames
}

/// A frame of the program, as it was when it called the runtime.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Caller {
    /// Where it goes on after the call.
    pub instruction: usize,
    /// Its stack pointer.
    pub stack_pointer: usize,
    /// The registers that it keeps across calls.
    pub registers: [u64; 6],
}

/// DWARF's number of rbp.
const FRAME_POINTER: i32 = 6;

/// DWARF's numbers of rbx, rbp and r12 to r15.
const KEPT: [i32; 6] = [3, 6, 12, 13, 14, 15];

/// A search for a frame of the program.
struct Wanted {
    /// The one that called this function; else the innermost.
    function: Option<usize>,
    /// The frame before was the function's.
    passed: bool,
    caller: Option<Caller>,
}

extern "C" fn find(context: *mut Context, wanted: *mut c_void) -> i32 {
    const GO_ON: i32 = 0;
    const END: i32 = 5;
    // SAFETY: `caller` passes its own live value.
    let wanted = unsafe { &mut *wanted.cast::<Wanted>() };
    // SAFETY: the unwinder calls back with a valid context.
    let instruction = unsafe { _Unwind_GetIP(context) };
    let is_wanted = match wanted.function {
        Some(_) => wanted.passed,
        // It goes on after the call, which may be the last instruction of all.
        None => crate::memory::program::text().contains(&instruction.wrapping_sub(1)),
    };
    if is_wanted {
        // SAFETY: as above. The CFA is that of the frame before, where this one called it.
        wanted.caller = Some(unsafe {
            Caller {
                instruction,
                stack_pointer: _Unwind_GetCFA(context),
                registers: KEPT.map(|number| _Unwind_GetGR(context, number) as u64),
            }
        });
        return END;
    }
    // SAFETY: as above.
    wanted.passed = Some(unsafe { _Unwind_GetRegionStart(context) }) == wanted.function;
    GO_ON
}

fn caller(function: Option<usize>) -> Option<Caller> {
    let mut wanted = Wanted { function, passed: false, caller: None };
    // SAFETY: the callback gets a live value and stops by itself.
    unsafe { _Unwind_Backtrace(find, (&raw mut wanted).cast()) };
    wanted.caller
}

/// The innermost frame on the running stack that called this function; `None` if there is none.
pub fn caller_of(function: usize) -> Option<Caller> {
    caller(Some(function))
}

/// The innermost frame of the program on the running stack; `None` if there is none.
pub fn program_frame() -> Option<Caller> {
    caller(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_s_frame_is_above_its_callee_s() {
        #[inline(never)]
        fn hook() -> Option<Caller> {
            let local = 0_u64;
            let caller = caller_of(hook as *const () as usize)?;
            (caller.stack_pointer > (&raw const local) as usize).then_some(caller)
        }
        let here = 0_u64;
        let caller = hook().unwrap();
        assert!(caller.stack_pointer <= (&raw const here) as usize);
        assert_eq!(caller_of(caller_of as *const () as usize + 1), None);
    }

    #[test]
    fn a_walk_holds_as_long_as_the_same_functions_are_under_way() {
        #[inline(never)]
        fn inner(walks: &mut Vec<Walk>) {
            let local = 0_u64;
            let pointer = (&raw const local) as usize;
            let walk = Walk::new(pointer).unwrap();
            assert!(walk.words.len() > 2 && walk.is_as_it_was());
            assert_eq!(walk.stack[walk.stack.len() - walk.words.len()..].len(), walk.words.len());
            walks.push(walk);
        }
        #[inline(never)]
        fn outer(walks: &mut Vec<Walk>) {
            inner(walks);
            std::hint::black_box(&walks);
        }
        let mut walks = Vec::new();
        outer(&mut walks);
        outer(&mut walks);
        // From another place.
        std::hint::black_box(outer as fn(&mut Vec<Walk>))(&mut walks);
        assert_ne!(walks[0].words, walks[2].words);
        let mut changed = walks.remove(1);
        changed.words.last_mut().unwrap().1 += 1;
        assert!(!changed.is_as_it_was());
    }

    #[test]
    fn functions_under_way_are_found() {
        #[inline(never)]
        fn looks(functions: &[usize]) -> bool {
            std::hint::black_box(is_below(functions))
        }
        assert!(looks(&[looks as *const () as usize]));
        assert!(!looks(&[libc::malloc as *const () as usize]));
    }

    #[test]
    fn a_stack_is_not_empty() {
        assert!(stack().len() > 2);
    }
}
