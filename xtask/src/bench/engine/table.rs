//! The table of `cargo xtask bench engine`, and the bars that its rows are held to.

use super::Case;
use std::fmt::Write;

/// A complete search of another tool must take at least so many times what lockred's takes ...
const SEARCH_BAR: f64 = 10.0;
/// ... where it takes so many seconds or more.
const SEARCH_BAR_FROM: f64 = 0.01;
/// Random executions a second of the program that is judged by its rate.
const RATE_BAR: f64 = 150_000.0;

/// Who explored, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    /// `cargo lockred check` as users run it.
    Lockred,
    /// loom's search, without a bound on preemptions.
    Loom,
    /// shuttle's depth-first search.
    Shuttle,
    /// `cargo lockred check --search sample`.
    LockredRandom,
    /// shuttle's random scheduler.
    ShuttleRandom,
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Tool::Lockred => "lockred",
            Tool::Loom => "loom",
            Tool::Shuttle => "shuttle DFS",
            Tool::LockredRandom => "lockred random",
            Tool::ShuttleRandom => "shuttle random",
        }
    }

    /// Whether its search is held against lockred's.
    fn is_other_search(self) -> bool {
        matches!(self, Tool::Loom | Tool::Shuttle)
    }
}

/// What one exploration took.
#[derive(Clone, Debug)]
pub struct Measured {
    pub executions: u64,
    /// Whether the search came to its end. Random walks never do.
    pub complete: bool,
    /// From the root to the answer.
    pub seconds: f64,
    /// Operations on synchronisation in all executions, where the tool counts them.
    pub operations: Option<u64>,
}

impl Measured {
    fn rate(&self) -> f64 {
        self.executions as f64 / self.seconds
    }

    fn operations_per_execution(&self) -> String {
        self.operations.map_or_else(
            || "-".into(),
            |operations| format!("{:.1}", operations as f64 / self.executions as f64),
        )
    }
}

/// One line: the numbers, or why there are none.
#[derive(Clone, Debug)]
pub struct Row {
    pub case: Case,
    pub tool: Tool,
    pub measured: Result<Measured, String>,
}

/// The columns, each with the width of what stands in it.
const COLUMNS: [(&str, usize); 9] = [
    ("program", 18),
    ("threads", 7),
    ("tool", 14),
    ("executions", 10),
    ("finished", 8),
    ("search s", 9),
    ("executions/s", 12),
    ("operations/execution", 20),
    ("ratio to lockred", 16),
];

/// The table in Markdown, and under it every row that misses a bar.
pub fn render(rows: &[Row]) -> String {
    let mut text = line(COLUMNS.map(|(heading, _)| heading.into()));
    text.push_str(&line(COLUMNS.map(|(_, width)| "-".repeat(width))));
    for row in rows {
        text.push_str(&line(cells(rows, row)));
    }
    let misses = misses(rows);
    text.push('\n');
    if misses.is_empty() {
        text.push_str("Every bar is met.\n");
    }
    for miss in misses {
        let _ = writeln!(text, "missed: {miss}");
    }
    text
}

/// One line of the table.
fn line(cells: [String; COLUMNS.len()]) -> String {
    let padded = cells.iter().zip(COLUMNS).map(|(cell, (_, width))| format!(" {cell:width$} |"));
    format!("|{}\n", padded.collect::<String>())
}

/// What stands in a row. Where there are no numbers, the reason stands in their place.
fn cells(rows: &[Row], row: &Row) -> [String; COLUMNS.len()] {
    let Case { program, threads } = row.case.clone();
    let tool = row.tool.name().to_owned();
    let none = || "-".to_owned();
    match &row.measured {
        Ok(numbers) => [
            program,
            threads,
            tool,
            numbers.executions.to_string(),
            finished(row.tool, numbers).into(),
            format!("{:.4}", numbers.seconds),
            format!("{:.0}", numbers.rate()),
            numbers.operations_per_execution(),
            ratio_text(rows, row, numbers),
        ],
        Err(why) => [program, threads, tool, why.clone(), none(), none(), none(), none(), none()],
    }
}

/// Whether a search came to its end; random walks have none.
fn finished(tool: Tool, numbers: &Measured) -> &'static str {
    match tool {
        Tool::LockredRandom | Tool::ShuttleRandom => "-",
        Tool::Lockred | Tool::Loom | Tool::Shuttle if numbers.complete => "yes",
        Tool::Lockred | Tool::Loom | Tool::Shuttle => "no",
    }
}

/// lockred's own numbers for the program of a row.
fn lockred<'a>(rows: &'a [Row], row: &Row) -> Option<&'a Measured> {
    let own = rows.iter().find(|own| own.tool == Tool::Lockred && own.case == row.case)?;
    own.measured.as_ref().ok()
}

