//! The document of `cargo xtask bench peers`, in Markdown.

use super::judge::{Answer, Judgement};
use super::lockred::Answers;
use super::programs::{Pair, Twin};
use super::published::Count;
use super::tools::{Tool, remark};
use std::fmt::Write;

/// Rates are given of runs that took so many seconds: in shorter ones the first execution weighs
/// too much.
const RATE_FROM: f64 = 0.01;

/// What a checker did with a program.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell {
    Answered(Answer, Judgement),
    /// It cannot express the program, for this reason.
    Cannot(&'static str),
}

/// A program under all checkers, in the order of `Tool::ALL`.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    pub pair: Pair,
    pub twin: Twin,
    pub cells: Vec<Cell>,
}

/// All there is to be reported.
pub struct Document<'a> {
    pub seconds: u64,
    /// Seconds of the whole run, without builds.
    pub took: u64,
    pub surroundings: String,
    pub load: Option<f64>,
    pub versions: Vec<(&'static str, String)>,
    pub rows: Vec<Row>,
    pub counts: Option<(&'static [Count], &'a Answers)>,
}

/// The whole text.
pub fn render(document: &Document<'_>) -> String {
    let mut text = String::from("# lockred beside its peers\n\n");
    head(&mut text, document);
    summary(&mut text, &document.rows);
    lacks(&mut text, &document.rows);
    text.push_str(WRONG);
    programs(&mut text, &document.rows, Twin::Wrong);
    text.push_str(RIGHT);
    programs(&mut text, &document.rows, Twin::Right);
    remarks(&mut text, &document.rows);
    if let Some((counts, answers)) = document.counts {
        published(&mut text, counts, answers);
    }
    text
}

const WRONG: &str = "## Programs with a bug\n\n\
    Time to the bug, and the executions that it took (0: it showed before the first one was over). **missed**: not reported within the \
    budget, or (*complete*) at the end of a search that takes itself for whole.\n\n";

const RIGHT: &str = "## Their twins without it\n\n\
    Time and executions of a whole search. *not finished*, or a number alone where a search has no end: executions within the budget, \
    none of them wrong. **false**: reported a bug that is none.\n\n";

/// What was run, where, and how.
fn head(text: &mut String, document: &Document<'_>) {
    let pairs = document.rows.len() / 2;
    let Document { seconds, took, surroundings, .. } = document;
    let _ = writeln!(
        text,
        "Written by `cargo xtask bench peers --write`. {pairs} pairs of programs ([xtask/peers](../xtask/peers)): one with a bug, its twin \
         without. The same source runs over std, unmodified, under lockred and ThreadSanitizer, and over the types of loom and shuttle. \
         Each had {seconds} s for a program; all were built with optimisation. Of lockred, loom and shuttle the search alone is measured; \
         lockred also minimises and replays what it finds before it reports it. loom runs with `Arc` of std, whose counts it need not \
         explore, but where a program is about counts. shuttle's executions are cut at 10,000 steps, its PCT looks for depth 3. \
         ThreadSanitizer runs the program in a loop: an execution that takes over a second hangs, and its time has that second, too.\n"
    );
    let _ = writeln!(text, "- {surroundings}; the run took {took} s");
    for (name, version) in &document.versions {
        let _ = writeln!(text, "- {name}: {version}");
    }
    if let Some(load) = document.load.filter(|load| *load > 1.5) {
        let _ = writeln!(
            text,
            "- other builds ran beside it (load {load:.1} at its end): times are to be compared within this run only"
        );
    }
    text.push('\n');
}

/// How many programs of each judgement, for each checker.
fn summary(text: &mut String, rows: &[Row]) {
    text.push_str(
        "| checker | found | missed | finished | not finished | false | gave up | cannot express | median to the bug | executions/s |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (column, tool) in Tool::ALL.iter().enumerate() {
        let cells = || rows.iter().map(|row| &row.cells[column]);
        let answers = |wanted: Judgement| {
            cells().filter_map(move |cell| match cell {
                Cell::Answered(answer, judgement) if *judgement == wanted => Some(answer),
                _ => None,
            })
        };
        let finished = answers(Judgement::Silent).filter(|answer| answer.complete).count();
        let silent = answers(Judgement::Silent).count();
        let ends = |number: usize| {
            if tool.can_complete() { number.to_string() } else { "-".into() }
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            tool.name(),
            answers(Judgement::Found).count(),
            answers(Judgement::Missed).count(),
            ends(finished),
            silent - finished,
            answers(Judgement::False).count(),
            answers(Judgement::GaveUp).count(),
            cells().filter(|cell| matches!(cell, Cell::Cannot(_))).count(),
            median(answers(Judgement::Found).map(|answer| answer.seconds)).map_or("-".into(), time),
            median(answers(Judgement::Silent).filter_map(rate)).map_or("-".into(), count),
        );
    }
    text.push_str(
        "\n*found* and *missed* are of programs with a bug, *finished* and *not finished* of those without; the other columns are of all. \
         *executions/s* is the median over programs without a bug that took 10 ms or more.\n\n",
    );
}

