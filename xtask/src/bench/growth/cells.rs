//! A program in one size under `cargo lockred check`, and all sizes of a program.

use super::super::memory;
use super::families::Family;
use crate::command::root;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Sizes go from 1 to this, in both directions.
pub const MOST: usize = 6;

/// What a check took.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Taken {
    pub executions: u64,
    pub seconds: f64,
    /// Most memory that was seen resident, in kB; 0 if the process was too fast.
    pub kilobytes: u64,
}

/// One size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cell {
    Finished(Taken),
    /// The time was over.
    RanOut(Taken),
    /// A smaller size ran out.
    NotTried,
}

impl Cell {
    /// What a whole search took.
    pub fn finished(&self) -> Option<Taken> {
        match self {
            Cell::Finished(taken) => Some(*taken),
            Cell::RanOut(_) | Cell::NotTried => None,
        }
    }
}

/// All sizes, by threads and then by operations, from 1 on.
pub type Grid = [[Cell; MOST]; MOST];

/// Takes every size, except those that are larger than one that ran out.
pub fn grid(mut take: impl FnMut(usize, usize) -> Result<Cell, String>) -> Result<Grid, String> {
    let mut grid = [[Cell::NotTried; MOST]; MOST];
    for threads in 0..MOST {
        for operations in 0..MOST {
            let fits = |cell: Cell| matches!(cell, Cell::Finished(_));
            let fewer_threads =
                threads.checked_sub(1).is_none_or(|one| fits(grid[one][operations]));
            let fewer = operations.checked_sub(1).is_none_or(|one| fits(grid[threads][one]));
            if fewer_threads && fewer {
                grid[threads][operations] = take(threads + 1, operations + 1)?;
            }
        }
    }
    Ok(grid)
}

/// Checks one size. What is not built is built before.
pub fn check(
    tool: &Path,
    family: &Family,
    size: (usize, usize),
    seconds: u64,
) -> Result<Cell, String> {
    let target = root().join("target").join("bench-growth");
    let test = format!("cells::{}::threads_{}::operations_{}", family.name, size.0, size.1);
    let mut check = Command::new(tool);
    check.args([
        "lockred",
        "check",
        "--release",
        "--locked",
        "--quiet",
        "--message-format",
        "json",
    ]);
    // What grows is one search.
    check.args(["--search", "exhaustive=alone", "--max-seconds", &seconds.to_string()]);
    check.args(["--exact", &test, "--target-dir"]);
    check.arg(&target).current_dir(root().join("xtask").join("growth"));
    let (output, kilobytes) = memory::watch(&target, || check.output());
    let output = output.map_err(|e| format!("cannot run the check: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let record = records.find(|record| record["name"] == test.as_str());
    record.as_ref().and_then(|record| cell(record, kilobytes)).ok_or_else(|| {
        let reported = String::from_utf8_lossy(&output.stderr);
        format!("{test}: the check ended with {} and no numbers:\n{reported}", output.status)
    })
}

/// What a record says. The programs have no bugs: one that is reported is no number.
fn cell(test: &Value, kilobytes: u64) -> Option<Cell> {
    if !matches!(test["verdict"].as_str()?, "verified" | "passed") {
        return None;
    }
    let taken = Taken {
        executions: test["executions"].as_u64()?,
        seconds: test["seconds"].as_f64()?,
        kilobytes,
    };
    Some(if test["complete"].as_bool()? { Cell::Finished(taken) } else { Cell::RanOut(taken) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sizes_larger_than_one_that_ran_out_are_not_tried() {
        let taken = Taken { executions: 1, seconds: 0.1, kilobytes: 0 };
        let mut tried = Vec::new();
        let grid = grid(|threads, operations| {
            tried.push((threads, operations));
            Ok(if threads * operations <= 4 { Cell::Finished(taken) } else { Cell::RanOut(taken) })
        });
        let grid = grid.expect("nothing fails");
        assert_eq!(grid[1][1], Cell::Finished(taken));
        assert_eq!(grid[1][2], Cell::RanOut(taken));
        assert_eq!(grid[2][2], Cell::NotTried);
        assert!([(3, 3), (1, 6), (6, 1)].iter().all(|size| !tried.contains(size)), "{tried:?}");
        assert_eq!(tried.iter().filter(|(threads, _)| *threads == 1).count(), 5);
    }

    #[test]
    fn a_record_is_whole_or_ran_out_and_a_bug_is_no_number() {
        let mut test =
            json!({"verdict": "passed", "complete": true, "executions": 3, "seconds": 0.5});
        let taken = Taken { executions: 3, seconds: 0.5, kilobytes: 9 };
        assert_eq!(cell(&test, 9), Some(Cell::Finished(taken)));
        test["complete"] = false.into();
        assert_eq!(cell(&test, 9), Some(Cell::RanOut(taken)));
        test["verdict"] = "failed".into();
        assert_eq!(cell(&test, 9), None);
    }
}
