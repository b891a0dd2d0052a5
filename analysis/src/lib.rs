//! LLVM IR in, instrumented object out: the linker shim after `cargo lockred check`.

mod assembly;
mod escape;
mod facts;
pub mod instrument;
pub mod llvm;
mod lock_order;
mod locksets;
#[cfg(test)]
mod oracle;
pub mod plan;
mod points_to;
mod processor;
pub mod promotion;
mod protection;
pub mod recognise;
mod sharing;
pub mod shim;
mod waits;
