//! What attributes say of code, in the form that the build is for: notes in the executable under `cargo lockred`, and nothing else.

/// Options of `cargo lockred check` for one test: `#[lockred::check(max_seconds = 5, spurious)]` beside `#[test]`.
///
/// They are those of the command line, which wins where both name one: `strategy = "dpor"` (or `"transactions"`, `"stateful"`, `"naive"`,
/// `"random"`), `seed = 1`, `max_executions = 100`, `max_seconds = 2.5`, `max_operations = 1000`, `keep_going`, `spurious`, `reuse`, `leaks`,
/// `random = "explore"` (or `"fixed"`).
///
/// ```
/// #[lockred::check(strategy = "dpor", max_seconds = 5)]
/// #[test]
/// fn transfers() {}
/// ```
///
/// What is no option is an error of the build, also without the tool:
///
/// ```compile_fail
/// #[lockred::check(max_second = 5)]
/// #[test]
/// fn transfers() {}
/// ```
#[cfg(not(lockred))]
pub use lockred_macros::check_plain as check;

#[cfg(lockred)]
pub use lockred_macros::check_checked as check;

/// The bytes of a note.
#[doc(hidden)]
#[must_use]
pub const fn __note<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    let mut index = 0;
    while index < N {
        bytes[index] = text.as_bytes()[index];
        index += 1;
    }
    bytes
}
