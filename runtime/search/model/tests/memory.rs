//! The memory of stateless searches does not grow with the number of executions.

#[path = "search/check/memory.rs"]
mod memory;

use lockred_model::{Failure, ModelMachine, Program};
use lockred_search::discipline::Discipline;
use lockred_search::{
    Choice, Counts, Limits, Observer, Outcome, Stop, Strategy, explore, transactions,
};
use memory::Counting;

#[global_allocator]
static MEMORY: Counting = Counting::new();

/// Executions between which the live bytes are compared: all executions of the programs are equally
/// long.
const EARLY: u64 = 1_000;
const LATE: u64 = 100_000;

/// What may still be added: nodes near the root get room for sleepers when their first branch is
/// done, which is late. It is bounded by the longest execution (12 nodes) times threads times
/// footprint.
const ROOM: usize = 4096;

/// Looks at the live bytes after so many executions, and at the most that were live from then on.
#[derive(Default)]
struct Watch {
    early: Option<usize>,
    late: Option<usize>,
}

impl Observer<Failure> for Watch {
    fn on_step(&mut self, counts: &Counts) -> bool {
        let executions = counts.executions + counts.blocked;
        if executions >= EARLY && self.early.is_none() {
            MEMORY.take_peak();
            self.early = Some(MEMORY.live());
        }
        if executions >= LATE && self.late.is_none() {
            self.late = Some(MEMORY.take_peak());
        }
        true
    }

    fn on_failure(&mut self, _: Failure, _: &[Choice]) -> bool {
        true
    }
}

/// Four threads with three sections each, of one lock or none: 369,600 executions.
fn program(body: &str) -> Program {
    let threads = (0..4).map(|i| format!("thread T{i} {{ repeat 3 {{ {body} }} }}\n"));
    let text = format!("plain x; atomic f; mutex a;\n{}", threads.collect::<String>());
    text.parse().unwrap()
}

fn is_flat(body: &str, search: impl Fn(&mut ModelMachine, Limits, &mut Watch) -> Outcome) {
    let mut machine = ModelMachine::new(&program(body));
    let mut watch = Watch::default();
    let limits = Limits { executions: Some(LATE + 1), ..Limits::default() };
    let outcome = search(&mut machine, limits, &mut watch);
    assert_eq!(outcome.stop, Stop::Executions);
    let (early, late) = (watch.early.unwrap(), watch.late.unwrap());
    assert!(
        late <= early + ROOM,
        "{early} live bytes after {EARLY} executions, up to {late} until {LATE}"
    );
}

// One test: the allocator counts for the whole process.
#[test]
fn a_hundred_thousand_executions_need_no_more_memory_than_a_thousand() {
    for body in ["lock a; r = x; x = r + 1; unlock a", "r = f += 1"] {
        is_flat(body, |machine, limits, watch| {
            transactions::explore(machine, &mut Discipline::default(), limits, watch)
        });
        for strategy in [
            Strategy::Dpor,
            Strategy::Naive,
            Strategy::Random { seed: 1 },
            Strategy::Pos { seed: 1 },
        ] {
            is_flat(body, |machine, limits, watch| explore(machine, strategy, limits, watch));
        }
    }
}
