//! Calls that change files: really made, and noted, so that a restore undoes them ([`undo`]).
//!
//! A file that is removed is kept under another name first (a hard link in the session's directory,
//! so that descriptors of it stay descriptors of the same file), or, across file systems, as a
//! copy. Contents are copied before the first change of an execution. What is too large for that,
//! or cannot be read, is not undone: an assumption (`external-write`).

use super::{file_times, system_files};
use crate::host;
use crate::world::file_times as clocks;
use crate::world::undo::{self, Identity, Kept, Stamps, Undo, push};
use crate::world::{descriptors, shared};
use libc::{c_char, c_int};
use lockred_protocol::codes::AssumptionKind;
use std::ffi::{CStr, OsStr};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Bytes of a file that are copied at most.
const MOST_BYTES: u64 = 64 << 20;

/// The absolute path of a name in a directory that is open; nothing below the root of an execution
/// changes otherwise.
fn absolute(directory: c_int, path: *const c_char) -> Option<PathBuf> {
    system_files::changes(path);
    if !host::below_root() || path.is_null() {
        return None;
    }
    // SAFETY: the program passes a C string.
    let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()));
    let above = match directory {
        libc::AT_FDCWD => std::env::current_dir(),
        open => fs::read_link(format!("/proc/self/fd/{open}")),
    };
    // To the null device, nothing changes.
    let path = above.ok()?.join(path);
    (path != Path::new("/dev/null")).then_some(path)
}

/// The program changes a file below the root.
fn changes() {
    host::outside();
    host::assume(AssumptionKind::FileChange, "");
}

/// Makes a call that changes a file, which bears the time of that.
fn timed<T>(call: impl FnOnce() -> T) -> T {
    clocks::before_change(file_times::now(), host::below_root());
    let result = call();
    clocks::after_change(file_times::now());
    result
}

/// A change of a file cannot be undone.
fn cannot(path: &Path) {
    host::assume(AssumptionKind::ExternalWrite, &shared::shown(path).to_string_lossy());
}

/// Makes a directory by a call that does so.
pub fn make_directory(
    directory: c_int,
    path: *const c_char,
    call: impl FnOnce() -> c_int,
) -> c_int {
    made(directory, path, call, Undo::RemoveDirectory)
}

/// Makes a file, or a name of one, by a call that fails where there is one.
pub fn make(directory: c_int, path: *const c_char, call: impl FnOnce() -> c_int) -> c_int {
    made(directory, path, call, Undo::Remove)
}

/// Makes what is undone like this.
fn made(
    directory: c_int,
    path: *const c_char,
    call: impl FnOnce() -> c_int,
    undo: impl FnOnce(PathBuf) -> Undo,
) -> c_int {
    let Some(path) = absolute(directory, path) else { return timed(call) };
    changes();
    let result = timed(call);
    if result == 0 {
        push(undo(path));
    }
    result
}

/// Removes a directory by a call that does so.
pub fn remove_directory(
    directory: c_int,
    path: *const c_char,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let Some(path) = absolute(directory, path) else { return timed(call) };
    changes();
    let mode = fs::symlink_metadata(&path).map_or(0o777, |data| data.mode());
    let result = timed(call);
    if result == 0 {
        push(Undo::MakeDirectory(path, mode & 0o7777));
    }
    result
}

/// Removes a file by a call that does so.
pub fn remove(directory: c_int, path: *const c_char, call: impl FnOnce() -> c_int) -> c_int {
    let Some(path) = absolute(directory, path) else { return timed(call) };
    changes();
    let kept = keep(&path);
    let result = timed(call);
    after_removal(path, kept, result == 0);
    result
}

/// Something was kept of a path, which is gone, or is not.
fn after_removal(path: PathBuf, kept: io::Result<Kept>, gone: bool) {
    match kept {
        Ok(kept) if gone => push(Undo::PutBack(kept, path)),
        Ok(Kept::Link(link)) => drop(fs::remove_file(link)),
        Ok(_) => {}
        Err(_) if gone => cannot(&path),
        Err(_) => {}
    }
}

