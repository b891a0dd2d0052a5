//! Models of libc functions that need no scheduling: the real function is called, and the machine is told what it reads and
//! writes of the program's memory and of the world.

pub mod descriptors;
mod directories;
mod environment;
pub mod files;
pub mod identity;
pub mod paths;
mod signal_sets;
mod strings;

/// The program is at its root: what a restore has to put back is noted.
pub fn at_root() {
    descriptors::at_root();
    environment::at_root();
}

/// Puts descriptors, file positions and the environment back to the root.
pub fn restore_root() {
    descriptors::restore();
    environment::restore();
}
