//! Conditions that executions must meet to be looked at.

#[cfg(lockred)]
unsafe extern "C" {
    // `runtime/protocol/src/hooks.rs`: goes no further.
    fn __lr_assumed_not(text: *const u8, length: usize);
}

/// What is assumed does not hold.
#[doc(hidden)]
pub fn __assumed_not(text: &'static str) {
    #[cfg(lockred)]
    // SAFETY: the hook's contract is that the text lives as long as the program.
    unsafe {
        __lr_assumed_not(text.as_ptr(), text.len());
    }
    #[cfg(not(lockred))]
    let _ = text;
}

/// Leaves out the executions in which a condition is false: `lockred::assume!(capacity > 0)`.
///
/// They are neither bugs nor successes, and the verdict is at most `passed`, with the assumption
/// `assumed-conditions`. A condition that is never false is none. Without the tool the condition is
/// not even looked at, so let the first values satisfy it.
///
/// ```
/// let (from, to) = (lockred::choose(4), 3 - lockred::choose(4)); // without the tool: 0 and 3
/// lockred::assume!(from != to);
/// ```
#[cfg(lockred)]
#[macro_export]
macro_rules! assume {
    ($condition:expr $(,)?) => {
        if !$condition {
            $crate::__assumed_not(::core::concat!(
                "`",
                ::core::stringify!($condition),
                "` (",
                ::core::file!(),
                ":",
                ::core::line!(),
                ":",
                ::core::column!(),
                ")"
            ));
        }
    };
}

/// Leaves out the executions in which a condition is false: `lockred::assume!(capacity > 0)`.
///
/// They are neither bugs nor successes, and the verdict is at most `passed`, with the assumption
/// `assumed-conditions`. A condition that is never false is none. Without the tool the condition is
/// not even looked at, so let the first values satisfy it.
///
/// ```
/// let (from, to) = (lockred::choose(4), 3 - lockred::choose(4)); // without the tool: 0 and 3
/// lockred::assume!(from != to);
/// ```
#[cfg(not(lockred))]
#[macro_export]
macro_rules! assume {
    ($condition:expr $(,)?) => {
        if false {
            let _: bool = $condition;
        }
    };
}
