//! One table of counts, `counts.txt`: executions that every strategy needs for known programs.
//!
//! A test computes it again and compares; `BLESS=1 cargo test -p lockred-search --test search
//! counts` writes it (with `--features deep` also the rows that take long). Too few executions
//! would be unsound pruning, too many lost reduction. Executions are complete ones, and after a
//! plus those that could only repeat others. `stuck`: how many of DPOR's end with threads that wait
//! for ever. Of the stateful searches (with all threads of a state, and with persistent sets): end
//! states, and transactions of all passes. A `-` is too much to be counted here.
//!
//! Where a number is published, DPOR has to need as many, and transactions at most as many, or the
//! row says why not.

use crate::check;
#[path = "counts/families.rs"]
pub mod families;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use check::{brute, parse};
use lockred_model::{Failure, ModelMachine, Program};
use lockred_papers::persistent;
use lockred_search::discipline::Discipline;
use lockred_search::{
    Choice, Counts, Limits, Observer, Outcome, Stop, Strategy, explore, stateful, transactions,
};

/// Interleavings are counted up to this number.
const INTERLEAVINGS: u64 = 1000;
/// Where only transactions have a published number, DPOR's executions are counted up to this
/// number.
const BESIDE: u64 = 5000;
/// The stateful search is given up after this number of transactions.
const STATEFUL: u64 = 50_000;
/// Programs with more states than this are not compared with brute force.
const STATES: usize = 3000;

/// A program, and what is known of its executions.
pub struct Row {
    name: String,
    text: String,
    published: Option<Published>,
    source: String,
    /// Why the counts differ from the published one.
    why: String,
    deep: bool,
}

#[derive(Clone, Copy)]
struct Published {
    count: u64,
    /// Executions that end with threads waiting for ever are left out.
    live: bool,
    /// It counts critical sections by their data: only for transactions.
    data: bool,
}

impl Row {
    fn new(name: impl Into<String>, text: String) -> Self {
        let (source, why) = (String::new(), String::new());
        Self { name: name.into(), text, published: None, source, why, deep: false }
    }

    /// So many executions are optimal where every operation is visible.
    fn published(mut self, count: u64, source: &str) -> Self {
        self.published = Some(Published { count, live: false, data: false });
        self.source = source.to_owned();
        self
    }

    /// So many executions are optimal where locks are no conflicts by themselves.
    fn optimum(mut self, count: u64, source: &str) -> Self {
        self.published = Some(Published { count, live: false, data: true });
        self.source = source.to_owned();
        self
    }

    fn named(mut self, name: &str) -> Self {
        self.name = self.name.replace("{}", name);
        self
    }

    fn deep(mut self, deep: bool) -> Self {
        self.deep = deep;
        self
    }
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/search").join(name)
}

/// The rows of `counts/programs.txt`: see there.
fn written() -> Vec<Row> {
    let text = std::fs::read_to_string(path("counts/programs.txt")).unwrap();
    let mut rows: Vec<Row> = Vec::new();
    for line in text.lines() {
        if let Some(header) = line.strip_prefix("== ") {
            let (name, rest) = header.split_once(": ").expect("a name");
            let (rest, why) = rest.split_once("; ").unwrap_or((rest, ""));
            let (numbers, source) = rest.split_once(", ").expect("a source");
            let mut row = Row::new(name, String::new());
            let mut words = numbers.split(' ');
            let count = words.next().and_then(|count| count.parse().ok());
            let flags: Vec<_> = words.collect();
            let has = |flag| flags.contains(&flag);
            let data = source.contains("lapor");
            row.published = count.map(|count| Published { count, live: has("live"), data });
            row.deep = has("deep");
            row.source = source.to_owned();
            row.why = why.to_owned();
            rows.push(row);
        } else if let Some(row) = rows.last_mut() {
            row.text.push_str(line);
            row.text.push('\n');
        }
    }
    rows
}

