//! The share of a search that is done, as the search by transactions reports it.

use crate::check;

use check::parse;
use lockred_model::{Failure, ModelMachine};
use lockred_search::discipline::Discipline;
use lockred_search::{Choice, Counts, Limits, Observer, Stop, transactions};

/// Notes the shares of the pass under way.
#[derive(Default)]
struct Shares {
    reported: Vec<f64>,
    refinements: u64,
}

impl Observer<Failure> for Shares {
    fn on_step(&mut self, counts: &Counts) -> bool {
        if counts.refinements != self.refinements {
            self.refinements = counts.refinements;
            self.reported.clear();
        }
        true
    }

    fn wants_share(&mut self) -> bool {
        true
    }

    fn on_share(&mut self, share: f64) {
        self.reported.push(share);
    }

    fn on_failure(&mut self, _: Failure, _: &[Choice]) -> bool {
        true
    }
}

/// The shares that are reported of a program, and how many executions it has.
fn shares(text: &str) -> (Vec<f64>, u64) {
    let mut machine = ModelMachine::new(&parse(text));
    let mut shares = Shares::default();
    let discipline = &mut Discipline::default();
    let outcome = transactions::explore(&mut machine, discipline, Limits::default(), &mut shares);
    assert_eq!(outcome.stop, Stop::Complete);
    (shares.reported, outcome.counts.executions + outcome.counts.blocked)
}

/// Programs without anything that waits, so that every branch is reported before it is run.
const PROGRAMS: [&str; 3] = [
    "atomic x; thread A { r = x; x = r + 1 } thread B { r = x; x = r + 1 }",
    "atomic x; thread A { r = x; x = r + 1 } thread B { r = x; x = r + 1 } thread C { r = x; x = r + 1 }",
    "atomic x; atomic y; thread A { x = 1; r = y } thread B { y = 1; r = x } thread C { r = x; r = y }",
];

#[test]
fn a_share_is_reported_after_every_execution_but_the_last() {
    for text in PROGRAMS {
        let (reported, executions) = shares(text);
        assert!(executions > 2, "{text}");
        assert_eq!(reported.len() as u64, executions - 1, "{text}");
    }
}

#[test]
fn shares_are_parts_of_the_whole_and_the_last_branch_is_at_most_half_of_it() {
    for text in PROGRAMS {
        let (reported, _) = shares(text);
        assert!(reported.iter().all(|share| (0.0..1.0).contains(share)), "{text}: {reported:?}");
        assert!(*reported.last().unwrap() >= 0.5, "{text}: {reported:?}");
        // Branches become known on the way, but not so many that the share went down more than it
        // went up.
        let up = reported.windows(2).filter(|pair| pair[1] > pair[0]).count();
        assert!(2 * up >= reported.len() - 1, "{text}: {reported:?}");
    }
}
