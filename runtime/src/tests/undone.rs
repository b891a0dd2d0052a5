//! Changes of files, and how they are undone.

use super::MACHINE;
use crate::world::undo::{Kept, Stamps, Undo, is_new, push, restore};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::{Duration, SystemTime};

/// An empty directory of this test's own.
fn directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("lockred-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir(&path).unwrap();
    path
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn each_change_is_undone_and_the_last_one_first() {
    // A restore of another test would undo these, too.
    let _turn = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let top = directory("undone");
    let at = |name: &str| top.join(name);
    // What is made: a directory, and a file in it.
    fs::create_dir(at("made")).unwrap();
    push(Undo::RemoveDirectory(at("made")));
    fs::write(at("made/file"), "new").unwrap();
    push(Undo::Remove(at("made/file")));
    // What is written: a longer text, and a shorter one.
    let hour = SystemTime::UNIX_EPOCH + Duration::from_secs(3600);
    let set_back = |name: &str| File::open(at(name)).unwrap().set_modified(hour).unwrap();
    for (name, written) in [("cut", "n"), ("grown", "new and long")] {
        fs::write(at(name), "old").unwrap();
        set_back(name);
        let stamps = Stamps::of(&fs::metadata(at(name)).unwrap());
        fs::write(at(name), written).unwrap();
        push(Undo::Contents(at(name), b"old".to_vec(), stamps));
    }
    // What gets another time.
    fs::write(at("dated"), "old").unwrap();
    set_back("dated");
    push(Undo::Times(at("dated"), Stamps::of(&fs::metadata(at("dated")).unwrap())));
    File::open(at("dated")).unwrap().set_modified(SystemTime::now()).unwrap();
    // What moves, twice.
    fs::write(at("third"), "moved").unwrap();
    push(Undo::Move { from: at("second"), to: at("first") });
    push(Undo::Move { from: at("third"), to: at("second") });
    // What is removed.
    fs::write(at("kept"), "linked").unwrap();
    push(Undo::PutBack(Kept::Link(at("kept")), at("removed/link")));
    push(Undo::PutBack(Kept::Copy(b"copied".to_vec(), 0o604), at("copy")));
    push(Undo::PutBack(Kept::Target("nowhere".into()), at("symbolic")));
    let file = (1, 2);
    assert!(is_new(file) && !is_new(file));
    // The directory comes back before what is in it.
    push(Undo::MakeDirectory(at("removed"), 0o710));
    restore();
    assert!(!at("made").exists());
    for name in ["cut", "grown"] {
        assert_eq!(fs::read_to_string(at(name)).unwrap(), "old", "{name}");
    }
    for name in ["cut", "grown", "dated"] {
        assert_eq!(fs::metadata(at(name)).unwrap().modified().unwrap(), hour, "{name}");
    }
    assert_eq!(fs::read_to_string(at("first")).unwrap(), "moved");
    assert_eq!((mode(&at("removed")), mode(&at("copy"))), (0o710, 0o604));
    assert_eq!(fs::read_to_string(at("removed/link")).unwrap(), "linked");
    assert!(!at("kept").exists());
    assert_eq!(fs::read_to_string(at("copy")).unwrap(), "copied");
    assert_eq!(fs::read_link(at("symbolic")).unwrap(), Path::new("nowhere"));
    assert!(is_new(file), "the next execution begins with what there was");
    // What was undone is not undone again.
    fs::remove_file(at("first")).unwrap();
    restore();
    assert!(!at("first").exists());
    // Files may be changed by others meanwhile, which stays.
    push(Undo::Remove(at("gone")));
    restore();
    fs::remove_dir_all(top).unwrap();
}
