//! The subcommand with everything around it faked: what no real back end can be made to do on
//! demand.

mod world;

use lockred_protocol::codes::{AssumptionKind, BugKind, WarningKind};
use lockred_protocol::message::{
    Assumption, Bug, Counts, Drift, Exploration, Finding, Message, Object, Place, Replay, Role,
    Stop, Thread, Unsupported, Warning,
};
use lockred_protocol::schedule::{Choice, Schedule};
use lockred_protocol::sites::SiteId;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use world::World;

fn explored(stop: Stop) -> Exploration {
    Exploration {
        stop,
        counts: Counts { executions: 3, transactions: 7, operations: 9, ..Counts::default() },
        seconds: 0.25,
        restoring: 0.0,
        preemptions: None,
        share: None,
        proved: None,
        threads: 2,
        findings: Vec::new(),
        warnings: Vec::new(),
        assumptions: Vec::new(),
    }
}

fn found(key: &str) -> Exploration {
    let finding = Finding {
        kind: BugKind::Deadlock,
        message: "main and thread 1 wait for each other".into(),
        key: key.into(),
        schedule: Schedule(vec![Choice::Thread(1), Choice::Thread(0)]),
    };
    Exploration { findings: vec![finding], ..explored(Stop::Bug) }
}

fn replayed(key: Option<&str>) -> Replay {
    let place = Place {
        role: Role::Waits,
        thread: 1,
        site: SiteId(1),
        stack: Vec::new(),
        object: Some(0),
        step: None,
        order: None,
    };
    let bug = |key: &str| Bug {
        kind: BugKind::Deadlock,
        message: "main and thread 1 wait for each other".into(),
        key: key.into(),
        places: vec![place],
        notes: Vec::new(),
    };
    let thread = Thread { name: None, parent: None, created: Vec::new() };
    Replay {
        overtaken: Vec::new(),
        bug: key.map(bug),
        drift: None,
        schedule: Schedule(vec![Choice::Thread(1), Choice::Thread(0)]),
        threads: vec![thread.clone(), thread],
        objects: vec![Object { kind: "mutex".into(), address: 1, size: None, home: None }],
        steps: Vec::new(),
        output: Vec::new(),
        warnings: Vec::new(),
        scaled: Vec::new(),
        unsupported: None,
        shared: None,
    }
}

/// A world with one test, whose explorations and replays get these responses.
fn world(exploration: Exploration, replay: Option<Replay>) -> World {
    let world = World::new(&["t"]);
    world.response("t", "explore", &Message::Explored(exploration));
    if let Some(replay) = replay {
        world.response("t", "replay", &Message::Replayed(replay));
    }
    world
}

#[test]
fn a_reproduced_bug_is_reported_and_replays() {
    let world = world(found("k"), Some(replayed(Some("k"))));
    let (status, lines) = world.check(&[]);
    assert_eq!(status, Some(1));
    let bug = &lines[0]["bugs"][0];
    assert_eq!(lines[0]["verdict"], "failed");
    assert_eq!(
        (&bug["sites"][0]["file"], &bug["sites"][0]["line"]),
        (&"src/lib.rs".into(), &2.into())
    );
    let id = bug["id"].as_str().unwrap();
    let (status, _, stderr) = world.run(&["replay", id]);
    assert_eq!(status, Some(1), "{stderr}");
    assert!(stderr.contains("thread 1 waits here for the mutex"), "{stderr}");
}

#[test]
fn a_bug_that_does_not_show_again_is_an_error_of_ours() {
    let drift = Some(Drift { step: 1, recorded: 1, message: "thread 0 is blocked".into() });
    for (replay, reason) in [
        (replayed(None), "did not reproduce it"),
        (replayed(Some("another")), "ended in something else"),
        (Replay { drift, ..replayed(None) }, "left its schedule at step 1: thread 0 is blocked"),
    ] {
        let (status, lines) = world(found("k"), Some(replay)).check(&[]);
        assert_eq!(status, Some(4), "{lines:?}");
        assert_eq!(
            (&lines[0]["verdict"], &lines[0]["error"]),
            (&"unsupported".into(), &true.into())
        );
        let message = lines[0]["message"].as_str().unwrap();
        assert!(message.contains(reason) && message.contains("cargo lockred replay "), "{message}");
        assert_eq!(lines[0]["bugs"], serde_json::json!([]));
    }
}

#[test]
fn a_process_that_crashes_again_when_it_is_replayed_shows_a_bug_and_the_others_go_on() {
    let world = World::new(&["crashes", "works"]);
    world.response("works", "explore", &Message::Explored(explored(Stop::Complete)));
    let (status, lines) = world.check(&[]);
    assert_eq!(status, Some(1));
    assert_eq!((&lines[0]["name"], &lines[0]["verdict"]), (&"crashes".into(), &"failed".into()));
    let bug = &lines[0]["bugs"][0];
    assert_eq!(bug["kind"], "signal");
    assert!(bug["message"].as_str().unwrap().contains("SIGSEGV"), "{bug}");
    assert_eq!(lines[1]["verdict"], "verified");
    assert_eq!(lines[2]["failed"], 1);
}

