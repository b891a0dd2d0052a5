//! ObjectIds and addresses of hosts, as far as no front of [`super::real`] fits.

use crate::host;
use crate::machine::state::set_errno;
use libc::{c_char, c_int, sockaddr, socklen_t};

/// getnameinfo: its seventh argument is on the stack.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_getnameinfo(
    address: *const sockaddr,
    length: socklen_t,
    name: *mut c_char,
    name_length: socklen_t,
    service: *mut c_char,
    service_length: socklen_t,
    flags: c_int,
) -> c_int {
    // SAFETY: a C string; then the program's own call, passed on.
    let result = unsafe {
        super::begins(c"getnameinfo".as_ptr());
        libc::getnameinfo(address, length, name, name_length, service, service_length, flags)
    };
    super::ends(1);
    result
}

/// freeaddrinfo: below the root it would be done once in every execution.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_freeaddrinfo(list: *mut libc::addrinfo) {
    if !host::below_root() {
        // SAFETY: the program's own call, passed on.
        unsafe { libc::freeaddrinfo(list) };
    }
    set_errno(0);
}
