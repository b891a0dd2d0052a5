//! LLVM IR in, instrumented object out: the linker shim behind `cargo lockred check`.
