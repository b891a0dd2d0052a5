//! Walks towards the cycles in the order of locks, before the search of a test: `check
//! --lock-order`.
//!
//! They come first: they take a part of a second, and where one ends in the deadlock, no search has
//! to come there by itself. They are a bounded number for each cycle, whatever other tests have
//! shown, so that what a test comes to depends on nothing beside it. What they find is what any
//! search finds. Nothing follows from what they do not find: what was covered, and what that rests
//! on, is the search's to say.

use super::explore::Response;
use lockred_protocol::codes::{BugKind, WarningKind};
use lockred_protocol::lock_order::{Cycle, Kind, LockOrder};
use lockred_protocol::message::{Exploration, Finding, Stop, Warning};
use lockred_protocol::session::{Limits, Request, Share, Target, Task};
use lockred_protocol::sites::SiteId;
use std::collections::BTreeSet;

/// Walks towards one cycle.
const WALKS: u64 = 100;

/// Scheduling points in the walks towards one cycle after which no further walk begins: about a
/// second.
const OPERATIONS: u64 = 1_000_000;

/// The part of the time for a test that walks may take.
const SHARE: f64 = 0.25;

/// The cycles of an executable that threads may wait in, by the operations that acquire their
/// locks. Several cycles have the same where a function that locks is not inlined: they are one
/// target.
pub fn targets(order: &LockOrder) -> Vec<Target> {
    // After a gate, or in one thread, nobody waits.
    let may_wait = |cycle: &&Cycle| matches!(cycle.kind, Kind::Cycle | Kind::SameKind);
    let cycles = order.cycles.iter().filter(may_wait);
    let places: BTreeSet<_> = cycles.map(|cycle| places_of(order, cycle)).collect();
    places.into_iter().map(|places| Target { nestings: places.into_iter().collect() }).collect()
}

/// Where the locks of a cycle are acquired, nesting by nesting.
fn places_of(order: &LockOrder, cycle: &Cycle) -> BTreeSet<[SiteId; 2]> {
    let nestings = cycle.nestings.iter().filter_map(|&n| order.nestings.get(n as usize));
    nestings.map(|nesting| [nesting.held.site, nesting.wanted.site]).collect()
}

/// The request to walk towards targets in a test that is to be searched so.
pub fn request(search: &Request, targets: &[Target]) -> Request {
    let Task::Explore { limits, keep_going, .. } = search.task else {
        unreachable!("only what is searched is walked in");
    };
    let limits = Limits {
        executions: None,
        seconds: limits.seconds.map(|seconds| seconds * SHARE),
        operations: limits.operations,
        share: Share {
            operations: limits.share.operations.map(|all| (all / 4).max(1)),
            seconds: None,
        },
    };
    let task = Task::Walk {
        targets: targets.to_vec(),
        walks: WALKS,
        operations: OPERATIONS,
        seed: search.random_seed,
        limits,
        keep_going,
    };
    Request { task, ..search.clone() }
}

/// The request to search in the time that walks have left.
pub fn after(walked: &Response, search: &Request) -> Request {
    let mut request = search.clone();
    if let Task::Explore { limits, .. } = &mut request.task {
        let took = &walked.exploration;
        limits.seconds = limits.seconds.map(|all| (all - took.seconds).max(0.0));
        let operations = &mut limits.share.operations;
        *operations = operations.map(|all| all.saturating_sub(took.counts.operations).max(1));
    }
    request
}

/// Whether walks are the end of a test.
pub const fn end(walked: &Response) -> bool {
    matches!(walked.exploration.stop, Stop::Bug | Stop::Interrupted)
}

/// What walks came to, alone: no execution is one of a search.
pub fn alone(mut walked: Response) -> Response {
    let counts = std::mem::take(&mut walked.exploration.counts);
    walked.walks = Some(counts.executions);
    walked
}

