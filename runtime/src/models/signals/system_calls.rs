//! The system calls that send signals, as programs make them without libc.

use super::calls::{__lr_libc_kill, __lr_libc_tgkill};

/// Does what a system call about signals does, if it is one that is modelled.
pub fn system_call(number: i64, a: usize, b: usize, c: usize) -> Option<i64> {
    let (a, b, c) = (a as i32, b as i32, c as i32);
    Some(i64::from(match number {
        libc::SYS_kill => __lr_libc_kill(a, b),
        libc::SYS_tgkill => __lr_libc_tgkill(a, b, c),
        libc::SYS_tkill => __lr_libc_tgkill(crate::models::identity::process(), a, b),
        _ => return None,
    }))
}
