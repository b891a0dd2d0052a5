//! Explorations with shell scripts in place of instrumented programs.

use super::*;
use lockred_protocol::codes::BugKind;
use lockred_protocol::message::{Finding, Message};
use lockred_protocol::session::{Limits, Share, Strategy};
use lockred_protocol::sites::SiteId;
use std::ffi::OsString;

fn request(keep_going: bool) -> Request {
    let limits =
        Limits { executions: None, seconds: Some(60.0), operations: 1, share: Share::default() };
    let task = Task::Explore { strategy: Strategy::Transactions, limits, keep_going };
    Request { libtest: true, ..Request::of(task) }
}

/// Explores with a script that gets `$REPLAYING` if it is to replay, `$RESPONSE` to an exploration,
/// and `$LOG` to note in.
fn explored(script: &str, keep_going: bool) -> (Explored, String) {
    explored_towards(&[], script, keep_going)
}

/// The same, with a cycle to walk towards: the script gets `$WALKING` then, and `$BUG`, another
/// response.
fn walked(script: &str, keep_going: bool) -> (Explored, String) {
    explored_towards(&[Target { nestings: vec![[SiteId(1), SiteId(2)]] }], script, keep_going)
}

fn explored_towards(targets: &[Target], script: &str, keep_going: bool) -> (Explored, String) {
    let directory = tempfile::tempdir().unwrap();
    let response = Exploration {
        stop: Stop::Complete,
        counts: Counts { executions: 2, ..Counts::default() },
        seconds: 0.1,
        restoring: 0.0,
        preemptions: None,
        share: None,
        proved: None,
        threads: 2,
        findings: Vec::new(),
        warnings: Vec::new(),
        assumptions: Vec::new(),
    };
    let finding = Finding {
        kind: BugKind::Deadlock,
        message: String::new(),
        key: "k".into(),
        schedule: Default::default(),
    };
    let bug = Exploration { stop: Stop::Bug, findings: vec![finding], ..response.clone() };
    let [response, bug] = [response, bug].map(|reported| {
        OsString::from(serde_json::to_string(&Message::Explored(reported)).unwrap())
    });
    let log = directory.path().join("log");
    let script = format!(
        "grep -q '\"replay\"' $LOCKRED_SESSION/request.json && REPLAYING=yes\n\
         grep -q '\"walk\"' $LOCKRED_SESSION/request.json && WALKING=yes\n\
         response() {{ echo \"$1\" >> $LOCKRED_SESSION/messages.jsonl; exit 0; }}\n\
         schedule_log() {{ for i in 1 2; do printf \"\\\\$i\\0\\0\\0\\0\\0\\0\\0\"; done |\n\
             dd of=$LOCKRED_SESSION/status bs=1 seek=4096 conv=notrunc 2>/dev/null\n\
             printf '\\002' | dd of=$LOCKRED_SESSION/status bs=1 seek=56 conv=notrunc 2>/dev/null; }}\n\
         {script}"
    );
    let launch = Launch {
        executable: "/bin/sh".into(),
        arguments: vec!["-c".into(), script],
        directory: "/".into(),
        environment: vec![
            ("RESPONSE".into(), response),
            ("BUG".into(), bug),
            ("LOG".into(), log.clone().into()),
        ],
    };
    let request = request(keep_going);
    let kept = directory.path().join("unfinished");
    let unfinished = Unfinished::new(&kept, "h", &launch, (&request, By::Alone));
    let explored =
        explore(&launch, &request, targets, By::Alone, &unfinished, &mut |_| ()).unwrap();
    (explored, std::fs::read_to_string(log).unwrap_or_default())
}

