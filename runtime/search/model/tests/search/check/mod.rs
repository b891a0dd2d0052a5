//! Runs a model program under a search and gives back everything that the search saw.

pub mod brute;
pub mod cases;
pub mod dijkstra;
pub mod livelock;
pub mod texts;

use lockred_model::{Failure, ModelMachine, Program, Watched};
use lockred_papers::flanagan_qadeer::{self, Movers, Predicates};
use lockred_papers::persistent;
use lockred_papers::stoller::{Classes, Settings, Stoller};
use lockred_search::discipline::Discipline;
use lockred_search::{
    Choice, Counts, Findings, Limits, Observer, Outcome, Strategy, explore, naive, replay,
    stateful, transactions, unified,
};

/// All failures and end states.
pub type Seen = Findings<Failure>;

/// Parses a program that a test gives.
pub fn parse(text: &str) -> Program {
    text.parse().unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// Explores the program with a strategy.
pub fn search(program: &Program, strategy: Strategy, limits: Limits) -> (Seen, Outcome) {
    let mut seen = Seen::default();
    let mut machine = ModelMachine::new(program).reporting_ends();
    let outcome = explore(&mut machine, strategy, limits, &mut seen);
    (seen, outcome)
}

/// Visits every state of the program.
pub fn all_states(program: &Program) -> (Seen, Outcome) {
    let mut seen = Seen::default();
    let mut machine = ModelMachine::new(program).reporting_ends();
    let outcome = naive::explore_states(&mut machine, Limits::default(), &mut seen);
    (seen, outcome)
}

/// Explores the program by transactions.
pub fn by_transactions(program: &Program, limits: Limits) -> (Seen, Outcome) {
    let mut seen = Seen::default();
    let mut machine = ModelMachine::new(program).reporting_ends();
    let mut discipline = Discipline::default();
    let outcome = transactions::explore(&mut machine, &mut discipline, limits, &mut seen);
    (seen, outcome)
}

/// Visits the states that access predicates leave: the program's own, the rest inferred.
pub fn by_access_predicates(
    program: &Program,
    movers: Movers,
    limits: Limits,
) -> (Seen, Outcome, Predicates) {
    let mut seen = Seen::default();
    let mut machine = ModelMachine::new(program).reporting_ends();
    let mut predicates = Predicates::given(&program.exclusive);
    let outcome =
        flanagan_qadeer::explore(&mut machine, &mut predicates, movers, limits, &mut seen);
    (seen, outcome, predicates)
}

/// Visits every state of the program and of a race detector that watches it, if there are not too
/// many.
pub fn all_watched_states(program: &Program, limits: Limits) -> (Seen, Outcome) {
    let mut seen = Seen::default();
    let mut machine = Watched::new(ModelMachine::new(program).reporting_ends());
    let outcome = naive::explore_states(&mut machine, limits, &mut seen);
    (seen, outcome)
}

/// Whether the schedule shows the failure, by a detector that only knows the execution it sees.
pub fn leads_to(program: &Program, schedule: &[Choice], failure: &Failure) -> bool {
    let mut machine = Watched::new(ModelMachine::new(program).reporting_ends());
    let mut seen = Seen::default();
    // The schedule only: what comes after it may be endless.
    let limits = Limits { operations: schedule.len() as u64 + 1, ..Limits::default() };
    let replayed = replay(&mut machine, schedule, limits, &mut seen);
    replayed.drift.is_none() && seen.failures.contains(failure)
}

/// Visits the boundary states of transactions that persistent sets lead to.
pub fn by_persistent_sets(program: &Program, limits: Limits) -> (Seen, Outcome) {
    let mut seen = Seen::default();
    let mut machine = ModelMachine::new(program).reporting_ends();
    let mut discipline = Discipline::by_locks();
    let outcome = persistent::explore(&mut machine, &mut discipline, limits, &mut seen);
    (seen, outcome)
}

/// Visits every boundary state of transactions.
pub fn by_states(program: &Program, limits: Limits) -> (Seen, Outcome) {
    let mut seen = Seen::default();
    let mut machine = ModelMachine::new(program).reporting_ends();
    let outcome = stateful::explore(&mut machine, &mut Discipline::by_locks(), limits, &mut seen);
    (seen, outcome)
}

/// What a search of at most so many transactions has seen.
pub struct UpTo {
    /// What it has seen.
    pub seen: Seen,
    most: u64,
}

impl UpTo {
    /// Nothing has been seen.
    pub fn new(most: u64) -> Self {
        Self { seen: Seen::default(), most }
    }
}

impl Observer<Failure> for UpTo {
    fn on_step(&mut self, counts: &Counts) -> bool {
        counts.transactions <= self.most
    }

    fn on_failure(&mut self, failure: Failure, schedule: &[Choice]) -> bool {
        self.seen.on_failure(failure, schedule)
    }
}

/// Visits the states that orders of dependent transactions lead to.
pub fn by_unified(
    program: &Program,
    settings: unified::Settings,
    transactions: u64,
) -> (Seen, Outcome, unified::Visited) {
    let mut up_to = UpTo::new(transactions);
    let mut machine = ModelMachine::new(program).reporting_ends();
    let (discipline, limits) = (&mut Discipline::hybrid(), Limits::default());
    let (outcome, visited) =
        unified::explore(&mut machine, discipline, settings, limits, &mut up_to);
    (up_to.seen, outcome, visited)
}

/// Explores the program by a search of Stoller's framework.
pub fn by_stoller(
    program: &Program,
    classes: &Classes,
    settings: Settings,
    limits: Limits,
) -> (Seen, Outcome, Stoller) {
    let mut seen = Seen::default();
    let mut machine = ModelMachine::new(program).reporting_ends();
    let mut stoller = Stoller::new(classes.clone(), settings);
    let outcome = stoller.explore(&mut machine, limits, &mut seen);
    (seen, outcome, stoller)
}
