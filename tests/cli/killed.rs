//! Processes that die at any moment: nothing that was explored is lost, and the outcome is that of
//! a check that nobody disturbed.

use crate::fixtures::{annotated, own, shared};
use lockred_protocol::session::{STATUS_FILE, StatusWord};
use lockred_tests::tool::{Output, finish, lockred};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A check with a checkpoint as often as that may be.
fn check(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = lockred(directory, ["check", "--message-format", "json"]);
    command.args(["--max-seconds", "100", "--keep-going"]).args(arguments);
    command.env("LOCKRED_CHECKPOINT_SECONDS", "0");
    command
}

/// The lines of a check, without what differs from run to run.
fn outcome(output: &Output) -> Vec<serde_json::Value> {
    let lines = output.stdout.lines().map(|line| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().remove("seconds");
        line
    });
    lines.collect()
}

/// Counts of the sessions in a temporary directory: they grow while something is explored.
fn beats(temporary: &Path) -> u64 {
    let sessions = fs::read_dir(temporary).into_iter().flatten().flatten();
    let beats = sessions.filter_map(|session| {
        let mut word = [0; 8];
        let status = File::open(session.path().join(STATUS_FILE)).ok()?;
        status.read_exact_at(&mut word, StatusWord::Heartbeat as u64 * 8).ok()?;
        Some(u64::from_ne_bytes(word))
    });
    beats.sum()
}

/// The processes that a process has started.
fn children(process: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let numbers = |list: String| -> Vec<u32> {
        list.split_whitespace().filter_map(|number| number.parse().ok()).collect()
    };
    lists.flat_map(numbers).collect()
}

fn signal(process: u32, signal: &str) {
    let number = process.to_string();
    let sent = Command::new("kill").args([signal, &number]).stderr(Stdio::null()).status();
    let _ = sent.unwrap();
}

fn kill(process: u32) {
    signal(process, "-KILL");
}

/// What is kept of an unfinished check.
fn unfinished(fixture: &Path) -> Vec<String> {
    let files = fs::read_dir(fixture.join("target/lockred/unfinished")).into_iter().flatten();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

/// Whom to kill.
#[derive(Clone, Copy, Debug)]
enum Victim {
    Lockred,
    Exploration,
    Both,
}

/// Waits until so much more was explored. Gives who explores; `None` if the check has ended before
/// that.
fn wait_for(child: &mut Child, temporary: &Path, more: u64) -> Option<Vec<u32>> {
    let mut until = None;
    loop {
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        let explorations = children(child.id());
        let now = beats(temporary);
        // Listing tests is nothing that is explored.
        if !explorations.is_empty() && now >= *until.get_or_insert(now + more) {
            return Some(explorations);
        }
        std::thread::yield_now();
    }
}

/// Waits until so much more was explored, and kills. Returns whether there was time for that.
fn kill_behind(child: &mut Child, temporary: &Path, more: u64, victim: Victim) -> bool {
    let Some(explorations) = wait_for(child, temporary, more) else { return false };
    if !matches!(victim, Victim::Lockred) {
        explorations.into_iter().for_each(kill);
    }
    if !matches!(victim, Victim::Exploration) {
        kill(child.id());
    }
    true
}

/// The session directories in a temporary directory.
fn sessions(temporary: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(temporary).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.join(STATUS_FILE).exists()).collect()
}

/// Kills a check again and again, and lets it go on each time, until it comes to its end before
/// that.
fn killed_again_and_again(fixture: &Path, seed: u64) -> Output {
    let temporary = fixture.join("temporary");
    let victims = [Victim::Both, Victim::Exploration, Victim::Lockred];
    let mut random = seed;
    let (mut kills, mut kept) = (0, Vec::new());
    loop {
        let _ = fs::remove_dir_all(&temporary);
        fs::create_dir_all(&temporary).unwrap();
        let mut command = check(fixture, &["--resume"]);
        command.env("TMPDIR", &temporary).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let more = 1 + (random >> 33) % 50_000;
        if !kill_behind(&mut child, &temporary, more, victims[kills % victims.len()]) {
            let output = child.wait_with_output().unwrap();
            let is_kept = |end: &str| kept.iter().any(|name: &String| name.ends_with(end));
            assert!(
                kills >= 4 && is_kept(".response") && is_kept(".checkpoint"),
                "{kills} {kept:?}"
            );
            return Output {
                status: output.status.code(),
                stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
                stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            };
        }
        // Who explores alone was killed goes on by itself, and is killed with what it has started
        // then.
        let _ = child.kill();
        let _ = child.wait_with_output().unwrap();
        kills += 1;
        kept.extend(unfinished(fixture));
        assert!(kills < 100, "it comes to no end");
    }
}

#[test]
fn a_check_that_is_killed_again_and_again_comes_to_the_same_end() {
    let whole = finish(&mut check(&shared("killed"), &[])).expect(1);
    let fixture = own("killed", "killed-again");
    let resumed = killed_again_and_again(&fixture, 1).expect(1);
    let (whole, resumed) = (outcome(&whole), outcome(&resumed));
    assert_eq!(whole.len(), 6);
    for (whole, resumed) in whole.iter().zip(&resumed) {
        assert_eq!(whole, resumed);
    }
    // What was kept of an unfinished check goes with its end.
    assert_eq!(unfinished(&fixture), [""; 0]);
}