/// What is said of each checker that lacks something.
fn lacks(text: &mut String, rows: &[Row]) {
    text.push_str("## What cannot be expressed\n\n");
    for (tool, name) in [(Tool::Loom, "loom"), (Tool::ShuttleDepthFirst, "shuttle")] {
        for (need, why) in tool.lacks() {
            let programs: Vec<_> = rows
                .iter()
                .filter(|row| row.twin == Twin::Wrong && row.pair.needs == Some(*need))
                .map(|row| format!("`{}`", row.pair.path()))
                .collect();
            if !programs.is_empty() {
                let _ = writeln!(text, "- {name}: {why} ({})", programs.join(", "));
            }
        }
    }
    text.push_str(
        "- shuttle: memory orders and plain memory: all is sequentially consistent, and races show only by their consequences (such programs \
         are run, and missed)\n\
         - ThreadSanitizer: choices of schedules: it sees those that happen\n\
         - lockred: values of atomics that no interleaving gives; verdicts say so (`memory-model-sc`)\n\
         - neither loom nor shuttle: dependencies and std itself, which lockred and ThreadSanitizer look into\n\n",
    );
}

/// One table.
fn programs(text: &mut String, rows: &[Row], twin: Twin) {
    text.push_str(if twin == Twin::Wrong { "| program | bug |" } else { "| program |" });
    for tool in Tool::ALL {
        let _ = write!(text, " {} |", tool.name());
    }
    text.push_str(if twin == Twin::Wrong { "\n|---|---|" } else { "\n|---|" });
    text.push_str(&"--:|".repeat(Tool::ALL.len()));
    text.push('\n');
    for row in rows.iter().filter(|row| row.twin == twin) {
        let _ = write!(text, "| {} |", row.pair.path());
        if twin == Twin::Wrong {
            let _ = write!(text, " {} |", row.pair.bug.name());
        }
        for (cell, tool) in row.cells.iter().zip(Tool::ALL) {
            let _ = write!(text, " {} |", reported(tool, cell));
        }
        text.push('\n');
    }
    text.push('\n');
}

/// What stands in a cell.
fn reported(tool: Tool, cell: &Cell) -> String {
    let (answer, judgement) = match cell {
        Cell::Cannot(_) => return "cannot".into(),
        Cell::Answered(answer, judgement) => (answer, *judgement),
    };
    let executions = count(answer.executions as f64);
    match judgement {
        Judgement::Found => format!("{} · {executions}", time(answer.seconds)),
        Judgement::Missed if answer.complete => format!("**missed**, complete · {executions}"),
        Judgement::Missed => format!("**missed** · {executions}"),
        Judgement::Silent if answer.complete => {
            format!("{} · {executions}", time(answer.seconds))
        }
        Judgement::Silent if tool.can_complete() => format!("not finished · {executions}"),
        Judgement::Silent => executions,
        Judgement::False => "**false**".into(),
        Judgement::GaveUp => "gave up".into(),
    }
}

/// Every result that is not the one hoped for, with the checker's words and what is known of it.
/// Misses of what ran out of time say enough in the table.
fn remarks(text: &mut String, rows: &[Row]) {
    text.push_str("## False alarms, giving up, and complete searches that miss\n\n");
    for row in rows {
        for (cell, tool) in row.cells.iter().zip(Tool::ALL) {
            let Cell::Answered(answer, judgement) = cell else { continue };
            let name = match judgement {
                Judgement::False => "false",
                Judgement::GaveUp => "gave up",
                Judgement::Missed if answer.complete => "missed",
                _ => continue,
            };
            let path = row.pair.path();
            let _ = write!(text, "- {name}: {}, `{path}`, {}", tool.name(), row.twin.name());
            if let Some(failure) = &answer.failure {
                let _ = write!(text, ": “{}”", short(failure));
            }
            if let Some(remark) = remark(tool, &row.pair, row.twin) {
                let _ = write!(text, ": it {remark}");
            }
            text.push('\n');
        }
    }
    text.push('\n');
}

/// Numbers that others have published.
fn published(text: &mut String, counts: &[Count], answers: &Answers) {
    text.push_str(
        "## Published numbers of executions\n\n\
         GenMC's own tests (0.11.0, `tests/correct`), under sequential consistency; the names end with the number of threads. Where \
         lockred takes more, that is known; another number than the one that is written down ends this bench with an error.\n\n\
         | program | GenMC's test | GenMC | lockred |\n|---|---|--:|--:|\n",
    );
    for Count { test, count, source, .. } in counts {
        let ours = answers.get(&format!("tests::counts::{test}"));
        let ours = ours.map_or("-".to_owned(), |answer| answer.executions.to_string());
        let _ = writeln!(text, "| {test} | {source} | {count} | {ours} |");
    }
}

/// The beginning of a message, in one line.
fn short(message: &str) -> String {
    const LETTERS: usize = 90;
    let line = message.lines().next().unwrap_or_default();
    if line.chars().count() <= LETTERS {
        return line.trim_end().to_owned();
    }
    line.chars().take(LETTERS).chain("…".chars()).collect()
}