/// Renames a file or directory by a call that does so.
pub fn rename(
    (from_directory, from): (c_int, *const c_char),
    (to_directory, to): (c_int, *const c_char),
    call: impl FnOnce() -> c_int,
) -> c_int {
    let paths = absolute(from_directory, from).zip(absolute(to_directory, to));
    let Some((from, to)) = paths else { return timed(call) };
    changes();
    let there = fs::symlink_metadata(&to).ok();
    // Two names of one file stay as they are.
    let same = fs::symlink_metadata(&from).ok().zip(there.as_ref().map(identity));
    if same.is_some_and(|(from, to)| identity(&from) == to) {
        return call();
    }
    let kept = there.as_ref().filter(|data| !data.is_dir()).map(|_| keep(&to));
    let result = timed(call);
    let done = result == 0;
    match (kept, there) {
        (Some(kept), _) => after_removal(to.clone(), kept, done),
        (None, Some(data)) if done => {
            push(Undo::MakeDirectory(to.clone(), data.mode() & 0o7777));
        }
        _ => {}
    }
    if done {
        push(Undo::Move { from: to, to: from });
    }
    result
}

/// Opens a file by a call that may make it, or cut or change its contents.
pub fn open(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    call: impl FnOnce() -> c_int,
) -> c_int {
    const CHANGES: c_int = libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC;
    if flags & CHANGES == 0 {
        return call();
    }
    let path = absolute(directory, path);
    let Some(path) = path.filter(|_| flags & libc::O_TMPFILE != libc::O_TMPFILE) else {
        return timed(call);
    };
    changes();
    let there = fs::metadata(&path);
    if there.is_ok() {
        save(&path);
    }
    let result = timed(call);
    // What is made where a symbolic link leads is found by the descriptor.
    let made = || fs::read_link(format!("/proc/self/fd/{result}"));
    if there.is_err()
        && result >= 0
        && let Ok(made) = made()
    {
        // There is nothing to keep of what is in it.
        let _ = fs::metadata(&made).map(|data| undo::is_new(identity(&data)));
        push(Undo::Remove(made));
    }
    result
}

/// The program changes a file through a descriptor, by this call.
pub fn write<T>(fd: c_int, call: impl FnOnce() -> T) -> T {
    if host::below_root() {
        changes();
        // Of what was opened below the root the contents are known.
        if fd > 2 && descriptors::is_of_root(fd) {
            save(&of_descriptor(fd));
        }
    }
    timed(call)
}

/// Sets the times of a file by a call that does so, of a descriptor where there is no path.
pub fn set_times(fd: c_int, path: *const c_char, call: impl FnOnce() -> c_int) -> c_int {
    let path = match path.is_null() {
        true => host::below_root().then(|| of_descriptor(fd)),
        false => absolute(fd, path),
    };
    let Some(path) = path else { return timed(call) };
    changes();
    let before = fs::metadata(&path).map(|data| Stamps::of(&data));
    let result = timed(call);
    if result == 0 {
        match before {
            Ok(before) => push(Undo::Times(path, before)),
            Err(_) => cannot(&path),
        }
    }
    result
}

/// A path to what a descriptor is of.
fn of_descriptor(fd: c_int) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{fd}"))
}

/// Copies what is in a file that exists, unless that was done before.
fn save(path: &Path) {
    let Ok(data) = fs::metadata(path) else { return };
    let contents = match () {
        () if data.is_file() && !undo::is_new(identity(&data)) => return,
        () if data.is_file() => contents(path, &data).ok(),
        // Others, such as pipes and directories, have no contents that a program overwrites.
        () if data.file_type().is_block_device() => None,
        () => return,
    };
    match contents {
        Some(contents) => push(Undo::Contents(path.to_owned(), contents, Stamps::of(&data))),
        // What a descriptor is of has another name.
        None => cannot(&fs::read_link(path).unwrap_or_else(|_| path.to_owned())),
    }
}

/// What is in a file, if that is not too much. (Its position is not moved, even by a path to a
/// descriptor.)
fn contents(path: &Path, data: &fs::Metadata) -> io::Result<Vec<u8>> {
    if data.len() > MOST_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    fs::read(path)
}

fn identity(data: &fs::Metadata) -> Identity {
    (data.dev(), data.ino())
}

/// Keeps a file that is about to be removed.
fn keep(path: &Path) -> io::Result<Kept> {
    let data = fs::symlink_metadata(path)?;
    let link = kept_at()?;
    match fs::hard_link(path, &link) {
        Ok(()) => Ok(Kept::Link(link)),
        Err(_) if data.file_type().is_symlink() => Ok(Kept::Target(fs::read_link(path)?)),
        Err(_) if data.is_file() => Ok(Kept::Copy(contents(path, &data)?, data.mode() & 0o7777)),
        Err(error) => Err(error),
    }
}

/// A new name in the directory for what is kept.
fn kept_at() -> io::Result<PathBuf> {
    let directory = crate::session::files::kept().ok_or(io::ErrorKind::NotFound)?;
    fs::create_dir_all(&directory)?;
    Ok(directory.join(undo::number().to_string()))
}
