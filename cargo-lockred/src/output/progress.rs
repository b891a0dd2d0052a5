//! The progress line of the test under way: what was done, how fast, about which share that is, and
//! what is left.

use super::estimate::Estimate;
use crate::printing::words::at_most;
use crate::session::Progress as Seen;
use std::fmt::Write as _;
use std::time::Duration;

/// Shares below this are reported as less than it.
const SMALLEST: f64 = 0.01;

/// What is reported of the test under way.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Number of the test.
    test: Option<usize>,
    estimate: Estimate,
}

impl Progress {
    /// The line of the test with this number and name, which may take so many seconds.
    pub fn text(&mut self, test: usize, name: &str, limit: f64, seen: &Seen) -> String {
        if self.test != Some(test) {
            *self = Self { test: Some(test), ..Self::default() };
        }
        let left = seen.share.and_then(|share| self.estimate.left(seen.elapsed, share));
        text(name, limit, seen, left)
    }
}

fn text(name: &str, limit: f64, seen: &Seen, left: Option<Duration>) -> String {
    let seconds = seen.elapsed.as_secs_f64();
    let executions = seen.counts.executions;
    let doing = seen.doing.map(|doing| format!("{doing}: ")).unwrap_or_default();
    let mut text = format!("{name}  {doing}{executions} executions");
    if let Some(most) = seen.preemptions {
        let _ = write!(text, ", {}", at_most(most));
    }
    if seconds >= 0.5 && executions > 0 {
        let rate = executions as f64 / seconds;
        let _ = write!(text, ", {rate:.0}/s");
    }
    if seen.bugs > 0 {
        let _ = write!(text, ", {} bug{}", seen.bugs, if seen.bugs == 1 { "" } else { "s" });
    }
    // Early on, it says more about the first branches than about the whole.
    if let Some(share) = seen.share.filter(|_| seconds >= 1.0) {
        let _ = match share {
            share if share < SMALLEST => write!(text, ", less than 1 % explored"),
            share => write!(text, ", about {:.0} % explored", (share * 100.0).min(99.0)),
        };
    }
    let stops = (limit - seconds).max(0.0);
    match left.map(|left| left.as_secs_f64()) {
        Some(left) if left < stops => {
            let _ = write!(text, ", about {} left", duration(left));
        }
        _ if seconds >= 1.0 && stops.is_finite() => {
            let _ = write!(text, ", at most {} left", duration(stops));
        }
        _ => {}
    }
    text
}

/// `40 s`, `3 min`, `2 h`, `5 days`: one number, as nobody knows better.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockred_protocol::message::Counts;

    fn seen(seconds: u64, share: Option<f64>) -> Seen {
        Seen {
            counts: Counts { executions: 5000, ..Counts::default() },
            elapsed: Duration::from_secs(seconds),
            share,
            ..Seen::default()
        }
    }

    #[test]
    fn the_line_names_test_executions_rate_share_and_what_is_left() {
        let reported = |share, left: Option<u64>| {
            text("a::b", 60.0, &seen(2, share), left.map(Duration::from_secs))
        };
        assert_eq!(reported(None, None), "a::b  5000 executions, 2500/s, at most 58 s left");
        assert_eq!(
            reported(Some(0.123), Some(14)),
            "a::b  5000 executions, 2500/s, about 12 % explored, about 14 s left"
        );
        assert_eq!(
            reported(Some(0.001), Some(2000)),
            "a::b  5000 executions, 2500/s, less than 1 % explored, at most 58 s left"
        );
        assert_eq!(text("a", 60.0, &seen(0, Some(0.5)), None), "a  5000 executions");
        let walking = Seen { doing: Some("random walks"), ..seen(0, None) };
        let reported = text("a", 60.0, &walking, None);
        assert_eq!(reported, "a  random walks: 5000 executions");
        let endless = text("a", f64::INFINITY, &seen(2, None), None);
        assert_eq!(endless, "a  5000 executions, 2500/s");
        let bounded = Seen { preemptions: Some(1), ..seen(0, None) };
        let reported = text("a", 60.0, &bounded, None);
        assert_eq!(reported, "a  5000 executions, at most 1 preemption");
    }

    #[test]
    fn the_next_test_has_an_estimate_of_its_own() {
        let mut progress = Progress::default();
        for second in 1..=10 {
            let _ = progress.text(0, "a", 600.0, &seen(second, Some(second as f64 / 100.0)));
        }
        let text =
            |progress: &mut Progress, test| progress.text(test, "a", 600.0, &seen(11, Some(0.11)));
        assert!(text(&mut progress, 0).ends_with("about 89 s left"));
        assert!(text(&mut progress, 1).ends_with("at most 10 min left"));
    }

    #[test]
    fn times_are_reported_in_one_number() {
        assert_eq!(duration(0.4), "0 s");
        assert_eq!(duration(150.0), "2 min");
        assert_eq!(duration(7300.0), "2 h");
        assert_eq!(duration(1e6), "12 days");
    }
}
