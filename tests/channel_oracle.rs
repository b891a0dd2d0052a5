//! Random model programs with channels, emitted as Rust tests over std's and crossbeam's: the
//! native machine reports what the model machine reports, in as many executions. A few may need
//! more: the search by transactions explores some traces twice where threads wait for values, and
//! natively threads do more (they end by dropping what their handles share). None may need fewer.
//!
//! Two or three threads with up to four statements each over two channels, of any capacity, a plain
//! variable and a mutex. Nobody drops an end; a first thread starts the others and waits for them.
//! What is received decides what a thread writes, so that the order of messages shows.

use lockred_model::{Failure, ModelMachine, Program};
use lockred_protocol::codes::BugKind;
use lockred_search::discipline::Discipline;
use lockred_search::{Findings, Limits, Stop, transactions};
use lockred_tests::outcome::TestFinished;
use lockred_tests::tool;
use std::fmt::Write as _;
use std::path::Path;

/// Programs in one run.
const PROGRAMS: usize = 120;
/// The most executions of a program on the model machine.
const EXECUTIONS: u64 = 300;
/// Native searches stop here.
const NATIVE_EXECUTIONS: &str = "3000";
/// Capacities of channels in the model; the last one is that of a channel that is never full.
const CAPACITIES: [u64; 4] = [0, 1, 2, 255];

/// Whose channels a program uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Library {
    Std,
    Crossbeam,
}

/// A sequence of numbers that look random (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }
}

/// A program in both languages, and what the model machine says of it.
struct Judged {
    seed: u64,
    model: String,
    rust: String,
    races: bool,
    deadlocks: bool,
    executions: u64,
}

/// A statement in both languages. Of std's channels, each has one thread that receives.
fn statement(dice: &mut Dice, thread: u64, library: Library) -> (String, String) {
    let number = dice.below(2);
    let channel = ["q", "p"][number as usize];
    let receives = library == Library::Crossbeam || number == thread % 2;
    let value = dice.below(3);
    match dice.below(9) {
        0..3 if receives => (format!("r = recv {channel}"), format!("r = s.{channel}.recv()")),
        0..6 => (format!("send {channel} {value}"), format!("s.{channel}.send({value})")),
        6 => (format!("x = {value}"), format!("unsafe {{ *s.x.get() = {value} }}")),
        7 => ("if r == 1 { x = 7 }".into(), "if r == 1 { unsafe { *s.x.get() = 7 } }".into()),
        _ => ("r = x".into(), "r = unsafe { *s.x.get() }".into()),
    }
}

/// The program of a seed, unless the model machine needs too many executions for it.
fn judge(seed: u64) -> Option<Judged> {
    let mut dice = Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let library = if seed.is_multiple_of(2) { Library::Std } else { Library::Crossbeam };
    let capacities = [0; 2].map(|_| CAPACITIES[dice.below(4) as usize]);
    let mut model =
        format!("plain x; mutex a; channel q = {} p = {}; ", capacities[0], capacities[1]);
    let mut rust = format!(
        "\n#[test]\nfn program_NUMBER() {{\n    let s: &'static Shared<{library:?}> = Box::leak(Box::new(Shared::new({capacities:?})));\n"
    );
    let threads = 2 + dice.below(2);
    let each = |act: &str| (0..threads).map(|t| format!("{act} T{t}; ")).collect::<String>();
    let _ = write!(model, "thread Main {{ {}{}}} ", each("spawn"), each("join"));
    for thread in 0..threads {
        let _ = write!(model, "thread T{thread} {{ ");
        let _ = writeln!(rust, "    let t{thread} = std::thread::spawn(move || {{");
        rust += "        let mut r = 0;\n";
        for _ in 0..=dice.below(4) {
            let (one, other) = statement(&mut dice, thread, library);
            if dice.below(4) == 0 {
                let _ = write!(model, "lock a; {one}; unlock a; ");
                let _ = writeln!(rust, "        let held = s.a.lock().unwrap();");
                let _ = writeln!(rust, "        {other};\n        drop(held);");
            } else {
                let _ = write!(model, "{one}; ");
                let _ = writeln!(rust, "        {other};");
            }
        }
        model += "} ";
        rust += "    });\n";
    }
    for thread in 0..threads {
        let _ = writeln!(rust, "    t{thread}.join().unwrap();");
    }
    rust += "}\n";
    let program: Program = model.parse().unwrap_or_else(|error| panic!("{error:?}: {model}"));
    let mut seen = Findings::<Failure>::default();
    let limits = Limits { executions: Some(EXECUTIONS), ..Limits::default() };
    let mut machine = ModelMachine::new(&program);
    let mut discipline = Discipline::default();
    let outcome = transactions::explore(&mut machine, &mut discipline, limits, &mut seen);
    let has = |is: fn(&Failure) -> bool| seen.failures.iter().any(is);
    (outcome.stop == Stop::Complete).then(|| Judged {
        seed,
        races: has(|failure| matches!(failure, Failure::Race { .. })),
        deadlocks: has(|failure| matches!(failure, Failure::Deadlock { .. })),
        executions: outcome.counts.executions,
        model,
        rust,
    })
}

