//! How the program's threads run: who can, where they stop, what they wait for, which values are
//! chosen, and who is notified of what they have done.

pub mod acts;
pub mod choice;
pub mod event;
pub mod looks;
pub mod pauses;
pub mod spurious;
pub mod status;
pub mod stops;
pub mod timely;
