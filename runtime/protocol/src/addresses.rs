//! How far it is known where the addresses of a program point to, and what was taken for more than
//! it does: printed by `cargo lockred audit --accesses`.

use serde::{Deserialize, Serialize};

/// Whether the whole program was followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Followed {
    /// No rule that needs it is used.
    #[default]
    NotAsked,
    /// It is too large for an ordinary build.
    TooLarge,
    /// It was begun, and took more than an ordinary build may.
    GivenUp,
    /// It was followed to its end.
    Whole,
}

/// What became of the addresses of a program, in the functions that can be reached. Of what is not
/// followed, anything is assumed: what it yields may be any address that others have, and what it
/// is given gets into their hands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Addresses {
    /// Whether the rest says anything.
    pub followed: Followed,
    /// Objects that are told apart: variables, global ones, and blocks by where they are allocated.
    pub objects: u64,
    /// Of these, such in which it is not told apart any more which byte holds which address.
    pub merged: u64,
    /// Acts that access memory.
    pub accesses: u64,
    /// Those whose address may be any that others have.
    pub anywhere: u64,
    /// Numbers that are made addresses (`inttoptr`): each may be the address of any object of which
    /// it, or what it is computed of, was a number.
    pub restored: u64,
    /// Copies of memory.
    pub copies: u64,
    /// Those of which it is not told apart what goes where, as their length is not known, or too
    /// much is copied.
    pub mixed: u64,
    /// Calls by pointers that may be others' functions.
    pub unresolved: u64,
    /// Calls of functions outside of the program of which nothing is known.
    pub foreign: u64,
    /// Calls with more arguments than their function has parameters (`...`).
    pub variadic: u64,
    /// Instructions that are not described, `va_arg` and some on vectors.
    pub undescribed: u64,
}

impl Addresses {
    /// What was not followed, each with a number, and what it is called.
    #[must_use]
    pub const fn conservative(&self) -> [(u64, &'static str); 8] {
        [
            (self.anywhere, "accesses by addresses that others may have"),
            (self.restored, "numbers made addresses"),
            (self.mixed, "copies of memory of which it is not told apart what goes where"),
            (self.merged, "objects whose parts are not told apart"),
            (self.unresolved, "calls by pointers that others may have"),
            (self.foreign, "calls of functions outside of the program of which nothing is known"),
            (self.variadic, "calls with a variable number of arguments"),
            (self.undescribed, "instructions that are not described"),
        ]
    }
}