/// What a search saw.
#[derive(Default)]
struct Seen {
    failures: BTreeSet<Failure>,
    /// Executions that ended with threads waiting for ever.
    stuck: u64,
    /// Transactions after which to stop.
    most: Option<u64>,
}

impl Observer<Failure> for Seen {
    fn on_failure(&mut self, failure: Failure, _: &[Choice]) -> bool {
        match failure {
            Failure::Deadlock { .. } => self.stuck += 1,
            Failure::Race { .. } => return true,
            _ => {}
        }
        self.failures.insert(failure);
        true
    }

    fn on_step(&mut self, counts: &Counts) -> bool {
        self.most.is_none_or(|most| counts.transactions <= most)
    }
}

fn run(
    program: &Program,
    search: impl FnOnce(&mut ModelMachine, &mut Seen) -> Outcome,
) -> (Seen, Outcome) {
    let mut seen = Seen::default();
    let outcome = search(&mut ModelMachine::new(program).reporting_ends(), &mut seen);
    (seen, outcome)
}

const COLUMNS: [&str; 11] = [
    "program",
    "published",
    "naive",
    "dpor",
    "stuck",
    "transactions",
    "refinements",
    "stateful",
    "persistent",
    "source",
    "why ours differ",
];

/// The cells of a row, and what is wrong with it.
fn measure(row: &Row) -> (Vec<String>, Vec<String>) {
    let program = parse(&row.text);
    let at_most = |executions| Limits { executions: Some(executions), ..Limits::default() };
    let mut wrong = Vec::new();
    let machine = &mut ModelMachine::new(&program).reporting_ends();
    let brute = brute::every_state(machine, STATES);
    let mut unlike = Vec::new();
    let mut compare = |strategy: &str, seen: &Seen, outcome: &Outcome| {
        if outcome.stop == Stop::Complete && brute.as_ref().is_some_and(|b| *b != seen.failures) {
            unlike.push(format!("{}: {strategy} and brute force see different things", row.name));
        }
    };
    let (_, naive) = run(&program, |machine, seen| {
        explore(machine, Strategy::Naive, at_most(INTERLEAVINGS), seen)
    });
    let beside = row.published.is_some_and(|published| published.data);
    let limits = if beside { at_most(BESIDE) } else { Limits::default() };
    let (seen, dpor) =
        run(&program, |machine, seen| explore(machine, Strategy::Dpor, limits, seen));
    compare("dpor", &seen, &dpor);
    let stuck = seen.stuck;
    let mut discipline = Discipline::default();
    let (seen, by_transactions) = run(&program, |machine, seen| {
        transactions::explore(machine, &mut discipline, Limits::default(), seen)
    });
    compare("transactions", &seen, &by_transactions);
    // What was seen in passes that were thrown away does not count: only the final discipline's.
    let (seen, again) = run(&program, |machine, seen| {
        transactions::explore(machine, &mut discipline, Limits::default(), seen)
    });
    compare("transactions that know the discipline", &seen, &again);
    if again.counts.executions != by_transactions.counts.executions {
        wrong.push(format!("{}: the final pass repeated differs", row.name));
    }
    let stuck_transactions = seen.stuck;
    let (seen, states) = run(&program, |machine, seen| {
        seen.most = Some(STATEFUL);
        let discipline = &mut Discipline::by_locks();
        stateful::explore(machine, discipline, Limits::default(), seen)
    });
    compare("stateful", &seen, &states);
    let (seen, persistent) = run(&program, |machine, seen| {
        seen.most = Some(STATEFUL);
        let discipline = &mut Discipline::by_locks();
        persistent::explore(machine, discipline, Limits::default(), seen)
    });
    compare("persistent", &seen, &persistent);
    wrong.append(&mut unlike);
    if let Some(Published { count, live, data }) = row.published {
        let dpor = dpor.counts.executions - if live { stuck } else { 0 };
        let transactions = again.counts.executions - if live { stuck_transactions } else { 0 };
        let differs = (!data && dpor != count) || transactions > count;
        if differs && row.why.is_empty() {
            wrong.push(format!("{}: {dpor} and {transactions}, not {count}", row.name));
        }
        if !differs && !row.why.is_empty() {
            wrong.push(format!("{}: says why it differs, and does not", row.name));
        }
    }
    let executions = |outcome: &Outcome| match (outcome.counts.executions, outcome.counts.blocked) {
        _ if outcome.stop == Stop::Executions => format!(">{BESIDE}"),
        (complete, 0) => complete.to_string(),
        (complete, blocked) => format!("{complete}+{blocked}"),
    };
    let ends = |outcome: &Outcome| match outcome.stop {
        Stop::Complete => {
            format!("{}/{}", outcome.counts.executions, outcome.counts.transactions)
        }
        _ => "-".to_owned(),
    };
    let published = row.published.map_or("-".to_owned(), |published| published.count.to_string());
    let cells = vec![
        row.name.clone(),
        published,
        match naive.stop {
            Stop::Complete => naive.counts.executions.to_string(),
            _ => format!(">{INTERLEAVINGS}"),
        },
        executions(&dpor),
        stuck.to_string(),
        executions(&by_transactions),
        by_transactions.counts.refinements.to_string(),
        ends(&states),
        ends(&persistent),
        row.source.clone(),
        row.why.clone(),
    ];
    (cells, wrong)
}

