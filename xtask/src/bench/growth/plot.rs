//! The picture of a family: executions, seconds and memory, over operations and over threads. The
//! one place that knows plotters.

use super::cells::{Grid, MOST, Taken};
use plotters::prelude::*;

/// Of a whole picture.
const SIZE: (u32, u32) = (1080, 640);

/// What is drawn, and its unit.
type Measure = (&'static str, fn(Taken) -> f64);

const MEASURES: [Measure; 3] = [
    ("executions", |taken| taken.executions as f64),
    ("seconds", |taken| taken.seconds),
    ("megabytes", |taken| taken.kilobytes as f64 / 1e3),
];

/// Draws a family as SVG.
pub fn svg(name: &str, grid: &Grid) -> Result<String, String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        draw(&area, name, grid).map_err(|e| format!("{name}: cannot draw: {e}"))?;
    }
    Ok(text)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Two rows of panels: a line for each number of threads, and a line for each number of operations.
fn draw(area: &Area<'_>, name: &str, grid: &Grid) -> Result<(), Box<dyn std::error::Error>> {
    area.fill(&WHITE)?;
    let panels = area.split_evenly((2, MEASURES.len()));
    for (number, panel) in panels.iter().enumerate() {
        let (what, measure) = MEASURES[number % MEASURES.len()];
        let by_operations = number < MEASURES.len();
        let lines: Vec<Vec<(f64, f64)>> = (0..MOST)
            .map(|line| {
                let cells = (0..MOST).map(|place| {
                    let cell = if by_operations { grid[line][place] } else { grid[place][line] };
                    Some(((place + 1) as f64, measure(cell.finished()?)))
                });
                cells.flatten().filter(|(_, value)| *value > 0.0).collect()
            })
            .collect();
        let (over, each) =
            if by_operations { ("operations", "threads") } else { ("threads", "operations") };
        self::panel(
            panel,
            &format!("{name}: {what} over {over}, a line for each number of {each}"),
            &lines,
        )?;
    }
    area.present()?;
    Ok(())
}

/// One panel, its values on a logarithmic scale.
fn panel(
    area: &Area<'_>,
    title: &str,
    lines: &[Vec<(f64, f64)>],
) -> Result<(), Box<dyn std::error::Error>> {
    let values = || lines.iter().flatten().map(|(_, value)| *value);
    let (least, most) = (values().fold(f64::MAX, f64::min), values().fold(0.0, f64::max));
    // Whole powers of ten, so that there are some to be labelled, and a little more.
    let range = if most > 0.0 {
        let (least, most) = (least.log10().floor(), most.log10().ceil());
        10_f64.powf(least - 0.1)..10_f64.powf(most.max(least + 1.0) + 0.1)
    } else {
        0.5..20.0
    };
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 11))
        .margin(8)
        .x_label_area_size(18)
        .y_label_area_size(46)
        .build_cartesian_2d(1.0..MOST as f64 + 0.3, range.log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(MOST)
        .x_label_formatter(&|index| format!("{index:.0}"))
        .y_labels(6)
        .y_label_formatter(&|value| label(*value))
        .label_style(("sans-serif", 10))
        .draw()?;
    for (number, line) in lines.iter().enumerate() {
        // From blue for 1 to red for the most.
        let hue = 0.62 * (1.0 - number as f64 / (MOST - 1) as f64);
        let colour = HSLColor(hue, 0.75, 0.42);
        chart.draw_series(LineSeries::new(line.iter().copied(), colour.stroke_width(2)))?;
        let dots = line.iter().map(|point| Circle::new(*point, 2, colour.filled()));
        chart.draw_series(dots)?;
        let end = line.last().map(|&point| {
            Text::new(
                (number + 1).to_string(),
                point,
                ("sans-serif", 10).into_font().color(&colour),
            )
        });
        chart.draw_series(end)?;
    }
    Ok(())
}

/// What stands at a line of the scale: powers of ten, and what is between them where there are few.
fn label(value: f64) -> String {
    let decimals = format!("{value:.4}");
    match value {
        _ if value >= 1e6 => format!("{}M", (value / 1e5).round() / 10.0),
        _ if value >= 1e3 => format!("{}k", (value / 1e2).round() / 10.0),
        _ if decimals.trim_matches(['0', '.']).is_empty() => format!("{value:.0e}"),
        _ => decimals.trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells::Cell;
    use super::*;

    #[test]
    fn a_picture_has_its_panels_and_a_line_for_what_was_finished() {
        let mut grid: Grid = [[Cell::NotTried; MOST]; MOST];
        let empty = svg("locks", &grid).expect("there is nothing that could fail");
        for (threads, row) in grid.iter_mut().enumerate() {
            let executions = 1 + threads as u64;
            *row = [Cell::Finished(Taken { executions, seconds: 0.1, kilobytes: 0 }); MOST];
        }
        let full = svg("locks", &grid).expect("there is nothing that could fail");
        for text in [&empty, &full] {
            assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
            assert_eq!(text.matches("locks: executions over").count(), 2);
        }
        let dots = |text: &str| text.matches("<circle").count();
        // Executions and seconds, in both directions; memory was not seen.
        assert_eq!((dots(&empty), dots(&full)), (0, 4 * MOST * MOST));
    }

    #[test]
    fn labels_are_short() {
        let labels = [2e6, 1500.0, 100.0, 0.1, 0.001_000_000_1, 1e-6].map(label);
        assert_eq!(labels, ["2M", "1.5k", "100", "0.1", "0.001", "1e-6"]);
    }
}
