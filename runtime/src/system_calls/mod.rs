//! System calls that are made by number: by libc's `syscall`, and by the instruction in inline
//! assembly, which the shim replaces.

mod fill;
mod names;
mod table;

use crate::host;
use crate::host::numbers;
use crate::kernel;
use crate::machine::state::set_errno;
use crate::models::system_files;
use fill::Arguments;
use lockred_protocol::codes::AssumptionKind;
use names::name;
use table::{Answer, answer};

/// The largest number of an error: results of the kernel down to its negative are errors.
const MOST_ERRNO: i64 = 4095;

/// Makes a system call, as far as it can be; gives what the kernel gives: a result, or an error's
/// number, negative.
///
/// # Safety
/// The program makes this system call with these arguments.
unsafe fn make(number: i64, arguments: Arguments) -> i64 {
    kernel::keep_earlier_errno();
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: by the caller's promise, here and below.
    let native = || unsafe { libc::syscall(number, a, b, c, d, e, f) };
    let asked = crate::models::system_call(number, a, b, c);
    let result = asked.unwrap_or_else(|| match answer(number) {
        // SAFETY: as above.
        Some(Answer::Model(model)) => unsafe { model(arguments) },
        Some(Answer::Looks(fills)) => {
            numbers::called(&name(number));
            if number == libc::SYS_readlinkat {
                system_files::looks_at(std::ptr::with_exposed_provenance(b));
            }
            let result = native();
            let places = fills.iter().filter_map(|fill| fill.place(arguments, result));
            places.for_each(|(address, bytes)| host::write(address, bytes));
            result
        }
        Some(Answer::Assumed) => {
            numbers::leaves_something();
            host::assume(AssumptionKind::NativeCode, &format!("calls {}", name(number)));
            native()
        }
        Some(Answer::Real) if !host::below_root() => {
            let name = name(number);
            numbers::called(&name);
            kernel::asked(&name);
            kernel::waiting(native)
        }
        Some(Answer::Real) | None => host::unsupported(&name(number)),
    });
    if result == -1 { -i64::from(take_errno()) } else { result }
}

/// The error that a call has left, which is the caller's result and not the thread's error.
fn take_errno() -> i32 {
    let errno = kernel::errno();
    set_errno(0);
    // A model that fails says why.
    if errno == 0 { libc::EINVAL } else { errno }
}

/// syscall.
///
/// # Safety
/// Called by the program with the arguments of the system call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_syscall(
    number: i64,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> i64 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    // SAFETY: by the caller's promise.
    let result = unsafe { make(number, [a, b, c, d, e, f]) };
    if (-MOST_ERRNO..0).contains(&result) {
        set_errno(-result as i32);
        return -1;
    }
    result
}

/// See [`lockred_protocol::hooks`].
///
/// # Safety
/// Called by the program in the place of the instruction, with what is in the registers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_syscall(
    number: i64,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> i64 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    // SAFETY: by the caller's promise.
    unsafe { make(number, [a, b, c, d, e, f]) }
}
