//! HaltException and Clean, the programs of Stoller's measurements (journal version, section 10),
//! as model programs, and what searches of the framework need for them.
//!
//! Every access to a field is an operation, as it is a bytecode; what a bytecode does to the
//! operand stack alone is local. So the programs have fewer states than in Java PathFinder, where
//! each of these is a transition.

use lockred_model::{Failure, ModelMachine, Program};
use lockred_papers::stoller::{
    Checking, Granularity, Memory, Persistent, Settings, Sleep, Stoller,
};
use lockred_search::{Choice, Limits, Observer, Stop};

/// Values that the producer sends, and places in the buffer.
const ITEMS: usize = 10;
const CAPACITY: usize = 6;

/// A producer sends values through a buffer and then halts; a consumer takes them until it finds
/// the buffer empty and halted (Havelund and Pressburger, STTT 2000).
pub fn halt_exception() -> String {
    let slots: Vec<String> = (0..CAPACITY).map(|slot| format!("x{slot}")).collect();
    let at = |each: &dyn Fn(usize) -> String| {
        let slot = |slot| format!("if p == {slot} {{ {} }} ", each(slot));
        (0..CAPACITY).map(slot).collect::<String>()
    };
    let next = format!("p = p + 1; if p == {CAPACITY} {{ p = 0 }}");
    let put = |item: usize| {
        let store = at(&|slot| format!("x{slot} = {item}"));
        format!(
            "lock m; u = used; while u == {CAPACITY} {{ wait c m; u = used }}
            p = into; {store} p = into; {next} into = p; u = used; if u == 0 {{ notify_all c }}
            u = used; used = u + 1; unlock m; p = 0; u = 0;"
        )
    };
    let get = |item: usize| {
        let load = at(&|slot| format!("v = x{slot}; x{slot} = -1"));
        format!(
            "lock m; w = 1; while w == 1 {{ w = 0; u = used; if u == 0 {{ h = halted; if h == 0 {{ w = 1; wait c m }} }} }}
            u = used; if u == 0 {{ unlock m; return }}
            p = from; {load} p = from; {next} from = p; u = used; if u == {CAPACITY} {{ notify_all c }}
            u = used; used = u + -1; unlock m; assert v == {item}; p = 0; u = 0; v = 0;"
        )
    };
    let puts: String = (0..ITEMS).map(put).collect();
    // The last one must find nothing.
    let gets: String = (0..=ITEMS).map(get).collect();
    format!(
        "plain {} into from used halted; mutex m; condvar c;
        thread Producer {{ {puts} lock m; halted = 1; notify_all c; unlock m }}
        thread Consumer {{ {gets} }}",
        slots.join(" ")
    )
}

/// Two tasks that signal each other's events, which count modulo 3, and wait for their own (Brat et
/// al., ASE 2000, figure 1, corrected: a task looks at the counter and waits in one synchronized
/// statement).
pub fn clean() -> String {
    let equal = "e = 0; if k == 0 { if n == 0 { e = 1 } } if k == 1 { if n == 1 { e = 1 } } if k == 2 { if n == 2 { e = 1 } }";
    let signal = |event: u32| {
        format!(
            "lock m{event}; n = count{event}; n = n + 1; if n == 3 {{ n = 0 }} count{event} = n; n = 0;
            notify_all c{event}; unlock m{event};"
        )
    };
    // Waiting is a synchronized method, called with the lock.
    let wait = |event: u32| {
        format!(
            "lock m{event}; n = count{event}; {equal} n = 0;
            if e == 1 {{ e = 0; lock m{event}; wait c{event} m{event}; unlock m{event} }}
            k = count{event}; unlock m{event};"
        )
    };
    format!(
        "plain count1 count2; reentrant m1 m2; condvar c1 c2;
        thread First {{ while l == 0 {{ {} {} }} }}
        thread Second {{ while l == 0 {{ {} {} }} }}",
        wait(1),
        signal(2),
        signal(1),
        wait(2)
    )
}

/// How a row of the table is explored.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What a transition is, in the paper's word.
    pub atomicity: &'static str,
    /// Whether the locking discipline is checked.
    pub checks: bool,
    /// The search.
    pub settings: Settings,
    /// The paper's figures, for HaltException and for Clean.
    pub paper: [Option<Figures>; 2],
}

/// States, megabytes and seconds.
pub type Figures = (u64, f64, f64);

/// The rows of the table.
pub fn rows() -> Vec<Row> {
    let checking = |checks| if checks { Checking::LdPrime } else { Checking::Off };
    let stateful = Settings { memory: Memory::Stateful, sleep: Sleep::Off, ..Settings::SSS };
    let composed = Settings { granularity: Granularity::Composed, ..stateful };
    let selective =
        Settings { persistent: Persistent::Algorithm2, sleep: Sleep::Conditional, ..composed };
    let row = |atomicity, settings: Settings, checks, paper| Row {
        atomicity,
        checks,
        settings: Settings { checking: checking(checks), ..settings },
        paper,
    };
    let reported = |halt: Figures, clean: Figures| [Some(halt), Some(clean)];
    vec![
        row("bytecode", stateful, false, reported((201_688, 56.1, 245.3), (58_370, 15.9, 77.9))),
        row("bytecode", stateful, true, reported((323_854, 92.3, 1729.9), (58_370, 13.7, 167.0))),
        row("reduced", composed, false, reported((788, 0.78, 19.7), (209, 0.55, 10.3))),
        row("reduced", composed, true, reported((788, 0.83, 92.8), (209, 0.56, 11.6))),
        row("reduced, selective", selective, false, [None; 2]),
        row("reduced, selective", selective, true, [None; 2]),
    ]
}

/// Counts failures.
struct Failures(u64);

impl Observer<Failure> for Failures {
    fn on_failure(&mut self, _: Failure, _: &[Choice]) -> bool {
        self.0 += 1;
        true
    }
}

/// What a search has needed.
#[derive(Debug)]
pub struct Needed {
    /// Different states.
    pub states: u64,
    /// Transitions of the program that were executed.
    pub transitions: u64,
}

/// Explores a program. Neither has a failure or violates the discipline.
pub fn explore(text: &str, settings: Settings) -> Result<Needed, String> {
    let program: Program = text.parse().map_err(|error| format!("{error}"))?;
    let mut machine = ModelMachine::new(&program);
    let mut stoller = Stoller::new(machine.classes(), settings);
    let mut failures = Failures(0);
    let outcome = stoller.explore(&mut machine, Limits::default(), &mut failures);
    if outcome.stop != Stop::Complete || failures.0 > 0 || !stoller.violations().is_empty() {
        return Err(format!("{outcome:?}, {} failures, {:?}", failures.0, stoller.violations()));
    }
    Ok(Needed { states: stoller.states(), transitions: outcome.counts.transactions })
}

/// The programs, with their names.
pub fn programs() -> [(&'static str, String); 2] {
    [("HaltException", halt_exception()), ("Clean", clean())]
}
