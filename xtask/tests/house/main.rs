//! Rules of the house that the compiler does not know, read from the sources.

mod rooms;
mod source;
mod state;
