//! A program with a C part that is bitcode, and with assembly outside functions.
unsafe extern "C" {
    fn answer(locked: i32) -> i32;
}

std::arch::global_asm!(".globl of_assembly", "of_assembly: ret");

fn main() {
    let locked = std::env::args().count() > 1;
    // SAFETY: it only reads a variable of its own.
    println!("{}", unsafe { answer(locked.into()) });
}