#[test]
fn bounds_assumptions_and_warnings_are_reported() {
    let site = SiteId(1);
    let mut exploration = explored(Stop::Seconds);
    let detail = "calls deflate".into();
    exploration.assumptions.push(Assumption { kind: AssumptionKind::NativeCode, detail, site });
    let message = "thread 1 panicked and nobody joined it".into();
    let kind = WarningKind::ThreadPanicked;
    exploration.warnings.push(Warning {
        kind,
        message,
        site,
        stack: Vec::new(),
        places: Vec::new(),
        home: None,
        schedule: None,
    });
    let world = world(exploration, None);
    let (status, lines) = world.check(&[]);
    assert_eq!((status, &lines[0]["verdict"]), (Some(0), &"passed".into()));
    assert_eq!((&lines[0]["complete"], &lines[0]["ended"]), (&false.into(), &"seconds".into()));
    assert_eq!(lines[0]["warnings"][0]["code"], "LR0105");
    let (status, _, stderr) = world.run(&["check", "--require", "verified"]);
    assert_eq!(status, Some(5));
    for part in [
        "stopped at --max-seconds",
        "assuming native-code",
        "calls deflate (src/lib.rs:2:5)",
        "warning[LR0105]: thread 1 panicked and nobody joined it",
        "not every interleaving of 1 test",
    ] {
        assert!(stderr.contains(part), "`{part}` is missing in\n{stderr}");
    }
}

#[test]
fn what_cannot_be_modelled_is_shown_at_its_line() {
    let message = "`fork` cannot be modelled".into();
    let unsupported = Unsupported { message, site: SiteId(1), stack: Vec::new() };
    let world = world(explored(Stop::Unsupported(unsupported)), None);
    let (status, lines) = world.check(&[]);
    assert_eq!((status, &lines[0]["error"]), (Some(4), &false.into()));
    assert_eq!(lines[0]["message"], "`fork` cannot be modelled");
    let (_, _, stderr) = world.run(&["check"]);
    assert!(stderr.contains("unsupported: `fork`") && stderr.contains("second();"), "{stderr}");
}

#[test]
fn the_back_end_is_built_in_a_clean_environment_and_once() {
    let world = world(explored(Stop::Complete), None);
    let (status, _, stderr) = world.run(&["setup"]);
    assert_eq!(status, Some(0), "{stderr}");
    let cache = std::fs::read_dir(world.path("cache/lockred")).unwrap().next().unwrap().unwrap();
    let environment = std::fs::read_to_string(cache.path().join("target/environment")).unwrap();
    assert!(!environment.contains("leaked"), "{environment}");
    assert!(environment.lines().all(|line| !line.starts_with("CARGO_TARGET_DIR=")));
    assert!(environment.contains("\nCARGO_ENCODED_RUSTFLAGS=\n"), "{environment}");
    std::fs::remove_file(world.path("sysroot/bin/cargo")).unwrap();
    let (status, _, stderr) = world.run(&["check"]);
    assert_eq!(status, Some(0), "{stderr}");
    let arguments = std::fs::read_to_string(world.path("arguments")).unwrap();
    assert!(
        arguments.starts_with("test --no-run --target x86_64-unknown-linux-gnu"),
        "{arguments}"
    );
}

#[test]
fn a_back_end_that_cannot_be_built_is_reported_with_the_reason() {
    let world = world(explored(Stop::Complete), None);
    world.write("sysroot/bin/cargo", "#!/bin/sh\necho 'error: failed to get `x`' >&2\nexit 101\n");
    let (status, _, stderr) = world.run(&["check"]);
    assert_eq!(status, Some(3));
    assert!(stderr.contains("failed to get `x`") && stderr.contains("network"), "{stderr}");
}

#[test]
fn an_unsupported_toolchain_is_reported_in_one_line() {
    let world = world(explored(Stop::Complete), None);
    world.tools(&world::SUPPORTED.replace("LLVM version: 22", "LLVM version: 23"));
    let (status, _, stderr) = world.run(&["check"]);
    assert_eq!(status, Some(3));
    assert_eq!(
        stderr,
        "error: lockred supports toolchains with LLVM 22; rustc 9.9.9 brings LLVM 23.1.0\n"
    );
}

#[test]
fn a_failed_build_checks_nothing() {
    let world = world(explored(Stop::Complete), None);
    std::fs::remove_file(world.path("artifact")).unwrap();
    let (status, stdout, _) = world.run(&["check", "--message-format", "json"]);
    assert_eq!((status, stdout.as_str()), (Some(3), ""));
}

#[test]
fn an_interruption_leaves_what_was_finished() {
    let world = World::new(&["a_quick_one", "b_waits", "c_never"]);
    world.response("a_quick_one", "explore", &Message::Explored(explored(Stop::Complete)));
    let mut command = world.command(&["check", "--message-format", "json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    let (status, _, stderr) = world::reported(child.wait_with_output().unwrap());
    assert_eq!(status, Some(130), "{stderr}");
    assert!(first.contains("a_quick_one"), "{first}");
    assert!(rest.contains("\"finished\"") && !rest.contains("c_never"), "{rest}");
    assert!(stderr.contains("interrupted; 2 tests not checked"), "{stderr}");
}
