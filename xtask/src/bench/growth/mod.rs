//! `cargo xtask bench growth`: one program of each family in all sizes, as a page with pictures.
//!
//! (How searches grow on model programs, strategy by strategy, is `cargo xtask bench search`.)

mod cells;
mod families;
mod fit;
mod page;
mod plot;

use super::options::Options;
use super::surroundings;
use crate::command::{self, root};
use crate::setup;
use families::{Family, families};
use page::Page;
use std::time::Instant;

/// The budget of one size, unless another one is asked for.
const SECONDS: u64 = 1;

/// Measures, and prints the page or writes it with its pictures.
pub fn run(words: &[&str]) -> command::Outcome {
    let options = Options::read(words, SECONDS)?;
    let wanted: Vec<Family> =
        families().into_iter().filter(|family| options.wants(family.name)).collect();
    let Some(first) = wanted.first() else {
        return Err(format!("no family has `{}` in its name", options.filter));
    };
    let tool = setup::run()?;
    // Builds, so that the first size takes no more than others.
    cells::check(&tool, first, (1, 1), options.seconds)?;
    let start = Instant::now();
    let mut measured = Vec::new();
    for (number, family) in wanted.iter().enumerate() {
        eprintln!("growth: {} ({} of {})", family.name, number + 1, wanted.len());
        let grid = cells::grid(|threads, operations| {
            cells::check(&tool, family, (threads, operations), options.seconds)
        })?;
        measured.push((*family, grid));
    }
    let page = Page {
        seconds: options.seconds,
        took: start.elapsed().as_secs(),
        surroundings: surroundings::line(),
        load: surroundings::load(),
        families: measured,
    };
    if options.write { write(&page) } else { print(&page) }
}

/// Prints the page; its pictures are left out.
fn print(page: &Page) -> command::Outcome {
    print!("{}", page::render(page));
    Ok(())
}

/// Writes the page and its pictures.
fn write(page: &Page) -> command::Outcome {
    let docs = root().join("docs");
    let pictures = docs.join("growth");
    std::fs::create_dir_all(&pictures).map_err(|e| format!("{}: {e}", pictures.display()))?;
    for (family, grid) in &page.families {
        let file = pictures.join(family.name).with_extension("svg");
        std::fs::write(&file, plot::svg(family.name, grid)?)
            .map_err(|e| format!("{}: {e}", file.display()))?;
    }
    let file = docs.join("growth.md");
    std::fs::write(&file, page::render(page)).map_err(|e| format!("{}: {e}", file.display()))?;
    eprintln!("growth: wrote {}", file.display());
    Ok(())
}
