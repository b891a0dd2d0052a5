//! Reports from hand-made replays, compared with golden text.

use super::render::Stacks;
use super::{bug, render};
use crate::executable::symbols::{Places, Symbols};
use lockred_protocol::codes::BugKind;
use lockred_protocol::message::{Bug, Object, Output, Place, Replay, Role, Thread};
use lockred_protocol::schedule::Schedule;
use lockred_protocol::sites::{Sidecar, Site, SiteId};

const SOURCE: &str = "\
use std::sync::Mutex;

fn both(first: &Mutex<i32>, second: &Mutex<i32>) {
    let a = first.lock().unwrap();
    let b = second.lock().unwrap();
}
";

/// A workspace with one file, and sites in it: `(line, column, function)`, each also inlined from
/// std.
struct World {
    directory: tempfile::TempDir,
    sidecar: Sidecar,
}

impl World {
    fn new(sites: &[(u32, u32, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("src")).unwrap();
        std::fs::write(directory.path().join("src/lib.rs"), SOURCE).unwrap();
        let strings =
            ["", "src/lib.rs", "/rustc/1/library/std/src/mutex.rs", "std::sync::Mutex::lock"];
        let mut sidecar = Sidecar {
            strings: strings.map(String::from).into(),
            sites: vec![Site::default()],
            ..Sidecar::default()
        };
        for (line, column, function) in sites {
            sidecar.strings.push((*function).into());
            let function = u32::try_from(sidecar.strings.len() - 1).unwrap();
            let user = Site { file: 1, line: *line, column: *column, function, ..Site::default() };
            sidecar.sites.push(user);
            let inlined_at = SiteId(u32::try_from(sidecar.sites.len() - 1).unwrap());
            sidecar.sites.push(Site { file: 2, line: 9, column: 9, function: 3, inlined_at });
        }
        Self { directory, sidecar }
    }

    fn render(&self, replay: &Replay, stacks: Stacks) -> String {
        let root = self.directory.path().to_owned();
        let places = Places {
            members: vec![root.clone()],
            real_root: root.clone(),
            target: root.join("target"),
            root,
            sysroot: "/s".into(),
            runtime: "/r".into(),
        };
        let symbols = Symbols::of_sites(self.sidecar.clone(), places);
        let report = bug::report(replay, replay.bug.as_ref().unwrap(), &symbols);
        render::text(&report, symbols.sources(), stacks, false)
    }
}

/// The innermost site of the n-th entry, from 0: the one in std.
fn site(index: u32) -> SiteId {
    SiteId(2 + 2 * index)
}

fn replay(bug: Bug, objects: &[(&str, Option<u64>)], output: Vec<Output>) -> Replay {
    let thread = |name: Option<&str>| Thread {
        name: name.map(Into::into),
        parent: None,
        created: Vec::new(),
    };
    let object = |(kind, size): &(&str, Option<u64>)| Object {
        kind: (*kind).into(),
        address: 0,
        size: *size,
        home: None,
    };
    Replay {
        overtaken: Vec::new(),
        bug: Some(bug),
        drift: None,
        schedule: Schedule::default(),
        threads: vec![thread(None), thread(Some("worker"))],
        objects: objects.iter().map(object).collect(),
        steps: Vec::new(),
        output,
        warnings: Vec::new(),
        scaled: Vec::new(),
        unsupported: None,
        shared: None,
    }
}

fn place(role: Role, thread: u32, at: u32, object: u32) -> Place {
    let object = Some(object);
    Place { role, thread, site: site(at), stack: Vec::new(), object, step: None, order: None }
}

fn bug(kind: BugKind, message: &str, places: Vec<Place>) -> Bug {
    Bug { kind, message: message.into(), key: "key".into(), places, notes: Vec::new() }
}

#[track_caller]
fn check(actual: &str, expected: &str) {
    assert!(actual == expected, "expected:\n{expected}\n\nactual:\n{actual}\n");
}

#[test]
fn a_deadlock_shows_who_holds_and_who_waits() {
    let world = World::new(&[(4, 19, "krate::both"), (5, 20, "krate::both")]);
    let places = vec![
        place(Role::Waits, 0, 1, 1),
        place(Role::Holds, 0, 0, 0),
        place(Role::Waits, 1, 1, 0),
        place(Role::Holds, 1, 0, 1),
    ];
    let mut bug = bug(BugKind::Deadlock, "2 threads wait for each other", places);
    bug.notes.push("no thread can run".into());
    let replay = replay(bug, &[("mutex", Some(4)), ("mutex", Some(4))], Vec::new());
    check(&world.render(&replay, Stacks::User), include_str!("golden/deadlock.txt").trim_end());
}

#[test]
fn a_data_race_shows_both_accesses_and_what_would_order_them() {
    let world = World::new(&[(4, 9, "krate::both"), (5, 9, "krate::both::{closure}")]);
    let places = vec![place(Role::Read, 0, 0, 0), place(Role::Write, 1, 1, 0)];
    let bug = bug(BugKind::DataRace, "unordered read by thread 0 and write by thread 1", places);
    let replay = replay(bug, &[("memory", Some(4))], Vec::new());
    check(&world.render(&replay, Stacks::Full), include_str!("golden/race.txt").trim_end());
}

#[test]
fn a_panic_shows_its_message() {
    let world = World::new(&[(5, 5, "krate::both")]);
    let places = vec![Place { object: None, ..place(Role::Panicked, 1, 0, 0) }];
    let text = "\nthread 'worker' (2) panicked at src/lib.rs:5:5:\n\
                assertion `left == right` failed\n  left: 1\n right: 2\n";
    let output = vec![Output { thread: 1, descriptor: 2, text: text.into(), step: 0 }];
    let replay = replay(bug(BugKind::Panic, "", places), &[], output);
    check(&world.render(&replay, Stacks::User), include_str!("golden/panic.txt").trim_end());
}

#[test]
fn a_report_points_at_the_panic_and_not_at_what_passes_it_on() {
    let world = World::new(&[(5, 20, "demo::both"), (4, 19, "demo::both")]);
    let places = vec![place(Role::Panicked, 1, 0, 0), place(Role::Panicked, 0, 1, 0)];
    let replay = replay(bug(BugKind::Panic, "left the house", places), &[], Vec::new());
    let text = world.render(&replay, Stacks::User);
    assert!(text.contains("--> src/lib.rs:5:20"), "{text}");
    assert!(text.contains("- main panicked here"), "{text}");
}

#[test]
fn places_without_source_are_reported_in_words() {
    let mut world = World::new(&[(5, 5, "krate::both")]);
    world.sidecar.strings[1] = "src/gone.rs".into();
    let places = vec![place(Role::Died, 1, 0, 0)];
    let replay = replay(bug(BugKind::Abort, "the process aborts", places), &[("x", None)], vec![]);
    check(&world.render(&replay, Stacks::User), include_str!("golden/no_source.txt").trim_end());
}