#[test]
fn what_code_says_of_itself_holds_for_a_check_that_goes_on() {
    let fixture = annotated("annotations", "annotations-killed");
    let temporary = fixture.join("temporary");
    let _ = fs::remove_dir_all(&temporary);
    fs::create_dir_all(&temporary).unwrap();
    let command = |more: &[&str]| {
        let mut command = lockred(&fixture, ["check", "--message-format", "json"]);
        command.args(["resumed::", "--keep-going"]).args(more);
        command.env("LOCKRED_CHECKPOINT_SECONDS", "0").env("TMPDIR", &temporary);
        command
    };
    let whole = finish(&mut command(&[])).expect(0);
    let tests = whole.tests();
    let codes: Vec<&str> =
        tests[0].warnings.iter().map(|warning| warning["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["LR0103", "LR0102"], "{whole}");
    assert_eq!(tests[0].others["ended"], "executions", "{whole}");
    for victim in [Victim::Both, Victim::Lockred] {
        let mut command = command(&["--resume"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        assert!(kill_behind(&mut child, &temporary, 10_000, victim));
        let _ = child.wait().unwrap();
        assert!(unfinished(&fixture).iter().any(|name| name.ends_with(".checkpoint")));
    }
    let resumed = finish(&mut command(&["--resume"])).expect(0);
    assert_eq!(outcome(&resumed), outcome(&whole));
}

#[test]
fn an_exploration_that_is_killed_from_outside_goes_on_in_another_process() {
    let name = "tests::a_counts";
    let whole = finish(&mut check(&shared("killed"), &[name])).expect(0);
    let fixture = own("killed", "killed-outside");
    let temporary = fixture.join("temporary");
    let _ = fs::remove_dir_all(&temporary);
    fs::create_dir_all(&temporary).unwrap();
    let mut command = check(&fixture, &[name]);
    command.env("TMPDIR", &temporary).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    for _ in 0..2 {
        assert!(kill_behind(&mut child, &temporary, 5_000, Victim::Exploration));
    }
    let output = child.wait_with_output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let output = Output { status: output.status.code(), stdout, stderr: String::new() };
    assert_eq!(outcome(&output), outcome(&whole));
}

#[test]
fn what_was_kept_and_is_damaged_is_reported() {
    let name = "tests::a_counts";
    let whole = finish(&mut check(&shared("killed"), &[name])).expect(0);
    let fixture = own("killed", "killed-damaged");
    let temporary = fixture.join("temporary");
    let _ = fs::remove_dir_all(&temporary);
    fs::create_dir_all(&temporary).unwrap();
    let mut command = check(&fixture, &[name]);
    command.env("TMPDIR", &temporary).stdout(Stdio::null()).stderr(Stdio::null());
    let mut killed = command.spawn().unwrap();
    assert!(kill_behind(&mut killed, &temporary, 10_000, Victim::Both));
    let _ = killed.wait().unwrap();
    let kept = fixture.join("target/lockred/unfinished");
    let is_checkpoint = |file: &&String| file.ends_with(".checkpoint");
    let file = kept.join(unfinished(&fixture).iter().find(is_checkpoint).unwrap());
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(file, bytes).unwrap();
    let mut resume = check(&fixture, &["--resume", name]);
    let resumed = finish(resume.env("TMPDIR", &temporary)).expect(0);
    let resumed = resumed.says(&["what was kept of tests::a_counts is damaged: it begins again"]);
    assert_eq!(outcome(&resumed), outcome(&whole));
}

#[test]
fn sessions_of_the_killed_are_removed_and_those_of_the_living_are_not() {
    let fixture = own("killed", "killed-sessions");
    let temporary = fixture.join("temporary");
    let _ = fs::remove_dir_all(&temporary);
    fs::create_dir_all(&temporary).unwrap();
    let command = |name: &str| {
        let mut command = check(&fixture, &[name]);
        command.env("TMPDIR", &temporary).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let long = "tests::a_counts";
    let mut killed = command(long).spawn().unwrap();
    assert!(kill_behind(&mut killed, &temporary, 1_000, Victim::Lockred));
    let _ = killed.wait().unwrap();
    let left = sessions(&temporary);
    assert_eq!(left.len(), 1, "{left:?}");

    let mut living = command(long).spawn().unwrap();
    assert!(wait_for(&mut living, &temporary, 1_000).is_some());
    let own = sessions(&temporary);
    assert!(own.len() == 1 && own != left, "{own:?} {left:?}");
    // So that it lives until the other one has ended.
    signal(living.id(), "-STOP");
    let other = command("tests::e_is_short").status().unwrap();
    assert_eq!(other.code(), Some(0));
    assert_eq!(sessions(&temporary), own);
    kill(living.id());
    let _ = living.wait().unwrap();
}

#[test]
fn a_death_is_a_finding_that_replays() {
    let fixture = own("killed", "killed-death");
    let name = "tests::d_kills_the_process_in_some_orders";
    let output = finish(&mut check(&fixture, &[name])).expect(1).says(&["SIGKILL"]);
    let tests = output.tests();
    assert!(tests[0].complete, "the search went on\n{output}");
    let bug = &tests[0].bugs[0];
    let _ = finish(&mut lockred(&fixture, ["replay", &bug.id])).expect(1).says(&["SIGKILL"]);
}

#[test]
fn tests_side_by_side_are_reported_as_one_after_the_other() {
    let fixture = shared("killed");
    let one = finish(&mut check(&fixture, &[])).expect(1);
    let three = finish(&mut check(&fixture, &["--jobs", "3"])).expect(1);
    assert_eq!(outcome(&one), outcome(&three));
}