/// What all tests of the crate share.
const PRELUDE: &str = "\
#![allow(unused)]
use std::cell::UnsafeCell;
use std::sync::{Mutex, mpsc};

trait Channel {
    fn new(capacity: usize) -> Self;
}

struct Shared<C> {
    x: UnsafeCell<i32>,
    a: Mutex<()>,
    q: C,
    p: C,
}
unsafe impl<C> Sync for Shared<C> {}

impl<C: Channel> Shared<C> {
    fn new([q, p]: [usize; 2]) -> Self {
        Self { x: UnsafeCell::new(0), a: Mutex::new(()), q: C::new(q), p: C::new(p) }
    }
}

enum Sends {
    Bounded(mpsc::SyncSender<i32>),
    Unbounded(mpsc::Sender<i32>),
}

struct Std(Sends, mpsc::Receiver<i32>);

impl Channel for Std {
    fn new(capacity: usize) -> Self {
        if capacity == 255 {
            let (sender, receiver) = mpsc::channel();
            return Self(Sends::Unbounded(sender), receiver);
        }
        let (sender, receiver) = mpsc::sync_channel(capacity);
        Self(Sends::Bounded(sender), receiver)
    }
}

impl Std {
    fn send(&self, value: i32) {
        match &self.0 {
            Sends::Bounded(sender) => sender.send(value).unwrap(),
            Sends::Unbounded(sender) => sender.send(value).unwrap(),
        }
    }
    fn recv(&self) -> i32 {
        self.1.recv().unwrap()
    }
}

struct Crossbeam(crossbeam_channel::Sender<i32>, crossbeam_channel::Receiver<i32>);

impl Channel for Crossbeam {
    fn new(capacity: usize) -> Self {
        let (sender, receiver) = match capacity {
            255 => crossbeam_channel::unbounded(),
            capacity => crossbeam_channel::bounded(capacity),
        };
        Self(sender, receiver)
    }
}

impl Crossbeam {
    fn send(&self, value: i32) {
        self.0.send(value).unwrap();
    }
    fn recv(&self) -> i32 {
        self.1.recv().unwrap()
    }
}
";

/// Writes the programs as a crate, and checks it.
fn check(root: &Path, judged: &[Judged]) -> Vec<TestFinished> {
    let mut text = PRELUDE.to_owned();
    for (number, one) in judged.iter().enumerate() {
        text += &one.rust.replace("NUMBER", &format!("{number:03}"));
    }
    let manifest = "[workspace]\n\n[package]\nname = \"channel-oracle\"\nedition = \"2024\"\n\n\
                    [dependencies]\ncrossbeam-channel = \"0.5\"\n";
    std::fs::create_dir_all(root.join("src")).unwrap();
    std::fs::write(root.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(root.join("src/lib.rs"), text).unwrap();
    let arguments = [
        "check",
        "--message-format",
        "json",
        "--keep-going",
        "--max-seconds",
        "60",
        "--max-executions",
        NATIVE_EXECUTIONS,
    ];
    let output = tool::finish(&mut tool::lockred(root, arguments));
    let tests = output.tests();
    assert_eq!(tests.len(), judged.len(), "{output}");
    tests
}

/// What is wrong with a native result.
fn difference(model: &Judged, native: &TestFinished) -> Option<&'static str> {
    let found = |kind| native.bugs.iter().any(|bug| bug.kind == kind);
    if found(BugKind::DataRace) != model.races {
        return Some("data race");
    }
    if model.races {
        return None;
    }
    if found(BugKind::Deadlock) != model.deadlocks {
        return Some("deadlock");
    }
    if native.bugs.iter().any(|bug| bug.kind != BugKind::Deadlock) {
        return Some("other bugs");
    }
    (!native.complete || native.executions < model.executions).then_some("executions")
}

#[test]
fn native_channels_are_those_of_the_model() {
    let first = std::env::var("LOCKRED_ORACLE_SEED").map_or(0, |seed| seed.parse().unwrap());
    let judged: Vec<_> = (first..).filter_map(judge).take(PROGRAMS).collect();
    let count = |is: fn(&&Judged) -> bool| judged.iter().filter(is).count();
    let racy = count(|p| p.races);
    let deadlocking = count(|p| !p.races && p.deadlocks);
    let right = count(|p| !p.races && !p.deadlocks);
    let several = count(|p| !p.races && p.executions > 1);
    println!(
        "{racy} racy, {deadlocking} deadlocking, {right} right, {several} in several executions"
    );
    assert!(racy >= 10 && deadlocking >= 20 && right >= 10 && several >= 15, "too little shows");
    let native = check(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("channel-oracle"), &judged);
    let mut wrong = Vec::new();
    for (model, native) in judged.iter().zip(&native) {
        if let Some(what) = difference(model, native) {
            let Judged { seed, model, rust, races, deadlocks, executions } = model;
            wrong.push(format!(
                "{what}: seed {seed}: {model}\n{rust}races {races}, deadlocks {deadlocks}, {executions} executions\n{native:?}"
            ));
        }
    }
    let pairs = || judged.iter().zip(&native).filter(|(model, _)| !model.races);
    let more = pairs().filter(|(model, native)| native.executions > model.executions).count();
    println!("{more} need more executions than in the model");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(20 * more <= PROGRAMS, "{more} need more");
}
