//! What is known of the functions of libc that programs call, in one table: who answers a call,
//! what it does with the addresses that it is given, and which memory it accesses.
//!
//! Every row says all three, so nothing is known of a function by its not being on a list. A
//! function without a row is called natively, which is an assumption, and may do anything.

mod files;
mod memory;
mod processes;
mod sockets;
mod system_calls;
mod texts;
mod threads;
mod unwinding;

use crate::hooks::PREFIX;
use std::collections::HashMap;
use std::sync::LazyLock;
pub use system_calls::{FUTEX, keeps_nothing};

/// Who answers a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Treatment {
    /// The runtime models it: the shim renames its declarations to `__lr_libc_X`.
    Modelled,
    /// The real kernel, while the program has one thread and nothing was chosen (above the root):
    /// there is nothing to explore. Below the root nothing could be put back, and a call that
    /// blocks would stop all threads: there it is unsupported, by name. Declarations are renamed as
    /// those of modelled functions.
    RealAboveRoot,
    /// It is called natively: it touches no memory of the program that another thread could see,
    /// never blocks, and creates neither threads nor processes. (Or it is a variable.)
    Harmless,
    /// It blocks, creates threads or processes, or signals, and nobody models it: a call ends the
    /// test.
    Unsupported,
    /// It is called natively, which is an assumption.
    Native,
}

/// What a call of a function outside of the program does with addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Keeps none; if its result is an address, it is of the C library's own memory, which holds no
    /// address of the program's.
    Nothing,
    /// Keeps none, and gives an address of the C library's memory that holds none: a text, or a
    /// number.
    Bytes,
    /// The result is new memory.
    Fresh,
    /// The result is new memory, or an address in the memory of the argument of this number.
    FreshOr(u8),
    /// New memory, whose address is written to the first argument.
    FreshAtFirst,
    /// New memory, with the contents of the first argument's.
    Moves,
    /// The result is an address in the memory of the first argument.
    SameAsFirst,
    /// An address in the memory of the first argument is written to the second.
    EndAtSecond,
    /// Copies memory from the second argument to the first, which is the result.
    Copies,
    /// Starts a thread: the third argument is called with the fourth.
    StartsThread,
    /// Waits for a thread: what its function has returned is written to the second argument.
    Joins,
    /// Calls the first argument with the second, in the same thread.
    CallsFirst,
    /// Calls the first argument with the second, in the thread that ends the program.
    CallsAtExit,
    /// Calls the first argument with something of its own, and, as the last argument, the second.
    Visits,
    /// Calls the second argument with what [`Effect::KeepsForThread`] keeps.
    MakesKey,
    /// Keeps the second argument for the running thread.
    KeepsForThread,
    /// Gives what was kept for the running thread.
    KeptForThread,
    /// Throws the first argument.
    Throws,
    /// Calls the function at the second word of the first argument with the first argument as its
    /// second.
    DropsException,
    /// Calls the second argument with nothing of the program's, later, and gives the function that
    /// was called until then.
    CallsSecond,
    /// Lets the C library call the function in the second argument's memory, later, and writes the
    /// one that was called until then to the third argument.
    Handles,
    /// Keeps what it is given, and gives it back in its result or in what it writes; calls nothing.
    Keeps,
    /// Anything.
    Anything,
}

/// How a call accesses the memory at an argument, counted from 0. Whatever else has an address is
/// not accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Touch {
    /// It is read.
    Reads(u8),
    /// It is written.
    Writes(u8),
    /// Both.
    Updates(u8),
    /// It is read or written, and so is all that addresses in it lead to.
    Reaches(u8),
    /// Only the address counts.
    Leaves(u8),
}

impl Touch {
    /// The argument.
    #[must_use]
    pub const fn argument(self) -> usize {
        let (Self::Reads(number)
        | Self::Writes(number)
        | Self::Updates(number)
        | Self::Reaches(number)
        | Self::Leaves(number)) = self;
        number as usize
    }

    /// Whether memory is accessed there.
    #[must_use]
    pub const fn accesses(self) -> bool {
        !matches!(self, Self::Leaves(_))
    }
}