/// The table's lines, the old one's where a row was not measured.
fn table(measured: &[(String, Option<Vec<String>>)], old: &str) -> String {
    let mut lines: Vec<Vec<String>> = vec![COLUMNS.map(str::to_owned).to_vec()];
    for (name, cells) in measured {
        let kept = || {
            let cells = |line: &str| {
                let mut cells: Vec<_> =
                    line.split('|').map(|cell| cell.trim().to_owned()).collect();
                // Empty ones at the end are not written.
                cells.resize(COLUMNS.len(), String::new());
                cells
            };
            old.lines().map(cells).find(|cells| cells[0] == *name)
        };
        lines.extend(cells.clone().or_else(kept));
    }
    let width =
        |column: usize| lines.iter().map(|cells: &Vec<String>| cells[column].chars().count()).max();
    let widths: Vec<usize> = (0..COLUMNS.len()).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for cells in &lines {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(line, "{cell:<width$} | ");
        }
        let _ = writeln!(text, "{}", line.trim_end_matches([' ', '|']));
    }
    text
}

#[test]
fn executions_are_as_many_as_the_table_says() {
    let mut rows = written();
    rows.extend(families::rows());
    let next = AtomicUsize::new(0);
    let measure_all = || {
        let mut done = Vec::new();
        while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
            if !row.deep || cfg!(feature = "deep") {
                done.push((row.name.clone(), measure(row)));
            }
        }
        done
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(measure_all)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    let wrong: Vec<_> = done.iter_mut().flat_map(|(_, (_, wrong))| std::mem::take(wrong)).collect();
    let measured: Vec<_> = rows
        .iter()
        .map(|row| {
            let cells = done.iter().find(|(name, _)| *name == row.name);
            (row.name.clone(), cells.map(|(_, (cells, _))| cells.clone()))
        })
        .collect();
    let old = std::fs::read_to_string(path("counts.txt")).unwrap_or_default();
    let new = table(&measured, &old);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path("counts.txt"), new).unwrap();
    } else {
        let changed: Vec<_> = new.lines().filter(|line| !old.lines().any(|l| l == *line)).collect();
        assert!(changed.is_empty(), "not as in counts.txt:\n{}", changed.join("\n"));
        assert_eq!(new, old);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_are_unique() {
    let mut rows = written();
    rows.extend(families::rows());
    let names: BTreeSet<_> = rows.iter().map(|row| &row.name).collect();
    assert_eq!(names.len(), rows.len());
}
