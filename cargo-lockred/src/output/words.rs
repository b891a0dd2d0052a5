//! Numbers in sentences.

/// `1 test`, `2 tests`.
pub fn count(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// A bound on preemptions.
pub fn at_most(preemptions: u64) -> String {
    match preemptions {
        0 => "no preemptions".into(),
        most => format!("at most {}", count(most, "preemption")),
    }
}
