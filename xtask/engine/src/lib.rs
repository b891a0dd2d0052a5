//! The programs that `cargo xtask bench engine` measures, as ordinary tests over std.

#[cfg(test)]
mod programs;

/// std's threads, locks and channels, which lockred checks as they are.
#[cfg(test)]
mod sync {
    pub use std::sync::{Condvar, Mutex, atomic, mpsc};
    pub use std::thread;
}

#[cfg(test)]
mod tests {
    /// A test of every program with two, three and four threads: `fetch_add::threads_2` and so on.
    macro_rules! tests {
        ($($program:ident)*) => { $(
            mod $program {
                #[test]
                fn threads_2() {
                    crate::programs::$program(2);
                }

                #[test]
                fn threads_3() {
                    crate::programs::$program(3);
                }

                #[test]
                fn threads_4() {
                    crate::programs::$program(4);
                }
            }
        )* };
    }
    crate::programs::each_program!(tests);
}
