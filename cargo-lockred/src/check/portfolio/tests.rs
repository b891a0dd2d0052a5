//! Portfolios with a shell script in place of an instrumented program.

use super::*;
use crate::check::explore::{By, explore};
use crate::outcome::{Ended, Part};
use lockred_protocol::codes::{AssumptionKind, BugKind, WarningKind};
use lockred_protocol::message::{Assumption, Finding, Message, Warning};
use lockred_protocol::session::{Limits, Strategy};
use std::ffi::OsString;
use std::path::Path;

/// Operations that a test may take: the first slice has an eighth of it.
const TOTAL: u64 = 800;

fn request(keep_going: bool) -> Request {
    let share = Share { operations: Some(TOTAL), seconds: None };
    let limits = Limits { executions: None, seconds: None, operations: 1, share };
    let task = Task::Explore { strategy: Strategy::Transactions, limits, keep_going };
    Request { libtest: true, random_seed: 7, ..Request::of(task) }
}

/// What a slice reports that has taken its share.
fn total() -> Exploration {
    let counts = Counts { executions: 3, operations: 100, ..Counts::default() };
    Exploration { threads: 2, ..Exploration::without_response(Stop::Total, counts, 0.1) }
}

fn finding(key: &str) -> Finding {
    Finding {
        kind: BugKind::Panic,
        message: String::new(),
        key: key.into(),
        schedule: Default::default(),
    }
}

fn warning(site: u32) -> Warning {
    Warning {
        kind: WarningKind::LockOrder,
        message: String::new(),
        site: SiteId(site),
        stack: Vec::new(),
        places: Vec::new(),
        home: None,
        schedule: None,
    }
}

fn assumption(detail: &str) -> Assumption {
    Assumption { kind: AssumptionKind::MemoryModelSc, detail: detail.into(), site: SiteId(0) }
}

/// Runs a portfolio in which the script sets `$PART` to the part and responds with one of the
/// `responses` (`$R0` …). `$LOG` has the parts with their shares and seeds, in order.
struct Scripted {
    directory: tempfile::TempDir,
    launch: Launch,
}

impl Scripted {
    fn new(script: &str, responses: &[Exploration]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let script = format!(
            "R=$LOCKRED_SESSION/request.json\n\
             field() {{ sed \"s/.*\\\"$1\\\":\\([0-9a-z-]*\\).*/\\1/\" $R; }}\n\
             share() {{ sed 's/.*\"share\":{{\"operations\":\\([0-9]*\\).*/\\1/' $R; }}\n\
             PART=$(sed 's/.*\"strategy\":[{{]*\"\\([a-z]*\\)\".*/\\1/' $R)\n\
             grep -q '\"replay\"' $R && PART=replay\n\
             SEED=; grep -q '\"seed\"' $R && SEED=\" $(field seed)\"\n\
             echo $PART $(share)$SEED >> $LOG\n\
             response() {{ echo \"$1\" >> $LOCKRED_SESSION/messages.jsonl; exit 0; }}\n\
             schedule_log() {{ for i in 1 2; do printf \"\\\\$i\\0\\0\\0\\0\\0\\0\\0\"; done |\n\
                 dd of=$LOCKRED_SESSION/status bs=1 seek=4096 conv=notrunc 2>/dev/null\n\
                 printf '\\002' | dd of=$LOCKRED_SESSION/status bs=1 seek=56 conv=notrunc 2>/dev/null; }}\n\
             [ $PART = transactions ] && touch $CHECKPOINT\n\
             {script}"
        );
        let mut environment: Vec<(String, OsString)> = responses
            .iter()
            .enumerate()
            .map(|(number, response)| {
                let line = serde_json::to_string(&Message::Explored(response.clone())).unwrap();
                (format!("R{number}"), line.into())
            })
            .collect();
        environment.push(("LOG".into(), directory.path().join("log").into()));
        environment.push(("DIRECTORY".into(), directory.path().into()));
        let launch = Launch {
            executable: "/bin/sh".into(),
            arguments: vec!["-c".into(), script],
            directory: "/".into(),
            environment,
        };
        Self { directory, launch }
    }

    fn unfinished(&self, keep_going: bool) -> Unfinished {
        let directory = self.directory.path().join("unfinished");
        Unfinished::new(&directory, "h", &self.launch, (&request(keep_going), By::Portfolio))
    }

    fn run(&mut self, keep_going: bool) -> Explored {
        let unfinished = self.unfinished(keep_going);
        let checkpoint = unfinished.checkpoint().unwrap();
        let mut launch = self.launch.clone();
        launch.environment.push(("CHECKPOINT".into(), checkpoint.into()));
        let request = request(keep_going);
        explore(&launch, &request, &[], By::Portfolio, &unfinished, &mut |_| ()).unwrap()
    }

