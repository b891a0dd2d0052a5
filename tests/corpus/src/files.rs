//! Files that are there before the first thread, and what the executions after it do to them: each begins with the same files.

use std::env::temp_dir;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, symlink};
use std::panic::Location;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{scope, sleep};
use std::time::{Duration, SystemTime};

/// A directory of the test's own, which is empty, and is removed with this value.
struct Place(PathBuf);

impl Place {
    #[track_caller]
    fn new() -> Self {
        let (process, line) = (std::process::id(), Location::caller().line());
        let path = temp_dir().join(format!("files-{process}-{line}"));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let removed = fs::remove_dir_all(&self.0);
        assert!(removed.is_ok() || std::thread::panicking());
    }
}

/// Does something in another thread. There are two executions: whether it is done is seen, or is not.
fn two_ways(act: impl FnOnce() + Send) -> bool {
    let done = AtomicBool::new(false);
    scope(|scope| {
        scope.spawn(|| {
            act();
            done.store(true, SeqCst);
        });
        done.load(SeqCst)
    })
}

//@ passed file-change
#[test]
fn a_file_is_removed_in_each() {
    let place = Place::new();
    let path = place.join("file");
    fs::write(&path, "text").unwrap();
    two_ways(|| fs::remove_file(&path).unwrap());
    assert!(!path.exists());
}

/// Longer than a step of the clock of a file system.
const WHILE: Duration = Duration::from_millis(50);

/// Whether so much time lies between, but for a step of the clock.
fn lie_apart(first: SystemTime, second: SystemTime) -> bool {
    second.duration_since(first).unwrap() + WHILE / 5 >= WHILE
}

//@ verified
#[test]
fn files_tell_what_was_slept_between_them() {
    let place = Place::new();
    let made = |name: &str| {
        fs::write(place.join(name), name).unwrap();
        fs::metadata(place.join(name)).unwrap().modified().unwrap()
    };
    let first = made("first");
    sleep(WHILE);
    assert!(!place.join("second").exists() && place.join("first").metadata().is_ok());
    assert!(lie_apart(first, made("second")));
}

//@ verified
#[test]
fn files_are_as_old_as_the_clock_tells() {
    let place = Place::new();
    let before = SystemTime::now();
    sleep(WHILE);
    fs::write(place.join("file"), "text").unwrap();
    let data = fs::metadata(place.join("file")).unwrap();
    let written = data.modified().unwrap();
    assert!(lie_apart(before, written) && data.created().unwrap() <= written);
    sleep(WHILE);
    let again = File::open(place.join("file")).unwrap().metadata().unwrap();
    assert_eq!(again.modified().unwrap(), written);
    assert!(written.elapsed().unwrap() >= WHILE);
}

//@ verified
#[test]
fn files_bear_the_times_that_they_are_given() {
    let place = Place::new();
    let file = File::create(place.join("file")).unwrap();
    let now = SystemTime::now();
    let hour = Duration::from_secs(3600);
    for time in [SystemTime::UNIX_EPOCH + hour, now - hour, now, now + hour] {
        file.set_modified(time).unwrap();
        assert_eq!(file.metadata().unwrap().modified().unwrap(), time);
    }
}

//@ passed file-change
#[test]
fn files_of_threads_are_as_old_as_the_clock_tells() {
    let place = Place::new();
    fs::write(place.join("old"), "text").unwrap();
    let old = File::options().write(true).open(place.join("old")).unwrap();
    let of = |name: &str| fs::metadata(place.join(name)).unwrap().modified().unwrap();
    let (first, now) = (of("old"), SystemTime::now());
    two_ways(|| {
        // Each execution finds the time that was there before.
        assert_eq!(of("old"), first);
        old.set_modified(now).unwrap();
        sleep(WHILE);
        fs::write(place.join("new"), "text").unwrap();
        sleep(WHILE);
        fs::write(place.join("newer"), "text").unwrap();
    });
    assert_eq!(of("old"), now);
    assert!(lie_apart(now, of("new")) && lie_apart(of("new"), of("newer")));
    assert!(of("newer") <= SystemTime::now());
}

