//! Models of libc functions that need no scheduling: the real function is called, and the machine is told what it reads and
//! writes of the program's memory and of the world.

mod descriptors;
mod environment;
mod files;
mod identity;
mod paths;
mod strings;

pub use identity::process_id;

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