    fn response(&mut self, keep_going: bool) -> Response {
        match self.run(keep_going) {
            Explored::Response(response) => *response,
            other => panic!("{other:?}"),
        }
    }

    fn log(&self) -> Vec<String> {
        log(&self.directory.path().join("log"))
    }

    /// The parts that ran, in order.
    fn ran(&self) -> Vec<String> {
        let first = |line: &String| line.split(' ').next().unwrap_or_default().to_owned();
        self.log().iter().map(first).collect()
    }
}

fn log(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().map(String::from).collect()
}

fn part<'a>(response: &'a Response, name: &str) -> &'a Part {
    response.parts.iter().find(|part| part.search.to_string() == name).unwrap()
}

/// One round.
const ROUND: [&str; 6] = ["unified", "bounded", "pct", "pos", "random", "transactions"];

#[test]
fn a_search_that_ends_in_its_first_slice_is_alone() {
    let complete = Exploration { stop: Stop::Complete, ..total() };
    let mut scripted = Scripted::new("response \"$R0\"", &[complete]);
    let response = scripted.response(false);
    assert_eq!(scripted.log(), ["transactions 100"]);
    assert_eq!((response.exploration.stop, response.parts), (Stop::Complete, Vec::new()));
}

#[test]
fn rounds_follow_until_the_budget_is_over() {
    // The exhaustive search reports what it has done in all.
    let script = "[ $PART = transactions ] && response \"$(echo \"$R0\" | sed s/100/$(share)/)\"\n\
        response \"$R0\"";
    let mut scripted = Scripted::new(script, &[total()]);
    let response = scripted.response(false);
    assert_eq!(
        scripted.log(),
        [
            "transactions 100",
            "unified 11",
            "bounded 50",
            "pct 55 7",
            "pos 55 7",
            "random 55 7",
            "transactions 300",
        ]
    );
    assert_eq!(response.exploration.stop, Stop::Total);
    let counted = |name| part(&response, name).counts.operations;
    assert_eq!([counted("exhaustive"), counted("unified"), counted("bounded=2")], [300, 100, 100]);
    assert_eq!(response.exploration.counts.operations, 300, "the exhaustive search's own");
    assert_eq!(part(&response, "sample=pct").ended, Ended::Total);
}

#[test]
fn random_parts_have_other_seeds_in_each_round() {
    let script = "[ $PART = transactions ] && response \"$R1\"; response \"$R0\"";
    let small = |operations| {
        let counts = Counts { executions: 1, operations, ..Counts::default() };
        Exploration { counts, ..total() }
    };
    let mut scripted = Scripted::new(script, &[small(20), small(20)]);
    scripted.response(false);
    let log = scripted.log();
    let seeds: Vec<&str> = log
        .iter()
        .filter_map(|line| line.strip_prefix("random "))
        .map(|rest| rest.split(' ').nth(1).unwrap())
        .collect();
    assert!(seeds.len() >= 3, "{log:?}");
    assert_eq!(seeds[0], "7");
    assert!(seeds.iter().enumerate().all(|(index, seed)| !seeds[..index].contains(seed)));
}

#[test]
fn a_bug_of_a_part_ends_the_test_unless_it_is_to_go_on() {
    let bug = Exploration { stop: Stop::Bug, findings: vec![finding("k")], ..total() };
    let found = Exploration { stop: Stop::Total, ..bug.clone() };
    let script = "[ $PART = pct ] && response \"$R1\"; response \"$R0\"";
    let mut scripted = Scripted::new(script, &[total(), bug]);
    let response = scripted.response(false);
    assert_eq!(scripted.ran(), ["transactions", "unified", "bounded", "pct"]);
    assert_eq!(response.exploration.stop, Stop::Bug);
    assert_eq!(response.exploration.findings.len(), 1);
    assert_eq!(part(&response, "sample=pct").bugs, 1);
    // Two parts find the same.
    let script = "[ $PART = pct ] || [ $PART = pos ] && response \"$R1\"; response \"$R0\"";
    let mut scripted = Scripted::new(script, &[total(), found]);
    let response = scripted.response(true);
    assert_eq!(response.exploration.findings.len(), 1);
    assert_eq!(response.exploration.stop, Stop::Total, "it went on");
}

