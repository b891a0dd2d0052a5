//! How long a search will still take, where that can be reported honestly.
//!
//! The share that is done is an estimate, which can shrink as more branches become known. So the
//! time that is left is reported only when the share has grown about as fast in the first half of
//! the time as in the second.

use std::time::Duration;

/// What is looked back on is at least this.
const SHORTEST: Duration = Duration::from_secs(2);
/// The speeds of the two halves differ by at most this factor.
const ALIKE: f64 = 2.0;
/// Looks that are kept; then every other one is dropped.
const MOST: usize = 1000;

/// The looks at one search so far.
#[derive(Clone, Debug, Default)]
pub struct Estimate {
    /// When, and which share was done.
    looks: Vec<(Duration, f64)>,
}

impl Estimate {
    /// Adds a look, and says how long the rest will take.
    pub fn left(&mut self, now: Duration, share: f64) -> Option<Duration> {
        if self.looks.last().is_some_and(|(before, _)| *before >= now) {
            // Another process of the same test.
            self.looks.clear();
        }
        if self.looks.len() == MOST {
            let mut number = 0;
            self.looks.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
        self.looks.push((now, share));
        let (start, first) = *self.looks.first()?;
        let half = start + (now - start) / 2;
        let (middle, second) = *self.looks.iter().find(|(time, _)| *time >= half)?;
        if now - start < SHORTEST || middle == start || middle == now {
            return None;
        }
        let early = (second - first) / (middle - start).as_secs_f64();
        let late = (share - second) / (now - middle).as_secs_f64();
        let steady = early > 0.0 && late > 0.0 && early < late * ALIKE && late < early * ALIKE;
        steady.then(|| Duration::try_from_secs_f64((1.0 - share).max(0.0) / late).ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is reported last, of shares at every tenth of a second.
    fn left(share: impl Fn(f64) -> f64, seconds: u32) -> Option<u64> {
        let mut estimate = Estimate::default();
        let mut reported = None;
        for tenth in 1..=seconds * 10 {
            let now = Duration::from_millis(u64::from(tenth) * 100);
            reported = estimate.left(now, share(now.as_secs_f64()));
        }
        reported.map(|left| left.as_secs_f64().round() as u64)
    }

    #[test]
    fn a_search_that_goes_on_as_before_ends_as_is_reported() {
        assert_eq!(left(|seconds| seconds / 100.0, 1), None, "too early");
        assert_eq!(left(|seconds| seconds / 100.0, 10), Some(90));
        assert_eq!(left(|seconds| seconds / 1000.0, 300), Some(700), "looks are dropped");
        assert_eq!(
            left(|seconds| 0.5 + seconds / 100.0, 10),
            Some(40),
            "it went on from a checkpoint"
        );
    }

    #[test]
    fn nothing_is_reported_of_a_search_that_does_not_grow_steadily() {
        assert_eq!(left(|_| 0.3, 10), None);
        assert_eq!(left(|seconds| 1.0 / seconds.max(1.0), 10), None, "more became known");
        assert_eq!(left(|seconds| (seconds / 20.0).powi(4), 10), None, "faster and faster");
    }

    #[test]
    fn another_process_begins_anew() {
        let mut estimate = Estimate::default();
        for tenth in 1..100_u64 {
            estimate.left(Duration::from_millis(tenth * 100), tenth as f64 / 1000.0);
        }
        assert_eq!(estimate.left(Duration::from_millis(100), 0.1), None);
    }
}
