//! Changes of files below the root, undone at a restore: what is made is removed, what was removed or overwritten is there again.
//!
//! A file that is removed is kept under another name first (a hard link in the session's directory, so that descriptors of it stay
//! descriptors of the same file), or, across file systems, as a copy. Contents are copied before the first change of an execution.
//! What is too large for that, or cannot be read, is not undone: an assumption (`external-write`).

use super::descriptors;
use crate::hooks::host;
use libc::{c_char, c_int, mode_t};
use lockred_trace::codes::AssumptionKind;
use std::collections::HashSet;
use std::ffi::{CStr, OsStr};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of a file that are copied at most.
const MOST_BYTES: u64 = 64 << 20;

/// A file as the kernel knows it: its device, and its number there.
type Identity = (u64, u64);

/// How one change is undone.
enum Undo {
    /// The file is removed.
    Remove(PathBuf),
    /// The directory is removed.
    RemoveDirectory(PathBuf),
    /// The directory is made again.
    MakeDirectory(PathBuf, mode_t),
    /// What was kept of a removed file is put in its place.
    PutBack(Kept, PathBuf),
    /// The file goes back to where it was.
    Move { from: PathBuf, to: PathBuf },
    /// The contents of a file, which is reached by this path, are what they were.
    Contents(PathBuf, Vec<u8>),
}

/// What is kept of a removed file.
enum Kept {
    /// The file itself.
    Link(PathBuf),
    /// Its contents.
    Copy(Vec<u8>, mode_t),
    /// Where a symbolic link leads.
    Target(PathBuf),
}

/// What is to be undone, in the order in which it was done.
struct Journal {
    undo: Vec<Undo>,
    /// Files of which the contents are known, or that were made below the root.
    known: HashSet<Identity>,
    /// Links that were made, for their names.
    links: u64,
}

static JOURNAL: Mutex<Option<Journal>> = Mutex::new(None);

fn journal() -> MutexGuard<'static, Option<Journal>> {
    JOURNAL.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with<T>(act: impl FnOnce(&mut Journal) -> T) -> T {
    let mut journal = journal();
    let new = || Journal { undo: Vec::new(), known: HashSet::new(), links: 0 };
    act(journal.get_or_insert_with(new))
}

fn push(undo: Undo) {
    with(|journal| journal.undo.push(undo));
}

