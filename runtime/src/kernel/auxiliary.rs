//! What the kernel tells a process of itself, without the functions that it lends (the vDSO):
//! through these a program would read real clocks without anybody seeing it. Who finds none makes
//! system calls.

use crate::host;
use crate::machine::state::set_errno;
use libc::{c_int, c_ulong};

/// The kernel's list of what it tells, as a file.
const FILE: &[u8] = b"/proc/self/auxv";
/// `prctl`: gives the list.
const PR_GET_AUXV: usize = 0x4155_5856;
/// Kind of an entry that says nothing.
const AT_IGNORE: u64 = 1;

/// getauxval.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_getauxval(kind: c_ulong) -> c_ulong {
    if kind == libc::AT_SYSINFO_EHDR {
        set_errno(libc::ENOENT);
        return 0;
    }
    // SAFETY: only looks.
    unsafe { libc::getauxval(kind) }
}

/// Takes the vDSO out of a list of pairs.
fn take_out(list: &mut [[u64; 2]]) {
    for entry in list.iter_mut().filter(|entry| entry[0] == libc::AT_SYSINFO_EHDR) {
        *entry = [AT_IGNORE, 0];
    }
}

/// The list, as a file of the process's own, if a path names the kernel's; -1 where it cannot be
/// made.
pub fn open(path: &[u8]) -> Option<c_int> {
    if path != FILE {
        return None;
    }
    let bytes = std::fs::read("/proc/self/auxv").ok()?;
    let number = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
    let pairs = bytes.chunks_exact(16).map(|pair| [number(&pair[..8]), number(&pair[8..])]);
    let mut list: Vec<[u64; 2]> = pairs.collect();
    take_out(&mut list);
    // SAFETY: makes a file, and fills it with the list's bytes.
    unsafe {
        let file = libc::memfd_create(c"auxv".as_ptr(), libc::MFD_CLOEXEC);
        if file >= 0 {
            libc::pwrite(file, list.as_ptr().cast(), size_of_val(&*list), 0);
        }
        Some(file)
    }
}

/// prctl, as a system call: the name of a thread changes nothing that others see.
///
/// # Safety
/// As for the system call.
pub unsafe fn prctl(arguments: [usize; 6]) -> i64 {
    let [what, a, b, c, d, _] = arguments;
    match what {
        PR_GET_AUXV => {
            // SAFETY: by the caller's promise, here and below.
            let bytes = unsafe { libc::syscall(libc::SYS_prctl, what, a, b, c, d) };
            if bytes > 0 {
                let filled = b.min(bytes as usize);
                host::write(a, filled);
                let list = std::ptr::with_exposed_provenance_mut::<[u64; 2]>(a);
                if list.is_aligned() {
                    // SAFETY: the kernel has filled as many bytes of the program's place.
                    take_out(unsafe { std::slice::from_raw_parts_mut(list, filled / 16) });
                }
            }
            bytes
        }
        _ if what == libc::PR_SET_NAME as usize => 0,
        _ if host::below_root() => host::unsupported("prctl"),
        // SAFETY: by the caller's promise.
        _ => unsafe { libc::syscall(libc::SYS_prctl, what, a, b, c, d) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_without_the_kernels_functions() {
        let mut list = [[6, 4096], [libc::AT_SYSINFO_EHDR, 0x7fff_0000], [0, 0]];
        take_out(&mut list);
        assert_eq!(list, [[6, 4096], [AT_IGNORE, 0], [0, 0]]);
    }
}
