//! What attributes say of code, in the form that the build is for: notes in the executable under
//! `cargo lockred`, and nothing else.

/// Options of `cargo lockred check` for one test: `#[lockred::check(max_seconds = 5, spurious)]`
/// beside `#[test]`.
///
/// They are those of the command line, which wins where both name one: `search = "bounded=3"` (or
/// `"exhaustive"`, `"states"`, `"sample"`, `"sample=pct"`, `"sample=pos"`), `seed = 1`,
/// `max_executions = 100`, `max_seconds = 2.5`, `max_operations = 1000`, `keep_going`, `spurious`,
/// `reuse`, `leaks`, `random = "explore"` (or `"fixed"`).
///
/// ```
/// // And `#[test]`.
/// #[lockred::check(search = "bounded=3", max_seconds = 5)]
/// fn transfers() {}
/// ```
///
/// What is no option is an error of the build, also without the tool:
///
/// ```compile_fail
/// #[lockred::check(max_second = 5)]
/// fn transfers() {}
/// ```
#[cfg(not(lockred))]
pub use lockred_macros::check_plain as check;

#[cfg(lockred)]
pub use lockred_macros::check_checked as check;

/// A function that others are to see done as a whole, or not at all: `#[lockred::atomic]`.
///
/// `cargo lockred check` warns (`LR0103`) where an execution gives what no order of whole calls
/// could have given, with what came in between. What is atomic is the function's body: calls in it
/// are part of it, and so are threads that it creates. Not for `async` and `const` functions.
///
/// ```
/// #[lockred::atomic]
/// fn deposit(account: &std::sync::Mutex<u64>, amount: u64) {
///     *account.lock().unwrap() += amount;
/// }
/// # deposit(&std::sync::Mutex::new(1), 2);
/// ```
#[cfg(not(lockred))]
pub use lockred_macros::atomic_plain as atomic;

#[cfg(lockred)]
pub use lockred_macros::atomic_checked as atomic;

/// A struct that says of its fields how they are meant to be accessed, by
/// `#[lockred::guarded_by(…)]` and `#[lockred::unshared]`.
///
/// `cargo lockred check` looks at what threads do in a few executions of each test, and warns
/// (`LR0102`) with the access that breaks what is said. Fields are told apart by their types, not
/// by instances: `guarded_by(lock)` is kept by who holds the `lock` of another instance. Accesses
/// need no lock while nobody else can reach the value, nor once all others are done.
///
/// ```
/// use std::{cell::UnsafeCell, sync::Mutex};
///
/// #[lockred::discipline]
/// struct Pool {
///     #[lockred::guarded_by(lock)]
///     free: UnsafeCell<Vec<u32>>,
///     #[lockred::unshared]
///     made: UnsafeCell<u32>,
///     lock: Mutex<()>,
/// }
/// # let pool = Pool { free: Vec::new().into(), made: 0.into(), lock: Mutex::new(()) };
/// # drop((pool.free, pool.made, pool.lock));
/// ```
///
/// `#[lockred::exclusive_when(self.owner.load(Relaxed) == lockred::me())]` says that a thread
/// accesses the field only when it satisfies that condition, of `self` and [`me`](crate::me). Each
/// access is looked at, and the condition itself: no two threads may satisfy it at a time, and no
/// thread may make it false for another. It must only read, and not panic.
///
/// The lock is a field of the struct, `self.a.b` in one of its fields, or a static.
#[cfg(not(lockred))]
pub use lockred_macros::discipline_plain as discipline;

#[cfg(lockred)]
pub use lockred_macros::discipline_checked as discipline;

/// A static that is accessed under a lock: `#[lockred::guarded_by(LOCK)]`, which is another static.
/// For fields: [`discipline`].
#[cfg(not(lockred))]
pub use lockred_macros::guarded_by_plain as guarded_by;

#[cfg(lockred)]
pub use lockred_macros::guarded_by_checked as guarded_by;

/// A static that no two threads use at a time. For fields: [`discipline`].
#[cfg(not(lockred))]
pub use lockred_macros::unshared_plain as unshared;

#[cfg(lockred)]
pub use lockred_macros::unshared_checked as unshared;

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