/// Seconds, in the unit that fits.
fn time(seconds: f64) -> String {
    match seconds {
        _ if seconds < 0.000_999_5 => format!("{:.0} µs", seconds * 1e6),
        _ if seconds < 0.009_995 => format!("{:.1} ms", seconds * 1e3),
        _ if seconds < 0.999_5 => format!("{:.0} ms", seconds * 1e3),
        _ => format!("{seconds:.1} s"),
    }
}

/// A number, in thousands or millions where it is large.
fn count(number: f64) -> String {
    match number {
        _ if number < 9_999.5 => format!("{number:.0}"),
        _ if number < 999_500.0 => format!("{:.0} k", number / 1e3),
        _ => format!("{:.1} M", number / 1e6),
    }
}

/// Executions a second, of runs that are long enough.
fn rate(answer: &Answer) -> Option<f64> {
    (answer.seconds >= RATE_FROM).then(|| answer.executions as f64 / answer.seconds)
}

/// The middle one.
fn median(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::super::programs::Bug;
    use super::*;

    fn row(twin: Twin, cell: Cell) -> Row {
        let pair = Pair { family: "locks", name: "one", bug: Bug::Panic, needs: Some("scope") };
        Row { pair, twin, cells: vec![cell; Tool::ALL.len()] }
    }

    fn answered(failure: Option<&str>, complete: bool, seconds: f64, judgement: Judgement) -> Cell {
        let failure = failure.map(str::to_owned);
        Cell::Answered(Answer { failure, executions: 12_345, complete, seconds }, judgement)
    }

    fn document(rows: Vec<Row>) -> String {
        render(&Document {
            seconds: 2,
            took: 9,
            surroundings: "today, here".into(),
            load: Some(3.0),
            versions: vec![("loom", "1".into())],
            rows,
            counts: None,
        })
    }

    #[test]
    fn cells_tell_what_an_answer_is_worth() {
        let cell = |complete, judgement| {
            reported(Tool::Loom, &answered(None, complete, 0.0004, judgement))
        };
        assert_eq!(cell(false, Judgement::Found), "400 µs · 12 k");
        assert_eq!(cell(true, Judgement::Silent), "400 µs · 12 k");
        assert_eq!(cell(false, Judgement::Silent), "not finished · 12 k");
        assert_eq!(cell(false, Judgement::Missed), "**missed** · 12 k");
        assert_eq!(cell(true, Judgement::Missed), "**missed**, complete · 12 k");
        assert_eq!(cell(false, Judgement::False), "**false**");
        assert_eq!(cell(false, Judgement::GaveUp), "gave up");
        assert_eq!(reported(Tool::Loom, &Cell::Cannot("why")), "cannot");
        let silent = answered(None, false, 2.0, Judgement::Silent);
        assert_eq!(reported(Tool::Sanitizer, &silent), "12 k");
    }

    #[test]
    fn the_summary_counts_each_judgement() {
        let rows = vec![
            row(Twin::Wrong, answered(Some("bug: x"), false, 0.002, Judgement::Found)),
            row(Twin::Right, answered(None, true, 0.5, Judgement::Silent)),
            row(Twin::Wrong, answered(None, false, 2.0, Judgement::Missed)),
            row(Twin::Right, answered(Some("no"), false, 2.0, Judgement::GaveUp)),
        ];
        let text = document(rows);
        assert!(text.contains("| lockred | 1 | 1 | 1 | 0 | 0 | 1 | 0 | 2.0 ms | 25 k |"), "{text}");
        assert!(text.contains("| shuttle PCT | 1 | 1 | - | 0 |"), "{text}");
        assert!(text.contains("- gave up: loom, `locks::one`, right: “no”"), "{text}");
        assert!(text.contains("other builds ran beside it (load 3.0"), "{text}");
    }

    #[test]
    fn what_cannot_be_expressed_is_named_with_the_reason() {
        let rows = vec![row(Twin::Wrong, Cell::Cannot("x")), row(Twin::Right, Cell::Cannot("x"))];
        let text = document(rows);
        assert!(text.contains("- loom: it has no scoped threads (`locks::one`)"), "{text}");
        assert!(text.contains("| lockred | 0 | 0 | 0 | 0 | 0 | 0 | 2 | - | - |"), "{text}");
    }

    #[test]
    fn every_line_of_a_table_has_the_same_number_of_cells() {
        let cell = answered(Some("a | b"), false, 0.002, Judgement::False);
        let text = document(vec![row(Twin::Wrong, cell.clone()), row(Twin::Right, cell)]);
        for block in text.split("\n\n").filter(|block| block.starts_with('|')) {
            let cells: Vec<_> = block.lines().map(|line| line.matches('|').count()).collect();
            assert!(cells.iter().all(|count| *count == cells[0]), "{block}");
        }
    }

    #[test]
    fn times_and_counts_have_the_unit_that_fits() {
        let times = [0.000_25, 0.0025, 0.025, 2.5].map(time);
        assert_eq!(times, ["250 µs", "2.5 ms", "25 ms", "2.5 s"]);
        assert_eq!([7.0, 9_999.0, 70_000.0, 7e6].map(count), ["7", "9999", "70 k", "7.0 M"]);
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), Some(2.0));
    }
}
