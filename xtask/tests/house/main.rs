//! Rules of the house that the compiler does not know, read from the sources and documents.

mod citations;
mod comments;
mod documents;
mod rooms;
mod source;
mod state;
mod tree;
