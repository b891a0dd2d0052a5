//! The states that Stoller's searches need for HaltException and Clean (`cargo xtask bench papers`
//! prints the table, with times and the paper's numbers beside).

#[path = "papers/programs.rs"]
mod programs;

use programs::{Needed, explore, programs, rows};

/// States, transitions that were executed, and the paper's states.
const EXPECTED: &str = "
HaltException bytecode, off: 1963 2087 201688
HaltException bytecode, on: 3232 3429 323854
HaltException reduced, off: 186 2938 788
HaltException reduced, on: 265 4411 788
HaltException reduced, selective, off: 186 3001 -
HaltException reduced, selective, on: 265 4474 -
Clean bytecode, off: 258 408 58370
Clean bytecode, on: 310 486 58370
Clean reduced, off: 72 324 209
Clean reduced, on: 88 392 209
Clean reduced, selective, off: 72 244 -
Clean reduced, selective, on: 88 304 -
";

#[test]
fn states_of_the_papers_programs() {
    let mut table = String::new();
    for (number, (name, text)) in programs().iter().enumerate() {
        for row in rows() {
            let Needed { states, transitions } = match explore(text, row.settings) {
                Ok(needed) => needed,
                Err(why) => panic!("{name}, {row:?}: {why}"),
            };
            let lockset = if row.checks { "on" } else { "off" };
            let paper = row.paper[number].map_or("-".to_owned(), |(states, ..)| states.to_string());
            let line =
                format!("{name} {}, {lockset}: {states} {transitions} {paper}", row.atomicity);
            table.push_str(&format!("{line}\n"));
        }
    }
    assert_eq!(table.trim(), EXPECTED.trim());
}
