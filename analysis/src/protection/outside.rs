//! What functions outside of the program do to the memory that they are given.

use crate::facts::flow::{Call, Value};
use crate::facts::{Effect, Operand};

/// Functions that take back memory, and access nothing of it.
const FREEING: &[&str] = &["free", "cfree", "mi_free", "munmap", "madvise", "posix_memalign"];

/// Functions that access what they are given, and nothing that is behind addresses in it.
const DIRECT: &[&str] =
    &["memcmp", "bcmp", "strlen", "strnlen", "strcmp", "strncmp", "read", "write", "pthread_join"];

/// The number of the system call that waits for a word, and wakes.
const FUTEX: u64 = if cfg!(target_arch = "x86_64") { 202 } else { 98 };

/// Memory that a call of such a function may access.
pub struct Accessed {
    /// An argument.
    pub argument: Operand,
    /// How many bytes there; `None`: all of the object.
    pub size: Option<u64>,
    /// And all that addresses in it lead to.
    pub further: bool,
}

/// What the function of this name accesses when it is called so.
pub fn accessed(name: &str, call: &Call) -> Vec<Accessed> {
    let all = |numbers: std::ops::Range<usize>, size, further| {
        let arguments = call.arguments.iter().take(numbers.end).skip(numbers.start);
        let of = |value: &Value| match *value {
            Value::Slot(slot) => Some(Operand::Slot(slot)),
            Value::Global(id, offset) => Some(Operand::Global(id, Some(offset))),
            _ => None,
        };
        let accessed = |argument| Accessed { argument, size, further };
        arguments.filter_map(of).map(accessed).collect::<Vec<_>>()
    };
    if FREEING.contains(&name) {
        return Vec::new();
    }
    if name == "syscall" && call.arguments.first() == Some(&Value::Number(FUTEX)) {
        // Its word, its deadline, and the word of a second queue.
        return all(1..6, Some(4), false)
            .into_iter()
            .enumerate()
            .map(|(number, accessed)| match number {
                0 => accessed,
                _ => Accessed { size: None, ..accessed },
            })
            .collect();
    }
    match Effect::of(name) {
        Effect::StartsThread => all(0..2, None, false),
        Effect::CallsFirst
        | Effect::CallsAtExit
        | Effect::Visits
        | Effect::MakesKey
        | Effect::KeepsForThread
        | Effect::KeptForThread => Vec::new(),
        Effect::Nothing if !DIRECT.contains(&name) => all(0..usize::MAX, None, true),
        _ => all(0..usize::MAX, None, false),
    }
}
