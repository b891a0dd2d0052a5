//! Places that cannot be written: reported as what they are, never as something else.

use crate::fixtures::{own, shared, temporary};
use lockred_tests::mount::{Mount, under};
use lockred_tests::tool::{Output, finish, lockred, run};
use std::path::Path;
use std::process::Command;

/// Runs where a mount covers `directory`; where the system permits no mounts, there is nothing to
/// run.
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
fn a_temporary_directory_that_is_full_already() {
    let fixture = shared("sample");
    let directory = temporary().join("full-temporary");
    let _ = run(&fixture, &["check", "tests::verified"]).expect(0);
    let mut command = lockred(&fixture, ["check", "tests::verified"]);
    command.env("TMPDIR", &directory);
    if let Some(output) = finish_under(Mount::Full, &directory, &command) {
        failed_saying(&output, &["No space left on device"]);
        let _ = output.says(&["the disk is full"]);
    }
}

/// What a check says that has found a bug, and could not keep its schedule.
fn tells_the_bug_all_the_same(output: Output, reason: &str) {
    let output = output.expect(1).says(&[
        "error[LR0002]",
        "let _b = other.1.lock().unwrap();",
        "warning: this bug cannot be replayed: cannot ",
        reason,
        "verified tests::verified",
        "Summary 2 tests",
        "1 verified, 1 failed",
    ]);
    assert!(!output.stderr.contains("cargo lockred replay"), "{output}");
}

#[test]
fn a_bug_is_reported_where_the_disk_is_full() {
    let fixture = own("sample", "full-schedules");
    let arguments = ["check", "--exact", "tests::deadlocks", "tests::verified", "--keep-going"];
    let _ = run(&fixture, &arguments).expect(1);
    let kept = fixture.join("target/lockred/schedules");
    let command = lockred(&fixture, arguments);
    if let Some(output) = finish_under(Mount::Full, &kept, &command) {
        tells_the_bug_all_the_same(output, "No space left on device");
    }
}

#[test]
fn a_bug_is_reported_where_its_schedule_cannot_be_kept() {
    let fixture = own("sample", "no-schedules");
    let kept = fixture.join("target/lockred");
    std::fs::create_dir_all(&kept).unwrap();
    let _ = std::fs::remove_dir_all(kept.join("schedules"));
    std::fs::write(kept.join("schedules"), "not a directory").unwrap();
    let arguments = ["check", "--exact", "tests::deadlocks", "tests::verified", "--keep-going"];
    tells_the_bug_all_the_same(run(&fixture, &arguments), "schedules");
}

#[test]
fn a_limit_of_the_address_space_is_no_bug_of_ours() {
    let fixture = shared("sample");
    let _ = run(&fixture, &["check", "tests::verified"]).expect(0);
    let command = lockred(&fixture, ["check", "tests::verified"]);
    let mut limited = lockred_tests::tool::clean("/bin/sh", &fixture);
    limited.args(["-c", "ulimit -v 4000000 && exec \"$0\" \"$@\""]);
    limited.arg(command.get_program()).args(command.get_args());
    let output = finish(&mut limited).expect(4);
    let reported = "the address space is limited to 3906 MiB (`ulimit -v`)";
    assert!(output.stderr.contains(reported), "{output}");
    assert!(!output.stderr.contains("bug in lockred"), "{output}");
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