/// A function.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its symbol.
    pub name: &'static str,
    /// Who answers its calls.
    pub treatment: Treatment,
    /// What they do with addresses.
    pub effect: Effect,
    /// Which memory they access: of each argument that is an address, how. Nothing of functions
    /// that end the test.
    pub memory: &'static [Touch],
}

/// Rows by treatment: `name Effect [Touch argument, …];`.
macro_rules! rows {
    ($($treatment:ident {
        $($name:ident $effect:ident $(($of:literal))? [$($touch:ident $argument:literal),*];)*
    })*) => {
        &[$($($crate::libc_functions::Row {
            name: stringify!($name),
            treatment: $crate::libc_functions::Treatment::$treatment,
            effect: $crate::libc_functions::Effect::$effect $(($of))?,
            memory: &[$($crate::libc_functions::Touch::$touch($argument)),*],
        },)*)*]
    };
}
use rows;

/// The table, by subject.
const TABLE: [&[Row]; 7] = [
    threads::ROWS,
    memory::ROWS,
    files::ROWS,
    sockets::ROWS,
    processes::ROWS,
    unwinding::ROWS,
    texts::ROWS,
];

/// All rows.
pub fn all() -> impl Iterator<Item = &'static Row> {
    TABLE.into_iter().flatten()
}

/// What is known of a function.
#[must_use]
pub fn row(name: &str) -> Option<&'static Row> {
    static BY_NAME: LazyLock<HashMap<&str, &Row>> =
        LazyLock::new(|| all().map(|row| (row.name, row)).collect());
    BY_NAME.get(name).copied()
}

/// Who answers calls of a function.
#[must_use]
pub fn treatment(name: &str) -> Treatment {
    row(name).map_or(Treatment::Native, |row| row.treatment)
}

/// Whether calls of a function are answered by the runtime, under its name after
/// [`crate::hooks::LIBC_PREFIX`].
#[must_use]
pub fn is_answered(name: &str) -> bool {
    matches!(treatment(name), Treatment::Modelled | Treatment::RealAboveRoot)
}

/// The functions whose declarations the shim renames.
pub fn answered() -> impl Iterator<Item = &'static str> {
    all().map(|row| row.name).filter(|name| is_answered(name))
}

impl Effect {
    /// What the function of this name does.
    #[must_use]
    pub fn of(name: &str) -> Self {
        match row(name) {
            Some(row) => row.effect,
            // Our own.
            None if name.starts_with(PREFIX) => Self::Nothing,
            None => Self::Anything,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_function_has_two_rows() {
        let mut seen = HashSet::new();
        for row in all() {
            assert!(seen.insert(row.name), "{} has two rows", row.name);
        }
    }

    #[test]
    fn rows_agree_with_themselves() {
        for row in all() {
            let touched: HashSet<usize> = row.memory.iter().map(|touch| touch.argument()).collect();
            assert_eq!(touched.len(), row.memory.len(), "{}: an argument twice", row.name);
            let how = |number: usize| row.memory.iter().find(|touch| touch.argument() == number);
            let writes = |number| matches!(how(number), Some(Touch::Writes(_) | Touch::Updates(_)));
            match row.effect {
                Effect::FreshAtFirst => assert!(writes(0), "{}", row.name),
                Effect::EndAtSecond | Effect::Joins => assert!(writes(1), "{}", row.name),
                Effect::Handles => assert!(writes(2), "{}", row.name),
                Effect::Copies => {
                    let reads = matches!(how(1), Some(Touch::Reads(_)));
                    assert!(writes(0) && reads, "{}", row.name);
                }
                Effect::FreshOr(of) => assert!(how(of.into()).is_some(), "{}", row.name),
                _ => {}
            }
            if row.treatment == Treatment::Unsupported {
                assert!(row.effect == Effect::Nothing && row.memory.is_empty(), "{}", row.name);
            }
        }
    }

    #[test]
    fn what_has_no_row_may_do_anything() {
        for unknown in ["qsort", "_Unwind_ForcedUnwind", "of_a_plugin"] {
            assert_eq!(Effect::of(unknown), Effect::Anything);
            assert_eq!(treatment(unknown), Treatment::Native);
        }
        assert_eq!(Effect::of("__lr_read"), Effect::Nothing);
    }
}
