//! The page of `cargo xtask bench growth`, in Markdown.

use super::cells::{Cell, Grid, MOST};
use super::families::Family;
use super::fit::fit;
use std::fmt::Write;

/// All there is to be reported.
pub struct Page {
    pub seconds: u64,
    /// Seconds of the whole run, without builds.
    pub took: u64,
    pub surroundings: String,
    pub load: Option<f64>,
    pub families: Vec<(Family, Grid)>,
}

/// The whole text.
pub fn render(page: &Page) -> String {
    let Page { seconds, took, surroundings, .. } = page;
    let mut text = String::from("# How checks grow\n\n");
    let _ = writeln!(
        text,
        "Written by `cargo xtask bench growth --write`: one program of each family ([xtask/growth](../xtask/growth)) under \
         `cargo lockred check`, with 1 to {MOST} threads that do 1 to {MOST} operations each. A search that took longer than {seconds} s ran \
         out (`>`: executions until then), and sizes larger than that were not tried (·). Executions are the same on every machine; seconds \
         are those of the search; memory is the most that the process was seen to have resident, which is not seen of those that \
         end in a millisecond. Searches on model programs are measured by `cargo xtask bench search`.\n"
    );
    let _ = writeln!(text, "- {surroundings}; the run took {took} s");
    if let Some(load) = page.load.filter(|load| *load > 1.5) {
        let _ = writeln!(
            text,
            "- other builds ran beside it (load {load:.1} at its end): seconds are to be compared within this run only"
        );
    }
    text.push_str(
        "\nShapes are fitted to executions by least squares: a constant or a line that is within 5% everywhere, else the closest of a \
         power, an exponential and, if it is closer by far, a parabola. *roughly*: it is not within 5%. They are of the row with 2 threads, and of the column with 1 \
         operation; what is not measured, they do not promise.\n\n\
         | family | what | over operations, 2 threads | over threads, 1 operation |\n|---|---|---|---|\n",
    );
    for (family, grid) in &page.families {
        let (over_operations, over_threads) = shapes(grid);
        let Family { name, what } = family;
        let _ =
            writeln!(text, "| [{name}](#{name}) | {what} | {over_operations} | {over_threads} |");
    }
    for (family, grid) in &page.families {
        section(&mut text, family, grid);
    }
    text
}

/// The shapes of executions over operations and over threads.
fn shapes(grid: &Grid) -> (String, String) {
    let reported = |cells: &[Cell]| {
        let finished = cells.iter().map_while(Cell::finished);
        let numbers: Vec<f64> = finished.map(|taken| taken.executions as f64).collect();
        let shape = fit(&numbers).map_or("too few to tell".into(), |fit| fit.to_string());
        if numbers.len() < MOST { format!("{shape}, up to {}", numbers.len()) } else { shape }
    };
    (reported(&grid[1]), reported(&grid.map(|row| row[0])))
}

/// Picture and numbers of one family.
fn section(text: &mut String, family: &Family, grid: &Grid) {
    let Family { name, what } = family;
    let _ = writeln!(text, "\n## {name}\n\n{what}\n\n![{name}](growth/{name}.svg)\n");
    text.push_str("| threads \\ operations |");
    (1..=MOST).for_each(|operations| {
        let _ = write!(text, " {operations} |");
    });
    let _ = writeln!(text, "\n|---|{}", "--:|".repeat(MOST));
    for (threads, row) in grid.iter().enumerate() {
        let _ = write!(text, "| {} |", threads + 1);
        for cell in row {
            let _ = match cell {
                Cell::Finished(taken) => write!(text, " {} |", taken.executions),
                Cell::RanOut(taken) => write!(text, " > {} |", taken.executions),
                Cell::NotTried => write!(text, " · |"),
            };
        }
        text.push('\n');
    }
    let finished = grid.iter().flatten().filter_map(Cell::finished);
    let (seconds, kilobytes) = finished.fold((0.0_f64, 0), |(seconds, kilobytes), taken| {
        (seconds.max(taken.seconds), kilobytes.max(taken.kilobytes))
    });
    let _ = writeln!(
        text,
        "\nThe longest search that finished took {seconds:.3} s; the most memory of one was {:.1} MB.",
        kilobytes as f64 / 1e3
    );
}

#[cfg(test)]
mod tests {
    use super::super::cells::Taken;
    use super::*;

    #[test]
    fn the_page_reports_shapes_and_what_ran_out() {
        let cell = |executions| Taken { executions, seconds: 0.25, kilobytes: 2000 };
        let mut grid: Grid = [[Cell::NotTried; MOST]; MOST];
        grid[0] = [Cell::Finished(cell(1)); MOST];
        for (place, executions) in [2, 4, 8, 16].into_iter().enumerate() {
            grid[1][place] = Cell::Finished(cell(executions));
        }
        grid[1][4] = Cell::RanOut(cell(31));
        let family = Family { name: "locks", what: "it locks" };
        let text = render(&Page {
            seconds: 1,
            took: 9,
            surroundings: "here".into(),
            load: None,
            families: vec![(family, grid)],
        });
        let row = "| [locks](#locks) | it locks | exponential, 2.0^n, up to 4 | too few to tell, up to 2 |";
        assert!(text.contains(row), "{text}");
        assert!(text.contains("| 2 | 2 | 4 | 8 | 16 | > 31 | · |"), "{text}");
        assert!(text.contains("took 0.250 s; the most memory of one was 2.0 MB"), "{text}");
        assert!(!text.contains("other builds"), "{text}");
    }
}
