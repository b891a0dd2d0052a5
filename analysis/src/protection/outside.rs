//! What functions outside of the program do to the memory that they are given.

use crate::facts::Operand;
use crate::facts::flow::{Call, Value};
use lockred_protocol::libc_functions::{self, FUTEX, Touch};

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
            Value::Register(register) => Some(Operand::Register(register)),
            Value::Global(id, offset) => Some(Operand::Global(id, Some(offset))),
            _ => None,
        };
        let accessed = |argument| Accessed { argument, size, further };
        arguments.filter_map(of).map(accessed).collect::<Vec<_>>()
    };
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
    let Some(row) = libc_functions::row(name) else { return all(0..usize::MAX, None, false) };
    let touched = row.memory.iter().filter(|touch| touch.accesses());
    let accessed = touched.flat_map(|touch| {
        let further = matches!(touch, Touch::Reaches(_));
        all(touch.argument()..touch.argument() + 1, None, further)
    });
    accessed.collect()
}