#[test]
fn what_a_part_has_covered_in_full_is_complete_and_rests_on_its_own_assumptions() {
    let exhaustive = Exploration { assumptions: vec![assumption("x")], ..total() };
    let exhaustive = Exploration { warnings: vec![warning(1)], ..exhaustive };
    let complete = |of: &str| {
        let own = vec![assumption(of)];
        Exploration {
            stop: Stop::Complete,
            assumptions: own,
            warnings: vec![warning(2)],
            ..total()
        }
    };
    let script = |part| format!("[ $PART = {part} ] && response \"$R1\"; response \"$R0\"");
    let mut scripted = Scripted::new(&script("unified"), &[exhaustive.clone(), complete("u")]);
    let response = scripted.response(false);
    assert_eq!(scripted.ran(), ["transactions", "unified"]);
    assert_eq!(response.exploration.stop, Stop::Complete);
    assert_eq!(response.exploration.assumptions, [assumption("u")]);
    assert_eq!(response.exploration.warnings, [warning(2)]);
    // Random walks never are.
    let mut scripted = Scripted::new(&script("random"), &[exhaustive, complete("r")]);
    let response = scripted.response(false);
    assert_ne!(response.exploration.stop, Stop::Complete);
    assert_eq!(response.exploration.assumptions, [assumption("x"), assumption("r")]);
    assert_eq!(response.exploration.warnings, [warning(1), warning(2)]);
}

#[test]
fn a_bound_that_is_complete_is_not_run_again_and_is_no_proof() {
    let bound = Exploration { stop: Stop::Preemptions, preemptions: Some(2), ..total() };
    let small = Counts { executions: 1, operations: 10, ..Counts::default() };
    let script = "[ $PART = bounded ] && response \"$R1\"; response \"$R0\"";
    let few = Exploration { counts: small, ..total() };
    let mut scripted = Scripted::new(script, &[few, bound]);
    let response = scripted.response(false);
    let ran = scripted.ran();
    assert_eq!(ran.iter().filter(|part| *part == "bounded").count(), 1);
    assert!(ran.iter().filter(|part| *part == "unified").count() > 1, "{ran:?}");
    assert_eq!(response.exploration.stop, Stop::Total);
    assert_eq!(part(&response, "bounded=2").preemptions, Some(2));
}

#[test]
fn what_other_parts_cannot_do_is_left_out_and_said() {
    let place = Unsupported { message: "no x".into(), site: SiteId(0), stack: Vec::new() };
    let cannot = Exploration { stop: Stop::Unsupported(place), ..total() };
    let small = Counts { executions: 1, operations: 10, ..Counts::default() };
    let script = "[ $PART = unified ] && response \"$R1\"\n\
        [ $PART = pos ] && exit 70\n\
        response \"$R0\"";
    let few = Exploration { counts: small, ..total() };
    let mut scripted = Scripted::new(script, &[few, cannot.clone()]);
    let response = scripted.response(false);
    let ran = scripted.ran();
    let times = |name: &str| ran.iter().filter(|part| *part == name).count();
    assert_eq!([times("unified"), times("pos")], [1, 1]);
    assert!(times("pct") > 1);
    assert_eq!(response.exploration.stop, Stop::Total);
    let left_out = part(&response, "unified");
    assert_eq!((left_out.ended, left_out.reason.as_deref()), (Ended::Unsupported, Some("no x")));
    assert_eq!(part(&response, "sample=pos").ended, Ended::Error);
    // Of the exhaustive search it is the outcome.
    let mut scripted = Scripted::new("response \"$R0\"", &[cannot]);
    let response = scripted.response(false);
    assert!(matches!(response.exploration.stop, Stop::Unsupported(_)));
    assert_eq!(scripted.ran(), ["transactions"]);
}

#[test]
fn a_death_in_a_part_is_a_bug() {
    let script = "[ $PART = replay ] && schedule_log && kill -SEGV $$\n\
        [ $PART = pct ] && schedule_log && kill -SEGV $$\n\
        response \"$R0\"";
    let mut scripted = Scripted::new(script, &[total()]);
    let response = scripted.response(false);
    assert_eq!(scripted.ran(), ["transactions", "unified", "bounded", "pct", "replay"]);
    assert_eq!((response.exploration.stop, response.deaths.len()), (Stop::Bug, 1));
}

#[test]
fn an_interruption_says_what_was_done_and_the_check_goes_on_with_the_same_slice() {
    let interrupted = Exploration { stop: Stop::Interrupted, ..total() };
    let script = "[ $PART = pct ] && ! [ -e $DIRECTORY/once ] && touch $DIRECTORY/once && response \"$R1\"\n\
        response \"$R0\"";
    let mut scripted = Scripted::new(script, &[total(), interrupted]);
    let response = scripted.response(false);
    assert_eq!(response.exploration.stop, Stop::Interrupted);
    assert_eq!(response.exploration.counts.executions, 3);
    assert_eq!(scripted.ran(), ["transactions", "unified", "bounded", "pct"]);
    let resumed = scripted.response(false);
    assert_eq!(resumed.exploration.stop, Stop::Total);
    let all = scripted.ran();
    assert_eq!(all[4..8], ROUND[2..], "{all:?}");
    assert_eq!(part(&resumed, "sample=pct").counts.executions, 3, "the slice counts once");
}
