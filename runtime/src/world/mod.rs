//! What programs see of the system around them, who else acts there, and what of it a restore puts
//! back.

pub mod agents;
pub mod children;
pub mod descriptors;
pub mod environment;
pub mod file_times;
pub mod outside;
pub mod processors;
pub mod realtime;
pub mod shared;
pub mod signal_names;
pub mod signals;
pub mod undo;

/// The program is about to look at its environment for the first time.
pub fn before_the_program() {
    environment::hide_our_variables();
}

/// The program is at its root, at this moment of its monotonic clock: what a restore has to put
/// back is noted.
pub fn at_root(clock: u64) {
    file_times::at_root(
        file_times::Moment::from(clock) + file_times::Moment::from(realtime::OFFSET),
    );
    descriptors::at_root();
    environment::at_root();
    outside::at_root();
}

/// Puts descriptors, file positions and the environment back to the root.
pub fn restore_root() {
    undo::restore();
    file_times::restore();
    descriptors::restore();
    environment::restore();
}
