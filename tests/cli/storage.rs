//! Places that cannot be written: told as what they are, never as something else.

use crate::fixtures::{own, shared, temporary};
use lockred_tests::mount::{Mount, under};
use lockred_tests::tool::{Output, finish, lockred, run};
use std::path::Path;
use std::process::Command;

/// Runs where a mount covers `directory`; where the system permits no mounts, there is nothing to run.
fn finish_under(mount: Mount, directory: &Path, command: &Command) -> Option<Output> {
    std::fs::create_dir_all(directory).unwrap();
    let Some(mut command) = under(mount, directory, command) else {
        eprintln!("no mounts are permitted here: {mount:?} cannot be tried");
        return None;
    };
    Some(finish(&mut command))
}

/// Fails unless the run failed, not by a panic, and said one of the texts.
#[track_caller]
fn failed_saying(output: &Output, texts: &[&str]) {
    assert!(matches!(output.status, Some(2..=4)), "{output}");
    assert!(
        texts.iter().any(|text| output.stderr.contains(text)),
        "none of {texts:?} in\n{output}"
    );
    assert!(!output.stderr.contains("panicked at"), "{output}");
}

#[test]
fn a_file_in_place_of_the_target_directory() {
    let file = temporary().join("a-file");
    std::fs::create_dir_all(temporary()).unwrap();
    std::fs::write(&file, "not a directory").unwrap();
    let file = file.to_str().expect("a path in UTF-8");
    let output = run(&shared("sample"), &["check", "--target-dir", file, "tests::verified"]);
    failed_saying(&output, &["Not a directory", "File exists", "not a directory"]);
    assert!(output.stderr.contains("a-file"), "{output}");
}

#[test]
fn a_read_only_target_directory() {
    let fixture = own("sample", "read-only");
    let command = lockred(&fixture, ["check", "tests::verified"]);
    if let Some(output) = finish_under(Mount::ReadOnly, &fixture.join("target"), &command) {
        failed_saying(&output, &["Read-only file system", "read-only"]);
    }
}

#[test]
fn a_full_target_directory() {
    let fixture = own("sample", "full");
    let command = lockred(&fixture, ["check", "tests::verified"]);
    if let Some(output) = finish_under(Mount::Small(64), &fixture.join("target"), &command) {
        failed_saying(&output, &["No space left on device"]);
    }
}

#[test]
fn a_full_temporary_directory() {
    let fixture = shared("sample");
    let directory = temporary().join("small");
    let _ = run(&fixture, &["check", "tests::verified"]).expect(0);
    let mut command = lockred(&fixture, ["check", "tests::verified"]);
    command.env("TMPDIR", &directory);
    if let Some(output) = finish_under(Mount::Small(64), &directory, &command) {
        failed_saying(&output, &["No space left on device"]);
    }
}

#[test]
fn a_cache_directory_that_is_a_file() {
    let file = temporary().join("no-cache");
    std::fs::create_dir_all(temporary()).unwrap();
    std::fs::write(&file, "not a directory").unwrap();
    let mut command = lockred(&shared("sample"), ["check", "tests::verified"]);
    let output = finish(command.env("XDG_CACHE_HOME", &file));
    failed_saying(&output, &["no-cache"]);
}