/// What walks and the search after them came to.
pub fn join(walked: Response, searched: Response) -> Response {
    let Response { exploration: walked, deaths: before, .. } = walked;
    let Response { mut exploration, deaths: after, parts, .. } = searched;
    exploration.seconds += walked.seconds;
    exploration.restoring += walked.restoring;
    exploration.threads = exploration.threads.max(walked.threads);
    let found = std::mem::replace(&mut exploration.findings, walked.findings);
    add_findings(&mut exploration.findings, found);
    match (&exploration.stop, walked.stop) {
        (Stop::Unsupported(_), _) => {}
        (_, stop @ Stop::Unsupported(_)) => exploration.stop = stop,
        // It has seen all that there is to warn of.
        (Stop::Complete, _) => {}
        _ => add_warnings(&mut exploration.warnings, walked.warnings),
    }
    hide_what_follows(&mut exploration);
    let walks = Some(walked.counts.executions);
    Response { exploration, deaths: [before, after].concat(), walks, parts }
}

/// Adds findings that are not known.
pub fn add_findings(all: &mut Vec<Finding>, new: Vec<Finding>) {
    for found in new {
        if all.iter().all(|known| known.key != found.key) {
            all.push(found);
        }
    }
}

/// Adds warnings of what nothing was warned of.
pub fn add_warnings(all: &mut Vec<Warning>, new: Vec<Warning>) {
    let known: Vec<_> = all.iter().map(places).collect();
    all.extend(new.into_iter().filter(|reported| !known.contains(&places(reported))));
}

/// What a warning is about.
fn places(warning: &Warning) -> (WarningKind, SiteId, Vec<SiteId>) {
    let mut places: Vec<SiteId> = warning.places.iter().map(|place| place.site).collect();
    places.sort_unstable();
    (warning.kind, warning.site, places)
}

