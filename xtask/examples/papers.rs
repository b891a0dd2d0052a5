//! The table of Stoller's measurements (figure 4) with ours beside: states and seconds of HaltException and Clean, without the
//! reduction by locks and with it, with the locking discipline checked and not. `cargo xtask bench papers` runs it.
//!
//! States of ours and of the paper are not the same things: an operation of a model is coarser than a bytecode. The ratio of a
//! column's rows is what is to be compared.

#[path = "../../runtime/search/tests/papers/programs.rs"]
mod programs;

use std::time::Instant;

use programs::{explore, programs, rows};

fn main() {
    println!(
        "| program       | atomicity          | lockset | states | transitions | seconds | paper: states | paper: seconds |"
    );
    println!(
        "|---------------|--------------------|---------|-------:|------------:|--------:|--------------:|---------------:|"
    );
    for (number, (name, text)) in programs().iter().enumerate() {
        for row in rows() {
            let begin = Instant::now();
            let needed = match explore(text, row.settings) {
                Ok(needed) => needed,
                Err(why) => {
                    eprintln!("{name}, {}: {why}", row.atomicity);
                    continue;
                }
            };
            let seconds = begin.elapsed().as_secs_f64();
            let (states, time) = row.paper[number]
                .map_or_else(Default::default, |(states, time)| {
                    (states.to_string(), format!("{time:.1}"))
                });
            println!(
                "| {name:<13} | {:<18} | {:<7} | {:>6} | {:>11} | {seconds:>7.3} | {states:>13} | {time:>14} |",
                row.atomicity,
                if row.checks { "on" } else { "off" },
                needed.states,
                needed.transitions,
            );
        }
    }
}
