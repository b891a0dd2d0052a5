//! The progress line of the test under way, on a terminal only.

use crate::session::Progress as Seen;
use std::fmt::Write as _;

/// What is told of a test under way.
pub fn text(name: &str, seen: &Seen) -> String {
    let seconds = seen.elapsed.as_secs_f64();
    let executions = seen.counts.executions;
    let mut text = format!("{name}  {executions} executions");
    if seconds >= 0.5 && executions > 0 {
        let rate = executions as f64 / seconds;
        let _ = write!(text, ", {rate:.0}/s");
    }
    if seen.bugs > 0 {
        let _ = write!(text, ", {} bugs", seen.bugs);
    }
    let _ = write!(text, ", {seconds:.0} s");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockred_trace::message::Counts;
    use std::time::Duration;

    #[test]
    fn the_line_names_test_executions_rate_and_time() {
        let seen = Seen {
            counts: Counts { executions: 5000, ..Counts::default() },
            elapsed: Duration::from_secs(2),
            ..Seen::default()
        };
        assert_eq!(text("a::b", &seen), "a::b  5000 executions, 2500/s, 2 s");
    }
}