/// Findings of one side make warnings of the other one superfluous, as they do within a side.
pub fn hide_what_follows(exploration: &mut Exploration) {
    let Exploration { findings, warnings, .. } = exploration;
    let deadlocks = findings.iter().any(|found| found.kind == BugKind::Deadlock);
    warnings.retain(|warning| match warning.kind {
        WarningKind::Leak => findings.is_empty(),
        WarningKind::LockOrder => !deadlocks,
        _ => true,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockred_protocol::lock_order::{Nesting, Taken};
    use lockred_protocol::message::{Counts, Unsupported};
    use lockred_protocol::schedule::Schedule;
    use lockred_protocol::session::Strategy;

    fn response(stop: Stop, executions: u64, keys: &[&str], warned: &[u32]) -> Response {
        let finding = |key: &&str| Finding {
            kind: BugKind::Deadlock,
            message: String::new(),
            key: (*key).to_owned(),
            schedule: Schedule(Vec::new()),
        };
        let warning = |site: &u32| Warning {
            kind: WarningKind::LockOrder,
            message: String::new(),
            site: SiteId(*site),
            stack: Vec::new(),
            places: Vec::new(),
            home: None,
            schedule: None,
        };
        let exploration = Exploration {
            stop,
            counts: Counts { executions, ..Counts::default() },
            seconds: 1.0,
            restoring: 0.0,
            preemptions: None,
            share: None,
            proved: None,
            threads: 2,
            findings: keys.iter().map(finding).collect(),
            warnings: warned.iter().map(warning).collect(),
            assumptions: Vec::new(),
        };
        Response { exploration, deaths: Vec::new(), walks: None, parts: Vec::new() }
    }

    #[test]
    fn cycles_that_threads_may_wait_in_are_targets_each_place_once() {
        let taken = |site| Taken {
            locks: Vec::new(),
            site: SiteId(site),
            call: SiteId(site),
            shared: false,
        };
        let nesting = |(held, wanted)| Nesting {
            held: taken(held),
            wanted: taken(wanted),
            apart: None,
            within: String::new(),
            gates: Vec::new(),
            sure: true,
            threads: Vec::new(),
        };
        let cycle =
            |kind, nestings: &[u32]| Cycle { kind, nestings: nestings.to_vec(), locks: Vec::new() };
        let order = LockOrder {
            nestings: [(1, 2), (2, 1), (3, 3), (1, 2), (4, 4), (5, 5)].map(nesting).into(),
            cycles: vec![
                cycle(Kind::Cycle, &[0, 1]),
                cycle(Kind::SameKind, &[2]),
                // The same operations in another function.
                cycle(Kind::Cycle, &[1, 3]),
                cycle(Kind::Gated, &[4]),
                cycle(Kind::OneThread, &[5]),
            ],
            ..LockOrder::default()
        };
        let sites = |target: &Target| -> Vec<(u32, u32)> {
            target.nestings.iter().map(|[held, wanted]| (held.0, wanted.0)).collect()
        };
        let targets: Vec<_> = targets(&order).iter().map(sites).collect();
        assert_eq!(targets, [vec![(1, 2), (2, 1)], vec![(3, 3)]]);
    }

    fn keys(response: &Response) -> Vec<&str> {
        response.exploration.findings.iter().map(|finding| &*finding.key).collect()
    }

    fn warned(response: &Response) -> Vec<u32> {
        response.exploration.warnings.iter().map(|warning| warning.site.0).collect()
    }

    #[test]
    fn counts_are_those_of_the_search_and_findings_are_reported_once() {
        let walked = response(Stop::Executions, 100, &["a", "b"], &[]);
        let both = join(walked, response(Stop::Complete, 7, &["b", "c"], &[]));
        assert_eq!((both.exploration.counts.executions, both.walks), (7, Some(100)));
        assert_eq!(
            (both.exploration.stop.clone(), both.exploration.seconds),
            (Stop::Complete, 2.0)
        );
        assert_eq!(keys(&both), ["a", "b", "c"]);
        let only = alone(response(Stop::Bug, 3, &["a"], &[]));
        assert_eq!((only.exploration.counts, only.walks), (Counts::default(), Some(3)));
    }

    #[test]
    fn warnings_of_walks_are_reported_where_the_search_has_not_seen_all() {
        let walked = || response(Stop::Executions, 1, &[], &[1, 2]);
        assert_eq!(warned(&join(walked(), response(Stop::Complete, 1, &[], &[2]))), [2]);
        assert_eq!(warned(&join(walked(), response(Stop::Seconds, 1, &[], &[2]))), [2, 1]);
        let deadlock = response(Stop::Seconds, 1, &["a"], &[]);
        assert!(warned(&join(walked(), deadlock)).is_empty(), "the deadlock says more");
    }

    #[test]
    fn what_walks_meet_that_cannot_be_modelled_is_not_passed_over() {
        let unsupported = Stop::Unsupported(Unsupported {
            message: "x".into(),
            site: SiteId(0),
            stack: Vec::new(),
        });
        let walked = response(unsupported.clone(), 1, &[], &[]);
        assert!(!end(&walked));
        let both = join(walked, response(Stop::Seconds, 1, &[], &[]));
        assert_eq!(both.exploration.stop, unsupported);
    }

    #[test]
    fn walks_take_a_part_of_the_time_and_the_search_what_is_left() {
        let limits = Limits {
            executions: Some(1),
            seconds: Some(8.0),
            operations: 5,
            share: Share::default(),
        };
        let strategy = Strategy::Transactions;
        let search = Request::of(Task::Explore { strategy, limits, keep_going: true });
        let target = Target { nestings: vec![[SiteId(1), SiteId(2)]] };
        let Task::Walk { targets, limits, keep_going, .. } =
            request(&search, std::slice::from_ref(&target)).task
        else {
            panic!("no walks");
        };
        assert_eq!((targets, keep_going), (vec![target], true));
        assert_eq!((limits.executions, limits.seconds, limits.operations), (None, Some(2.0), 5));
        let walked = response(Stop::Executions, 1, &[], &[]);
        let Task::Explore { limits, .. } = after(&walked, &search).task else {
            panic!("no search");
        };
        assert_eq!((limits.executions, limits.seconds), (Some(1), Some(7.0)));
    }
}
