//! What a runner prints: one line of JSON with what it did until the first failure, or until it was over.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Executions that were begun. std's own atomic: checkers are not to see it.
static EXECUTIONS: AtomicU64 = AtomicU64::new(0);

static START: OnceLock<Instant> = OnceLock::new();

/// Begins to measure. The first panic, of a program or of its checker, is the answer.
pub fn begin() {
    START.get_or_init(Instant::now);
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.payload_as_str().unwrap_or("a panic without a message");
        tell(Some(message), false);
        std::process::exit(0);
    }));
}

/// Counts an execution, at its beginning.
pub fn execution() {
    EXECUTIONS.fetch_add(1, Relaxed);
}

/// Executions so far.
#[allow(dead_code, reason = "the watchdog of one runner asks")]
pub fn executions() -> u64 {
    EXECUTIONS.load(Relaxed)
}

/// Seconds so far.
pub fn seconds() -> f64 {
    START.get().map_or(0.0, |start| start.elapsed().as_secs_f64())
}

/// Prints the line: what failed, if something did, and whether everything was covered.
pub fn tell(failure: Option<&str>, complete: bool) {
    let failure = failure.map_or_else(|| "null".to_owned(), quoted);
    println!(
        r#"{{"failure":{failure},"executions":{},"complete":{complete},"seconds":{}}}"#,
        EXECUTIONS.load(Relaxed),
        seconds(),
    );
}

/// A string of JSON.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            _ if letter.is_control() => quoted.push(' '),
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}