fn response(explored: Explored) -> Response {
    match explored {
        Explored::Response(response) => *response,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_death_that_comes_again_is_a_bug_and_left_out_afterwards() {
    let script = "grep -q '\"deaths\":\\[\\]' $LOCKRED_SESSION/request.json || response \"$RESPONSE\"\n\
        echo died >> $LOG; schedule_log; kill -SEGV $$";
    let (explored, log) = explored(script, true);
    let response = response(explored);
    assert_eq!(log, "died\n".repeat(2), "once in the search, once in the replay");
    assert_eq!((response.exploration.counts.executions, response.deaths.len()), (2, 1));
    let bug = response.deaths[0].bug.as_ref().unwrap();
    assert!(bug.message.contains("SIGSEGV"), "{}", bug.message);
    assert_eq!(response.deaths[0].schedule.0.len(), 2);
}

#[test]
fn without_keep_going_the_first_death_ends_the_search() {
    let (explored, _) = explored("schedule_log; kill -SEGV $$", false);
    let response = response(explored);
    assert_eq!((response.exploration.stop, response.deaths.len()), (Stop::Bug, 1));
}

#[test]
fn a_search_with_too_many_deaths_is_stopped() {
    let (explored, _) = explored("schedule_log; kill -SEGV $$", true);
    let response = response(explored);
    assert_eq!((response.exploration.stop, response.deaths.len()), (Stop::Bug, MOST_DEATHS));
}

#[test]
fn a_death_that_does_not_come_again_is_nobody_s_bug() {
    let script = "[ -n \"$REPLAYING\" ] && exit 9\n\
        [ -e $LOG ] && response \"$RESPONSE\"\n\
        echo died >> $LOG; schedule_log; kill -KILL $$";
    let (explored, log) = explored(script, true);
    let response = response(explored);
    assert_eq!((log.as_str(), response.deaths.len()), ("died\n", 0));
}

#[test]
fn deaths_without_a_reason_and_without_progress_come_to_an_end() {
    let script = "[ -n \"$REPLAYING\" ] && exit 9\n\
        echo died >> $LOG; schedule_log; kill -KILL $$";
    let (explored, log) = explored(script, true);
    assert_eq!(log, "died\n".repeat(UNEXPLAINED as usize));
    let Explored::Failed(failure) = explored else { panic!("{explored:?}") };
    assert!(failure.message.contains("3 times"), "{}", failure.message);
}

/// Notes who was asked.
const NOTED: &str = "echo ${WALKING:+walk}${REPLAYING:+replay} >> $LOG\n";

#[test]
fn walks_come_before_the_search_and_are_counted_apart() {
    let (explored, log) = walked(&format!("{NOTED} response \"$RESPONSE\""), false);
    let response = response(explored);
    assert_eq!(log, "walk\n\n");
    assert_eq!((response.walks, response.exploration.counts.executions), (Some(2), 2));
}

#[test]
fn what_walks_find_ends_the_test_unless_it_is_to_go_on() {
    let script =
        format!("{NOTED} [ -n \"$WALKING\" ] && response \"$BUG\"; response \"$RESPONSE\"");
    let (explored, log) = walked(&script, false);
    let first = response(explored);
    assert_eq!((log.as_str(), first.exploration.stop, first.walks), ("walk\n", Stop::Bug, Some(2)));
    assert_eq!(first.exploration.counts, Counts::default(), "nothing was searched");
    assert_eq!(first.exploration.findings.len(), 1);
    // Which a process does that is asked to.
    let script = script.replace("$BUG", "$(echo $BUG | sed s/bug/executions/)");
    let (explored, log) = walked(&script, true);
    let both = response(explored);
    assert_eq!((log.as_str(), both.exploration.stop), ("walk\n\n", Stop::Complete));
    assert_eq!((both.exploration.findings.len(), both.exploration.counts.executions), (1, 2));
}

#[test]
fn a_death_in_a_walk_is_a_bug_and_the_next_process_leaves_it_out() {
    let script = format!(
        "{NOTED} [ -z \"$WALKING$REPLAYING\" ] && response \"$RESPONSE\"\n\
         [ -n \"$WALKING\" ] && ! grep -q '\"deaths\":\\[\\]' $LOCKRED_SESSION/request.json && response \"$RESPONSE\"\n\
         schedule_log; kill -SEGV $$"
    );
    let (explored, log) = walked(&script, true);
    let both = response(explored);
    assert_eq!(log, "walk\nreplay\nwalk\n\n");
    assert_eq!((both.deaths.len(), both.exploration.stop), (1, Stop::Complete));
    let (explored, log) = walked(&script, false);
    let first = response(explored);
    assert_eq!((log.as_str(), first.deaths.len()), ("walk\nreplay\n", 1));
    assert_eq!(first.exploration.stop, Stop::Bug);
}

#[test]
fn an_error_of_ours_in_a_walk_is_reported() {
    let (explored, _) = walked("[ -n \"$WALKING\" ] && exit 70; response \"$RESPONSE\"", true);
    assert!(matches!(explored, Explored::Failed(_)), "{explored:?}");
}
