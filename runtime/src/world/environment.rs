//! Environment variables: libc's own, put back at a restore if an execution changed them.

use libc::c_char;
use std::ffi::CString;
use std::sync::Mutex;

unsafe extern "C" {
    static environ: *const *mut c_char;
}

/// The environment at the root, and whether it was changed since. (The lock is the runtime's own
/// and never contended.)
static SAVED: Mutex<(Vec<CString>, bool)> = Mutex::new((Vec::new(), false));

fn saved() -> std::sync::MutexGuard<'static, (Vec<CString>, bool)> {
    SAVED.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What the names of our own variables begin with.
const OURS: &[u8] = b"LOCKRED_";

/// Takes our own variables out of the environment, before the program looks at it.
pub fn hide_our_variables() {
    for entry in entries() {
        let Some(name) = entry.as_bytes().split(|&byte| byte == b'=').next() else { continue };
        if name.starts_with(OURS)
            && let Ok(name) = CString::new(name)
        {
            // SAFETY: one OS thread, and nobody holds a pointer into the environment.
            unsafe { libc::unsetenv(name.as_ptr()) };
        }
    }
}

/// The variables with their values.
fn entries() -> Vec<CString> {
    let mut entries = Vec::new();
    // SAFETY: `environ` is null or a null-terminated array of C strings; nobody changes it
    // meanwhile.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            entries.push(std::ffi::CStr::from_ptr(*entry).to_owned());
            entry = entry.add(1);
        }
    }
    entries
}

/// Notes the environment.
pub fn at_root() {
    *saved() = (entries(), false);
}

/// Puts it back.
pub fn restore() {
    let mut saved = saved();
    if !std::mem::take(&mut saved.1) {
        return;
    }
    // SAFETY: the program is stopped. `putenv` keeps the pointers: the entries live as long as the
    // process.
    unsafe {
        libc::clearenv();
        for entry in &saved.0 {
            libc::putenv(entry.as_ptr().cast_mut());
        }
    }
}

/// The program changes it.
pub fn changes() {
    saved().1 = true;
}
