//! The programs with which the papers measure their searches, each a `#[test]`, with the verdict that `cargo lockred check` must
//! give beside it. `cargo xtask bench papers` prints the papers' figures beside ours.
//!
//! They are written afresh from the papers' text. What Java reads and writes without a lock is a sequentially consistent atomic here,
//! so that what is found is the mistake of the paper, not the data race of its Java program.
//!
//! Directives are those of the corpus. Programs of `endless` run for ever: they are for the search over states. Those of `heavy` are
//! the sizes of the papers where the default search takes long.

#[cfg(test)]
mod bluetooth;
#[cfg(test)]
mod clean;
#[cfg(test)]
mod contest;
#[cfg(test)]
mod counter;
#[cfg(test)]
mod endless;
#[cfg(test)]
mod halt_exception;
#[cfg(test)]
mod heavy;
#[cfg(test)]
mod kung_lehman;
#[cfg(test)]
mod philosophers;
#[cfg(test)]
mod vector;
