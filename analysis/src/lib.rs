//! LLVM IR in, instrumented object out: the linker shim behind `cargo lockred check`.

pub mod instrument;
pub mod llvm;
pub mod plan;
pub mod recognise;
pub mod shim;
mod facts;
mod points_to;
mod sharing;
mod waits;
