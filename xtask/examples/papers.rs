//! The table of Stoller's measurements (figure 4) with ours beside: states, memory and seconds of
//! HaltException and Clean, without the reduction by locks and with it, with the locking discipline
//! checked and not; and by which factors the reduction with checks is better than none without.
//! `cargo xtask bench papers` runs it.
//!
//! States of ours and of the paper are not the same things: an operation of a model is coarser than
//! a bytecode, and what bytecodes do to the operand stack is none. So the reduction finds less to
//! leave out, and the factors are smaller.

#[path = "../../runtime/search/model/tests/search/check/memory.rs"]
mod memory;
#[path = "../../runtime/search/model/tests/search/papers/programs.rs"]
mod programs;

use std::time::Instant;

use memory::Counting;
use programs::{Figures, explore, programs, rows};

#[global_allocator]
static MEMORY: Counting = Counting::new();

/// The rows that the paper's factors compare.
const COMPARED: [(&str, bool); 2] = [("bytecode", false), ("reduced", true)];

fn main() {
    println!(
        "| program | atomicity | lockset | states | transitions | MB | seconds | paper: states | paper: MB | paper: seconds |\n\
         |---|---|---|--:|--:|--:|--:|--:|--:|--:|"
    );
    for (number, (name, text)) in programs().iter().enumerate() {
        let mut compared: Vec<[Figures; 2]> = Vec::new();
        for row in rows() {
            let before = MEMORY.live();
            MEMORY.take_peak();
            let begin = Instant::now();
            let needed = match explore(text, row.settings) {
                Ok(needed) => needed,
                Err(why) => {
                    eprintln!("{name}, {}: {why}", row.atomicity);
                    continue;
                }
            };
            let seconds = begin.elapsed().as_secs_f64();
            let megabytes = (MEMORY.take_peak() - before) as f64 / 1e6;
            let paper = row.paper[number].map_or_else(
                || " | | ".to_owned(),
                |(states, megabytes, seconds)| format!("{states} | {megabytes:.2} | {seconds:.1}"),
            );
            println!(
                "| {name} | {} | {} | {} | {} | {megabytes:.2} | {seconds:.4} | {paper} |",
                row.atomicity,
                if row.checks { "on" } else { "off" },
                needed.states,
                needed.transitions,
            );
            if COMPARED.contains(&(row.atomicity, row.checks)) {
                compared.extend(
                    row.paper[number].map(|paper| [(needed.states, megabytes, seconds), paper]),
                );
            }
        }
        if let [without, with] = compared[..] {
            let [ours, paper] = [0, 1].map(|whose| factors(without[whose], with[whose]));
            println!(
                "| {name} | factors | off / on | {:.1} | | {:.1} | {:.1} | {:.0} | {:.1} | {:.1} |",
                ours.0, ours.1, ours.2, paper.0, paper.1, paper.2
            );
        }
    }
}

/// By which factors states, memory and time get less.
fn factors(without: Figures, with: Figures) -> (f64, f64, f64) {
    (without.0 as f64 / with.0 as f64, without.1 / with.1, without.2 / with.2)
}
