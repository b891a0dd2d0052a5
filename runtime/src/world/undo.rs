//! Changes of files below the root, and how a restore undoes them: what is made is removed, what
//! was removed or overwritten is there again.

use libc::mode_t;
use std::collections::HashSet;
use std::fs::{self, File, FileTimes, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file as the kernel knows it: its device, and its number there.
pub type Identity = (u64, u64);

/// How one change is undone.
pub enum Undo {
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
    /// The contents of a file, which is reached by this path, are what they were, and so are its
    /// times.
    Contents(PathBuf, Vec<u8>, Stamps),
    /// The times of a file are what they were.
    Times(PathBuf, Stamps),
}

/// When a file was read and changed, by the kernel's clock.
pub struct Stamps(FileTimes);

impl Stamps {
    /// Those that a file bears.
    pub fn of(data: &Metadata) -> Self {
        let mut times = FileTimes::new();
        if let Ok(read) = data.accessed() {
            times = times.set_accessed(read);
        }
        if let Ok(changed) = data.modified() {
            times = times.set_modified(changed);
        }
        Self(times)
    }
}

/// What is kept of a removed file.
pub enum Kept {
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

/// Notes what was done.
pub fn push(undo: Undo) {
    with(|journal| journal.undo.push(undo));
}

/// Whether the contents of a file have to be kept, as the file is changed for the first time. From
/// now on they have not.
pub fn is_new(file: Identity) -> bool {
    with(|journal| journal.known.insert(file))
}

/// A number for the name of a link, which none had before.
pub fn number() -> u64 {
    with(|journal| {
        journal.links += 1;
        journal.links
    })
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
        Undo::Contents(path, contents, stamps) => {
            let file = File::options().write(true).open(path)?;
            file.write_all_at(&contents, 0)?;
            file.set_len(contents.len() as u64)?;
            file.set_times(stamps.0)
        }
        Undo::Times(path, stamps) => File::open(path)?.set_times(stamps.0),
    }
}