//@ passed file-change
#[test]
fn a_tree_is_removed_in_each() {
    let path = Place::new();
    fs::create_dir_all(path.join("a").join("b")).unwrap();
    fs::write(path.join("a").join("file"), "text").unwrap();
    symlink("file", path.join("a").join("link")).unwrap();
    two_ways(|| ());
    assert_eq!(fs::read_to_string(path.join("a").join("link")).unwrap(), "text");
}

//@ passed file-change
#[test]
fn a_file_is_made_in_each() {
    let place = Place::new();
    let path = place.join("file");
    two_ways(|| drop(File::create_new(&path).unwrap()));
    assert!(path.exists());
}

//@ passed file-change
#[test]
fn a_directory_is_made_in_each() {
    let place = Place::new();
    let path = place.join("a");
    two_ways(|| fs::create_dir(&path).unwrap());
    fs::write(path.join("file"), "text").unwrap();
}

//@ passed file-change
#[test]
fn a_file_is_overwritten_in_each() {
    let place = Place::new();
    let path = place.join("file");
    fs::write(&path, "before").unwrap();
    two_ways(|| {
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
        fs::write(&path, "behind it").unwrap();
    });
    assert_eq!(fs::read_to_string(&path).unwrap(), "behind it");
}

//@ passed file-change
#[test]
fn a_file_is_appended_to_in_each() {
    let place = Place::new();
    let path = place.join("file");
    fs::write(&path, "1").unwrap();
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    two_ways(|| write!(file, "2").unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), "12");
}

//@ passed file-change
#[test]
fn a_file_is_cut_in_each() {
    let place = Place::new();
    let mut file = File::create_new(place.join("file")).unwrap();
    file.write_all(b"text").unwrap();
    two_ways(|| file.set_len(2).unwrap());
    assert_eq!(file.metadata().unwrap().size(), 2);
}

//@ passed file-change
#[test]
fn a_file_takes_the_place_of_another_in_each() {
    let place = Place::new();
    let (from, to) = (place.join("from"), place.join("to"));
    fs::write(&from, "new").unwrap();
    fs::write(&to, "old").unwrap();
    two_ways(|| fs::rename(&from, &to).unwrap());
    assert_eq!(fs::read_to_string(&to).unwrap(), "new");
    assert!(!from.exists());
}

/// A rename of one name of a file to another one does nothing.
//@ passed file-change
#[test]
fn both_names_of_a_file_stay_in_each() {
    let place = Place::new();
    let (one, other) = (place.join("one"), place.join("other"));
    fs::write(&one, "text").unwrap();
    fs::hard_link(&one, &other).unwrap();
    two_ways(|| fs::rename(&one, &other).unwrap());
    assert_eq!([one, other].map(|path| fs::metadata(path).unwrap().nlink()), [2, 2]);
}

//@ passed file-change
#[test]
fn a_directory_takes_the_place_of_an_empty_one_in_each() {
    let place = Place::new();
    let (from, to) = (place.join("from"), place.join("to"));
    [&from, &to].into_iter().for_each(|path| fs::create_dir(path).unwrap());
    fs::write(from.join("file"), "text").unwrap();
    two_ways(|| {
        assert!(to.exists() && !to.join("file").exists());
        fs::rename(&from, &to).unwrap();
    });
    assert!(to.join("file").exists() && !from.exists());
}

//@ passed file-change
#[test]
fn a_name_is_given_in_each() {
    let path = Place::new();
    fs::write(path.join("file"), "text").unwrap();
    two_ways(|| {
        fs::hard_link(path.join("file"), path.join("hard")).unwrap();
        symlink("hard", path.join("soft")).unwrap();
    });
    assert_eq!(fs::read_to_string(path.join("soft")).unwrap(), "text");
}

/// As a temporary file with a name, which is removed while it is open.
//@ passed file-change
#[test]
fn an_open_file_is_the_one_that_its_name_leads_to() {
    let place = Place::new();
    let path = place.join("file");
    let mut file = File::create_new(&path).unwrap();
    let seen = two_ways(|| write!(file, "text").unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), "text");
    fs::remove_file(&path).unwrap();
    assert!(seen || !path.exists());
}

//@ failed panic
#[test]
fn what_one_execution_leaves_is_not_there_in_the_next() {
    let place = Place::new();
    let path = place.join("file");
    let seen = two_ways(|| drop(File::create(&path).unwrap()));
    assert!(seen || !path.exists()); //~ bug
}