/// How many times lockred's search time a search took. One that was ended would have taken longer
/// still, and where lockred's own was ended there is nothing to compare with.
fn ratio_text(rows: &[Row], row: &Row, numbers: &Measured) -> String {
    let own = lockred(rows, row).filter(|own| own.complete && row.tool.is_other_search());
    match own {
        None => "-".into(),
        Some(own) if numbers.complete => format!("{:.1}", numbers.seconds / own.seconds),
        Some(own) => format!("> {:.1}", numbers.seconds / own.seconds),
    }
}

/// A sentence for every row that misses its bar.
fn misses(rows: &[Row]) -> Vec<String> {
    rows.iter().filter_map(|row| miss(rows, row)).collect()
}

fn miss(rows: &[Row], row: &Row) -> Option<String> {
    let Case { program, threads } = &row.case;
    let place = format!("{program}, {threads} threads, {}", row.tool.name());
    let numbers = match (&row.measured, row.tool) {
        (Ok(numbers), _) => numbers,
        (Err(why), Tool::Lockred | Tool::LockredRandom) => return Some(format!("{place}: {why}")),
        (Err(_), _) => return None,
    };
    match row.tool {
        Tool::LockredRandom if row.case.is_judged_by_rate() && numbers.rate() < RATE_BAR => {
            let rate = numbers.rate();
            Some(format!("{place}: {rate:.0} executions/s, the bar is {RATE_BAR:.0}"))
        }
        Tool::Loom | Tool::Shuttle if numbers.complete && numbers.seconds >= SEARCH_BAR_FROM => {
            let own = lockred(rows, row)?;
            let ratio = numbers.seconds / own.seconds;
            if !own.complete {
                Some(format!("{place}: it finished, lockred did not"))
            } else if ratio < SEARCH_BAR {
                Some(format!("{place}: {ratio:.1} times lockred's time, the bar is {SEARCH_BAR}"))
            } else {
                None
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(program: &str, tool: Tool, executions: u64, complete: bool, seconds: f64) -> Row {
        let case = Case { program: program.into(), threads: "2".into() };
        let measured = Ok(Measured { executions, complete, seconds, operations: None });
        Row { case, tool, measured }
    }

    /// The bars that a row of another tool misses beside a search of lockred's.
    fn missed_beside(own: Row, other: Row) -> Vec<String> {
        misses(&[own, other])
    }

    #[test]
    fn a_finished_search_is_held_to_ten_times_from_ten_milliseconds_on() {
        let own = |seconds| row("p", Tool::Lockred, 1, true, seconds);
        let other = |complete, seconds| row("p", Tool::Loom, 1, complete, seconds);
        let text = "p, 2 threads, loom: 9.0 times lockred's time, the bar is 10";
        assert_eq!(missed_beside(own(0.01), other(true, 0.09)), [text]);
        assert!(missed_beside(own(0.01), other(true, 0.1)).is_empty());
        assert!(missed_beside(own(0.01), other(true, 0.009)).is_empty());
        assert!(missed_beside(own(0.01), other(false, 0.09)).is_empty());
    }

    #[test]
    fn a_search_that_others_finish_and_lockred_does_not_is_a_miss() {
        let own = row("p", Tool::Lockred, 1, false, 0.01);
        let text = "p, 2 threads, shuttle DFS: it finished, lockred did not";
        assert_eq!(missed_beside(own, row("p", Tool::Shuttle, 1, true, 1.0)), [text]);
    }

    #[test]
    fn the_rate_is_judged_on_one_program_alone() {
        let walk = |program, executions| {
            misses(&[row(program, Tool::LockredRandom, executions, false, 1.0)])
        };
        let text =
            "lock_increment, 2 threads, lockred random: 149999 executions/s, the bar is 150000";
        assert_eq!(walk("lock_increment", 149_999), [text]);
        assert!(walk("lock_increment", 150_000).is_empty());
        assert!(walk("fetch_add", 1).is_empty());
    }

    #[test]
    fn a_program_that_lockred_cannot_check_is_a_miss_and_one_that_others_cannot_is_reported() {
        let failed = |tool| Row { measured: Err("why".into()), ..row("p", tool, 1, true, 1.0) };
        assert_eq!(misses(&[failed(Tool::Lockred)]), ["p, 2 threads, lockred: why"]);
        assert!(misses(&[failed(Tool::Loom)]).is_empty());
        assert!(render(&[failed(Tool::Loom)]).contains("| loom           | why        |"));
    }

    #[test]
    fn the_time_of_a_search_that_was_ended_gives_a_lower_bound() {
        let rows = [
            row("p", Tool::Lockred, 3, true, 0.5),
            row("p", Tool::Loom, 100, false, 5.0),
            row("p", Tool::Shuttle, 100, true, 6.0),
            row("p", Tool::ShuttleRandom, 100, false, 6.0),
        ];
        let text = render(&rows);
        let last: Vec<_> = text
            .lines()
            .skip(2)
            .take(4)
            .map(|line| line.split('|').nth(9).unwrap().trim())
            .collect();
        assert_eq!(last, ["-", "> 10.0", "12.0", "-"]);
    }
}
