//! Session directories whose owners were killed: the next run finds and removes them.
//!
//! Who makes a session's directory holds a lock on it (`flock` on the directory itself), which the
//! kernel takes back with the process, however that ends. So a directory that can be locked is
//! nobody's, but for the moment between its making and its locking: whoever locks his own looks
//! whether it is still there, and makes another one if not.

use super::temporary;
use lockred_protocol::session::{KEPT_DIRECTORY, MESSAGE_FILE, REQUEST_FILE, STATUS_FILE};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Once;
use tempfile::TempDir;

/// What the names of session directories begin with. Nothing else is looked at.
const PREFIX: &str = "cargo-lockred-session-";
/// All files that are ever in one, beside those in [`KEPT_DIRECTORY`].
const FILES: [&str; 4] = [REQUEST_FILE, STATUS_FILE, MESSAGE_FILE, super::directory::OUTPUT_FILE];

/// A directory of our own: where it is, and the lock on it.
pub struct Owned {
    pub place: TempDir,
    _lock: File,
}

/// Makes a directory in the temporary directory of the system. The first one of a process removes
/// what others have left there.
///
/// # Errors
/// When it cannot be made.
pub fn own_directory() -> io::Result<Owned> {
    static REMOVED: Once = Once::new();
    let above = std::env::temp_dir();
    REMOVED.call_once(|| remove_in(&above));
    make_in(&above)
}

fn make_in(above: &Path) -> io::Result<Owned> {
    loop {
        let place = tempfile::Builder::new().prefix(PREFIX).tempdir_in(above)?;
        match open(place.path()).and_then(|lock| flock(&lock, libc::LOCK_EX).map(|()| lock)) {
            Ok(lock) if is_there(place.path(), &lock)? => return Ok(Owned { place, _lock: lock }),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether a path still leads to what was opened by it.
fn is_there(place: &Path, opened: &File) -> io::Result<bool> {
    let opened = opened.metadata()?;
    let same = |there: fs::Metadata| (there.dev(), there.ino()) == (opened.dev(), opened.ino());
    Ok(fs::symlink_metadata(place).is_ok_and(same))
}

/// Removes the directories of our own user that are nobody's any more. What cannot be removed
/// stays.
fn remove_in(above: &Path) {
    for entry in fs::read_dir(above).into_iter().flatten().flatten() {
        let (name, place) = (entry.file_name(), entry.path());
        let begins = |prefix| name.to_str().is_some_and(|name| name.starts_with(prefix));
        let _ = if begins(PREFIX) {
            take(&place).and_then(|_lock| remove(&place))
        } else if begins(temporary::PREFIX) {
            // Whatever the program has left in its own.
            take(&place).and_then(|_lock| fs::remove_dir_all(&place))
        } else {
            Ok(())
        };
    }
}

/// Locks a directory of our own user that is nobody's.
///
/// # Errors
/// When it is somebody's, another user's, or gone.
pub fn take(place: &Path) -> io::Result<File> {
    let lock = open(place)?;
    // SAFETY: takes nothing and gives a number.
    if lock.metadata()?.uid() != unsafe { libc::geteuid() } {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    flock(&lock, libc::LOCK_EX | libc::LOCK_NB)?;
    // Who had it before may have removed it between the two.
    if is_there(place, &lock)? { Ok(lock) } else { Err(io::ErrorKind::NotFound.into()) }
}

fn remove(place: &Path) -> io::Result<()> {
    // Never more than what is ours: a directory with anything else in it stays.
    for file in FILES {
        match fs::remove_file(place.join(file)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    match fs::remove_dir_all(place.join(KEPT_DIRECTORY)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::remove_dir(place)
}

/// Opens a directory itself, not what a link leads to.
fn open(place: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(place)
}

fn flock(file: &File, operation: i32) -> io::Result<()> {
    // SAFETY: the descriptor is open as long as `file` is borrowed.
    match unsafe { libc::flock(file.as_raw_fd(), operation) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn names(above: &Path) -> Vec<String> {
        let entries = fs::read_dir(above).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_locked_or_not_ours_stays() {
        let above = tempfile::tempdir().unwrap();
        let living = make_in(above.path()).unwrap();
        let make = |name: String, files: &[&str]| {
            fs::create_dir(above.path().join(&name)).unwrap();
            for file in files {
                fs::write(above.path().join(&name).join(file), "").unwrap();
            }
            name
        };
        let dead = make(format!("{PREFIX}dead"), &FILES);
        fs::create_dir(above.path().join(&dead).join(KEPT_DIRECTORY)).unwrap();
        fs::write(above.path().join(dead).join(KEPT_DIRECTORY).join("1"), "").unwrap();
        let _temporary = make(format!("{}dead-0", temporary::PREFIX), &["anything"]);
        let used = make(format!("{}used-0", temporary::PREFIX), &["anything"]);
        let _lock = take(&above.path().join(&used)).unwrap();
        let with_more = make(format!("{PREFIX}more"), &["notes"]);
        let other = make("lockred-other".into(), &FILES);
        let link = format!("{PREFIX}link");
        std::os::unix::fs::symlink(above.path().join(&other), above.path().join(&link)).unwrap();
        remove_in(above.path());
        let mine = living.place.path().file_name().unwrap().to_str().unwrap().to_owned();
        let mut expected = vec![mine, used, with_more, other.clone(), link];
        expected.sort();
        assert_eq!(names(above.path()), expected);
        assert_eq!(names(&above.path().join(other)).len(), FILES.len());
    }

    #[test]
    fn directories_are_never_taken_from_who_makes_them() {
        let above = tempfile::tempdir().unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let remover = scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    remove_in(above.path());
                }
            });
            let makers = [(); 4].map(|()| {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let own = make_in(above.path()).unwrap();
                        fs::write(own.place.path().join(REQUEST_FILE), "mine").unwrap();
                        let read = fs::read_to_string(own.place.path().join(REQUEST_FILE));
                        assert_eq!(read.unwrap(), "mine");
                    }
                })
            });
            let made = makers.map(std::thread::ScopedJoinHandle::join);
            done.store(true, Ordering::Relaxed);
            remover.join().unwrap();
            assert!(made.iter().all(Result::is_ok));
        });
        assert_eq!(names(above.path()), [""; 0]);
    }
}