/// The absolute path of a name in a directory that is open; nothing below the root of an execution changes otherwise.
fn absolute(directory: c_int, path: *const c_char) -> Option<PathBuf> {
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

/// A change of a file cannot be undone.
fn cannot(path: &Path) {
    host::assume(AssumptionKind::ExternalWrite, &path.to_string_lossy());
}

/// Makes a directory by a call that does so.
pub fn make_directory(
    directory: c_int,
    path: *const c_char,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let Some(path) = absolute(directory, path) else { return call() };
    changes();
    let result = call();
    if result == 0 {
        push(Undo::RemoveDirectory(path));
    }
    result
}

/// Makes a file, or a name of one, by a call that fails where there is one.
pub fn make(directory: c_int, path: *const c_char, call: impl FnOnce() -> c_int) -> c_int {
    let Some(path) = absolute(directory, path) else { return call() };
    changes();
    let result = call();
    if result == 0 {
        push(Undo::Remove(path));
    }
    result
}

/// Removes a directory by a call that does so.
pub fn remove_directory(
    directory: c_int,
    path: *const c_char,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let Some(path) = absolute(directory, path) else { return call() };
    changes();
    let mode = fs::symlink_metadata(&path).map_or(0o777, |data| data.mode());
    let result = call();
    if result == 0 {
        push(Undo::MakeDirectory(path, mode & 0o7777));
    }
    result
}

/// Removes a file by a call that does so.
pub fn remove(directory: c_int, path: *const c_char, call: impl FnOnce() -> c_int) -> c_int {
    let Some(path) = absolute(directory, path) else { return call() };
    changes();
    let kept = keep(&path);
    let result = call();
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
    let Some((from, to)) = paths else { return call() };
    changes();
    let there = fs::symlink_metadata(&to).ok();
    // Two names of one file stay as they are.
    let same = fs::symlink_metadata(&from).ok().zip(there.as_ref().map(identity));
    if same.is_some_and(|(from, to)| identity(&from) == to) {
        return call();
    }
    let kept = there.as_ref().filter(|data| !data.is_dir()).map(|_| keep(&to));
    let result = call();
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
    let path = if flags & CHANGES == 0 { None } else { absolute(directory, path) };
    let Some(path) = path.filter(|_| flags & libc::O_TMPFILE != libc::O_TMPFILE) else {
        return call();
    };
    changes();
    let there = fs::metadata(&path);
    if there.is_ok() {
        save(&path, &path);
    }
    let result = call();
    // What is made where a symbolic link leads is found by the descriptor.
    let made = || fs::read_link(format!("/proc/self/fd/{result}"));
    if there.is_err()
        && result >= 0
        && let Ok(made) = made()
    {
        with(|journal| {
            journal.known.extend(fs::metadata(&made).map(|data| identity(&data)));
            journal.undo.push(Undo::Remove(made));
        });
    }
    result
}

/// The program changes a file through a descriptor.
pub fn write(fd: c_int) {
    if !host::below_root() {
        return;
    }
    changes();
    // Of what was opened below the root the contents are known.
    if fd > 2 && descriptors::was_open_at_root(fd) {
        let path = PathBuf::from(format!("/proc/self/fd/{fd}"));
        let name = fs::read_link(&path).unwrap_or_else(|_| path.clone());
        save(&path, &name);
    }
}

/// Copies what is in a file that exists, unless that was done before.
fn save(path: &Path, name: &Path) {
    let Ok(data) = fs::metadata(path) else { return };
    if !data.is_file() {
        // Devices, pipes and directories have no contents that a program overwrites.
        if data.file_type().is_block_device() {
            cannot(name);
        }
        return;
    }
    if !with(|journal| journal.known.insert(identity(&data))) {
        return;
    }
    let contents = (data.len() <= MOST_BYTES).then(|| read(path).ok()).flatten();
    match contents {
        Some(contents) => push(Undo::Contents(path.to_owned(), contents)),
        None => cannot(name),
    }
}

/// What is in a file. (Its position is not moved, even by a path to a descriptor.)
fn read(path: &Path) -> io::Result<Vec<u8>> {
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
        Err(_) if data.is_file() && data.len() <= MOST_BYTES => {
            Ok(Kept::Copy(read(path)?, data.mode() & 0o7777))
        }
        Err(error) => Err(error),
    }
}

/// A new name in the directory for what is kept.
fn kept_at() -> io::Result<PathBuf> {
    let directory = crate::session::files::kept().ok_or(io::ErrorKind::NotFound)?;
    fs::create_dir_all(&directory)?;
    let number = with(|journal| {
        journal.links += 1;
        journal.links
    });
    Ok(directory.join(number.to_string()))
}

/// Undoes everything since the root.
pub fn restore() {
    let undo = match &mut *journal() {
        Some(journal) => {
            journal.known.clear();
            std::mem::take(&mut journal.undo)
        }
        None => return,
    };
    for change in undo.into_iter().rev() {
        // What somebody else has changed meanwhile is his.
        let _ = back(change);
    }
}

fn back(change: Undo) -> io::Result<()> {
    match change {
        Undo::Remove(path) => fs::remove_file(path),
        Undo::RemoveDirectory(path) => fs::remove_dir(path),
        Undo::MakeDirectory(path, mode) => fs::DirBuilder::new().mode(mode).create(path),
        Undo::Move { from, to } => fs::rename(from, to),
        Undo::PutBack(Kept::Link(link), path) => {
            fs::hard_link(&link, path)?;
            fs::remove_file(link)
        }
        Undo::PutBack(Kept::Target(target), path) => std::os::unix::fs::symlink(target, path),
        Undo::PutBack(Kept::Copy(contents, mode), path) => {
            fs::write(&path, contents)?;
            fs::set_permissions(path, fs::Permissions::from_mode(mode))
        }
        Undo::Contents(path, contents) => {
            let file = File::options().write(true).open(path)?;
            file.write_all_at(&contents, 0)?;
            file.set_len(contents.len() as u64)
        }
    }
}
