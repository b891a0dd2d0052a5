//! `--scale-loops`: which loops were ended early is reported, in reports of bugs too, and kept for
//! the replay.

use crate::fixtures::shared;
use lockred_tests::tool::run;

#[test]
fn a_bug_after_a_loop_that_ended_early_says_so() {
    let directory = shared("rounds");
    let _ = run(&directory, &["check"]).expect(0);
    let scaled = run(&directory, &["check", "--scale-loops", "2"]).expect(1);
    let reported = "under --scale-loops: the loop at src/lib.rs:12:22 made 2 of 50 rounds";
    let scaled = scaled.says(&[reported, "assertion `left == right` failed"]);
    let (_, id) = scaled.stderr.split_once("replay: cargo lockred replay ").expect("a schedule");
    let id = id.lines().next().expect("it has an id");
    let _ = run(&directory, &["replay", id]).expect(1).says(&[reported]);
    // As many rounds as there are: nothing is cut.
    let _ = run(&directory, &["check", "--scale-loops", "50"]).expect(0);
    let _ = run(&directory, &["check", "--scale-loops", "0"]).expect(2);
}
