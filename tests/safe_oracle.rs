//! Safe programs have no data race, whatever rustc makes of them, and a copy of what another thread
//! writes is one, even if nobody uses it.
//!
//! Random programs over enums, tuples, niches, atomics and locks, compiled as the profiles of cargo
//! with these levels of optimisation are: two threads look at one value through shared references,
//! each with at most two operations that the other one can see. rustc lays out enums so that what
//! one thread tests lies beside what another one changes, and loads both. A few follow one of two
//! pointers, where LLVM would read after one of them in any case.

use lockred_protocol::codes::{BugKind, Verdict};
use lockred_tests::{safe, tool};
use std::path::Path;

/// Levels of optimisation, with the numbers of right and of racy programs.
const LEVELS: &[(u32, usize, usize)] = &[(0, 800, 52), (1, 600, 13), (3, 600, 13)];

#[test]
fn safe_programs_have_no_race_and_copies_of_what_is_written_do() {
    let first = std::env::var("LOCKRED_ORACLE_SEED").map_or(0, |seed| seed.parse().unwrap());
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("safe-oracle");
    let (mut next, mut wrong) = (first, Vec::new());
    for &(level, right_ones, racy_ones) in LEVELS {
        let root = home.join(format!("level-{level}"));
        safe::write_crate(&root, level, next..next + right_ones, next..next + racy_ones)
            .unwrap_or_else(|e| panic!("cannot write {}: {e}", root.display()));
        next += right_ones;
        let arguments =
            ["check", "--message-format", "json", "--keep-going", "--max-seconds", "600"];
        let mut command = tool::lockred(&root, arguments);
        let output = tool::finish(command.arg("--target-dir").arg(home.join("target")));
        let tests = output.tests();
        assert_eq!(tests.len(), right_ones / safe::GROUP + racy_ones, "{output}");
        let executions: u64 = tests.iter().map(|test| test.executions).sum();
        println!(
            "level {level}: {right_ones} right programs, {racy_ones} racy ones, {executions} executions"
        );
        for test in tests {
            let fits = match test.name.starts_with("racy_") {
                true => test.bugs.iter().any(|bug| bug.kind == BugKind::DataRace),
                // Orders weaker than SeqCst are assumed to be no weaker.
                false => {
                    matches!(test.verdict, Verdict::Verified | Verdict::Passed) && test.complete
                }
            };
            if !fits {
                let Some(bug) = test.bugs.first() else {
                    wrong.push(format!("level {level}: {}: {:?}", test.name, test.verdict));
                    continue;
                };
                let places =
                    bug.sites.iter().map(|site| format!("{}:{}", site.function, site.line));
                let places: Vec<_> = places.collect();
                wrong.push(format!("level {level}: {}: {} {places:?}", test.name, bug.message));
            }
        }
    }
    assert!(wrong.is_empty(), "{} tests are judged wrongly:\n{}", wrong.len(), wrong.join("\n"));
}
