//! `--search bounded=N`: what takes more is left out, which is said.

use crate::fixtures::shared;
use lockred_protocol::codes::Verdict;
use lockred_tests::outcome::TestFinished;
use lockred_tests::tool::run;

fn check(status: i32, arguments: &[&str]) -> TestFinished {
    let arguments = [&["check", "--exact", "--message-format", "json"][..], arguments].concat();
    let mut tests = run(&shared("preemptions"), &arguments).expect(status).tests();
    assert_eq!(tests.len(), 1, "{tests:?}");
    tests.remove(0)
}

#[test]
fn bugs_show_from_the_number_on_that_they_take() {
    for (name, takes) in [("tests::one", 1), ("tests::two", 2)] {
        for most in 0..=3 {
            let status = i32::from(most >= takes);
            let test = check(status, &[name, "--search", &format!("bounded={most}")]);
            assert_eq!(test.search, format!("bounded={most}"));
            if most < takes {
                assert_eq!(test.verdict, Verdict::Passed);
                assert_eq!(test.others["ended"], "preemptions");
                assert_eq!(test.others["preemptions"], most);
                continue;
            }
            let schedule = test.bugs[0].schedule.expect("it was made minimal");
            assert_eq!((schedule.preemptions, schedule.minimal), (takes, true));
            // Those with fewer have no bug.
            assert_eq!(test.others["preemptions"], takes - 1);
        }
    }
}

#[test]
fn a_bound_that_leaves_nothing_out_verifies() {
    let test = check(0, &["tests::right", "--search", "bounded=2"]);
    assert_eq!((test.verdict, test.complete), (Verdict::Passed, false));
    let test = check(0, &["tests::right", "--search", "bounded=1000"]);
    assert_eq!((test.verdict, test.complete), (Verdict::Verified, true));
    assert_eq!(test.others.get("preemptions"), None);
}

#[test]
fn who_reads_it_is_reported_the_bound_and_how_far_it_came() {
    let directory = shared("preemptions");
    let right = ["check", "tests::right"];
    let _ = run(&directory, &[&right[..], &["--search", "bounded"]].concat()).expect(0).says(&[
        "bounded search, at most 2 preemptions, ",
        "s, at most 2 preemptions\n",
        "not every interleaving of 1 test: those with more preemptions were left out",
    ]);
    let required = ["--search=bounded", "--require", "verified"];
    let _ = run(&directory, &[&right[..], &required].concat()).expect(5);
    let few = ["--search", "bounded=9", "--max-executions", "40"];
    let _ = run(&directory, &[&right[..], &few].concat())
        .expect(0)
        .says(&["stopped at --max-executions, no preemptions covered"]);
}
